"""Networks as people have them: each reader makes a `StatedNetwork` of a file, `loading` an `Underlay` of that."""

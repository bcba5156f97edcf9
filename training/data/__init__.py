"""Data sets: readers, partitions over the silos, and batches."""

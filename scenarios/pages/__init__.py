"""Pages that a researcher gives to a colleague: one file for each kind of result."""

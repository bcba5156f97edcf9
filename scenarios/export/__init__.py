"""Formats in which the contents of a run are handed to other programs."""

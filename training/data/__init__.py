"""Data sets: read, divided over the silos and dealt out in batches."""

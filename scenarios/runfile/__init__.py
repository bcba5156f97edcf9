"""The HDF5 file of a run: written, read, and never left half done under its final name."""

"""The engine for large jobs on a network that does not change, compiled by numba."""

"""Inner loops of the cycle time, compiled by numba."""

"""Jobs on a network that does not change, compiled with numba."""

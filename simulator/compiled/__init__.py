"""The plain case compiled with numba: fixed arcs on a network that does not change."""

"""Inner loops of designers, compiled by numba: studies design thousands of overlays."""

"""Compiled kernels of the training."""

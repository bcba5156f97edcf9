"""Compiled kernels of models."""

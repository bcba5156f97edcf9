"""The paper's rule for the latency of a path by its length."""

S_PER_KM = 0.0085e-3
"""Propagation and queueing per kilometre (Gueye et al., cited by the paper)."""
S_PER_PATH = 4e-3
"""Constant part of the latency."""

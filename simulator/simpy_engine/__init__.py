"""The engine for every job: silos as SimPy processes, and the networks of sharing models."""

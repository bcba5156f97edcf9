"""The engine that knows every event: silos and links as SimPy processes."""

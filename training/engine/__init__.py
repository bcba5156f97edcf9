"""What one rank computes: its silos' models, their steps, mixing and metrics."""

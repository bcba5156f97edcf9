"""Optimizers, learning-rate schedules and objectives."""

"""Metrics that other programs wrote."""

"""Overlay designers, found by name."""

from topologies.designers.registry import DESIGNERS, RANDOM_DESIGNERS, design, design_random

__all__ = ["DESIGNERS", "RANDOM_DESIGNERS", "design", "design_random"]

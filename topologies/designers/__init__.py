"""Overlay designers, found by name."""

from topologies.designers.registry import (
    DESIGNERS,
    PERIODIC_DESIGNERS,
    RANDOM_DESIGNERS,
    design,
    design_periodic,
    design_random,
)

__all__ = [
    "DESIGNERS",
    "PERIODIC_DESIGNERS",
    "RANDOM_DESIGNERS",
    "design",
    "design_periodic",
    "design_random",
]

"""Overlay designers, found by name."""

from topologies.designers.registry import design, designers

__all__ = ["design", "designers"]

"""Sizes above which slow methods are left out."""

MANY_SILOS = 200
"""Silos up to which methods of cubic time or quadratically many arcs are used by default."""

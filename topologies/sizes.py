"""Sizes above which slow methods are left out, and limits of what is taken."""

MANY_SILOS = 200
"""Silos up to which methods of cubic time or quadratically many arcs are used by default."""
MOST_STATES = 10_000
"""Longest period of a periodic overlay, in states."""

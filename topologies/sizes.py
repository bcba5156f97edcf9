"""How many silos are many."""

MANY_SILOS = 200
"""Silos up to which methods of cubic time or quadratically many arcs are used without being asked for."""

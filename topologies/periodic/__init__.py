"""Kinds of periodic and random overlays as states, one file for each; of a network they get numbers only."""

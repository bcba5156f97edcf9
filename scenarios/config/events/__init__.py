"""Kinds of events: a file for each, with its table of a scenario, its effects and its texts."""

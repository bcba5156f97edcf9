"""Trackers: what else gets the rows of a training while it runs."""

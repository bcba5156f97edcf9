"""Designers that simulate overlays to choose among them."""

"""Endings of figures; apart from the plots, which import matplotlib."""

FIGURES = (".png", ".svg", ".pdf")

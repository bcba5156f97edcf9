"""Cycle times of the multigraph in ms, computed elsewhere, independently of this code.

By data set, for the networks in the order of the paper's tables: Gaia, AWS NA, GEANT, Exodus, Ebone.
"""

PUBLISHED = {
    "femnist": (15.7, 13.6, 12.5, 12.1, 12.7),
    "sentiment140": (31.0, 35.8, 30.3, 27.9, 29.1),
    "inaturalist": (68.6, 81.3, 68.1, 62.6, 64.9),
}
"""The published reading: the mean over the arcs.

Published: 12.0 of GEANT with FEMNIST, 28.0 of Exodus with Sentiment140: other ties of Christofides' algorithm.
"""
EQUATION = {
    "femnist": (23.3, 19.9, 20.9, 22.6, 19.8),
    "sentiment140": (48.4, 48.4, 43.5, 46.8, 41.5),
    "inaturalist": (107.5, 102.3, 101.1, 98.2, 88.0),
}
"""The reading by the equation: the slowest arc."""
RECURRENCE = {
    "femnist": (16.9, 14.0, 13.9, 12.9, 12.6),
    "sentiment140": (33.1, 36.6, 31.7, 29.4, 30.0),
    "inaturalist": (68.8, 81.3, 68.2, 65.5, 67.0),
}
"""By the recurrence of the start dates."""

"""Limits of the moves of `topologies.designers.tour_search`, here since compiled code holds them."""

LONGEST_SEGMENT = 3
"""Longest segment that an Or-opt move takes."""
LONGEST_REVERSAL = 100
"""Longest part that a 2-opt move reverses where that changes its cost."""

"""Orders of nodes by which a heuristic breaks ties; the best result counts."""

from collections.abc import Iterator

import numpy as np

from topologies.arrays import IntArray
from topologies.sizes import MANY_SILOS

ORDERS, FEW_ORDERS = 8, 2
"""Orders that are tried, and on more than `MANY_SILOS` nodes."""


def tie_orders(nodes: int) -> Iterator[IntArray]:
    """The order of the numbers, then random ones, the same in each call; each of shape (nodes,)."""
    yield np.arange(nodes)
    rng = np.random.default_rng(0)
    for _ in range((ORDERS if nodes <= MANY_SILOS else FEW_ORDERS) - 1):
        yield rng.permutation(nodes)

"""Orders of nodes by which a heuristic breaks ties; the best result counts."""

from functools import lru_cache

import numpy as np

from topologies.arrays import IntArray, freeze
from topologies.sizes import MANY_SILOS

ORDERS, FEW_ORDERS = 8, 2
"""Orders that are tried, and on more than `MANY_SILOS` nodes."""


@lru_cache(maxsize=16)
def tie_orders(nodes: int) -> tuple[IntArray, ...]:
    """The order of the numbers, then random ones, the same in each call; each of shape (nodes,), read-only."""
    rng = np.random.default_rng(0)
    count = ORDERS if nodes <= MANY_SILOS else FEW_ORDERS
    orders = (np.arange(nodes), *(rng.permutation(nodes) for _ in range(count - 1)))
    freeze(*orders)
    return orders

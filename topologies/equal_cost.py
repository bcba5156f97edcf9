"""Links that lead on at least cost to a router: of a router, those of all its cheapest routes."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError
from topologies.routing import TIE
from topologies.underlay import Underlay


class LeadingOn(NamedTuple):
    """Link directions on the cheapest routes to a router, by the rank of their tail, then of their head.

    Attributes
    ----------
    tail, head, direction : ndarray of int, shape (directions,)
        Routers, and link directions: link `l` is ``2 * l`` from its first to its second end and ``2 * l + 1`` back.
    left : ndarray, shape (routers,)
        Cost of the cheapest route from each router; it falls along each of these directions.
    """

    tail: IntArray
    head: IntArray
    direction: IntArray
    left: FloatArray


def leading_on(underlay: Underlay, cost: FloatArray) -> Iterator[LeadingOn]:
    """Link directions that lead on to each router at least cost, parallel ones too.

    Parameters
    ----------
    underlay : Underlay
    cost : ndarray, shape (links,)
        Finite and > 0: links that cost nothing would be crossed to and fro.

    Yields
    ------
    LeadingOn
        To each router in turn.

    Raises
    ------
    InputError
        If a cost is not finite and > 0.

    Notes
    -----
    Costs of routes within a relative 1e-9 are equal. Dijkstra's algorithm, time O(routers * links * log routers).
    """
    routers, rank = underlay.routers, underlay.rank
    if not np.all((np.asarray(cost) > 0) & np.isfinite(cost)):
        raise InputError("cost of every link must be finite and > 0.")
    tail, head = np.concatenate((underlay.ends, underlay.ends[:, ::-1])).T
    direction = np.concatenate((2 * np.arange(underlay.links), 2 * np.arange(underlay.links) + 1))
    arc_cost = np.tile(np.asarray(cost, dtype=np.float64), 2)
    # Links of one router in the order of where they lead, parallel ones in their own.
    order = np.lexsort((direction, rank[head], rank[tail]))
    tail, head, direction, arc_cost = tail[order], head[order], direction[order], arc_cost[order]
    cheapest = np.full((routers, routers), np.inf)
    np.minimum.at(cheapest, (tail, head), arc_cost)
    linked = np.isfinite(cheapest)
    weights = csr_array((cheapest[linked], np.nonzero(linked)), shape=(routers, routers))
    left = np.asarray(dijkstra(weights), dtype=np.float64)
    for target in range(routers):
        on = arc_cost + left[head, target] <= left[tail, target] * (1 + TIE)
        on &= tail != target
        yield LeadingOn(tail[on], head[on], direction[on], left[:, target])

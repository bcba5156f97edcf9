"""Equal-cost multipath: each flow takes one of the cheapest routes, chosen by a hash at every router."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.equal_cost import LeadingOn, leading_on
from topologies.routing import UnsplitRoutes
from topologies.underlay import Underlay

_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_STEP = 0x9E3779B97F4A7C15
"""Of the SplitMix64 generator."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MultipathRoutes(UnsplitRoutes):
    """A route for every ordered pair of routers; made by `multipath_routes`.

    Attributes
    ----------
    distance_km : ndarray, shape (routers, routers)
    hops : ndarray of int, shape (routers, routers)
    directions : ndarray of int, shape (total route length,)
        Link directions of all routes, one after the other, by source, then target.
    first : ndarray of int, shape (routers, routers)
        Where each of them begins.
    number_of_links : int
    """

    distance_km: FloatArray
    hops: IntArray
    directions: IntArray
    first: IntArray
    number_of_links: int

    def __repr__(self) -> str:
        """Number of routers."""
        return f"<MultipathRoutes between {len(self.hops)} routers>"

    def links(self, source: int, target: int) -> tuple[int, ...]:
        """See `topologies.routing.Routes`."""
        first = int(self.first[source, target])
        return tuple(self.directions[first : first + int(self.hops[source, target])].tolist())

    def bottleneck_bps(self, core_bps: FloatArray) -> FloatArray:
        """See `topologies.routing.Routes`. O(total route length)."""
        pair = np.repeat(np.arange(self.hops.size), self.hops.ravel())
        smallest = np.full(self.hops.size, np.inf)
        np.minimum.at(smallest, pair, core_bps[self.directions // 2])
        return smallest.reshape(self.hops.shape)

    def used_links(self) -> BoolArray:
        """See `topologies.routing.Routes`. O(total route length)."""
        used = np.zeros(self.number_of_links, dtype=bool)
        used[self.directions // 2] = True
        return used


def multipath_routes(underlay: Underlay, cost: FloatArray, seed: int) -> MultipathRoutes:
    """Of the cheapest routes of each ordered pair of routers one, by a hash of the flow at each router that it passes.

    Parameters
    ----------
    underlay : Underlay
    cost : ndarray, shape (links,)
        Finite and > 0: links that cost nothing would be crossed to and fro.
    seed : int
        Another one spreads the flows in another way; >= 0.

    Raises
    ------
    InputError
        If a cost is not finite and > 0.

    Notes
    -----
    As routers do it that hash source and destination of a flow: where several links lead on at the same cost, parallel
    ones too, the flow takes one, and its models always the same. Costs of routes within a relative 1e-9 are equal. The
    hash (SplitMix64) is of the seed and the places of source, target and router in the order of labels, so that numbers
    of routers make no difference. There and back are two flows. Source: Hopps, RFC 2992. Time
    O(routers * (links + routers * hops)), memory O(total route length).
    """
    found = [
        list(_walked(underlay.rank, on, target, seed)) for target, on in enumerate(leading_on(underlay, cost))
    ]
    return _joined(underlay, found)


def _walked(rank: IntArray, on: LeadingOn, target: int, seed: int) -> Iterator[IntArray]:
    """Link directions of the routes of all sources to a target, hop by hop; -1 where a route has ended."""
    routers = len(rank)
    count = np.bincount(on.tail, minlength=routers)
    by_rank = np.argsort(rank)
    begin = np.zeros(routers, dtype=np.int64)
    begin[by_rank] = np.cumsum(count[by_rank]) - count[by_rank]
    at = np.arange(routers)
    while (under_way := at != target).any():
        key = _hashed(seed, rank[np.flatnonzero(under_way)], int(rank[target]), rank[at[under_way]])
        arc = begin[at[under_way]] + (key % count[at[under_way]].astype(np.uint64)).astype(np.int64)
        hop = np.full(routers, -1, dtype=np.int64)
        hop[under_way] = on.direction[arc]
        at = at.copy()
        at[under_way] = on.head[arc]
        yield hop


def _hashed(seed: int, source: IntArray, target: int, router: IntArray) -> np.ndarray:
    """A hash of each source at the router that it has come to."""
    value = np.full(len(source), seed % 2**64, dtype=np.uint64)
    for part in (source, np.full_like(source, target), router):
        value = value * np.uint64(_MIX[0]) + part.astype(np.uint64) + np.uint64(_STEP)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(_MIX[0])
        value = (value ^ (value >> np.uint64(27))) * np.uint64(_MIX[1])
        value ^= value >> np.uint64(31)
    return value


def _joined(underlay: Underlay, by_target: list[list[IntArray]]) -> MultipathRoutes:
    """All routes, from the hops of all sources to each target."""
    routers = underlay.routers
    most = max((len(hops) for hops in by_target), default=0)
    table = np.full((routers, routers, most), -1, dtype=np.int64)
    for target, hops in enumerate(by_target):
        for number, hop in enumerate(hops):
            table[:, target, number] = hop
    is_hop = table >= 0
    hops = is_hop.sum(axis=2)
    directions = table[is_hop]
    length = (
        np.where(is_hop, underlay.length_km[np.where(is_hop, table, 0) // 2], 0.0)
        if underlay.links
        else is_hop
    )
    return MultipathRoutes(
        distance_km=np.asarray(length.sum(axis=2), dtype=np.float64),
        hops=hops,
        directions=directions,
        first=(np.cumsum(hops) - hops.ravel()).reshape(hops.shape),
        number_of_links=underlay.links,
    )

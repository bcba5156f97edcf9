"""Routes on an underlay: the protocols of a routing, and shortest routes, which are unique."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.compiled_designs import takes_compiled
from topologies.errors import InputError
from topologies.underlay import Underlay

TIE = 1e-9
"""Two path lengths within this relative distance are equal."""
BLOCK_ARCS = 2_000_000
"""Most sources times arcs in one search, which bounds the memory."""
KEPT_ROUTES = 100_000
"""Most routes that are kept once they were followed: overlays of a study take the same ones again and again."""


class Routes(Protocol):
    """A route for every ordered pair of routers."""

    @property
    def distance_km(self) -> FloatArray:
        """Length of each route, shape (routers, routers)."""

    @property
    def hops(self) -> IntArray:
        """Number of links of each route, shape (routers, routers)."""

    @property
    def splits(self) -> bool:
        """Whether flows of some pairs take several routes at once."""

    def links(self, source: int, target: int) -> tuple[int, ...]:
        """Link directions of the route from `source` to `target`, in order; empty for the same router.

        Link `l` is ``2 * l`` from its first to its second end and ``2 * l + 1`` back.
        """

    def shares(self, source: int, target: int) -> tuple[float, ...]:
        """The share of the flow from `source` to `target` on each of its `links`; empty where that is 1 on all."""

    def bottleneck_bps(self, core_bps: FloatArray) -> FloatArray:
        """Smallest capacity over share on each route, infinite where it has no link, shape (routers, routers)."""

    def used_links(self) -> BoolArray:
        """Whether each link is on a route, shape (links,)."""


class UnsplitRoutes:
    """What `Routes` of which each takes a flow whole have in common."""

    __slots__ = ()

    @property
    def splits(self) -> bool:
        """See `Routes`."""
        return False

    def shares(self, source: int, target: int) -> tuple[float, ...]:  # noqa: ARG002  (the protocol's)
        """See `Routes`."""
        return ()


class Routing(Protocol):
    """Chooses the routes of a network: `shortest_routes`, or what `topologies.connectivity.connectivity` is given."""

    def __call__(self, underlay: Underlay, core_bps: FloatArray) -> Routes:
        """Routes between all pairs of routers.

        Parameters
        ----------
        core_bps : ndarray, shape (links,)
            Capacities. A link of capacity 0 is down: a route may cross it only where there is no other route.
        """


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ShortestRoutes(UnsplitRoutes):
    """Shortest routes between all pairs of routers, as a tree from each router; made by `shortest_routes`.

    Attributes
    ----------
    distance_km : ndarray, shape (routers, routers)
        Length of each route.
    hops : ndarray of int, shape (routers, routers)
        Number of links of each route.
    parent : ndarray of int, shape (routers, routers)
        ``parent[i, v]`` is the router before `v` on the route from `i`; -1 where there is none. Valid where
        `i` comes before `v` by rank: the route from the later one is the reversed route to it.
    parent_link : ndarray of int, shape (routers, routers)
        The link directions that lead to `v` from ``parent[i, v]``: link `l` is ``2 * l`` from its first to its
        second end and ``2 * l + 1`` back.
    rank : ndarray of int, shape (routers,)
        Place of each router in the order by which ties fall, `Underlay.rank`: the labels' order.
    number_of_links : int
        Of the underlay.
    """

    distance_km: FloatArray
    hops: IntArray
    parent: IntArray
    parent_link: IntArray
    rank: IntArray
    number_of_links: int
    _known: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict, init=False)

    def __repr__(self) -> str:
        """Number of routers."""
        return f"<ShortestRoutes between {len(self.hops)} routers>"

    def links(self, source: int, target: int) -> tuple[int, ...]:
        """Link directions of the route from `source` to `target`, in order; empty for the same router."""
        known = self._known.get((source, target))
        if known is None:
            known = self._traced(source, target)
            if len(self._known) < KEPT_ROUTES:
                self._known[source, target] = known
        return known

    def _traced(self, source: int, target: int) -> tuple[int, ...]:
        """The route of `links`, followed from its end."""
        forwards = bool(self.rank[source] < self.rank[target])
        low, node = (source, target) if forwards else (target, source)
        backwards = []
        while node != low:
            backwards.append(int(self.parent_link[low, node]))
            node = int(self.parent[low, node])
        if forwards:
            return tuple(reversed(backwards))
        return tuple(direction ^ 1 for direction in backwards)

    def nodes(self, source: int, target: int) -> tuple[int, ...]:
        """Routers of the route from `source` to `target`, both ends included."""
        forwards = bool(self.rank[source] < self.rank[target])
        low, node = (source, target) if forwards else (target, source)
        backwards = [node]
        while node != low:
            node = int(self.parent[low, node])
            backwards.append(node)
        return tuple(reversed(backwards)) if forwards else tuple(backwards)

    def bottleneck_bps(self, core_bps: FloatArray) -> FloatArray:
        """See `Routes`.

        Notes
        -----
        Only a route from the end whose label comes first is real, but it may pass routers before that end, so all of a
        row's tree is followed: by pointer doubling, O(n^2 log n).
        """
        routers = len(self.parent)
        if takes_compiled(routers):
            from topologies.compiled.routes import smallest_capacities

            smallest = np.empty((routers, routers))
            buffer = np.empty(routers, dtype=np.int64)
            capacity_bps = np.array(core_bps, dtype=np.float64)
            smallest_capacities(self.parent, self.parent_link, capacity_bps, buffer, smallest)
            return np.asarray(np.where(np.less.outer(self.rank, self.rank), smallest, smallest.T))
        root = self.parent < 0
        before = np.where(root, np.arange(routers)[:, np.newaxis], self.parent)
        smallest = np.where(root, np.inf, core_bps[self.parent_link // 2])
        for _ in range(routers.bit_length()):
            smallest = np.minimum(smallest, np.take_along_axis(smallest, before, axis=1))
            before = np.take_along_axis(before, before, axis=1)
        return np.asarray(np.where(np.less.outer(self.rank, self.rank), smallest, smallest.T))

    def used_links(self) -> BoolArray:
        """See `Routes`."""
        used = np.zeros(self.number_of_links, dtype=bool)
        used[self.parent_link[self.parent >= 0] // 2] = True
        return used


def shortest_routes(
    underlay: Underlay, core_bps: FloatArray | None = None, *, weight: ArrayLike | None = None
) -> ShortestRoutes:
    """Shortest routes by distance or another weight, with a rule that makes each of them unique.

    Among routes whose lengths agree to a relative 1e-9, the one with the fewest links is taken, then the one
    whose routers, read from the end that comes first by `Underlay.rank` (the order of labels), come first in
    lexicographic order of that rank: routers may be numbered in any order. Lengths are compared at every router that a
    route passes, so ties of its parts add up along it. Of parallel links the shortest carries the route (the first
    among equal ones; see `Underlay.in_label_order` for the links of a file).

    Parameters
    ----------
    core_bps : ndarray, shape (links,), optional
        As for `Routing`. Capacities other than 0 make no difference.
    weight : array_like, shape (links,), optional
        What the routes minimise the sum of, finite and >= 0, instead of the length. The rules above then hold for
        weights.

    Raises
    ------
    InputError
        If a weight breaks its rule.

    Notes
    -----
    Dijkstra's algorithm from each router, then a breadth-first search along the arcs that lie on a shortest
    route. Within one level of it, routes have equally many links, so their lexicographic order is the order of
    their parents, then of the routers themselves. Many routers are searched from at once, level by level; on many
    routers one after the other, in compiled code. Time O(n (m + n) log n), memory O(n^2).
    """
    routers = underlay.routers
    rank = underlay.rank
    order = np.argsort(rank)
    cost = _costs(underlay, core_bps, weight)
    arcs = _arcs(underlay, rank, cost)
    # Explicit zeros are zero-length links here: a sparse array keeps them, a dense one would lose them.
    weights = csr_array((arcs.cost, (arcs.tail, arcs.head)), shape=(routers, routers))
    shortest = np.asarray(dijkstra(weights), dtype=np.float64)

    distance = np.zeros((routers, routers))
    hops = np.full((routers, routers), -1, dtype=np.int64)
    parent = np.full((routers, routers), -1, dtype=np.int64)
    parent_link = np.full((routers, routers), -1, dtype=np.int64)
    if takes_compiled(routers):
        from topologies.compiled.routes import trace_routes

        first = np.searchsorted(arcs.tail, np.arange(routers + 1))
        buffer = np.empty(routers, dtype=np.int64)
        of_arcs = arcs.head, arcs.direction, arcs.cost, arcs.length_km
        trace_routes(shortest, first, *of_arcs, TIE, buffer, distance, hops, parent, parent_link)
    else:
        for sources in np.array_split(np.arange(routers), -(-routers * len(arcs.tail) // BLOCK_ARCS)):
            _fill_from(sources, shortest, arcs, (distance, hops, parent, parent_link))
    del shortest
    lower = np.tril_indices(routers, -1)
    distance[lower] = distance.T[lower]
    hops[lower] = hops.T[lower]
    if not np.array_equal(rank, np.arange(routers)):
        # One after the other, so that at most one is there twice.
        own = np.ix_(rank, rank)
        distance = distance[own]
        hops = hops[own]
        parent_link = parent_link[own]
        parent = np.append(order, -1)[parent[own]]
    return ShortestRoutes(
        distance_km=distance,
        hops=hops,
        parent=parent,
        parent_link=parent_link,
        rank=rank,
        number_of_links=underlay.links,
    )


def _costs(underlay: Underlay, core_bps: FloatArray | None, weight: ArrayLike | None) -> FloatArray:
    """Cost of each link; one that is down costs more than any route without it."""
    cost = np.array(underlay.length_km if weight is None else weight, dtype=np.float64)
    if cost.shape != (underlay.links,):
        raise InputError(f"weight(of shape {cost.shape}) must have shape ({underlay.links},): one per link.")
    for link in np.flatnonzero(~(np.isfinite(cost) & (cost >= 0))).tolist():
        raise InputError(f"weight[{link}](={cost[link]}) must be finite and >= 0.")
    if core_bps is not None:
        cost[np.asarray(core_bps) == 0] = 2.0 * cost.sum() + 1.0
    return cost


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Arcs:
    """Both directions of the links that can carry routes, sorted by tail and head, which are ranks of routers."""

    tail: IntArray
    head: IntArray
    direction: IntArray
    length_km: FloatArray
    cost: FloatArray


def _arcs(underlay: Underlay, rank: IntArray, cost: FloatArray) -> _Arcs:
    """Arcs of the cheapest of each set of parallel links."""
    order = np.argsort(cost, kind="stable")
    ends = np.sort(underlay.ends[order], axis=1)
    _, first = np.unique(ends, axis=0, return_index=True)
    link = np.sort(order[first])
    a, b = rank[underlay.ends[link]].T
    tail, head = np.concatenate((a, b)), np.concatenate((b, a))
    by_ends = np.lexsort((head, tail))
    return _Arcs(
        tail=tail[by_ends],
        head=head[by_ends],
        direction=np.concatenate((2 * link, 2 * link + 1))[by_ends],
        length_km=np.tile(underlay.length_km[link], 2)[by_ends],
        cost=np.tile(cost[link], 2)[by_ends],
    )


def _fill_from(
    sources: IntArray,
    shortest: FloatArray,
    arcs: _Arcs,
    rows: tuple[FloatArray, IntArray, IntArray, IntArray],
) -> None:
    """Fill the rows of `sources`, all of them level by level, by a breadth-first search along tight arcs."""
    tail, head = arcs.tail, arcs.head
    distance, hops, parent, parent_link = rows
    first = np.searchsorted(tail, np.arange(len(hops) + 1))
    degree = np.diff(first)
    # Pairs of a source and a router in the order of their routes: by source, then lexicographic.
    source, node, level = sources, sources, 0
    hops[source, node] = 0
    while len(node):
        level += 1
        count = degree[node]
        arc = np.arange(count.sum()) + np.repeat(first[node] - np.cumsum(count) + count, count)
        source = np.repeat(source, count)
        new = np.flatnonzero(hops[source, head[arc]] < 0)
        source, arc = source[new], arc[new]
        tight = shortest[source, tail[arc]] + arcs.cost[arc] <= shortest[source, head[arc]] * (1 + TIE)
        source, arc = source[tight], arc[tight]
        _, best = np.unique(source * len(hops) + head[arc], return_index=True)
        best.sort()
        source, arc = source[best], arc[best]
        node = head[arc]
        hops[source, node] = level
        parent[source, node] = tail[arc]
        parent_link[source, node] = arcs.direction[arc]
        distance[source, node] = distance[source, tail[arc]] + arcs.length_km[arc]

"""Shortest routes on an underlay, unique whatever the number of ties."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from topologies.arrays import FloatArray, IntArray
from topologies.underlay import Underlay

TIE = 1e-9
"""Two path lengths within this relative distance are equal."""
BLOCK_ARCS = 2_000_000
"""Sources times arcs that are searched together: it bounds the memory."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Routes:
    """Shortest routes between all pairs of routers.

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
    """

    distance_km: FloatArray
    hops: IntArray
    parent: IntArray
    parent_link: IntArray
    rank: IntArray

    def links(self, source: int, target: int) -> tuple[int, ...]:
        """Link directions of the route from `source` to `target`, in order; empty for the same router."""
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


def shortest_routes(underlay: Underlay) -> Routes:
    """Shortest routes by distance, with a rule that makes each of them unique.

    Among routes whose lengths agree to a relative 1e-9, the one with the fewest links is taken, then the one
    whose routers, read from the end that comes first by `Underlay.rank` (the order of labels), come first in
    lexicographic order of that rank: routers may be numbered in any order. Lengths are compared at every router that a
    route passes, so ties of its parts add up along it. Of parallel links the shortest carries the route (the first
    among equal ones; see `Underlay.in_label_order` for the links of a file).

    Parameters
    ----------
    underlay : Underlay

    Returns
    -------
    Routes

    Notes
    -----
    Dijkstra's algorithm from each router, then a breadth-first search along the arcs that lie on a shortest
    route. Within one level of it, routes have equally many links, so their lexicographic order is the order of
    their parents, then of the routers themselves. Many routers are searched from at once, level by level. Time
    O(n (m + n) log n), memory O(n^2).
    """
    routers = underlay.routers
    rank = underlay.rank
    order = np.argsort(rank)
    tail, head, direction, length = _arcs(underlay, rank)
    # Explicit zeros are zero-length links here: a sparse array keeps them, a dense one would lose them.
    weights = csr_array((length, (tail, head)), shape=(routers, routers))
    shortest = np.asarray(dijkstra(weights), dtype=np.float64)

    distance = np.zeros((routers, routers))
    hops = np.full((routers, routers), -1, dtype=np.int64)
    parent = np.full((routers, routers), -1, dtype=np.int64)
    parent_link = np.full((routers, routers), -1, dtype=np.int64)
    for sources in np.array_split(np.arange(routers), -(-routers * len(tail) // BLOCK_ARCS)):
        _fill_from(sources, shortest, (tail, head, direction, length), (distance, hops, parent, parent_link))
    lower = np.tril_indices(routers, -1)
    distance[lower] = distance.T[lower]
    hops[lower] = hops.T[lower]
    own = np.ix_(rank, rank)
    before = parent[own]
    return Routes(
        distance_km=distance[own],
        hops=hops[own],
        parent=np.where(before < 0, -1, order[before]),
        parent_link=parent_link[own],
        rank=rank,
    )


def _arcs(underlay: Underlay, rank: IntArray) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Tail and head by rank, direction and length of both directions of the links that can carry routes, sorted."""
    order = np.argsort(underlay.length_km, kind="stable")
    ends = np.sort(underlay.ends[order], axis=1)
    _, first = np.unique(ends, axis=0, return_index=True)
    link = np.sort(order[first])
    a, b = rank[underlay.ends[link]].T
    tail, head = np.concatenate((a, b)), np.concatenate((b, a))
    by_ends = np.lexsort((head, tail))
    return (
        tail[by_ends],
        head[by_ends],
        np.concatenate((2 * link, 2 * link + 1))[by_ends],
        np.tile(underlay.length_km[link], 2)[by_ends],
    )


def _fill_from(
    sources: IntArray,
    shortest: FloatArray,
    arcs: tuple[IntArray, IntArray, IntArray, FloatArray],
    rows: tuple[FloatArray, IntArray, IntArray, IntArray],
) -> None:
    """Fill the rows of `sources`, all of them level by level, by a breadth-first search along tight arcs."""
    tail, head, direction, length = arcs
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
        tight = shortest[source, tail[arc]] + length[arc] <= shortest[source, head[arc]] * (1 + TIE)
        source, arc = source[tight], arc[tight]
        _, best = np.unique(source * len(hops) + head[arc], return_index=True)
        best.sort()
        source, arc = source[best], arc[best]
        node = head[arc]
        hops[source, node] = level
        parent[source, node] = tail[arc]
        parent_link[source, node] = direction[arc]
        distance[source, node] = distance[source, tail[arc]] + length[arc]

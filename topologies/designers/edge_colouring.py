"""Edge colouring: the edges of a graph as few matchings."""

from collections.abc import Iterable

import numpy as np

from topologies.arrays import IntArray
from topologies.designers.tie_orders import tie_orders
from topologies.errors import InputError


def edge_colouring(edges: Iterable[tuple[int, int]], nodes: int) -> tuple[IntArray, ...]:
    """Partition the edges of a simple graph into matchings, at most one more than the largest degree.

    Parameters
    ----------
    edges : iterable of (int, int)
        Undirected, in any order.

    Returns
    -------
    tuple of ndarray of int, shape (edges of the matching, 2)
        No matching is empty. Each edge has its lower node first; a matching's edges are sorted.

    Raises
    ------
    InputError
        If an edge leaves the graph, joins a node with itself or is repeated.

    Examples
    --------
    >>> [matching.tolist() for matching in edge_colouring([(0, 1), (1, 2), (2, 3), (3, 0)], 4)]
    [[[0, 1], [2, 3]], [[0, 3], [1, 2]]]

    Notes
    -----
    Edges are coloured by their higher node, then by their lower one, each with the lowest used colour that is free
    at both its ends; where there is none, with a new colour, or by a fan and an alternating path where the largest
    degree so far allows no new one. So a complete graph of an even number of nodes gets one matching less than the
    bound: without the last node there are as many colours as nodes, and each is missing at exactly one node. Time
    O(nodes * edges).

    References
    ----------
    .. [1] J. Misra and D. Gries, "A constructive proof of Vizing's theorem", Information Processing Letters 41
       (1992).
    """
    colouring = _Colouring(nodes)
    for u, v in _checked(edges, nodes):
        colouring.add(u, v)
    matchings = [
        np.array(
            [(u, v) for u in range(nodes) if u < (v := colouring.neighbour[u].get(colour, -1))],
            dtype=np.int64,
        ).reshape(-1, 2)
        for colour in range(colouring.colours)
    ]
    return tuple(matching for matching in matchings if len(matching))


def fewest_matchings(edges: IntArray, nodes: int) -> tuple[IntArray, ...]:
    """The smallest `edge_colouring` of several that take the nodes in different orders.

    Parameters
    ----------
    edges : ndarray of int, shape (edges, 2)
        As for `edge_colouring`.

    Returns
    -------
    tuple of ndarray of int, shape (edges of the matching, 2)
        As of `edge_colouring`. The first order that needs no more matchings than the largest degree, or than edges that
        each matching can hold at most ``nodes // 2`` of, ends the search.
    """
    if not len(edges):
        return ()
    least = max(int(np.bincount(edges.ravel()).max()), -(-len(edges) // (nodes // 2)))
    best = edge_colouring(map(tuple, edges.tolist()), nodes)
    for order in tie_orders(nodes):
        if len(best) <= least:
            break
        found = edge_colouring(map(tuple, np.argsort(order)[edges].tolist()), nodes)
        if len(found) < len(best):
            best = tuple(_sorted_edges(order[matching]) for matching in found)
    return best


def _sorted_edges(edges: IntArray) -> IntArray:
    """Edges with the lower node first, sorted."""
    edges = np.sort(edges, axis=1)
    return edges[np.lexsort(edges.T[::-1])]


def _checked(edges: Iterable[tuple[int, int]], nodes: int) -> list[tuple[int, int]]:
    """Edges with the lower node first, sorted by the higher one."""
    pairs = sorted(
        ((min(int(i), int(j)), max(int(i), int(j))) for i, j in edges), key=lambda pair: pair[::-1]
    )
    for before, pair in zip([(-1, -1), *pairs], pairs, strict=False):
        if pair[0] < 0 or pair[1] >= nodes:
            raise InputError(f"edge(={pair}) must join nodes of 0..{nodes - 1}.")
        if pair[0] == pair[1]:
            raise InputError(f"edge(={pair}) must join two different nodes.")
        if pair == before:
            raise InputError(f"edge(={pair}) must not be repeated.")
    return pairs


class _Colouring:
    """A proper colouring of part of the edges, extended edge by edge.

    ``neighbour[u][c]`` is the node that colour `c` joins with `u`; bit `c` of ``used[u]`` says that there is one.
    """

    def __init__(self, nodes: int) -> None:
        self.colours = 0
        self.max_degree = 0
        self.neighbour: list[dict[int, int]] = [{} for _ in range(nodes)]
        self.used = [0] * nodes

    def free(self, u: int) -> int:
        """Bits of the colours that no edge of `u` has."""
        return ((1 << self.colours) - 1) & ~self.used[u]

    def add(self, u: int, v: int) -> None:
        """Colour the edge (u, v), recolouring others where that saves a colour beyond the bound."""
        self.max_degree = max(self.max_degree, len(self.neighbour[u]) + 1, len(self.neighbour[v]) + 1)
        common = self.free(u) & self.free(v)
        if not common and self.colours <= self.max_degree:
            common = 1 << self.colours
            self.colours += 1
        if common:
            self._paint(u, v, _lowest(common))
            return
        fan, colour_of = self._fan(u, v)
        c, d = _lowest(self.free(u)), _lowest(self.free(fan[-1]))
        self._invert(u, d, c)
        # The path may have recoloured one edge of the fan; then it is a shorter fan that rotates.
        colour_of |= {w: c for w in fan[1:] if colour_of[w] == d}
        last = next(k for k, w in enumerate(fan) if self.free(w) >> d & 1)
        moved = [colour_of[w] for w in fan[1 : last + 1]]
        for w, colour in zip(fan[1 : last + 1], moved, strict=True):
            self._erase(u, w, colour)
        for w, colour in zip(fan[: last + 1], [*moved, d], strict=True):
            self._paint(u, w, colour)

    def _fan(self, u: int, v: int) -> tuple[list[int], dict[int, int]]:
        """Maximal fan of `u` from `v` on: each edge's colour is free at the node before it."""
        fan, colour_of = [v], dict[int, int]()
        used = self.used[u]
        while choices := used & self.free(fan[-1]):
            colour = _lowest(choices)
            used &= ~(1 << colour)
            fan.append(self.neighbour[u][colour])
            colour_of[fan[-1]] = colour
        return fan, colour_of

    def _invert(self, u: int, d: int, c: int) -> None:
        """Swap the two colours along the path that leaves `u` by an edge of colour `d`."""
        path = []
        node, colour = u, d
        while (after := self.neighbour[node].get(colour)) is not None:
            path.append((node, after, colour))
            node, colour = after, c + d - colour
        for a, b, colour in path:
            self._erase(a, b, colour)
        for a, b, colour in path:
            self._paint(a, b, c + d - colour)

    def _paint(self, u: int, v: int, colour: int) -> None:
        """Give the edge (u, v) a colour that is free at both ends."""
        for node, other in ((u, v), (v, u)):
            self.neighbour[node][colour] = other
            self.used[node] |= 1 << colour

    def _erase(self, u: int, v: int, colour: int) -> None:
        """Remove the colour of the edge (u, v)."""
        for node in (u, v):
            del self.neighbour[node][colour]
            self.used[node] &= ~(1 << colour)


def _lowest(colours: int) -> int:
    """Lowest colour of a set of bits."""
    return (colours & -colours).bit_length() - 1

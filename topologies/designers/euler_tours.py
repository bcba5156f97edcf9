"""Tours along Euler circuits of a connected multigraph of even degrees."""

from functools import lru_cache

import numpy as np

from topologies.arrays import IntArray
from topologies.compiled_designs import takes_compiled

EULER_CIRCUITS = 24
"""Euler circuits that are walked."""


def euler_tours(edges: IntArray, nodes: int, counts: tuple[int, ...]) -> IntArray:
    """Tours that visit nodes in the order in which Euler circuits reach them first.

    Parameters
    ----------
    edges : ndarray of int, shape (edges, 2)
        Of a connected multigraph in which all degrees are even.
    nodes : int
    counts : tuple of int
        Numbers of edges of the graphs before, then of this one: the random numbers go on from graph to graph.

    Returns
    -------
    ndarray of int, shape (EULER_CIRCUITS, nodes)
        The first circuit takes the edges as they are, from node 0 on, the others in random orders, from random nodes
        on.

    Notes
    -----
    Hierholzer (1873): O(edges) for each circuit.
    """
    orders, starts = _drawn(nodes, counts)
    if takes_compiled(nodes):
        from topologies.designers.compiled.euler_circuit import circuit_tours

        count = len(edges)
        tours = np.empty((EULER_CIRCUITS, nodes), dtype=np.int64)
        sizes = (nodes, 2 * count, count, count + 1)
        circuit_tours(edges, orders, starts, tours, *(np.empty(size, dtype=np.int64) for size in sizes))
        return tours
    walks = (
        _circuit(edges[order].tolist(), nodes, start) for order, start in zip(orders, starts, strict=True)
    )
    return np.array([list(dict.fromkeys(walk)) for walk in walks])


@lru_cache(maxsize=16)
def _drawn(nodes: int, counts: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    """The order of the edges of each circuit, and where it starts: kept, as many tours are made on one network."""
    rng = np.random.default_rng(0)
    starts = np.zeros(EULER_CIRCUITS, dtype=np.int64)
    for count in counts:
        orders = np.tile(np.arange(count), (EULER_CIRCUITS, 1))
        for circuit in range(1, EULER_CIRCUITS):
            orders[circuit], starts[circuit] = rng.permutation(count), rng.integers(nodes)
    return orders, starts


def _circuit(edges: list[tuple[int, int]], nodes: int, start: int) -> list[int]:
    """Nodes along a closed walk over all edges."""
    beside: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for number, (a, b) in enumerate(edges):
        beside[a].append((number, b))
        beside[b].append((number, a))
    walked = [False] * len(edges)
    stack, walk = [start], []
    while stack:
        left = beside[stack[-1]]
        while left and walked[left[-1][0]]:
            left.pop()
        if left:
            number, node = left.pop()
            walked[number] = True
            stack.append(node)
        else:
            walk.append(stack.pop())
    return walk

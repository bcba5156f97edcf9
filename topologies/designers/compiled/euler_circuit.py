"""Euler circuits of a connected multigraph of even degrees (Hierholzer 1873), and the tours along them."""

from topologies.arrays import IntArray
from topologies.jit import compiled


@compiled
def circuit_tours(
    edges: IntArray,
    order: IntArray,
    start: IntArray,
    tour: IntArray,
    last: IntArray,
    before: IntArray,
    walked: IntArray,
    stack: IntArray,
) -> None:
    """Tours that visit nodes in the order in which Euler circuits reach them first.

    Parameters
    ----------
    edges : ndarray of int, shape (edges, 2)
    order : ndarray of int, shape (circuits, edges)
        The order in which each circuit takes the edges of a node: the last one first.
    start : ndarray of int, shape (circuits,)
        The node that each starts from.
    tour : ndarray of int, shape (circuits, nodes)
        Filled in.
    last, before, walked, stack : ndarray of int, shapes (nodes,), (2 * edges,), (edges,) and (edges + 1,)
        Buffers.
    """
    for circuit in range(len(order)):
        for node in range(len(last)):
            last[node] = -1
        # Half-edge 2 k leads along edge k from its first end, 2 k + 1 back.
        for number in range(len(edges)):
            edge = order[circuit, number]
            walked[edge] = 0
            for side in range(2):
                node = edges[edge, side]
                before[2 * edge + side] = last[node]
                last[node] = 2 * edge + side
        size, found = 1, 0
        stack[0] = start[circuit]
        while size:
            node = stack[size - 1]
            while last[node] >= 0 and walked[last[node] // 2]:
                last[node] = before[last[node]]
            if last[node] >= 0:
                half = last[node]
                walked[half // 2] = 1
                stack[size] = edges[half // 2, 1 - half % 2]
                size += 1
            else:
                size -= 1
                if last[node] == -1:
                    last[node] = -2
                    tour[circuit, found] = node
                    found += 1

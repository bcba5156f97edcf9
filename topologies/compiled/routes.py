"""Shortest routes from the lengths of them, and the smallest capacity on each."""

from topologies.arrays import FloatArray, IntArray
from topologies.jit import compiled


@compiled
def trace_routes(
    shortest: FloatArray,
    first: IntArray,
    head: IntArray,
    direction: IntArray,
    cost: FloatArray,
    length_km: FloatArray,
    tie: float,
    queue: IntArray,
    distance: FloatArray,
    hops: IntArray,
    parent: IntArray,
    parent_link: IntArray,
) -> None:
    """Fill in the rows of `topologies.routing.shortest_routes`, of which ``hops`` begin with -1 everywhere.

    A breadth-first search from each router along tight arcs takes routers in the lexicographic order of their routes,
    as arcs are sorted by head. Those of router `v` begin at ``first[v]``; `queue` is a buffer of all routers.
    """
    routers = len(shortest)
    for source in range(routers):
        queue[0], count, place = source, 1, 0
        hops[source, source] = 0
        while place < count:
            tail = queue[place]
            place += 1
            for arc in range(first[tail], first[tail + 1]):
                node = head[arc]
                if hops[source, node] >= 0:
                    continue
                if shortest[source, tail] + cost[arc] <= shortest[source, node] * (1 + tie):
                    hops[source, node] = hops[source, tail] + 1
                    parent[source, node] = tail
                    parent_link[source, node] = direction[arc]
                    distance[source, node] = distance[source, tail] + length_km[arc]
                    queue[count] = node
                    count += 1


@compiled
def smallest_capacities(
    parent: IntArray, parent_link: IntArray, core_bps: FloatArray, stack: IntArray, smallest: FloatArray
) -> None:
    """Fill in the smallest capacity on the way from the root of each row's tree; `stack` is a buffer of all routers."""
    routers = len(parent)
    for row in range(routers):
        for node in range(routers):
            smallest[row, node] = -1.0 if parent[row, node] >= 0 else float("inf")
        for node in range(routers):
            place, above = 0, node
            while smallest[row, above] < 0:
                stack[place] = above
                place += 1
                above = parent[row, above]
            while place:
                place -= 1
                below = stack[place]
                smallest[row, below] = min(smallest[row, above], core_bps[parent_link[row, below] // 2])
                above = below

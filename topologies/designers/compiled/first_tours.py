"""First tours for a local search: nearest neighbours, and greedy edges joined to a tour."""

from math import inf

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.jit import compiled


@compiled
def nearest_neighbours(cost: FloatArray, tour: IntArray, left: BoolArray) -> None:
    """Fill in the tour from its first node on: the nearest node that is left, of equal ones the first.

    Where no arc leads on, the first node that is left comes next.
    """
    for k in range(len(tour)):
        left[k] = True
    left[tour[0]] = False
    for place in range(1, len(tour)):
        last, new = tour[place - 1], -1
        for node in range(len(tour)):
            if left[node] and (new < 0 or cost[last, node] < cost[last, new]):
                new = node
        tour[place] = new
        left[new] = False


@compiled
def greedy_edges(
    cost: FloatArray, source: IntArray, target: IntArray, tour: IntArray, after: IntArray, before: IntArray,
    end: IntArray,
) -> None:  # fmt: skip
    """Take arcs, cheapest first, that form paths, then join the paths: from the end of one to the nearest begin."""
    nodes = len(tour)
    for node in range(nodes):
        after[node] = before[node] = -1
        end[node] = node  # the other end of the path that a node is an end of
    for arc in range(len(source)):
        i, j = source[arc], target[arc]
        if after[i] < 0 and before[j] < 0 and end[i] != j:
            after[i], before[j] = j, i
            begin, last = end[i], end[j]
            end[begin], end[last] = last, begin
    size = 0
    while size < nodes:
        new, least = -1, inf
        for head in range(nodes):
            if before[head] == -1 and (new < 0 or (size > 0 and cost[tour[size - 1], head] < least)):
                new = head
                least = cost[tour[size - 1], head] if size else inf
        before[new] = nodes
        while new >= 0:
            tour[size] = new
            size += 1
            new = after[new]

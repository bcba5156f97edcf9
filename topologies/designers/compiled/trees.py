"""Spanning trees: Prim's algorithm without and with bounds on degrees, paths in their cubes, and their cycle time."""

from math import inf

from topologies.arrays import FloatArray, IntArray
from topologies.jit import compiled


@compiled
def lightest_tree(
    weights: FloatArray, edges: IntArray, nearest: IntArray, cost: FloatArray, tie: IntArray
) -> None:
    """Fill in the edges of `topologies.designers.trees.prim`; `nearest`, `cost` and `tie` are buffers of all nodes."""
    nodes = len(weights)
    for node in range(nodes):
        nearest[node], cost[node], tie[node] = 0, weights[0, node], node
    for place in range(nodes - 1):
        new = 0
        for node in range(1, nodes):
            if tie[node] >= 0 and (
                not new or cost[node] < cost[new] or (cost[node] == cost[new] and tie[node] < tie[new])
            ):
                new = node
        edges[place, 0], edges[place, 1] = nearest[new], new
        tie[new] = -1  # in the tree
        for node in range(1, nodes):
            weight, rank = weights[new, node], min(new, node) * nodes + max(new, node)
            if tie[node] >= 0 and (weight < cost[node] or (weight == cost[node] and rank < tie[node])):
                nearest[node], cost[node], tie[node] = new, weight, rank


@compiled
def bounded_tree(
    weights: FloatArray,
    delta: int,
    by_degree: bool,
    most: IntArray,
    edges: IntArray,
    cost: FloatArray,
    priority: IntArray,
    degree: IntArray,
) -> bool:
    """Fill in the edges of `topologies.designers.mbst.delta_prim` from node ``edges[0, 0]`` on; whether it is a tree.

    `cost`, `priority` and `degree` are buffers of all nodes. `cost` is a lower bound, infinite for nodes of the tree;
    `priority` is negative outside, and for nodes of the tree age or degree, then the index.
    """
    nodes, root = len(weights), edges[0, 0]
    for node in range(nodes):
        priority[node], degree[node], cost[node] = -1, 0, weights[root, node]
    priority[root], cost[root] = root, inf
    size = 0
    while size < nodes - 1:
        new = 0
        for node in range(nodes):
            if cost[node] < cost[new]:
                new = node
        lightest = cost[new]
        if lightest == inf:
            return False
        offer = inf
        for node in range(nodes):
            if priority[node] >= 0 and degree[node] < delta:
                offer = min(offer, weights[new, node])
        if offer > lightest:
            cost[new] = offer
            continue
        old = -1
        for other in range(nodes):
            if cost[other] != lightest:
                continue
            for node in range(nodes):
                if (
                    priority[node] >= 0
                    and degree[node] < delta
                    and weights[node, other] == lightest
                    and (old < 0 or priority[node] < priority[old])
                ):
                    old, new = node, other
        edges[size, 0], edges[size, 1] = old, new
        size += 1
        degree[old] += 1
        degree[new] += 1
        if degree[old] > most[old] or degree[new] > most[new]:
            return False
        priority[new] = new + nodes * (1 if by_degree else size)
        if by_degree:
            priority[old] += nodes
        cost[new] = inf
        for node in range(nodes):
            if priority[node] < 0:
                cost[node] = min(cost[node], weights[new, node])
    return True


@compiled
def slowest_edge(
    edges: IntArray,
    leaving_s: FloatArray,
    backward_s: FloatArray,
    latency_s: FloatArray,
    up_bps: FloatArray,
    down_bps: FloatArray,
    between_bps: FloatArray,
    model_bits: float,
    degree: IntArray,
) -> float:
    """Largest mean of the two delays of an edge, Eq. 3, of a tree used in both directions; `degree` is a buffer."""
    for silo in range(len(degree)):
        degree[silo] = 0
    for place in range(len(edges)):
        degree[edges[place, 0]] += 1
        degree[edges[place, 1]] += 1
    slowest_s = -inf
    for place in range(len(edges)):
        both_s = 0.0
        for side in range(2):
            i, j = edges[place, side], edges[place, 1 - side]
            rate_bps = min(up_bps[i] / degree[i], down_bps[j] / degree[j], between_bps[i, j])
            sending_s = model_bits / rate_bps if rate_bps > 0 else inf
            both_s += leaving_s[i] + latency_s[i, j] + max(sending_s, backward_s[i])
        slowest_s = max(slowest_s, both_s / 2)
    return slowest_s


@compiled
def paths_in_cube(
    edges: IntArray, paths: IntArray, first: IntArray, beside: IntArray, found: IntArray, stack: IntArray
) -> bool:
    """Fill in a path of `topologies.designers.cube_path.cube_paths` from ``path[0]`` on; whether all have every node.

    `first`, `beside`, `found` and `stack` are buffers of ``nodes + 1``, ``2 * edges``, `nodes` and ``2 * nodes``.
    """
    nodes = len(found)
    for node in range(nodes + 1):
        first[node] = 0
    for place in range(len(edges)):
        for side in range(2):
            first[edges[place, side]] += 1
    for node in range(nodes):
        first[node + 1] += first[node]
    # Backwards, so that a node's neighbours are in the order of the edges, and `first` is where they begin.
    for place in range(len(edges) - 1, -1, -1):
        for side in range(1, -1, -1):
            node = edges[place, side]
            first[node] -= 1
            beside[first[node]] = edges[place, 1 - side]
    for row in range(len(paths)):
        for node in range(nodes):
            found[node] = 0
        size, count = 1, 0
        # A node with two bits: whether its depth is even, and whether all below it is done.
        stack[0] = 4 * paths[row, 0] + 2
        found[paths[row, 0]] = 1
        while size:
            size -= 1
            node, even, is_done = stack[size] >> 2, stack[size] & 2, stack[size] & 1
            if even or is_done:
                paths[row, count] = node
                count += 1
            else:
                stack[size] = 4 * node + 1
                size += 1
            if not is_done:
                for place in range(first[node], first[node + 1]):
                    child = beside[place]
                    if not found[child]:
                        found[child] = 1
                        stack[size] = 4 * child + 2 - even
                        size += 1
        if count < nodes:
            return False
    return True

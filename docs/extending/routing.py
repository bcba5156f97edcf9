"""Two routings for ``connectivity(..., routing=...)``: the usual cost of OSPF, and equal-cost multipath."""

from itertools import pairwise, permutations

import networkx as nx
import numpy as np

from topologies.explicit_routes import explicit_routes
from topologies.routing import shortest_routes


def inverse_capacity(underlay, core_bps):
    """Routes of the smallest sum of inverse capacities; `shortest_routes` avoids links that are down, of capacity 0."""
    is_up = core_bps > 0
    return shortest_routes(underlay, core_bps, weight=np.where(is_up, 1e9 / np.where(is_up, core_bps, 1), 0))


def equal_cost_multipath(underlay, core_bps):
    """Of the routes of fewest links a pair of routers takes one by its numbers, so that pairs spread over all."""
    graph, direction = nx.Graph(), {}
    for link, (a, b) in enumerate(underlay.ends.tolist()):
        if (a, b) not in direction or core_bps[link] > core_bps[direction[a, b] // 2]:
            direction[a, b], direction[b, a] = 2 * link, 2 * link + 1
            graph.add_edge(a, b, cost=1 if core_bps[link] > 0 else underlay.routers)

    def routes():
        for source, target in permutations(range(underlay.routers), 2):
            paths = sorted(nx.all_shortest_paths(graph, source, target, weight="cost"))
            path = paths[(source + target) % len(paths)]
            yield source, target, [direction[hop] for hop in pairwise(path)]

    return explicit_routes(underlay, routes())

"""Spanning trees as overlays, each edge used in both directions."""

import numpy as np

from topologies.arrays import FloatArray
from topologies.connectivity import Connectivity
from topologies.delays import pair_delays
from topologies.digraph import check_connected
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload


def symmetric_delays(graph: Connectivity, work: Workload) -> FloatArray:
    """Mean of the two directions' delays of each silo pair, with one neighbour each, shape (silos, silos).

    Notes
    -----
    The weights ``(d(i, j) + d(j, i)) / 2`` of the paper's propositions 3.1 and 3.3, with the access links that
    Eq. 3 gives a silo of degree 1. Infinite where either cannot send to the other.
    """
    delay = pair_delays(graph, work)
    return (delay + delay.T) / 2


def require_connected(kind: str, graph: Connectivity, weights: FloatArray) -> FloatArray:
    """The weights, if their finite entries connect all silos.

    Raises
    ------
    InputError
        Otherwise: it names one silo on each side of the cut.
    """
    rule = f"{kind}: the pairs that can talk both ways must connect all silos"
    check_connected(rule, graph.labels, *np.nonzero(np.isfinite(weights)), strong=False)
    return weights


def prim(weights: FloatArray) -> list[tuple[int, int]]:
    """Edges of a minimum spanning tree of a complete graph, in the order in which Prim's algorithm adds them.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
        Symmetric; infinite where there is no edge.

    Returns
    -------
    list of (int, int)
        The parent comes first. Equal weights are ordered by the lower, then the higher node of the edge, so the tree
        is unique: the one that Kruskal's algorithm with a stable sort of the node pairs finds, as in the published
        tables.

    Notes
    -----
    Time O(n^2), which no algorithm beats on a complete graph.
    """
    nodes = len(weights)
    index = np.arange(nodes)
    rank = np.minimum.outer(index, index) * nodes + np.maximum.outer(index, index)
    nearest = np.zeros(nodes, dtype=np.int64)
    cost, tie = weights[0].copy(), rank[0].copy()
    outside = index > 0
    edges = []
    for _ in range(nodes - 1):
        cheapest = outside & (cost == cost[outside].min())
        new = int(np.argmin(np.where(cheapest, tie, rank.size)))
        edges.append((int(nearest[new]), new))
        outside[new] = False
        closer = outside & ((weights[new] < cost) | ((weights[new] == cost) & (rank[new] < tie)))
        nearest[closer] = new
        cost[closer], tie[closer] = weights[new][closer], rank[new][closer]
    return edges


def mst(graph: Connectivity, work: Workload) -> Overlay:
    """Minimum spanning tree of the symmetric delays: the optimal undirected overlay of fast access links.

    Parameters
    ----------
    graph : Connectivity
    work : Workload

    Returns
    -------
    Overlay

    Notes
    -----
    Source: proposition 3.1 of the paper. Its cycle time is the largest delay of its edges.
    """
    edges = prim(require_connected("mst", graph, symmetric_delays(graph, work)))
    return both_ways("mst", graph, work, edges)


def both_ways(kind: str, graph: Connectivity, work: Workload, edges: list[tuple[int, int]]) -> Overlay:
    """Overlay whose silos talk along edges in both directions."""
    return build_overlay(kind, graph, work, edges + [(j, i) for i, j in edges])

"""Spanning trees as overlays, each edge used in both directions."""

import numpy as np

from topologies.arrays import FloatArray
from topologies.connectivity import Connectivity
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload


def symmetric_delays(graph: Connectivity, work: Workload) -> FloatArray:
    """Mean of the two directions' delays of each silo pair, with one neighbour each, shape (silos, silos).

    Notes
    -----
    The weights ``(d(i, j) + d(j, i)) / 2`` of the paper's propositions 3.1 and 3.3, with the access links that
    Eq. 3 gives a silo of degree 1.
    """
    rate = np.minimum(np.minimum.outer(graph.up_bps, graph.down_bps), graph.available_bps)
    delay = work.round_compute_s(graph.silos)[:, np.newaxis] + graph.latency_s + work.model_bits / rate
    return (delay + delay.T) / 2


def prim(weights: FloatArray) -> list[tuple[int, int]]:
    """Edges of a minimum spanning tree of a complete graph, in the order in which Prim's algorithm adds them.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
        Symmetric.

    Returns
    -------
    list of (int, int)
        The parent comes first. The tree grows from node 0; ties go to the lowest index, so it is unique.

    Notes
    -----
    Time O(n^2), which no algorithm beats on a complete graph.
    """
    nodes = len(weights)
    nearest = np.zeros(nodes, dtype=np.int64)
    cost = weights[0].copy()
    cost[0] = np.inf
    outside = np.ones(nodes, dtype=bool)
    outside[0] = False
    edges = []
    for _ in range(nodes - 1):
        new = int(np.argmin(cost))
        edges.append((int(nearest[new]), new))
        outside[new] = False
        cost[new] = np.inf
        closer = outside & (weights[new] < cost)
        nearest[closer] = new
        cost[closer] = weights[new][closer]
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
    edges = prim(symmetric_delays(graph, work))
    return build_overlay("mst", graph, work, edges + [(j, i) for i, j in edges])

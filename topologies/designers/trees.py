"""Spanning trees as overlays, each edge used in both directions."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from topologies.arrays import FloatArray
from topologies.connectivity import Connectivity
from topologies.errors import InputError
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload


def symmetric_delays(graph: Connectivity, work: Workload) -> FloatArray:
    """Mean of the two directions' delays of each silo pair, with one neighbour each, shape (silos, silos).

    Notes
    -----
    The weights ``(d(i, j) + d(j, i)) / 2`` of the paper's propositions 3.1 and 3.3, with the access links that
    Eq. 3 gives a silo of degree 1. Infinite where either cannot send to the other.
    """
    delay = single_arc_delays(graph, work)
    return (delay + delay.T) / 2


def single_arc_delays(graph: Connectivity, work: Workload) -> FloatArray:
    """Delay `d(i, j)` of each arc when `i` sends to no other and `j` hears no other, shape (silos, silos).

    Notes
    -----
    Eq. 3 with both degrees 1; infinite where `i` cannot send to `j`, the silo's own computing time on the diagonal.
    """
    rate = np.minimum(np.minimum.outer(graph.up_bps, graph.down_bps), graph.available_bps)
    compute_s = work.round_compute_s(graph.silos)
    delay = np.full(rate.shape, np.inf)
    np.divide(work.model_bits, rate, out=delay, where=rate > 0)
    delay += compute_s[:, np.newaxis] + graph.latency_s
    np.fill_diagonal(delay, compute_s)
    return delay


def require_connected(kind: str, graph: Connectivity, weights: FloatArray) -> FloatArray:
    """The weights, if their finite entries connect all silos.

    Raises
    ------
    InputError
        Otherwise: it names one silo on each side of the cut.
    """
    parts, part = connected_components(csr_array(np.isfinite(weights)), directed=False)
    if parts > 1:
        other = graph.labels[int(np.argmax(part != part[0]))]
        raise InputError(
            f"{kind}: no overlay exists, since no pair that can talk both ways joins the silos of {graph.labels[0]} "
            f"with those of {other}."
        )
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
    return build_overlay("mst", graph, work, edges + [(j, i) for i, j in edges])

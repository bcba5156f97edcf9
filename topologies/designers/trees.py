"""Spanning trees as overlays, each edge used in both directions."""

import numpy as np

from topologies.arrays import FloatArray
from topologies.connectivity import Connectivity
from topologies.delays import arc_delays, pair_delays
from topologies.designers.tie_orders import tie_orders
from topologies.digraph import check_connected
from topologies.label_order import by_label
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


def tree_cycle_time(graph: Connectivity, work: Workload, edges: list[tuple[int, int]]) -> float:
    """Cycle time of a tree whose edges are used in both directions, in seconds, by Eq. 3.

    Parameters
    ----------
    edges : list of (int, int)
        Edges of a tree on the silos.

    Returns
    -------
    float
        Infinite where a silo cannot send along an edge.

    Notes
    -----
    The larger of the longest computing time and the largest mean of an edge's two delays. Proof: a circuit that
    visits no silo twice and leaves `i` for another silo must come back over the edge that it left by, since a tree
    has no other way: so it is `i, j, i`. The others are the self-loops. Time O(silos), against the general policy
    iteration of `cycle_time`.
    """
    compute_s = work.round_compute_s(graph.silos)
    if not edges:
        return float(compute_s.max())
    ends = np.array(edges, dtype=np.int64)
    source, target = np.concatenate((ends, ends[:, ::-1])).T
    delay_s = arc_delays(graph, work, source, target)
    return float(max(compute_s.max(), ((delay_s[: len(ends)] + delay_s[len(ends) :]) / 2).max()))


def minimum_trees(weights: FloatArray) -> list[list[tuple[int, int]]]:
    """Minimum spanning trees by several orders of equal weights, see `prim`; the first in the order of the nodes."""
    return [
        [(int(order[i]), int(order[j])) for i, j in prim(weights[np.ix_(order, order)])]
        for order in tie_orders(len(weights))
    ]


@by_label
def mst(graph: Connectivity, work: Workload) -> Overlay:
    """Minimum spanning tree of the symmetric delays: the optimal undirected overlay of fast access links.

    Notes
    -----
    Source: proposition 3.1 of the paper. Its cycle time is the largest delay of its edges. Equal weights leave several
    minimum trees, whose degrees differ: of those by several orders of ties, the one with the smallest cycle time. On an
    underlay of ``variant="published"``, which stands for the paper's tables, it is the tree of the published order.
    """
    trees = minimum_trees(require_connected("mst", graph, symmetric_delays(graph, work)))
    if graph.underlay.variant == "published":
        trees = trees[:1]
    edges = min(trees, key=lambda tree: tree_cycle_time(graph, work, tree))
    return both_ways("mst", graph, work, edges)


def both_ways(kind: str, graph: Connectivity, work: Workload, edges: list[tuple[int, int]]) -> Overlay:
    """Overlay whose silos talk along edges in both directions."""
    return build_overlay(kind, graph, work, edges + [(j, i) for i, j in edges])

"""Spanning trees as overlays, each edge used in both directions."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.compiled_designs import takes_compiled
from topologies.connectivity import Connectivity
from topologies.delays import arc_delays, leaving, pair_delays
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
    finite = np.isfinite(weights)
    if not finite.all():
        rule = f"{kind}: the pairs that can talk both ways must connect all silos"
        check_connected(rule, graph.labels, *np.nonzero(finite), strong=False)
    return weights


def prim(weights: FloatArray) -> IntArray:
    """Edges of a minimum spanning tree of a complete graph, in the order in which Prim's algorithm adds them.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
        Symmetric; infinite where there is no edge.

    Returns
    -------
    ndarray of int, shape (n - 1, 2)
        The parent comes first. Equal weights are ordered by the lower, then the higher node of the edge, so the tree
        is unique: the one that Kruskal's algorithm with a stable sort of the node pairs finds, as in the published
        tables.

    Notes
    -----
    Time O(n^2), which no algorithm beats on a complete graph.
    """
    nodes = len(weights)
    edges = np.empty((nodes - 1, 2), dtype=np.int64)
    if takes_compiled(nodes):
        from topologies.designers.compiled.trees import lightest_tree

        nearest, tie = np.empty((2, nodes), dtype=np.int64)
        lightest_tree(np.array(weights, order="C"), edges, nearest, np.empty(nodes), tie)
        return edges
    index = np.arange(nodes)
    rank = np.minimum.outer(index, index) * nodes + np.maximum.outer(index, index)
    nearest = np.zeros(nodes, dtype=np.int64)
    cost, tie = weights[0].copy(), rank[0].copy()
    outside = index > 0
    for place in range(nodes - 1):
        cheapest = outside & (cost == cost[outside].min())
        new = int(np.argmin(np.where(cheapest, tie, rank.size)))
        edges[place] = nearest[new], new
        outside[new] = False
        closer = outside & ((weights[new] < cost) | ((weights[new] == cost) & (rank[new] < tie)))
        nearest[closer] = new
        cost[closer], tie[closer] = weights[new][closer], rank[new][closer]
    return edges


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TreeTimes:
    """Cycle times of trees whose edges are used in both directions, by Eq. 3.

    Attributes
    ----------
    graph : Connectivity
    work : Workload
    longest_s : float
        The longest computing time of a round.
    compiled_inputs : tuple of ndarray
        What the compiled code takes of the two beside `work.model_bits`: from when on models leave, the backward passes
        in which they do, latencies, uplinks, downlinks and available bandwidths.

    Notes
    -----
    The larger of the longest computing time and the largest mean of an edge's two delays. Proof: a circuit that
    visits no silo twice and leaves `i` for another silo must come back over the edge that it left by, since a tree
    has no other way: so it is `i, j, i`. The others are the self-loops. Time O(silos), against the general policy
    iteration of `cycle_time`.
    """

    graph: Connectivity
    work: Workload
    longest_s: float
    compiled_inputs: tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]

    @classmethod
    def of(cls, graph: Connectivity, work: Workload) -> Self:
        """Those on a network with a workload."""
        compute_s = work.round_compute_s(graph.silos)
        # Copies can be written and lie row by row: compiled code has one version for each kind of array.
        latency_s, up_bps, down_bps, between_bps = (
            np.array(values, order="C")
            for values in (graph.latency_s, graph.up_bps, graph.down_bps, graph.between_bps)
        )
        return cls(
            graph=graph,
            work=work,
            longest_s=float(compute_s.max()),
            compiled_inputs=(
                leaving(compute_s, work.backward_share),
                work.backward_share * compute_s,
                latency_s,
                up_bps,
                down_bps,
                between_bps,
            ),
        )

    def __call__(self, edges: IntArray) -> float:
        """Cycle time of a tree in seconds; infinite where a silo cannot send along an edge."""
        if not len(edges):
            return self.longest_s
        silos = self.graph.silos
        if takes_compiled(silos) and self.graph.slow_start is None:
            from topologies.designers.compiled.trees import slowest_edge

            slowest_s = slowest_edge(
                edges, *self.compiled_inputs, float(self.work.model_bits), np.empty(silos, dtype=np.int64)
            )
            return max(self.longest_s, slowest_s)
        i, j = np.concatenate((edges, edges[:, ::-1])).T
        delay_s = arc_delays(self.graph, self.work, i, j)
        return max(self.longest_s, float(((delay_s[: len(edges)] + delay_s[len(edges) :]) / 2).max()))


def minimum_trees(weights: FloatArray) -> list[IntArray]:
    """Minimum spanning trees by several orders of equal weights, see `prim`; the first in the order of the nodes."""
    return [order[prim(weights[np.ix_(order, order)])] for order in tie_orders(len(weights))]


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
    return both_ways("mst", graph, work, min(trees, key=TreeTimes.of(graph, work)))


def both_ways(kind: str, graph: Connectivity, work: Workload, edges: IntArray) -> Overlay:
    """Overlay whose silos talk along edges, shape (edges, 2), in both directions."""
    return build_overlay(kind, graph, work, np.concatenate((edges, edges[:, ::-1])))

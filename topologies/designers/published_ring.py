"""The ring of the published tables, tie by tie."""

import itertools

import networkx as nx
import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.connectivity import Connectivity
from topologies.errors import InputError
from topologies.label_order import silo_order
from topologies.workload import Workload

_MS_PER_KM, _MS_PER_PATH = 0.0085, 4.0


def published_ring(graph: Connectivity, work: Workload) -> tuple[IntArray, IntArray, FloatArray]:
    """Directed ring that the public code of the published tables finds.

    Parameters
    ----------
    graph : Connectivity
        One silo at each router of an underlay of ``variant="published"``, with equal access links.
    work : Workload
        With one computing time for all silos.

    Returns
    -------
    source, target : ndarray of int, shape (silos,)
        Sorted by source.
    delay_s : ndarray, shape (silos,)
        Of each arc, Eq. 3 with degrees 1, in seconds, on the published code's routes: of equally long ones it may take
        another than `topologies.routing` does, which then has more or fewer links (19 ms on one arc of Ebone's ring
        with Sentiment140).

    Raises
    ------
    InputError
        If the network or the workload is another.

    Notes
    -----
    Christofides' algorithm with Prim's tree from the first silo of the published file and networkx' matching and Euler
    circuit, as in the code of the multigraph's and the RING's tables. Many links of these networks have equal lengths,
    so that ties decide, and some of them only by the rounding of delays in milliseconds, which is repeated here. What
    is left open is the order in which the matched edges join the tree, and with it the circuit. Of the 20 RINGs of
    Marfoq et al. (NeurIPS 2020) 19 come out, all but GEANT with 5 local steps (208.3, published 210.6 ms); of the 15 in
    the multigraph's table (ICCV 2023) 13, all but GEANT with FEMNIST (28.0, published 27.7 ms) and Exodus with
    Sentiment140 (50.9, published 50.6 ms). Time O(silos^3).
    """
    order = silo_order(graph)
    weights = _weights_ms(graph, work, order)
    silos = len(weights)
    tour = order[_tour(weights)]
    target = np.empty(silos, dtype=np.int64)
    target[tour] = np.roll(tour, -1)
    place = np.argsort(order)
    return np.arange(silos), target, weights[place, place[target]] * 1e-3


def _weights_ms(graph: Connectivity, work: Workload, order: IntArray) -> FloatArray:
    """Delays with degree 1 in milliseconds, rounded as in the published code, of the silos in this order."""
    underlay = graph.underlay
    capacities_bps = np.unique(np.concatenate((graph.up_bps, graph.down_bps)))
    one_each = len(np.unique(graph.router)) == underlay.routers == graph.silos
    if underlay.variant != "published" or not one_each:
        raise InputError(
            "the published ring needs an underlay of published inputs with one silo at each router."
        )
    is_uneven = np.ndim(work.compute_s) or np.ndim(work.local_steps)
    if is_uneven or len(capacities_bps) > 1 or len(np.unique(graph.core_bps)) > 1:
        raise InputError("the published ring needs equal computing times, access links and core links.")
    place = np.empty(underlay.routers, dtype=np.int64)
    place[graph.router[order]] = np.arange(graph.silos)
    links: nx.Graph[int] = nx.Graph()
    links.add_nodes_from(range(graph.silos))
    ends = np.sort(place[underlay.ends], axis=1)
    for link in np.lexsort((ends[:, 1], ends[:, 0])).tolist():
        links.add_edge(*ends[link].tolist(), km=float(underlay.length_km[link]))
    compute_ms = float(work.round_compute_s(1)[0]) * 1e3
    access_ms = work.model_bits / float(capacities_bps[0]) * 1e3
    core_bits_per_ms = float(graph.core_bps[0]) * 1e-3
    weights = np.zeros((graph.silos, graph.silos))
    for i, (_, paths) in nx.all_pairs_dijkstra(links, weight="km"):
        for j, path in paths.items():
            if i == j:
                continue
            km = 0.0
            for a, b in itertools.pairwise(path):
                km += links.edges[a, b]["km"]
            latency_ms = _MS_PER_KM * km + _MS_PER_PATH
            core_ms = work.model_bits / (core_bits_per_ms / (len(path) - 1))
            weights[i, j] = weights[j, i] = compute_ms + latency_ms + max(access_ms, core_ms)
    return weights


def _tour(weights: FloatArray) -> IntArray:
    """Every node once, from node 0 on."""
    nodes = len(weights)
    if nodes == 1:
        return np.zeros(1, dtype=np.int64)
    edges: nx.MultiGraph[int] = nx.MultiGraph()
    edges.add_nodes_from(range(nodes))
    edges.add_edges_from(sorted(_tree(weights)))
    odd = [node for node in range(nodes) if edges.degree(node) % 2]
    matched = nx.max_weight_matching(nx.from_numpy_array(-weights[np.ix_(odd, odd)]), maxcardinality=True)
    edges.add_edges_from((odd[a], odd[b]) for a, b in matched)
    circuit = nx.eulerian_circuit(edges, source=0)
    return np.array(list(dict.fromkeys(itertools.chain.from_iterable(circuit))), dtype=np.int64)


def _tree(weights: FloatArray) -> list[tuple[int, int]]:
    """Prim's tree from node 0: of equally light edges that of the node that came first, then to the lowest."""
    inside, outside, edges = [0], list(range(1, len(weights))), []
    while outside:
        lightest = int(np.argmin(weights[np.ix_(inside, outside)]))
        near, new = inside[lightest // len(outside)], outside[lightest % len(outside)]
        edges.append((min(near, new), max(near, new)))
        inside.append(new)
        outside.remove(new)
    return edges

"""The STAR: every silo sends to a hub, which averages and sends back."""

from typing import cast

import networkx as nx
import numpy as np

from topologies.connectivity import S_PER_KM, S_PER_PATH, Connectivity
from topologies.consensus import uniform
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload


def star(graph: Connectivity, work: Workload) -> Overlay:
    """STAR around the most central silo.

    Parameters
    ----------
    graph : Connectivity
    work : Workload

    Returns
    -------
    Overlay
        One round is up to the hub plus down from it; the hub's own model takes part without the network.

    Notes
    -----
    The hub has the highest load centrality on the underlay, with latency as weight; ties go to the silo with the
    lowest mean latency to the others, then to the lowest index. The published tables took the load centrality on
    the connectivity graph instead. That graph is complete and keeps the triangle inequality, so that no shortest
    path has an inner node, every centrality is 0, and the hub is the first silo of the file:
    ``variant="published"`` does so too.
    """
    hub = 0 if graph.underlay.variant == "published" else hub_by_load(graph)
    others = [silo for silo in range(graph.silos) if silo != hub]
    arcs = [(silo, hub) for silo in others] + [(hub, silo) for silo in others]
    return build_overlay("star", graph, work, arcs, hub=hub, consensus=uniform(graph.silos))


def hub_by_load(graph: Connectivity) -> int:
    """Silo with the highest load centrality on the underlay (Newman 2001; networkx), O(n m log n)."""
    links: nx.Graph[int] = nx.Graph()
    links.add_nodes_from(range(graph.underlay.routers))
    for (a, b), length_km in zip(
        graph.underlay.ends.tolist(), graph.underlay.length_km.tolist(), strict=True
    ):
        latency_s = S_PER_KM * length_km + S_PER_PATH
        if latency_s < links.get_edge_data(a, b, {"latency_s": np.inf})["latency_s"]:
            links.add_edge(a, b, latency_s=latency_s)
    load = cast(dict[int, float], nx.load_centrality(links, weight="latency_s"))
    mean_latency = graph.latency_s.mean(axis=1)
    # Rounding: centralities that differ by float noise are ties, which a stable rule must break.
    return min(
        range(graph.silos), key=lambda silo: (-round(load[silo], 9), round(mean_latency[silo], 12), silo)
    )

"""The directed RING of Christofides' algorithm."""

import networkx as nx
import numpy as np

from topologies.connectivity import Connectivity
from topologies.designers.trees import symmetric_delays
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload


def ring(graph: Connectivity, work: Workload) -> Overlay:
    """Directed ring along a short tour, in the direction with the smaller cycle time.

    Parameters
    ----------
    graph : Connectivity
    work : Workload

    Returns
    -------
    Overlay

    Notes
    -----
    Source: propositions 3.3 and 3.6 of the paper: within a factor 3 N of the optimum with Christofides'
    algorithm (networkx), which is O(n^3).
    """
    tour = christofides_tour(graph, work)
    if len(tour) == 1:
        return build_overlay("ring", graph, work, [])
    after = tour[1:] + tour[:1]
    forth = build_overlay("ring", graph, work, list(zip(tour, after, strict=True)))
    back = build_overlay("ring", graph, work, list(zip(after, tour, strict=True)))
    return min(forth, back, key=lambda overlay: overlay.closed_forms.paper_s)


def christofides_tour(graph: Connectivity, work: Workload) -> list[int]:
    """Every silo once, in the order of Christofides' tour on the symmetric delays."""
    if graph.silos < 3:
        return list(range(graph.silos))
    weights = symmetric_delays(graph, work)
    np.fill_diagonal(weights, 0.0)
    complete = nx.from_numpy_array(weights)
    # A zero weight is no edge to from_numpy_array, but two silos of one place are still neighbours.
    complete.add_edges_from(
        (i, j, {"weight": 0.0}) for i, j in zip(*np.nonzero(weights == 0), strict=True) if i < j
    )
    tour: list[int] = nx.approximation.christofides(complete)
    return [int(silo) for silo in tour[:-1]]

"""The paper's directed RING: Christofides' algorithm."""

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.connectivity import Connectivity
from topologies.delays import pair_delays
from topologies.designers.ring_search import no_ring, require_reach
from topologies.designers.tour import christofides_tours, published_tour, repaired, short_tour
from topologies.designers.trees import symmetric_delays
from topologies.label_order import by_label
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload

REPAIRED = 4
"""Tours, in each direction, that are repaired where arcs are missing."""


@by_label
def christofides(graph: Connectivity, work: Workload) -> Overlay:
    """Directed ring along Christofides' tour, in the direction with the smaller cycle time.

    Raises
    ------
    InputError
        If pairs that cannot talk leave no ring, or none is found; see `no_ring`.

    Notes
    -----
    Source: propositions 3.3 and 3.6 of the paper: within a factor 3 N of the optimum. O(n^3). Of the tours by several
    orders of ties, see `christofides_tours`, the one with the smallest cycle time; on an underlay of
    ``variant="published"``, which stands for the paper's tables, the tour of the published order. The designer ``ring``
    is another algorithm: its local search has a tour of Christofides' algorithm among its starts only where all pairs
    can talk and there are 10 to 60 silos.

    Where pairs cannot talk, the algorithm prices such a pair at the shortest way through other silos.
    Local search then changes the tour in each direction only where that takes a missing arc out of it. What is left
    is no longer within the factor; where missing arcs stay in both, the result is the tour of the designer ``ring``.
    """
    if graph.silos == 1:
        return build_overlay("christofides", graph, work, [])
    weights = symmetric_delays(graph, work)
    np.fill_diagonal(weights, 0.0)
    complete = bool(np.all(np.isfinite(weights)))
    if not complete:
        require_reach("christofides", graph)
        way = _around(pair_delays(graph, work))
        weights = np.where(np.isfinite(weights), weights, (way + way.T) / 2)
    published = graph.underlay.variant == "published"
    tours = published_tour(weights)[np.newaxis] if published else christofides_tours(weights)
    if complete:
        tours = np.concatenate((tours, tours[:, ::-1]), axis=1).reshape(-1, graph.silos)
    else:
        tours = _allowed(graph, work, tours[:REPAIRED])
    delay_s = pair_delays(graph, work)
    best = tours[np.argmin(delay_s[tours, np.roll(tours, -1, axis=1)].sum(axis=1))]
    return build_overlay("christofides", graph, work, np.column_stack((best, np.roll(best, -1))))


def _around(delay: FloatArray) -> FloatArray:
    """Delay of the shortest path between any two silos (Floyd, Warshall)."""
    way = delay.copy()
    np.fill_diagonal(way, 0.0)
    for middle in range(len(way)):
        way = np.minimum(way, way[:, [middle]] + way[middle])
    return way


def _allowed(graph: Connectivity, work: Workload, tours: IntArray) -> IntArray:
    """These tours, repaired where arcs are missing, shape (tours, silos)."""
    costs = pair_delays(graph, work) - work.round_compute_s(graph.silos)[:, np.newaxis]
    costs = np.maximum(costs, 0.0)
    starts = [order for tour in tours for order in (tour, tour[::-1])]
    found = [order for start in starts if (order := repaired(costs, start)) is not None]
    if found:
        return np.array(found)
    short = short_tour(costs)
    if short is None:
        raise no_ring("christofides", graph)
    return np.array([short])

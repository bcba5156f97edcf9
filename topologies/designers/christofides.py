"""The paper's directed RING: Christofides' algorithm."""

import numpy as np

from topologies.connectivity import Connectivity
from topologies.designers.tour import christofides_tour
from topologies.designers.trees import symmetric_delays
from topologies.errors import InputError
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload


def christofides(graph: Connectivity, work: Workload) -> Overlay:
    """Directed ring along Christofides' tour, in the direction with the smaller cycle time.

    Parameters
    ----------
    graph : Connectivity
    work : Workload

    Returns
    -------
    Overlay

    Raises
    ------
    InputError
        If a pair of silos cannot talk: the algorithm needs them all.

    Notes
    -----
    Source: propositions 3.3 and 3.6 of the paper: within a factor 3 N of the optimum. O(n^3). The designer ``ring``
    searches on from this tour.
    """
    weights = symmetric_delays(graph, work)
    np.fill_diagonal(weights, 0.0)
    if not np.all(np.isfinite(weights)):
        raise InputError(
            "christofides: every pair of silos must be able to talk; the designer 'ring' needs less."
        )
    tour = christofides_tour(weights)
    after = tour[1:] + tour[:1]
    if len(tour) == 1:
        return build_overlay("christofides", graph, work, [])
    forth = build_overlay("christofides", graph, work, zip(tour, after, strict=True))
    back = build_overlay("christofides", graph, work, zip(after, tour, strict=True))
    return min(forth, back, key=lambda overlay: overlay.closed_forms.paper_s)

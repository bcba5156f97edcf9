"""The directed RING along a short tour."""

import numpy as np

from topologies.connectivity import Connectivity
from topologies.delays import pair_delays
from topologies.designers.ring_search import no_ring, require_reach
from topologies.designers.tour import RESTARTS, SEED, short_tour
from topologies.errors import InputError
from topologies.label_order import by_label
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload


@by_label
def ring(
    graph: Connectivity,
    work: Workload,
    *,
    restarts: int = RESTARTS,
    seed: int = SEED,
    searches: int | None = None,
) -> Overlay:
    """Directed ring along a short tour on the true delays.

    Parameters
    ----------
    restarts : int
        Perturbations tried by the local search, at least 0.
    seed : int
        Seed of the perturbations, at least 0. The same numbers give the same ring.
    searches : int, optional
        Orders of the silos in which a tour is searched for, at least 1; see `short_tour`.

    Raises
    ------
    InputError
        If missing connections leave no ring, or none is found; it names the reason where one is known, see `no_ring`.
        If an option is out of its range.

    Notes
    -----
    Every silo sends and receives one model, so a ring's cycle time is the mean of Eq. 3's delays with degrees 1, or
    the longest computing time: the best ring is a shortest tour of an asymmetric travelling salesman problem. The
    paper uses Christofides' algorithm (propositions 3.3 and 3.6), the designer ``christofides``. This ring is optimal
    for at most 9 silos; for more it is what `short_tour` finds, which starts from Christofides' tour only where all
    pairs can talk and there are at most 60 silos. It is not proven to be as fast as that designer's.
    """
    for name, value, least in (("restarts", restarts, 0), ("seed", seed, 0), ("searches", searches, 1)):
        if value is not None and value < least:
            raise InputError(f"{name}(={value}) must be >= {least}.")
    silos = graph.silos
    if silos == 1:
        return build_overlay("ring", graph, work, [])
    require_reach("ring", graph)
    # A tour leaves every silo once, so computing times do not choose it; without them costs are often symmetric.
    costs = pair_delays(graph, work) - work.round_compute_s(silos)[:, np.newaxis]
    tour = short_tour(np.maximum(costs, 0.0), restarts=restarts, seed=seed, searches=searches)
    if tour is None:
        raise no_ring("ring", graph)
    return build_overlay("ring", graph, work, np.column_stack((tour, np.roll(tour, -1))))

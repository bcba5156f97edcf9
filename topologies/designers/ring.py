"""The directed RING along a short tour."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from topologies.arrays import BoolArray
from topologies.connectivity import Connectivity
from topologies.designers.tour import EXACT_NODES, RESTARTS, SEED, short_tour
from topologies.designers.trees import single_arc_delays
from topologies.errors import InputError
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload


def ring(graph: Connectivity, work: Workload, *, restarts: int = RESTARTS, seed: int = SEED) -> Overlay:
    """Directed ring along a short tour on the true delays.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
    restarts : int
        Perturbations tried by the local search.
    seed : int
        Seed of the perturbations. The same numbers give the same ring.

    Returns
    -------
    Overlay

    Raises
    ------
    InputError
        If missing connections leave no ring: it names one silo on each side of a cut, if there is one.

    Notes
    -----
    Every silo sends to one and hears one, so a ring's cycle time is the mean of Eq. 3's delays with degrees 1, or
    the longest computing time: the best ring is a shortest tour of an asymmetric travelling salesman problem. The
    paper uses Christofides' algorithm (propositions 3.3 and 3.6); `short_tour` starts from it and from others and
    is optimal for few silos.
    """
    silos = graph.silos
    if silos == 1:
        return build_overlay("ring", graph, work, [])
    # A tour leaves every silo once, so computing times do not choose it; without them costs are often symmetric.
    costs = single_arc_delays(graph, work) - work.round_compute_s(silos)[:, np.newaxis]
    _require_strong(graph, graph.may_send)
    tour = short_tour(np.maximum(costs, 0.0), restarts=restarts, seed=seed)
    if tour is None:
        found = "exists" if silos <= EXACT_NODES else "was found by the search"
        raise InputError(
            f"ring: the silos cannot all be visited once in a circle along allowed pairs: no such ring {found}."
        )
    return build_overlay("ring", graph, work, zip(tour, tour[1:] + tour[:1], strict=True))


def _require_strong(graph: Connectivity, may_send: BoolArray) -> None:
    """Raise an error that names a silo on each side where some silos cannot reach others at all."""
    source, target = np.nonzero(may_send)
    links = coo_array((np.ones(len(source)), (source, target)), shape=(graph.silos, graph.silos)).tocsr()
    parts, part = connected_components(links, directed=True, connection="strong")
    if parts == 1:
        return
    crossing = [(i, j) for i, j in zip(source.tolist(), target.tolist(), strict=True) if part[i] != part[j]]
    entered = {int(part[j]) for _, j in crossing}
    unheard = min(set(range(parts)) - entered)
    deaf = graph.labels[int(np.argmax(part == unheard))]
    other = graph.labels[int(np.argmax(part != unheard))]
    raise InputError(f"ring: no overlay exists, since nothing that {other} sends can reach {deaf}.")

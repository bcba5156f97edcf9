"""The one-peer exponential graph on a network."""

from topologies.connectivity import Connectivity
from topologies.designers.placed import Order, placed
from topologies.periodic.one_peer_exponential import one_peer_exponential as one_peer_states
from topologies.periodic_overlay import PeriodicOverlay, build_periodic
from topologies.workload import Workload


def one_peer_exponential(
    graph: Connectivity, work: Workload, *, order: Order = "none", seed: int = 0
) -> PeriodicOverlay:
    """One-peer exponential graph: in one round after the other each silo sends to the one 1, 2, 4, ... ahead of it.

    Parameters
    ----------
    order : {"none", "tour", "searched"}
        Which silo stands where; see `topologies.designers.placed.placed`.
    seed : int
        Of the search for an order.

    Raises
    ------
    InputError
        If a silo cannot send to one that it must send to, or an option is wrong.

    Notes
    -----
    See `topologies.periodic.one_peer_exponential.one_peer_exponential`, which names the source.
    """
    states = placed(graph, work, one_peer_states(graph.silos), order, seed=seed)
    return build_periodic("one_peer_exponential", graph, work, states)

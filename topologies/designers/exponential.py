"""The static exponential graph on a network."""

from topologies.connectivity import Connectivity
from topologies.designers.placed import Order, placed
from topologies.designers.stated_weights import overlay_of_state
from topologies.overlay import Overlay
from topologies.periodic.exponential import exponential as exponential_states
from topologies.workload import Workload


def exponential(graph: Connectivity, work: Workload, *, order: Order = "none", seed: int = 0) -> Overlay:
    """Static exponential graph: every silo sends to those 1, 2, 4, ... ahead of it.

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
    See `topologies.periodic.exponential.exponential`, which names the source.
    """
    (state,) = placed(graph, work, exponential_states(graph.silos), order, seed=seed)
    return overlay_of_state("exponential", graph, work, state)

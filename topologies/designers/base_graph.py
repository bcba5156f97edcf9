"""The Base-(k + 1) graph on a network."""

from typing import Annotated

from topologies.connectivity import Connectivity
from topologies.designers.options import DesignerOption
from topologies.designers.placed import Order, placed
from topologies.periodic.base import base
from topologies.periodic_overlay import PeriodicOverlay, build_periodic
from topologies.workload import Workload

Peers = Annotated[
    int,
    DesignerOption(
        help="Most models that a silo sends, and receives, in a round of base or stl_fw", at_least=1
    ),
]


def base_graph(
    graph: Connectivity, work: Workload, *, k: Peers = 1, order: Order = "none", seed: int = 0
) -> PeriodicOverlay:
    """Base-(k + 1) graph: all silos hold the exact average after each period.

    Parameters
    ----------
    k : int
        Most models that a silo sends, and receives, in a round; at least 1.
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
    See `topologies.periodic.base.base`, which names the source.
    """
    states = placed(graph, work, base(graph.silos, k), order, seed=seed)
    return build_periodic("base", graph, work, states)

"""The complete digraph as overlay."""

import numpy as np

from topologies.connectivity import Connectivity
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload


def complete(graph: Connectivity, work: Workload) -> Overlay:
    """Every silo sends to every silo that it can send to.

    Raises
    ------
    InputError
        If the arcs do not make a strongly connected digraph.
    """
    return build_overlay("complete", graph, work, np.argwhere(graph.may_send))

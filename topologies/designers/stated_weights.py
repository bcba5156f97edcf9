"""A static overlay of the one state of a graph that comes with its weights."""

import numpy as np

from topologies.connectivity import Connectivity
from topologies.overlay import Overlay, build_overlay
from topologies.state import State
from topologies.workload import Workload


def overlay_of_state(kind: str, graph: Connectivity, work: Workload, state: State) -> Overlay:
    """Static overlay with the arcs and weights of a state, whose lags are 1.

    Raises
    ------
    InputError
        As `build_overlay`.
    """
    arcs = np.column_stack((state.source, state.target))
    return build_overlay(kind, graph, work, arcs, consensus=state.consensus(graph.silos))

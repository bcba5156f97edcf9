"""The underlay as overlay."""

import numpy as np

from topologies.arrays import BoolArray
from topologies.connectivity import Connectivity
from topologies.digraph import components
from topologies.errors import InputError
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload


def underlay_overlay(graph: Connectivity, work: Workload) -> Overlay:
    """The underlay as overlay: silos of neighbouring routers send to each other.

    Returns
    -------
    Overlay
        Both arcs between any two silos of one router, of two routers that a core link joins, or of two routers that
        a path joins whose inner routers have no silo. Arcs that the connectivity graph lacks are left out.

    Raises
    ------
    InputError
        If the arcs do not make a strongly connected digraph, which only missing arcs can cause.

    Notes
    -----
    With one silo on each router these are the core links, the communication graph of the paper's MATCHA+. A router
    without a silo only forwards: it joins all silos around it, as if it and its links were contracted. A model still
    takes the route of the connectivity graph, which may be shorter than the link. Time and memory O(silos^2 + links).
    """
    return build_overlay("underlay", graph, work, np.argwhere(neighbouring_silos(graph) & graph.may_send))


def neighbouring_silos(graph: Connectivity) -> BoolArray:
    """Whether silos are attached to one router, or to two joined by a link or by a path through routers without a silo.

    Returns
    -------
    ndarray of bool, shape (silos, silos)
        Symmetric, true on the diagonal.

    Raises
    ------
    InputError
        If the underlay has no routed core.
    """
    if graph.underlay.measured is not None:
        raise InputError(
            f"underlay: {graph.underlay.name} has no routed core, each pair is a link of its own; use complete."
        )
    routers = graph.underlay.routers
    a, b = graph.underlay.ends.T
    empty = np.ones(routers, dtype=bool)
    empty[graph.router] = False
    inner = empty[a] & empty[b]
    regions, region = components(routers, a[inner], b[inner], strong=False)
    # Whether a router touches, or lies in, a region of routers without a silo.
    touches = np.zeros((routers, regions), dtype=np.float32)
    for here, there in ((a, b), (b, a)):
        touches[here[empty[there]], region[there[empty[there]]]] = 1.0
    near = np.eye(routers, dtype=bool) | (touches @ touches.T > 0)
    near[a, b] = near[b, a] = True
    return near[np.ix_(graph.router, graph.router)]

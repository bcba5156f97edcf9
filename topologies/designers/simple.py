"""Overlays without a choice: the complete graph, and the underlay itself."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from topologies.arrays import BoolArray
from topologies.connectivity import Connectivity
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload


def complete(graph: Connectivity, work: Workload) -> Overlay:
    """Every silo sends to every silo that it can send to.

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
        If the arcs do not make a strongly connected digraph.
    """
    return build_overlay("complete", graph, work, _arcs(graph.may_send))


def underlay_overlay(graph: Connectivity, work: Workload) -> Overlay:
    """The underlay as overlay: silos talk where their routers are neighbours.

    Parameters
    ----------
    graph : Connectivity
    work : Workload

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
    near = neighbouring_routers(graph)[np.ix_(graph.router, graph.router)]
    return build_overlay("underlay", graph, work, _arcs(near & graph.may_send))


def neighbouring_routers(graph: Connectivity) -> BoolArray:
    """Whether routers are the same, joined by a link, or by a path through routers without a silo.

    Returns
    -------
    ndarray of bool, shape (routers, routers)
        Symmetric; meant for the routers that have a silo.
    """
    routers = graph.underlay.routers
    a, b = graph.underlay.ends.T
    empty = np.ones(routers, dtype=bool)
    empty[graph.router] = False
    inner = empty[a] & empty[b]
    links = csr_array((np.ones(inner.sum()), (a[inner], b[inner])), shape=(routers, routers))
    regions, region = connected_components(links, directed=False)
    # Whether a router touches, or lies in, a region of routers without a silo.
    touches = np.zeros((routers, regions), dtype=np.float32)
    for here, there in ((a, b), (b, a)):
        touches[here[empty[there]], region[there[empty[there]]]] = 1.0
    near = np.eye(routers, dtype=bool) | (touches @ touches.T > 0)
    near[a, b] = near[b, a] = True
    return near


def _arcs(chosen: BoolArray) -> list[tuple[int, int]]:
    """Pairs (source, target) where a matrix is true."""
    return [(int(i), int(j)) for i, j in np.argwhere(chosen)]

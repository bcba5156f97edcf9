"""The STAR: all silos send to a hub, which averages and sends back."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, cast

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from topologies.arrays import BoolArray, FloatArray, freeze
from topologies.compiled_designs import takes_compiled
from topologies.connectivity import Connectivity
from topologies.designers.options import DesignerOption
from topologies.errors import InputError, unknown_name
from topologies.label_order import silo_order
from topologies.latency_rule import S_PER_KM, S_PER_PATH
from topologies.overlay import Overlay, build_overlay
from topologies.underlay import Underlay, Variant
from topologies.weights import uniform
from topologies.workload import Workload

HUB_RULES = ("load", "closeness", "first")
"""Rules that choose a hub."""
DEFAULT_RULE: Mapping[Variant, str] = MappingProxyType({"corrected": "load", "published": "first"})
"""The rule for each variant of an underlay: ``published`` stands for the paper's tables, hub included."""
BLOCK_ROUTERS = 256
"""Routers from which paths are searched at once, which bounds the memory."""
Hub = Annotated[
    int | str | None,
    DesignerOption(
        help=f"The STAR's hub: {', '.join(HUB_RULES)}, or a silo's label; by default load, with --published first"
    ),
]


def star(graph: Connectivity, work: Workload, *, hub: Hub = None) -> Overlay:
    """STAR around a hub, by default the most central silo.

    Parameters
    ----------
    hub : int or str, optional
        ``"load"``: the silo whose router has the highest load centrality on the underlay, with latency as weight;
        ties go to the lowest mean latency, then to the first label. ``"closeness"``: the silo with the lowest mean
        latency to the others, then the first label. ``"first"``: the hub of the published tables, the first silo by
        the underlay's `published_index`; where there is none, by label. Any other string is a silo's label, a number
        its index. By default ``"load"``; on an underlay of ``variant="published"``, which stands for the paper's
        tables, ``"first"``. A rule that is named holds on both.

    Returns
    -------
    Overlay
        One round is up to the hub plus down from it; the hub's own model takes part without the network.

    Raises
    ------
    InputError
        If there is no such silo, if it cannot talk both ways with every other, or if no silo can. The rules choose
        among those that can.

    Notes
    -----
    The published tables took the load centrality on the connectivity graph. That graph is complete and keeps the
    triangle inequality, so that no shortest path has an inner node, every centrality is 0, and the hub is the first
    silo of the published file: an artefact that the rule ``"first"`` repeats. Which silo that is, is stated in the
    underlay, so that it does not depend on the order of a file.
    """
    chosen = _hub(graph, hub)
    others = np.delete(np.arange(graph.silos), chosen)
    up = np.column_stack((others, np.full_like(others, chosen)))
    arcs = np.concatenate((up, up[:, ::-1]))
    return build_overlay("star", graph, work, arcs, hub=chosen, consensus=uniform(graph.silos))


def default_hub(graph: Connectivity) -> int:
    """Index of the hub that `star` takes where none is stated; it does not depend on access links.

    Raises
    ------
    InputError
        If no silo can talk both ways with all others.
    """
    return _hub(graph, None)


def _hub(graph: Connectivity, hub: int | str | None) -> int:
    """Index of the hub."""
    both_ways = graph.may_send & graph.may_send.T
    if hub is not None and hub not in HUB_RULES:
        silo = hub_silo(graph, hub)
        lost = ~both_ways[silo]
        lost[silo] = False
        if lost.any():
            raise InputError(
                f"star: the hub {graph.labels[silo]} cannot talk both ways with {_first(graph, lost)}."
            )
        return silo
    reached = both_ways.sum(axis=1)
    able = np.flatnonzero(reached == graph.silos - 1)
    if not len(able):
        best = int(np.argmax(reached))
        lost = ~both_ways[best]
        lost[best] = False
        raise InputError(
            f"star: no silo can be the hub, since none can talk both ways with all others; {graph.labels[best]} "
            f"cannot with {_first(graph, lost)}."
        )
    rule = DEFAULT_RULE[graph.underlay.variant] if hub is None else hub
    place = np.argsort(silo_order(graph))
    if rule == "first":
        index = graph.underlay.published_index
        published = place if index is None else index[graph.router]
        return int(min(able.tolist(), key=lambda silo: (published[silo], place[silo])))
    # Rounding: what differs by float noise is a tie, which a stable rule must break.
    latency = np.round(graph.latency_s.mean(axis=1), 12)
    load = np.zeros(graph.underlay.routers) if rule == "closeness" else router_load(graph.underlay)
    load = np.round(load[graph.router], 9)
    return int(min(able.tolist(), key=lambda silo: (-load[silo], latency[silo], place[silo])))


def hub_silo(graph: Connectivity, hub: int | str) -> int:
    """Index of the silo with this label or index.

    Raises
    ------
    InputError
        If there is none.
    """
    if isinstance(hub, str):
        if hub not in graph.labels:
            raise unknown_name("hub", hub, (*HUB_RULES, *graph.labels))
        return graph.labels.index(hub)
    if isinstance(hub, bool) or hub not in range(graph.silos):
        raise InputError(f"hub(={hub!r}) must be a silo's label or an index of 0..{graph.silos - 1}.")
    return int(hub)


def _first(graph: Connectivity, which: BoolArray) -> str:
    """Label of the first of these silos."""
    return graph.labels[int(np.argmax(which))]


@lru_cache(maxsize=8)
def router_load(underlay: Underlay) -> FloatArray:
    """Load centrality of every router of an underlay, shape (routers,), read-only.

    Notes
    -----
    Newman (2001): each router sends a unit to every other one along the shortest paths, split evenly at each router
    among those before it; a router's load is what it passes on, as a share of all units between two others. The latency
    of a link is that of a path of one link. O(n m log n): by networkx, on many routers compiled, with the same sums in
    the same order. Kept for the next designs on the same object: with other access links only the rest of a STAR
    changes.
    """
    latency_s = _link_latencies(underlay)
    loads = _compiled_load(latency_s) if takes_compiled(underlay.routers) else _plain_load(latency_s)
    freeze(loads)
    return loads


def _link_latencies(underlay: Underlay) -> csr_array:
    """Latency of the fastest link between each two neighbours, both ways, shape (routers, routers)."""
    latency_s = S_PER_KM * underlay.length_km + S_PER_PATH
    order = np.argsort(latency_s, kind="stable")
    ends = np.sort(underlay.ends[order], axis=1)
    _, first = np.unique(ends, axis=0, return_index=True)
    (a, b), cost = ends[first].T, latency_s[order[first]]
    shape = (underlay.routers, underlay.routers)
    return csr_array((np.tile(cost, 2), (np.concatenate((a, b)), np.concatenate((b, a)))), shape=shape)


def _plain_load(latency_s: csr_array) -> FloatArray:
    """`router_load` by networkx."""
    links: nx.Graph[int] = nx.from_scipy_sparse_array(latency_s, edge_attribute="latency_s")
    load = cast(dict[int, float], nx.load_centrality(links, weight="latency_s"))
    return np.array([load[router] for router in range(latency_s.shape[0])])


def _compiled_load(latency_s: csr_array) -> FloatArray:
    """`router_load` in compiled code, from some routers at once."""
    from topologies.designers.compiled.load import add_loads

    routers = latency_s.shape[0]
    first, beside = latency_s.indptr.astype(np.int64), latency_s.indices.astype(np.int64)
    carried, loads = np.empty(routers), np.zeros(routers)
    for source in range(0, routers, BLOCK_ROUTERS):
        sources = np.arange(source, min(source + BLOCK_ROUTERS, routers))
        distance = np.atleast_2d(np.asarray(dijkstra(latency_s, indices=sources), dtype=np.float64))
        farthest = np.argsort(distance, axis=1, kind="stable")
        add_loads(distance, farthest, first, beside, latency_s.data, source, carried, loads)
    return loads * (1.0 / ((routers - 1) * (routers - 2))) if routers > 2 else loads

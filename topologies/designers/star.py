"""The STAR: all silos send to a hub, which averages and sends back."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, cast

import networkx as nx
import numpy as np

from topologies.arrays import BoolArray, FloatArray, freeze
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
    Newman (2001), by networkx: O(n m log n). The latency of a link is that of a path of one link. Kept for the next
    designs on the same object: with other access links only the rest of a STAR changes.
    """
    links: nx.Graph[int] = nx.Graph()
    links.add_nodes_from(range(underlay.routers))
    for (a, b), length_km in zip(underlay.ends.tolist(), underlay.length_km.tolist(), strict=True):
        latency_s = S_PER_KM * length_km + S_PER_PATH
        if latency_s < links.get_edge_data(a, b, {"latency_s": np.inf})["latency_s"]:
            links.add_edge(a, b, latency_s=latency_s)
    load = cast(dict[int, float], nx.load_centrality(links, weight="latency_s"))
    loads = np.array([load[router] for router in range(underlay.routers)])
    freeze(loads)
    return loads

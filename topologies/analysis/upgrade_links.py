"""Links whose capacity can be raised, and the same overlay on a network where some of them are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from topologies.analysis.arc_limits import ArcLimits
from topologies.arrays import FloatArray, freeze
from topologies.capacities import available_bandwidth
from topologies.connectivity import Connectivity
from topologies.errors import Field, InputError
from topologies.overlay import Overlay, build_overlay
from topologies.periodic_overlay import PeriodicOverlay, build_periodic

LinkClass = Literal["uplink", "downlink", "core", "measured"]
TWICE = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class UpgradeLink:
    """One link with the capacity that it has and the one that it can be raised to; made by `upgrade_links`.

    Attributes
    ----------
    link_class : {"uplink", "downlink", "core", "measured"}
        A core link is raised in both directions, a measured pair in its own.
    index : int
        Silo of an access link, core link of the underlay, or `Connectivity.measured_pairs`' row.
    name : str
        As tables and price lists call it.
    bps, raised_bps : float
        Capacity in each direction, before and after.
    """

    link_class: LinkClass
    index: int
    name: str
    bps: float
    raised_bps: float

    @property
    def added_gbps(self) -> float:
        """Capacity that is added, in Gbps; of a core link that of one direction."""
        return (self.raised_bps - self.bps) / 1e9


def link_names(graph: Connectivity) -> dict[tuple[LinkClass, int], str]:
    """Name of every link of a network whose capacity can be raised, in the order of uplinks, downlinks and the rest.

    Returns
    -------
    dict from (class, index) to str
        ``Dublin uplink``, ``Dublin downlink``, ``core link A - B``, ``measured bandwidth A -> B``; parallel core links
        have one name.
    """
    first, silos = graph.first_uplink, graph.silos
    names: dict[tuple[LinkClass, int], str] = {}
    names |= {("uplink", i): graph.link_name(first + i) for i in range(silos)}
    names |= {("downlink", i): graph.link_name(first + silos + i) for i in range(silos)}
    if graph.is_measured:
        return names | {
            ("measured", pair): f"measured bandwidth {graph.link_name(pair)}" for pair in range(first)
        }
    labels = graph.underlay.labels
    ends = graph.underlay.ends.tolist()
    return names | {
        ("core", link): f"core link {labels[a]} - {labels[b]}" for link, (a, b) in enumerate(ends)
    }


def upgrade_links(
    overlay: Overlay | PeriodicOverlay, *, factor: float | None = None, to_bps: float | None = None
) -> tuple[UpgradeLink, ...]:
    """Every link that an overlay's models cross, with a capacity that it can be raised to.

    Parameters
    ----------
    overlay : Overlay or PeriodicOverlay
    factor : float, optional
        Of the capacity, > 1; by default 2, unless `to_bps` is given.
    to_bps : float, optional
        Capacity of all links instead; links that have as much, or more, are left out.

    Returns
    -------
    tuple of UpgradeLink
        In the order of `link_names`. Links without a limit are left out.

    Raises
    ------
    InputError
        If both are given, the factor is not above 1, or the capacity not above 0; or if one is infinite. If the rates
        of a periodic overlay are not those of Eq. 3.

    Notes
    -----
    Where `available_bps` was put into the connectivity graph and does not follow its rule, no core link limits an
    arc by Eq. 3, and only access links are there. Time O(total route length).
    """
    if factor is not None and to_bps is not None:
        raise InputError(
            "must not be given beside ", Field("to", value=to_bps), ".", field=Field("factor", value=factor)
        )
    if factor is not None and not 1 < factor < np.inf:
        raise InputError("must be finite and > 1.", field=Field("factor", value=factor))
    if to_bps is not None and not 0 < to_bps < np.inf:
        raise InputError("must be finite and > 0.", field=Field("to", value=to_bps))
    times = TWICE if factor is None else factor
    capacity_bps = _used_capacities(overlay)
    return tuple(
        UpgradeLink(link_class=key[0], index=key[1], name=name, bps=bps, raised_bps=raised_bps)
        for key, name in link_names(overlay.graph).items()
        if (bps := capacity_bps.get(key, np.inf)) < (raised_bps := times * bps if to_bps is None else to_bps)
    )


def _used_capacities(overlay: Overlay | PeriodicOverlay) -> dict[tuple[LinkClass, int], float]:
    """Capacity of each link that Eq. 3 knows of and models cross."""
    graph, limits = overlay.graph, ArcLimits.of(overlay)
    used: dict[tuple[LinkClass, int], float] = {}
    for i in np.unique(limits.source).tolist():
        used["uplink", i] = float(graph.up_bps[i])
    for i in np.unique(limits.target).tolist():
        used["downlink", i] = float(graph.down_bps[i])
    if graph.is_measured:
        for route in overlay.routes:
            used["measured", route[1]] = float(graph.link_capacity_bps[route[1]])
    for link in np.unique(limits.crossing[:, 1] // 2).tolist():
        used["core", link] = float(graph.core_bps[link])
    return used


def upgraded(overlay: Overlay | PeriodicOverlay, links: Sequence[UpgradeLink]) -> Overlay | PeriodicOverlay:
    """The same arcs, hub and weights, or states, on the network with these links raised; routes stay.

    Notes
    -----
    Time and memory O(silos^2 + total route length), and the cycle times of the overlay.
    """
    return on_graph(overlay, raised_graph(overlay.graph, links))


def on_graph(overlay: Overlay | PeriodicOverlay, graph: Connectivity) -> Overlay | PeriodicOverlay:
    """The same arcs, hub and weights, or states, on another network of the same silos."""
    if isinstance(overlay, PeriodicOverlay):
        return build_periodic(
            overlay.kind,
            graph,
            overlay.work,
            overlay.states,
            negative_weights=overlay.negative_weights,
        )
    arcs = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    return build_overlay(
        overlay.kind,
        graph,
        overlay.work,
        arcs,
        hub=overlay.hub,
        consensus=overlay.consensus,
        negative_weights=overlay.negative_weights,
    )


def raised_graph(graph: Connectivity, links: Sequence[UpgradeLink]) -> Connectivity:
    """The network with some links raised; routes stay."""
    up_bps, down_bps, core_bps = graph.up_bps.copy(), graph.down_bps.copy(), graph.core_bps.copy()
    available_bps = graph.available_bps.copy()
    by_class: dict[LinkClass, FloatArray] = {"uplink": up_bps, "downlink": down_bps, "core": core_bps}
    for link in links:
        if link.link_class == "measured":
            available_bps[*graph.measured_pairs[link.index]] = link.raised_bps
        else:
            by_class[link.link_class][link.index] = link.raised_bps
    if any(link.link_class == "core" for link in links):
        assert graph.bandwidth != "measured"
        routed_bps = available_bandwidth(graph.routes, core_bps, graph.bandwidth, graph.router, ())
        available_bps = np.where(graph.available_bps > 0, routed_bps, 0.0)
    freeze(up_bps, down_bps, core_bps, available_bps)
    return replace(graph, up_bps=up_bps, down_bps=down_bps, core_bps=core_bps, available_bps=available_bps)

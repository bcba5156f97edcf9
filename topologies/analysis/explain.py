"""Explanation of a cycle time: the critical circuit, arc by arc, and what would shorten it."""

from dataclasses import dataclass, replace

import numpy as np

from topologies.analysis.resources import Resources
from topologies.analysis.upgrade_links import on_graph
from topologies.analysis.upgrades import (
    AccessUpgrade,
    JointUpgrade,
    LinkUpgrade,
    access_upgrades,
    joint_upgrades,
    link_upgrade,
)
from topologies.connectivity import window_name
from topologies.errors import InputError
from topologies.overlay import Overlay
from topologies.periodic_overlay import PeriodicOverlay
from topologies.schedule import RandomOverlay

ONE_GBPS = 1e9
ONE_MS = 1e-3
STREAMS = 4
SHARED = "shared access link"


@dataclass(frozen=True, kw_only=True, slots=True)
class ArcExplanation:
    """One arc of the critical circuit.

    Attributes
    ----------
    source, target : str
        Labels of its silos; the same where the circuit is one silo's own computing.
    compute_s, latency_s, transmission_s : float
        Parts of its delay; what slow start adds counts as latency.
    slow_start_s : float
        What it adds.
    binds : str
        What takes the largest part: ``compute``, ``latency``, ``uplink``, ``downlink``, ``core link``,
        ``shared access link``, ``measured bandwidth`` or ``window`` (the first in this order among equal parts).
    resources : tuple of str
        Names of what limits its rate, all of them where several do so equally; empty where nothing does.
    route : tuple of str
        Names of the link directions between the access links that its models cross, in order; empty of a silo's own
        computing, and between silos of one router.
    route_shares : tuple of float
        The share of a model that crosses each of them, 1 on all unless its flow is split.
    gbps_gain_s : float or None
        How much the cycle time falls with 1 Gbps more on each of `resources`; None where there is none, or a window or
        an access link that silos share is one of them.
    latency_ms_gain_s : float or None
        How much it falls with 1 ms less latency on this arc (with none, where it has less); None without latency.
    compute_ms_gain_s : float or None
        How much it falls with 1 ms less computing per round at the source; None where no computing is waited for.
    """

    source: str
    target: str
    compute_s: float
    latency_s: float
    transmission_s: float
    slow_start_s: float
    binds: str
    resources: tuple[str, ...]
    route: tuple[str, ...]
    route_shares: tuple[float, ...]
    gbps_gain_s: float | None
    latency_ms_gain_s: float | None
    compute_ms_gain_s: float | None

    def __repr__(self) -> str:
        """Its ends, delay and what takes the largest part."""
        return f"<ArcExplanation {self.source} -> {self.target}: {self.delay_s:.6g} s, mostly {self.binds}>"

    @property
    def delay_s(self) -> float:
        """Delay of the arc."""
        return self.compute_s + self.latency_s + self.transmission_s


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """What bounds an overlay's throughput; made by `explain`.

    Attributes
    ----------
    cycle_time_s : float
        `tau`, the `paper` closed form.
    labels : tuple of str
        Names of all silos.
    tokens : int
        Rounds that the critical circuit spans.
    more_streams_s : float or None
        Cycle time with `STREAMS` times as many streams in every transfer; None where no window limits an arc of the
        circuit.
    arcs : tuple of ArcExplanation
        The critical circuit, in order.
    upgrades : tuple of AccessUpgrade
        Upgrades of one silo's access link that lower `tau`, the best first; see `access_upgrades`.
    together : tuple of JointUpgrade
        Where there are none: an uplink and a downlink that lower it together, the best first; see `joint_upgrades`.
    links : LinkUpgrade or None
        Where there are none of these either: what lowers it otherwise; see `link_upgrade`.
    """

    kind: str
    cycle_time_s: float
    labels: tuple[str, ...]
    tokens: int
    more_streams_s: float | None
    arcs: tuple[ArcExplanation, ...]
    upgrades: tuple[AccessUpgrade, ...]
    together: tuple[JointUpgrade, ...]
    links: LinkUpgrade | None


def explain(overlay: Overlay | PeriodicOverlay | RandomOverlay) -> Explanation:
    """Explain an overlay's cycle time by its critical circuit.

    Raises
    ------
    InputError
        If the overlay is periodic, or randomized: then no circuit bounds it.

    Notes
    -----
    Every gain is the difference of two exact cycle times of the same arcs, not a derivative: it stops where another
    circuit, or another resource, takes over. Where several circuits are critical, each gain may be zero. Time
    O(length of the critical circuit) cycle times, and those of `link_upgrade`.
    """
    if isinstance(overlay, PeriodicOverlay):
        raise InputError(
            f"kind(={overlay.kind!r}) is a periodic overlay, whose critical_circuit names silos and states; explain "
            "takes a static one."
        )
    if not isinstance(overlay, Overlay):
        raise InputError(
            f"kind(={overlay.kind!r}) is a randomized overlay, so no circuit bounds it; explain takes a static one."
        )
    resources, upgrades = Resources.of(overlay), access_upgrades(overlay)
    together = () if upgrades else joint_upgrades(overlay)
    circuit = list(overlay.proof.circuit)
    return Explanation(
        kind=overlay.kind,
        cycle_time_s=overlay.proof.cycle_time_s,
        labels=overlay.graph.labels,
        tokens=int(overlay.event_graph.tokens[circuit].sum()),
        more_streams_s=_with_more_streams_s(resources, [arc for arc in circuit if arc < overlay.arcs]),
        arcs=tuple(
            _arc(resources, arc) if arc < overlay.arcs else _own_computing(resources, arc - overlay.arcs)
            for arc in circuit
        ),
        upgrades=upgrades,
        together=together,
        links=None if upgrades or together else link_upgrade(overlay),
    )


def _arc(resources: Resources, arc: int) -> ArcExplanation:
    """One arc between two silos."""
    overlay, graph = resources.overlay, resources.overlay.graph
    i, j = int(overlay.source[arc]), int(overlay.target[arc])
    compute_s = float(overlay.tokens[arc] * overlay.compute_s[i])
    slow_s = float(overlay.slow_start_s[arc])
    own_s = float(overlay.latency_s[arc])
    latency_s = own_s + slow_s
    # What the backward pass hides of a transmission is computing.
    transmission_s = float(overlay.transmission_s[arc]) - overlay.work.backward_share * compute_s
    kind, names = _limits(resources, arc)
    is_one_link = kind != SHARED and not resources.binding()[3, arc]
    way = {link: share for link, share in graph.way(i, j).items() if link < graph.first_uplink}
    parts = {"compute": compute_s, "latency": latency_s, kind: transmission_s}
    return ArcExplanation(
        source=graph.labels[i],
        target=graph.labels[j],
        compute_s=compute_s,
        latency_s=latency_s,
        transmission_s=transmission_s,
        slow_start_s=slow_s,
        binds=max(parts, key=lambda part: parts[part]),
        resources=names,
        route=tuple(map(graph.link_name, way)),
        route_shares=tuple(way.values()),
        gbps_gain_s=_gain(resources, _one_more_gbps(resources, arc)) if names and is_one_link else None,
        latency_ms_gain_s=_latency_gain(resources, arc) if own_s > 0 else None,
        compute_ms_gain_s=_compute_gain(resources, i) if compute_s > 0 else None,
    )


def _own_computing(resources: Resources, silo: int) -> ArcExplanation:
    """Self-loop of a silo."""
    compute_s = float(resources.compute_s[silo])
    label = resources.overlay.graph.labels[silo]
    return ArcExplanation(
        source=label,
        target=label,
        compute_s=compute_s,
        latency_s=0.0,
        transmission_s=0.0,
        slow_start_s=0.0,
        binds="compute",
        resources=(),
        route=(),
        route_shares=(),
        gbps_gain_s=None,
        latency_ms_gain_s=None,
        compute_ms_gain_s=_compute_gain(resources, silo) if compute_s > 0 else None,
    )


def _limits(resources: Resources, arc: int) -> tuple[str, tuple[str, ...]]:
    """Type of the first resource that limits an arc's rate, and the names of all that do."""
    overlay = resources.overlay
    graph, (i, j) = overlay.graph, (overlay.source[arc], overlay.target[arc])
    by_up, by_down, by_available, by_window = resources.binding()[:, arc].tolist()
    access = [*([graph.uplink(i)] if by_up else []), *([graph.downlink(j)] if by_down else [])]
    names = [graph.link_name(link) for link in access]
    links = resources.binding_links(arc) if by_available else []
    names += [f"core link {graph.link_name(link)}" for link in links]
    shared = graph.shared_access_name(int(i), int(j)) if by_available and not links else ""
    if by_available and not links:
        names.append(shared or f"measured bandwidth {graph.labels[i]} -> {graph.labels[j]}")
    if by_window:
        names.append(window_name(graph.labels, (i, j)))
    measured = by_available and not links and not shared
    sorts = (
        *(
            (by_up, "uplink"),
            (by_down, "downlink"),
            (bool(links), "core link"),
            (bool(shared), SHARED),
        ),
        *((measured, "measured bandwidth"), (by_window, "window")),
    )
    return next((sort for here, sort in sorts if here), "measured bandwidth"), tuple(names)


def _one_more_gbps(resources: Resources, arc: int) -> Resources:
    """1 Gbps more on everything that limits an arc's rate."""
    i, j = resources.overlay.source[arc], resources.overlay.target[arc]
    by_up, by_down, by_available, _ = resources.binding()[:, arc].tolist()
    up, down, core = resources.up_bps.copy(), resources.down_bps.copy(), resources.core_bps.copy()
    measured = resources.measured_bps.copy()
    up[i] += ONE_GBPS * by_up
    down[j] += ONE_GBPS * by_down
    if by_available and len(resources.crossing):
        core[[link // 2 for link in resources.binding_links(arc)]] += ONE_GBPS
    elif by_available:
        measured[arc] += ONE_GBPS
    return replace(resources, up_bps=up, down_bps=down, core_bps=core, measured_bps=measured)


def _with_more_streams_s(resources: Resources, circuit: list[int]) -> float | None:
    """See `Explanation.more_streams_s`."""
    if not resources.binding()[3, circuit].any():
        return None
    graph = resources.overlay.graph
    slow, window_bps = graph.slow_start, graph.window_bps
    more = replace(
        graph,
        window_bps=None if window_bps is None else STREAMS * window_bps,
        # Each stream has an initial window.
        slow_start=None if slow is None else replace(slow, initial_bits=STREAMS * slow.initial_bits),
    )
    return on_graph(resources.overlay, more).closed_forms.paper_s


def _latency_gain(resources: Resources, arc: int) -> float:
    """Gain of 1 ms less latency on an arc."""
    return _gain(resources, resources.with_latency(arc, max(0.0, float(resources.latency_s[arc]) - ONE_MS)))


def _compute_gain(resources: Resources, silo: int) -> float:
    """Gain of 1 ms less computing per round at a silo."""
    compute_s = resources.compute_s.copy()
    compute_s[silo] = max(0.0, compute_s[silo] - ONE_MS)
    return _gain(resources, replace(resources, compute_s=compute_s))


def _gain(old: Resources, new: Resources) -> float:
    """Decrease of the cycle time in seconds; rounding noise is 0."""
    tau = old.overlay.proof.cycle_time_s
    gain = tau - new.cycle_time().cycle_time_s
    return gain if gain > np.spacing(tau) * 8 else 0.0

"""Upgrades of access links that lower the cycle time most, or of other links where none does."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from topologies.analysis.arc_limits import ArcLimits
from topologies.analysis.resources import Resources
from topologies.analysis.upgrade_links import raised_graph, upgrade_links
from topologies.analysis.upgrade_sets import SAME, UpgradeSearch
from topologies.analysis.upgrade_terms import Form, UpgradeTerms
from topologies.arrays import FloatArray
from topologies.closed_forms import largest_load
from topologies.howard import RELATIVE_NOISE
from topologies.overlay import Overlay
from topologies.periodic_overlay import PeriodicOverlay
from topologies.slow_start import rates_decide_restarts

_FACTORS = (2.0, np.inf)
"""Twice the capacity, and no limit."""
_DIRECTIONS = ("uplink", "downlink", "uplink and downlink")


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessUpgrade:
    """More capacity on the access link of one silo.

    Attributes
    ----------
    link : str
        ``uplink``, ``downlink``, or ``uplink and downlink``.
    doubled_s, unlimited_s : float
        Cycle time with twice the capacity, and without a limit there.
    """

    silo: int
    link: str
    doubled_s: float
    unlimited_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class JointUpgrade:
    """More capacity on the uplink of one silo and on the downlink of another, which limit one arc equally.

    Attributes
    ----------
    source, target : int
        Silos of the arc: the uplink's and the downlink's.
    doubled_s, unlimited_s : float
        Cycle time with twice the capacity of both, and without a limit on either.
    """

    source: int
    target: int
    doubled_s: float
    unlimited_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkUpgrade:
    """More capacity on one link of any class, or on several that are needed together.

    Attributes
    ----------
    links : tuple of str
        Names, see `topologies.analysis.upgrade_links.link_names`.
    doubled_s, unlimited_s : float
        Cycle time with twice the capacity of all, and without a limit on any.
    as_good : tuple of str
        Other links that lower it as much alone, if this is one that does.
    """

    links: tuple[str, ...]
    doubled_s: float
    unlimited_s: float
    as_good: tuple[str, ...] = ()


def link_upgrade(overlay: Overlay | PeriodicOverlay, form: Form = "paper") -> LinkUpgrade | None:
    """The link of any class that lowers the cycle time most alone, else the fewest links that do together.

    Parameters
    ----------
    overlay : Overlay or PeriodicOverlay
    form : {"paper", "serialized", "load"}
        See `topologies.analysis.upgrade_terms.FORMS`.

    Returns
    -------
    LinkUpgrade or None
        Of sets of as few links the one that lowers it most; of equal ones that whose links come first. None where no
        capacity lowers it, and around a hub with slow start after idle times, where `UpgradeTerms` has none.

    Raises
    ------
    InputError
        If the rates of a periodic overlay are not those of Eq. 3.

    Notes
    -----
    See `topologies.analysis.upgrade_sets`: by twice the capacity.
    """
    if isinstance(overlay, Overlay) and rates_decide_restarts(overlay.graph, overlay.hub):
        return None
    terms = UpgradeTerms.of(overlay, upgrade_links(overlay), form)
    search = UpgradeSearch(terms, np.ones(len(terms.links)))
    fewest = search.faster(search.nothing.cycle_time_s)
    if fewest is None:
        return None
    best = search.fastest(fewest.found.price).found
    links = [terms.links[k] for k in np.flatnonzero(best.raised).tolist()]
    unlimited = UpgradeTerms.of(overlay, [replace(link, raised_bps=np.inf) for link in links], form)
    alone = search.single() if len(links) == 1 else []
    return LinkUpgrade(
        links=tuple(link.name for link in links),
        doubled_s=best.cycle_time_s,
        unlimited_s=unlimited.cycle_time_s(np.ones(len(unlimited.links), dtype=np.bool_)),
        as_good=tuple(
            terms.links[k].name
            for k, value_s in alone
            if terms.links[k] not in links and value_s <= best.cycle_time_s * (1 + SAME)
        ),
    )


def loads_after(overlay: Overlay | PeriodicOverlay, links: Collection[str]) -> tuple[float, float]:
    """Lower bound `load` of the cycle time with twice the capacity of some links, and without a limit on them.

    Parameters
    ----------
    overlay : Overlay or PeriodicOverlay
    links : collection of str
        Names, see `topologies.analysis.upgrade_links.link_names`.

    Raises
    ------
    InputError
        If the rates of a periodic overlay are not those of Eq. 3.

    Notes
    -----
    Time and memory O(silos^2 + total route length).
    """
    twice = [link for link in upgrade_links(overlay) if link.name in links]
    unlimited = [replace(link, raised_bps=np.inf) for link in twice]
    overlay.graph.rules.check_plain_links("upgrade by load")
    limits = ArcLimits.of(overlay)
    (doubled_s, _), (unlimited_s, _) = (
        largest_load(
            overlay.graph.crossings(limits.source, limits.target),
            raised_graph(overlay.graph, raised).link_capacity_bps,
            limits.model_bits,
            period=limits.rounds,
        )
        for raised in (twice, unlimited)
    )
    return doubled_s, unlimited_s


def joint_upgrades(overlay: Overlay) -> tuple[JointUpgrade, ...]:
    """Every uplink and downlink that limit an arc of the critical circuit together and lower the cycle time together.

    Returns
    -------
    tuple of JointUpgrade
        By `doubled_s`, then `unlimited_s`, then in the circuit's order; equal cycle times differ by rounding only.

    Notes
    -----
    Arcs that a core link, a measured bandwidth or a window limits as much are left out: no access link helps them. Time
    O(length of the critical circuit) cycle times.
    """
    resources = Resources.of(overlay)
    by_up, by_down, *others = resources.binding()
    by_others = np.logical_or.reduce(others)
    lowered = overlay.proof.cycle_time_s * (1 - RELATIVE_NOISE)
    found = []
    for arc in overlay.proof.circuit:
        if arc < overlay.arcs and by_up[arc] and by_down[arc] and not by_others[arc]:
            i, j = int(overlay.source[arc]), int(overlay.target[arc])
            doubled_s, unlimited_s = (
                _cycle_time_s(resources, up=(i, factor), down=(j, factor)) for factor in _FACTORS
            )
            if doubled_s < lowered:
                found.append(JointUpgrade(source=i, target=j, doubled_s=doubled_s, unlimited_s=unlimited_s))
    return tuple(sorted(found, key=lambda upgrade: (upgrade.doubled_s, upgrade.unlimited_s)))


def access_upgrades(overlay: Overlay) -> tuple[AccessUpgrade, ...]:
    """Every access link whose upgrade lowers the cycle time, the best first.

    Returns
    -------
    tuple of AccessUpgrade
        By `doubled_s`, then `unlimited_s`, then silo. ``uplink and downlink`` is there where both together do better
        than either.

    Notes
    -----
    The cycle times are computed again, on the same arcs. The candidates are the links that alone bind on some arc of
    the critical circuit: any other upgrade leaves each delay of that circuit, and so its mean, as it was, and `tau`
    is no smaller than the mean of any circuit. For the same reason an upgrade that does not help when doubled does
    not help without a limit. Time O(length of the critical circuit) cycle times.
    """
    resources = Resources.of(overlay)
    binding = resources.binding()
    alone = binding & (binding.sum(axis=0) == 1)
    arcs = np.array([arc for arc in overlay.proof.circuit if arc < overlay.arcs], dtype=np.int64)
    up = set(overlay.source[arcs[alone[0, arcs]]].tolist())
    down = set(overlay.target[arcs[alone[1, arcs]]].tolist())
    lowered = overlay.proof.cycle_time_s * (1 - RELATIVE_NOISE)
    found = []
    for silo in sorted(up | down):
        best_s = lowered
        for link, helps in zip(_DIRECTIONS, (silo in up, silo in down, True), strict=True):
            if helps and (upgrade := _upgrade(resources, silo, link)).doubled_s < (
                best_s * (1 - RELATIVE_NOISE) if link == _DIRECTIONS[2] else lowered
            ):
                found.append(upgrade)
                best_s = min(best_s, upgrade.doubled_s)
    return tuple(sorted(found, key=lambda upgrade: (upgrade.doubled_s, upgrade.unlimited_s, upgrade.silo)))


def _upgrade(resources: Resources, silo: int, link: str) -> AccessUpgrade:
    """Cycle times with one silo's link doubled and unlimited."""
    doubled_s, unlimited_s = (
        _cycle_time_s(
            resources,
            up=(silo, factor if link != "downlink" else 1.0),
            down=(silo, factor if link != "uplink" else 1.0),
        )
        for factor in _FACTORS
    )
    return AccessUpgrade(silo=silo, link=link, doubled_s=doubled_s, unlimited_s=unlimited_s)


def _cycle_time_s(resources: Resources, *, up: tuple[int, float], down: tuple[int, float]) -> float:
    """Cycle time with the uplink of one silo and the downlink of one silo multiplied."""
    up_bps, down_bps = _times(resources.up_bps, *up), _times(resources.down_bps, *down)
    return replace(resources, up_bps=up_bps, down_bps=down_bps).cycle_time().cycle_time_s


def _times(capacity_bps: FloatArray, silo: int, factor: float) -> FloatArray:
    """The capacities with that of one silo multiplied."""
    more = capacity_bps.copy()
    more[silo] *= factor
    return more

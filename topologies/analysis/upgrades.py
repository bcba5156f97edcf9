"""Which access link, with more capacity, lowers the cycle time most."""

from dataclasses import dataclass, replace

import numpy as np

from topologies.analysis.resources import Resources
from topologies.arrays import FloatArray
from topologies.howard import RELATIVE_NOISE
from topologies.overlay import Overlay

_DIRECTIONS = ("uplink", "downlink", "uplink and downlink")


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessUpgrade:
    """More capacity on the access link of one silo.

    Attributes
    ----------
    silo : int
    link : str
        ``uplink``, ``downlink``, or ``uplink and downlink``.
    doubled_s, unlimited_s : float
        Cycle time with twice the capacity, and without a limit there.
    """

    silo: int
    link: str
    doubled_s: float
    unlimited_s: float


def access_upgrades(overlay: Overlay) -> tuple[AccessUpgrade, ...]:
    """Every access link whose upgrade lowers the cycle time, the best first.

    Parameters
    ----------
    overlay : Overlay

    Returns
    -------
    tuple of AccessUpgrade
        By `doubled_s`, then `unlimited_s`, then silo. ``uplink and downlink`` is there where both together do better
        than either.

    Notes
    -----
    The cycle times are computed anew, on the same arcs. The candidates are the links that alone bind on some arc of
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
    lowered = overlay.proof.value_s * (1 - RELATIVE_NOISE)
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
    at_least = [resources.overlay.proof.value_s]
    for factor in (2.0, np.inf):
        up_bps = _times(resources.up_bps, silo, factor) if link != "downlink" else resources.up_bps
        down_bps = _times(resources.down_bps, silo, factor) if link != "uplink" else resources.down_bps
        at_least.append(replace(resources, up_bps=up_bps, down_bps=down_bps).cycle_time().value_s)
    return AccessUpgrade(silo=silo, link=link, doubled_s=at_least[1], unlimited_s=at_least[2])


def _times(capacity_bps: FloatArray, silo: int, factor: float) -> FloatArray:
    """The capacities with that of one silo multiplied."""
    more = capacity_bps.copy()
    more[silo] *= factor
    return more

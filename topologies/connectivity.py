"""The connectivity graph: end-to-end latency, route and available bandwidth of every silo pair."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from topologies.arrays import FloatArray
from topologies.checks import per_silo
from topologies.errors import InputError, unknown_name
from topologies.routing import Routes, shortest_routes
from topologies.underlay import Underlay

S_PER_KM = 0.0085e-3
"""Propagation and queueing per kilometre (Gueye et al., cited by the paper)."""
S_PER_PATH = 4e-3
"""Constant part of the latency."""
UNSTATED_CORE_BPS = 1e9
"""Capacity of a core link that states none: the paper's 1 Gbps."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class AccessLinks:
    """Capacities between silos and their routers, in bit/s.

    Parameters
    ----------
    up_bps, down_bps : float or array_like, shape (silos,)
        From the silo, and to it: a number for all silos or one per silo; infinity means no limit.
    """

    up_bps: ArrayLike
    down_bps: ArrayLike


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Connectivity:
    """End-to-end facts of every ordered pair of silos; one silo hangs on each router.

    Attributes
    ----------
    underlay : Underlay
    routes : Routes
    up_bps, down_bps : ndarray, shape (silos,)
        Access capacities.
    core_bps : ndarray, shape (links,)
        Capacity of each core link, in each of its directions.
    latency_s : ndarray, shape (silos, silos)
        `l(i, j)`, zero on the diagonal.
    available_bps : ndarray, shape (silos, silos)
        `A(i', j')`, infinite on the diagonal.
    """

    underlay: Underlay
    routes: Routes
    up_bps: FloatArray
    down_bps: FloatArray
    core_bps: FloatArray
    latency_s: FloatArray
    available_bps: FloatArray

    @property
    def silos(self) -> int:
        """Number of silos."""
        return len(self.up_bps)

    @property
    def labels(self) -> tuple[str, ...]:
        """Name of each silo: that of its router."""
        return self.underlay.labels

    @property
    def link_capacity_bps(self) -> FloatArray:
        """Capacity of every link direction, shape (2 * links + 2 * silos,).

        Core link `l` is ``2 * l`` from its first to its second end and ``2 * l + 1`` back; then come the uplinks
        of all silos, then their downlinks.
        """
        return np.concatenate((np.repeat(self.core_bps, 2), self.up_bps, self.down_bps))

    def route(self, source: int, target: int) -> tuple[int, ...]:
        """Link directions that a message from silo `source` to silo `target` occupies, in order."""
        first_uplink = 2 * len(self.core_bps)
        return (
            first_uplink + source,
            *self.routes.links(source, target),
            first_uplink + self.silos + target,
        )

    def link_name(self, direction: int) -> str:
        """Name of a link direction, for tables and error messages."""
        core = 2 * len(self.core_bps)
        if direction >= core:
            silo = (direction - core) % self.silos
            return f"{self.labels[silo]} {'uplink' if direction < core + self.silos else 'downlink'}"
        a, b = self.underlay.ends[direction // 2]
        tail, head = (a, b) if direction % 2 == 0 else (b, a)
        return f"{self.labels[tail]} -> {self.labels[head]}"


def connectivity(
    underlay: Underlay,
    *,
    access: AccessLinks,
    core: float | str | None = None,
    bandwidth: Literal["hop_share", "bottleneck"] | FloatArray = "hop_share",
    latency: Literal["per_path", "per_link"] = "per_path",
) -> Connectivity:
    """Connectivity graph of the silos that hang on an underlay's routers.

    Parameters
    ----------
    underlay : Underlay
    access : AccessLinks
        Capacities of the access links.
    core : float or "stated", optional
        Capacity of every core link, in bit/s, or ``"stated"``: what the underlay's file states, and 1 Gbps on
        links that state none. By default ``"stated"`` where any link states one, else 1 Gbps.
    bandwidth : {"hop_share", "bottleneck"} or array_like, shape (silos, silos)
        Rule for `A(i', j')`: the smallest capacity on the route divided by its number of links (the published
        numbers' rule), the smallest capacity on the route, or a measured matrix in bit/s.
    latency : {"per_path", "per_link"}
        ``0.0085 ms/km * distance + 4 ms``, with the 4 ms once on the whole path (the published numbers' rule) or
        on every link of it (the paper's text).

    Returns
    -------
    Connectivity

    Raises
    ------
    InputError
        If a capacity is not > 0, an array has the wrong shape, or a rule is unknown.

    Notes
    -----
    Source: section 2 and appendix G of the paper. Time and memory as `shortest_routes`.
    """
    routes = shortest_routes(underlay)
    core_bps = _core_capacity(underlay, core)
    silos = underlay.routers
    if latency not in ("per_path", "per_link"):
        raise unknown_name("latency", latency, ("per_path", "per_link"))
    constant = np.where(
        np.eye(silos, dtype=bool), 0.0, S_PER_PATH if latency == "per_path" else S_PER_PATH * routes.hops
    )
    return Connectivity(
        underlay=underlay,
        routes=routes,
        up_bps=per_silo("access up_bps", access.up_bps, silos, positive=True),
        down_bps=per_silo("access down_bps", access.down_bps, silos, positive=True),
        core_bps=core_bps,
        latency_s=S_PER_KM * routes.distance_km + constant,
        available_bps=_available(routes, core_bps, bandwidth),
    )


def _core_capacity(underlay: Underlay, core: float | str | None) -> FloatArray:
    """Capacity of each core link."""
    stated = np.isfinite(underlay.capacity_bps)
    if core == "stated" and not stated.any():
        raise InputError(
            f"core(='stated') needs capacities, but no link of {underlay.name} ({underlay.variant}) states one."
        )
    if core is None or core == "stated":
        return np.where(stated, underlay.capacity_bps, UNSTATED_CORE_BPS)
    if isinstance(core, str):
        raise InputError(f"core(={core!r}) must be 'stated' or a number in bit/s.")
    return np.full(underlay.links, per_silo("core", core, 1, positive=True)[0])


def _available(
    routes: Routes, core_bps: FloatArray, rule: Literal["hop_share", "bottleneck"] | FloatArray
) -> FloatArray:
    """`A(i', j')` for every pair of routers."""
    silos = len(routes.hops)
    if not isinstance(rule, str):
        matrix = np.array(rule, dtype=np.float64)
        np.fill_diagonal(matrix, np.inf)
        if matrix.shape != (silos, silos) or not np.all(matrix > 0):
            raise InputError(f"bandwidth matrix must have shape ({silos}, {silos}) and entries > 0.")
        return matrix
    if rule not in ("hop_share", "bottleneck"):
        raise unknown_name("bandwidth", rule, ("hop_share", "bottleneck"))
    available = _bottlenecks(routes, core_bps)
    return available if rule == "bottleneck" else np.asarray(available / np.maximum(routes.hops, 1))


def _bottlenecks(routes: Routes, core_bps: FloatArray) -> FloatArray:
    """Smallest capacity on the route of every pair of routers; infinite where the route has no link.

    Notes
    -----
    Only a route from its lower-numbered end is real, but it may pass routers below that end, so all of a row's tree is
    followed: by pointer doubling, O(n^2 log n).
    """
    routers = len(routes.parent)
    root = routes.parent < 0
    before = np.where(root, np.arange(routers)[:, np.newaxis], routes.parent)
    smallest = np.where(root, np.inf, core_bps[routes.parent_link // 2])
    for _ in range(routers.bit_length()):
        smallest = np.minimum(smallest, np.take_along_axis(smallest, before, axis=1))
        before = np.take_along_axis(before, before, axis=1)
    return np.asarray(np.triu(smallest) + np.triu(smallest, 1).T)

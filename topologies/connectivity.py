"""The connectivity graph: end-to-end latency, route and available bandwidth of every silo pair."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from topologies.arrays import BoolArray, FloatArray, IntArray, freeze
from topologies.capacities import available_bandwidth, core_capacity
from topologies.checks import per_silo
from topologies.errors import InputError, unknown_name
from topologies.routing import Routes, shortest_routes
from topologies.underlay import Underlay

S_PER_KM = 0.0085e-3
"""Propagation and queueing per kilometre (Gueye et al., cited by the paper)."""
S_PER_PATH = 4e-3
"""Constant part of the latency."""


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
    """End-to-end facts of every ordered pair of silos.

    Attributes
    ----------
    underlay : Underlay
    routes : Routes
    labels : tuple of str
        Unique name of each silo: that of its router, numbered where several hang on it.
    router : ndarray of int, shape (silos,)
        The router that each silo hangs on.
    up_bps, down_bps : ndarray, shape (silos,)
        Access capacities.
    core_bps : ndarray, shape (links,)
        Capacity of each core link, in each of its directions.
    core_assumed : ndarray of bool, shape (links,)
        Whether that capacity is neither stated by the underlay's file nor chosen by the user, but 1 Gbps assumed.
    latency_s : ndarray, shape (silos, silos)
        `l(i, j)`, zero on the diagonal.
    available_bps : ndarray, shape (silos, silos)
        `A(i', j')`, infinite on the diagonal and between silos of one router, 0 where `i` cannot send to `j`.
    bandwidth : {"hop_share", "bottleneck", "measured"}
        The rule that `available_bps` follows.
    latency : {"per_path", "per_link"}
        The rule that `latency_s` follows.
    """

    underlay: Underlay
    routes: Routes
    labels: tuple[str, ...]
    router: IntArray
    up_bps: FloatArray
    down_bps: FloatArray
    core_bps: FloatArray
    core_assumed: BoolArray
    latency_s: FloatArray
    available_bps: FloatArray
    bandwidth: Literal["hop_share", "bottleneck", "measured"]
    latency: Literal["per_path", "per_link"]

    @property
    def silos(self) -> int:
        """Number of silos."""
        return len(self.up_bps)

    @property
    def may_send(self) -> BoolArray:
        """Whether silo `i` can send to silo `j`, shape (silos, silos); false on the diagonal."""
        return (self.available_bps > 0) & ~np.eye(self.silos, dtype=bool)

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
            *self.routes.links(int(self.router[source]), int(self.router[target])),
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
        return f"{self.underlay.labels[tail]} -> {self.underlay.labels[head]}"


def connectivity(
    underlay: Underlay,
    *,
    access: AccessLinks,
    core: float | str | None = None,
    bandwidth: Literal["hop_share", "bottleneck"] | FloatArray = "hop_share",
    latency: Literal["per_path", "per_link"] = "per_path",
    routers: Sequence[int] | None = None,
    blocked: Iterable[tuple[int, int]] = (),
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
        numbers' rule), the smallest capacity on the route, or a measured matrix in bit/s, 0 where `i` cannot send
        to `j`.
    latency : {"per_path", "per_link"}
        ``0.0085 ms/km * distance + 4 ms``, with the 4 ms once on the whole path (the published numbers' rule) or
        on every link of it (the paper's text). Two silos of one router have a path of no links.
    routers : sequence of int, optional
        The router of each silo: several silos may hang on one, and routers may have none. By default each router
        has one silo.
    blocked : iterable of (int, int), optional
        Ordered silo pairs that cannot talk, for instance for a firewall.

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
    core_bps, core_assumed = core_capacity(underlay, core)
    router = _routers(underlay, routers)
    silos = len(router)
    if latency not in ("per_path", "per_link"):
        raise unknown_name("latency", latency, ("per_path", "per_link"))
    latency_s = latencies(routes, router, latency)
    available_bps = available_bandwidth(routes, core_bps, bandwidth, router, blocked)
    freeze(router, core_bps, core_assumed, latency_s, available_bps)
    return Connectivity(
        underlay=underlay,
        routes=routes,
        labels=silo_labels(underlay, router.tolist()),
        router=router,
        up_bps=per_silo("access up_bps", access.up_bps, silos, positive=True),
        down_bps=per_silo("access down_bps", access.down_bps, silos, positive=True),
        core_bps=core_bps,
        core_assumed=core_assumed,
        latency_s=latency_s,
        available_bps=available_bps,
        bandwidth=bandwidth if isinstance(bandwidth, str) else "measured",
        latency=latency,
    )


def latencies(routes: Routes, router: IntArray, rule: Literal["per_path", "per_link"]) -> FloatArray:
    """Latency of the route between every pair of silos.

    Parameters
    ----------
    routes : Routes
    router : ndarray of int, shape (silos,)
        The router of each silo.
    rule : {"per_path", "per_link"}
        See `connectivity`.

    Returns
    -------
    ndarray, shape (silos, silos)
        `l(i, j)` in seconds, zero on the diagonal.
    """
    between = np.ix_(router, router)
    constant = S_PER_PATH if rule == "per_path" else S_PER_PATH * routes.hops[between]
    latency_s = np.asarray(S_PER_KM * routes.distance_km[between] + constant)
    np.fill_diagonal(latency_s, 0.0)
    return latency_s


def _routers(underlay: Underlay, routers: Sequence[int] | None) -> IntArray:
    """Router of each silo."""
    if routers is None:
        return np.arange(underlay.routers)
    router = np.array(routers)
    if router.ndim != 1 or not len(router) or not np.issubdtype(router.dtype, np.integer):
        raise InputError("routers must hold a router's index for each of one or more silos.")
    if router.min() < 0 or router.max() >= underlay.routers:
        raise InputError(f"routers must lie in 0..{underlay.routers - 1}.")
    return router.astype(np.int64)


def silo_labels(underlay: Underlay, routers: Sequence[int]) -> tuple[str, ...]:
    """Label of each silo: that of its router, followed by a number where several hang on it.

    Parameters
    ----------
    underlay : Underlay
    routers : sequence of int
        The router of each silo.

    Returns
    -------
    tuple of str
    """
    names = [underlay.labels[i] for i in routers]
    several = {name for name, count in Counter(names).items() if count > 1}
    seen: Counter[str] = Counter()
    labels = []
    for name in names:
        seen[name] += 1
        labels.append(f"{name}/{seen[name]}" if name in several else name)
    return tuple(labels)

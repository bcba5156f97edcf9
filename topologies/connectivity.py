"""The connectivity graph: end-to-end latency, route and available bandwidth of every silo pair."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from topologies.arrays import BoolArray, FloatArray, IntArray, freeze
from topologies.capacities import available_bandwidth, core_capacity
from topologies.checks import per_silo
from topologies.errors import Field, InputError, unknown_name
from topologies.explicit_routes import with_stated
from topologies.latency_rule import S_PER_KM, S_PER_PATH
from topologies.link_rules import LinkRules, SharedLink, shared_links
from topologies.measured_pairs import UnroutedPairs
from topologies.routing import Routes, Routing, shortest_routes
from topologies.underlay import Underlay

_BANDWIDTHS = ("hop_share", "bottleneck", "measured")
NO_RULES = LinkRules()


class Occupied(NamedTuple):
    """Links that the models of an arc occupy, as of `simulator.arc.FlowArc`.

    Attributes
    ----------
    links : tuple of int
        Those of the route first.
    usage : tuple of float
        Bits on each of them for each bit of a model.
    hops : int
        Number of links of the route.
    """

    links: tuple[int, ...]
    usage: tuple[float, ...]
    hops: int


SlowStartWhen = Literal["first", "idle", "always"]
"""Which messages start slowly, see `topologies.slow_start.with_slow_start`."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class AccessLinks:
    """Capacities between silos and their routers, in bit/s.

    Parameters
    ----------
    up_bps, down_bps : float or array_like, shape (silos,)
        From the silo, and to it: a number for all silos or one per silo, in the order of `Connectivity.labels`;
        infinity means no limit.
    """

    up_bps: ArrayLike
    down_bps: ArrayLike

    def __repr__(self) -> str:
        """Capacities, as a range where they differ."""
        return f"<AccessLinks: up {_range(self.up_bps)}, down {_range(self.down_bps)} bit/s>"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SlowStart:
    """Slow start of transfers; made by `topologies.slow_start.with_slow_start`.

    Attributes
    ----------
    when : {"first", "idle", "always"}
    trip_s, initial_bits : ndarray, shape (silos, silos)
        Round-trip time of each ordered pair, and what all its streams send in the first round trip.
    """

    when: SlowStartWhen
    trip_s: FloatArray
    initial_bits: FloatArray

    def __repr__(self) -> str:
        """When, and the initial windows."""
        return f"<SlowStart {self.when}: initial windows {_range(self.initial_bits)} bits>"

    def of(self, pairs: tuple[IntArray, ...]) -> "SlowStart":
        """The same of other silos, as indices of all ordered pairs."""
        return replace(self, trip_s=self.trip_s[pairs], initial_bits=self.initial_bits[pairs])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Connectivity:
    """Latency, route and available bandwidth of every ordered pair of silos.

    Attributes
    ----------
    labels : tuple of str
        Unique name of each silo: that of its router, numbered where several are attached to it.
    router : ndarray of int, shape (silos,)
        The router that each silo is attached to.
    up_bps, down_bps : ndarray, shape (silos,)
        Access capacities.
    core_bps : ndarray, shape (links,)
        Capacity of each core link, in each of its directions. Models cross none where the bandwidth is measured.
    core_assumed : ndarray of bool, shape (links,)
        Whether that capacity is neither stated by the underlay's file nor chosen by the user, but 1 Gbps assumed.
    latency_s : ndarray, shape (silos, silos)
        `l(i, j)`, zero on the diagonal.
    available_bps : ndarray, shape (silos, silos)
        `A(i', j')`, infinite on the diagonal and, where it is not measured, between silos of one router; 0 where `i`
        cannot send to `j`.
    bandwidth : {"hop_share", "bottleneck", "measured"}
        The rule that `available_bps` follows.
    latency : {"per_path", "per_link", "measured"}
        The rule that `latency_s` follows.
    routing : Routing
        The rule that `routes` follow where the underlay states none, also where links are down.
    window_bps : ndarray, shape (silos, silos), or None
        The most that a transfer reaches with its windows, see `topologies.windows.with_windows`; None: no limit.
    rules : LinkRules
        Links that are half-duplex, shared by several silos or by nobody, and acknowledgements.
    slow_start : SlowStart or None
        How transfers open their windows; None: at once.
    measured_pairs : ndarray of int, shape (pairs, 2)
        Source and target of each pair that is a link of its own, by source, then target: where the bandwidth is
        measured, all pairs that can talk, else none.
    window_pairs : ndarray of int, shape (windows, 2)
        Source and target of each pair whose transfers have a limit of their own, a finite window or that of fat pipes,
        by source, then target.
    shared : tuple of SharedLink
        Capacities that several link directions share by the `rules`.
    link_capacity_bps : ndarray, shape (first_shared + shared,)
        Capacity of every link direction. First come those between access links. With a routed core, core link `l` is
        ``2 * l`` from its first to its second end and ``2 * l + 1`` back, of unlimited capacity where it is a fat pipe;
        where the bandwidth is measured there is no routed core, and pair `p` is `p`. Then come the uplinks of all
        silos, then their downlinks. A window is a link that only its pair's models cross; these come next. Shared
        capacities come last.

    Raises
    ------
    InputError
        If the rule for the bandwidth is unknown.

    Notes
    -----
    `measured_pairs`, `window_pairs`, `shared` and `link_capacity_bps` follow from the others, also after
    `dataclasses.replace`. Memory O(silos^2).
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
    latency: Literal["per_path", "per_link", "measured"]
    routing: Routing = shortest_routes
    window_bps: FloatArray | None = None
    rules: LinkRules = NO_RULES
    slow_start: SlowStart | None = None
    shared: tuple[SharedLink, ...] = field(init=False)
    measured_pairs: IntArray = field(init=False)
    link_capacity_bps: FloatArray = field(init=False)
    window_pairs: IntArray = field(init=False)
    _pair_link: IntArray = field(init=False)
    _window_link: IntArray = field(init=False)

    def __post_init__(self) -> None:
        """Check the bandwidth rule and number the links."""
        if self.bandwidth not in _BANDWIDTHS:
            raise unknown_name("bandwidth", self.bandwidth, _BANDWIDTHS)
        self._check_rules()
        pairs = np.argwhere(self.may_send) if self.is_measured else np.empty((0, 2), dtype=np.int64)
        between_bps = self.available_bps[*pairs.T] if self.is_measured else np.repeat(self.core_bps, 2)
        own_bps = self.window_bps
        if self.rules.fat_pipes:
            own_bps = self._fat_bps() if own_bps is None else np.minimum(own_bps, self._fat_bps())
            between_bps[[2 * link + way for link in self.rules.fat_pipes for way in (0, 1)]] = np.inf
        windows, window_bps = np.empty((0, 2), dtype=np.int64), np.empty(0)
        if own_bps is not None:
            windows = np.argwhere(self.may_send & np.isfinite(own_bps))
            window_bps = own_bps[*windows.T]
        first_uplink = len(pairs) if self.is_measured else 2 * len(self.core_bps)
        shared = tuple(
            shared_links(
                self.rules,
                self.underlay,
                self.labels,
                first_uplink,
                self.core_bps,
                self.up_bps,
                self.down_bps,
            )
        )
        object.__setattr__(self, "shared", shared)
        shared_bps = np.array([link.capacity_bps for link in shared])
        capacity_bps = np.concatenate((between_bps, self.up_bps, self.down_bps, window_bps, shared_bps))
        derived = {
            "measured_pairs": pairs,
            "window_pairs": windows,
            "link_capacity_bps": capacity_bps,
            "_pair_link": self._numbered(pairs, 0),
            "_window_link": self._numbered(windows, first_uplink + 2 * self.silos),
        }
        freeze(*derived.values())
        for name, values in derived.items():
            object.__setattr__(self, name, values)

    def _check_rules(self) -> None:
        """Accept rules of links that there are."""
        rules = self.rules
        core = (*rules.half_duplex_core, *rules.fat_pipes)
        if core and self.is_measured:
            raise InputError(
                "half-duplex core links and fat pipes go with a routed core; the pairs of "
                f"{self.underlay.name} are measured."
            )
        silos = (*rules.half_duplex, *(silo for link in rules.shared_access for silo in link.silos))
        for what, numbers, count in (("core link", core, len(self.core_bps)), ("silo", silos, self.silos)):
            for number in numbers:
                if not 0 <= number < count:
                    raise InputError(f"must be >= 0 and < {count}.", field=Field(what, value=number))

    def _fat_bps(self) -> FloatArray:
        """Smallest capacity of the fat pipes on the route of each pair, shape (silos, silos)."""
        fat_bps = np.full(len(self.core_bps), np.inf)
        fat = list(self.rules.fat_pipes)
        fat_bps[fat] = self.core_bps[fat]
        return self.routes.bottleneck_bps(fat_bps)[np.ix_(self.router, self.router)]

    def _numbered(self, pairs: IntArray, first: int) -> IntArray:
        """Link of each pair of silos that has one of its own, else -1, shape (silos, silos); none without pairs."""
        link = np.full(
            (self.silos, self.silos) if len(pairs) or self.is_measured else (0, 0), -1, dtype=np.int64
        )
        link[*pairs.T] = np.arange(first, first + len(pairs))
        return link

    def __repr__(self) -> str:
        """Underlay, number of silos and rules."""
        name, variant = self.underlay.name, self.underlay.variant
        rules = f"bandwidth {self.bandwidth}, latency {self.latency}"
        return f"<Connectivity on {name} ({variant}): {self.silos} silos, {rules}>"

    @property
    def silos(self) -> int:
        """Number of silos."""
        return len(self.up_bps)

    @property
    def may_send(self) -> BoolArray:
        """Whether silo `i` can send to silo `j`, shape (silos, silos); false on the diagonal."""
        return (self.available_bps > 0) & ~np.eye(self.silos, dtype=bool)

    @property
    def between_bps(self) -> FloatArray:
        """What limits a transfer beside its access links, shape (silos, silos): `A(i', j')`, windows, shared links."""
        silo = np.arange(self.silos)
        limits = [self.available_bps]
        limits += [] if self.window_bps is None else [self.window_bps]
        limits += [self.shared_access_bps(silo[:, np.newaxis], silo)] if self.rules.shared_access else []
        return np.asarray(np.minimum.reduce(limits)) if len(limits) > 1 else self.available_bps

    def shared_access_bps(self, source: IntArray, target: IntArray) -> FloatArray:
        """Smallest capacity of the access links that silos share and a model crosses, infinite without any.

        Parameters
        ----------
        source, target : ndarray of int
            Silos, of shapes that broadcast.
        """
        found = np.full(np.broadcast_shapes(source.shape, target.shape), np.inf)
        for link in self.rules.shared_access:
            leaves, enters = np.isin(source, link.silos), np.isin(target, link.silos)
            found = np.where(leaves & ~enters, np.minimum(found, link.up_bps), found)
            found = np.where(enters & ~leaves, np.minimum(found, link.down_bps), found)
        return found

    def shared_access_name(self, source: int, target: int) -> str:
        """Name of the slowest of the access links that silos share and a model crosses; empty without any."""
        ends = {self.uplink(source), self.downlink(target)}
        crossed = [
            link
            for link in self.shared
            if link.silos and ends & link.usage.keys() and not link.silos.issuperset((source, target))
        ]
        return min(crossed, key=lambda link: link.capacity_bps).name if crossed else ""

    @property
    def is_measured(self) -> bool:
        """Whether each pair that can talk is a link of its own, of measured bandwidth; else the core is routed."""
        return self.bandwidth == "measured"

    @property
    def first_uplink(self) -> int:
        """Index of silo 0's uplink: the number of link directions between access links."""
        return len(self.measured_pairs) if self.is_measured else 2 * len(self.core_bps)

    @property
    def first_window(self) -> int:
        """Index of the first window: the number of link directions between access links and of these."""
        return self.first_uplink + 2 * self.silos

    @property
    def first_shared(self) -> int:
        """Index of the first shared capacity."""
        return self.first_window + len(self.window_pairs)

    def uplink(self, silo: int) -> int:
        """Link direction of a silo's uplink."""
        return self.first_uplink + silo

    def downlink(self, silo: int) -> int:
        """Link direction of a silo's downlink."""
        return self.first_uplink + self.silos + silo

    def core_route(self, source: int, target: int) -> tuple[int, ...]:
        """Core link directions that a message between two silos crosses, see `topologies.routing.Routes.links`.

        None where the bandwidth is measured.
        """
        if self.is_measured:
            return ()
        return self.routes.links(int(self.router[source]), int(self.router[target]))

    def route(self, source: int, target: int) -> tuple[int, ...]:
        """Link directions that a message from silo `source` to silo `target` occupies, in order, then its window.

        Where its flow is split, those of all its routes.

        Raises
        ------
        InputError
            If the bandwidth is measured and `source` cannot send to `target`: then there is no link.
        """
        return self.routes_along([(source, target)])[0]

    def routes_along(self, arcs: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
        """The `route` of each arc, in their order."""
        up, down, router = self.first_uplink, self.first_uplink + self.silos, self.router
        arcs = list(arcs)
        if self.is_measured:
            for i, j in arcs:
                if self._pair_link[i, j] < 0:
                    raise InputError(f"{self.labels[i]} cannot send to {self.labels[j]}.")
            found: list[tuple[int, ...]] = [(up + i, int(self._pair_link[i, j]), down + j) for i, j in arcs]
        else:
            links = self.routes.links
            found = [(up + i, *links(int(router[i]), int(router[j])), down + j) for i, j in arcs]
        if not len(self.window_pairs):
            return tuple(found)
        own = [int(self._window_link[i, j]) for i, j in arcs]
        return tuple(route if link < 0 else (*route, link) for route, link in zip(found, own, strict=True))

    @property
    def change_usage(self) -> bool:
        """Whether a model puts another number of bits than its own on some links."""
        return self.rules.change_usage or self.routes.splits

    def way(self, source: int, target: int) -> dict[int, float]:
        """The `route` between two silos, with the share of a model that each link carries."""
        return self.ways_along([(source, target)])[0]

    def ways_along(self, arcs: Iterable[tuple[int, int]]) -> list[dict[int, float]]:
        """The `way` of each arc, in their order."""
        arcs = list(arcs)
        ways = [dict.fromkeys(route, 1.0) for route in self.routes_along(arcs)]
        if self.routes.splits:
            for (i, j), way in zip(arcs, ways, strict=True):
                way |= self._core_shares(self.routes, i, j)
        return ways

    def _core_shares(self, routes: Routes, source: int, target: int) -> dict[int, float]:
        """Core links on some routes between the routers of two silos that carry parts of a flow, with the share."""
        ends = int(self.router[source]), int(self.router[target])
        shares = routes.shares(*ends)
        return dict(zip(routes.links(*ends), shares, strict=True)) if shares else {}

    def detour(self, routes: Routes, source: int, target: int) -> dict[int, float]:
        """As `way`, by other routes between routers."""
        usual = self.route(source, target)
        core = routes.links(int(self.router[source]), int(self.router[target]))
        rest = usual[1 + len(self.core_route(source, target)) :]
        return dict.fromkeys((usual[0], *core, *rest), 1.0) | self._core_shares(routes, source, target)

    def occupied(self, arcs: Iterable[tuple[int, int]]) -> list[Occupied]:
        """All links that the models of each arc occupy: its `way`, shared capacities, and those of acknowledgements.

        Notes
        -----
        Time O(total route length + arcs * shared capacities).
        """
        arcs = list(arcs)
        if not self.change_usage:
            routes = self.routes_along(arcs)
            return [Occupied(route, (1.0,) * len(route), self._hops(route)) for route in routes]
        share = self.rules.ack_share
        may_send = self.may_send if self.is_measured else None
        found = []
        for (i, j), way in zip(arcs, self.ways_along(arcs), strict=True):
            back: dict[int, float] = {}
            if share:
                pair_back = may_send is None or bool(may_send[j, i])
                back = self.way(j, i) if pair_back else dict.fromkeys((self.uplink(j), self.downlink(i)), 1.0)
            found.append(self.occupying((i, j), way, back))
        return found

    def occupying(
        self, arc: tuple[int, int], way: Mapping[int, float], back: Mapping[int, float]
    ) -> Occupied:
        """What an arc's models occupy on a `way`, where acknowledgements go `back` on another."""
        hops, share = self._hops(tuple(way)), self.rules.ack_share
        used, crossed = dict(way), dict(way)
        for link, bits in back.items() if share else ():
            if link < self.first_window:
                crossed[link] = crossed.get(link, 0.0) + share * bits
        for number, shared in enumerate(self.shared, self.first_shared):
            if not shared.silos.issuperset(arc):
                bits = sum(crossed.get(link, 0.0) * weight for link, weight in shared.usage.items())
                if bits:
                    used[number] = bits
        used |= crossed
        return Occupied(tuple(used), tuple(used.values()), hops)

    def _hops(self, route: tuple[int, ...]) -> int:
        """Number of links of a route without its window."""
        return len(route) - (route[-1] >= self.first_window)

    def crossings(self, source: IntArray, target: IntArray) -> FloatArray:
        """Bits on each of the `link_capacity_bps`, for each bit of a model, when all of some arcs send one.

        Parameters
        ----------
        source, target : ndarray of int, shape (arcs,)

        Notes
        -----
        Time O(total route length).
        """
        arcs = list(zip(source.tolist(), target.tolist(), strict=True))
        if self.change_usage:
            occupied = self.occupied(arcs)
            links = chain.from_iterable(each.links for each in occupied)
            bits = np.fromiter(chain.from_iterable(each.usage for each in occupied), np.float64)
        else:
            links, bits = chain.from_iterable(self.routes_along(arcs)), None
        number = np.fromiter(links, np.int64)
        return np.bincount(number, bits, minlength=len(self.link_capacity_bps)).astype(np.float64)

    def is_window(self, direction: int) -> bool:
        """Whether a link direction is a window, and not a link, a limit of fat pipes or a shared capacity."""
        if self.window_bps is None or not self.first_window <= direction < self.first_shared:
            return False
        i, j = self.window_pairs[direction - self.first_window]
        return bool(self.link_capacity_bps[direction] == self.window_bps[i, j])

    def link_name(self, direction: int) -> str:
        """Name of a link direction, for tables and error messages."""
        if direction >= self.first_shared:
            return self.shared[direction - self.first_shared].name
        if direction >= self.first_window:
            i, j = self.window_pairs[direction - self.first_window].tolist()
            if self.is_window(direction):
                return window_name(self.labels, (i, j))
            return f"fat pipe {self.labels[i]} -> {self.labels[j]}"
        pairs = self.measured_pairs if self.is_measured else None
        return direction_name(direction, self.underlay, self.labels, pairs)

    @property
    def link_names(self) -> tuple[str, ...]:
        """The `link_name` of every link direction, in the order of `link_capacity_bps`."""
        return tuple(map(self.link_name, range(len(self.link_capacity_bps))))


def window_name(labels: Sequence[str], pair: Sequence[int]) -> str:
    """Name of the window of a pair of silos, as of a link direction."""
    i, j = pair
    return f"window {labels[i]} -> {labels[j]}"


def direction_name(
    direction: int, underlay: Underlay, labels: Sequence[str], measured_pairs: IntArray | None
) -> str:
    """Name of a link direction; two core links between the same routers share theirs.

    Parameters
    ----------
    direction : int
        In the order of `Connectivity.link_capacity_bps`.
    underlay : Underlay
    labels : sequence of str
        Of the silos.
    measured_pairs : ndarray of int, shape (pairs, 2), or None
        As of a `Connectivity`; None where the core is routed.
    """
    access = direction - (2 * underlay.links if measured_pairs is None else len(measured_pairs))
    if access >= 0:
        return f"{labels[access % len(labels)]} {'uplink' if access < len(labels) else 'downlink'}"
    if measured_pairs is not None:
        i, j = measured_pairs[direction]
        return f"{labels[i]} -> {labels[j]}"
    a, b = underlay.ends[direction // 2]
    tail, head = (a, b) if direction % 2 == 0 else (b, a)
    return f"{underlay.labels[tail]} -> {underlay.labels[head]}"


def connectivity(
    underlay: Underlay,
    *,
    access: AccessLinks,
    core: float | str | None = None,
    bandwidth: Literal["hop_share", "bottleneck"] | FloatArray = "hop_share",
    latency: Literal["per_path", "per_link"] = "per_path",
    routers: Sequence[int] | None = None,
    blocked: Iterable[tuple[int, int]] = (),
    routing: Routing = shortest_routes,
) -> Connectivity:
    """Connectivity graph of the silos attached to an underlay's routers.

    Parameters
    ----------
    access : AccessLinks
        Capacities of the access links.
    core : float or "stated", optional
        Capacity of every core link, in bit/s, or ``"stated"``: what the underlay's file states, and 1 Gbps on
        links that state none. By default ``"stated"`` where any link states one, else 1 Gbps. It plays no part with
        a measured bandwidth.
    bandwidth : {"hop_share", "bottleneck"} or array_like, shape (silos, silos)
        Rule for `A(i', j')`: the smallest capacity on the route divided by its number of links (the published
        numbers' rule), the smallest capacity on the route, or a measured matrix in bit/s: infinite where nothing but
        access links limits, 0 where `i` cannot send to `j`; its diagonal does not count. Rows and columns are in the
        order of `Connectivity.labels`, which is not that of a file: see `load_underlay`. Each measured pair is then a
        link of that capacity, behind the uplink and before the downlink, and no model crosses a core link.
    latency : {"per_path", "per_link"}
        ``0.0085 ms/km * distance + 4 ms``, with the 4 ms once on the whole path (the published numbers' rule) or
        on every link of it (the paper's text). Two silos of one router have a path of no links.
    routers : sequence of int, optional
        The router of each silo: several silos may be attached to one, and routers may have none. By default each router
        has one silo.
    blocked : iterable of (int, int), optional
        Ordered silo pairs that cannot talk, for instance for a firewall.
    routing : Routing
        Gives the routes between routers from the underlay and the capacities of its links: a function that calls
        `topologies.routing.shortest_routes` with weights of its own, or `topologies.explicit_routes.explicit_routes`
        with a route for every pair. By default the shortest by length. Pairs for which the underlay states a route
        have that one.

    Raises
    ------
    InputError
        If a capacity is not > 0, an array has the wrong shape, a rule is unknown, or rules of a routed core are given
        for an underlay of measured pairs.

    Notes
    -----
    Where the underlay's pairs are measured (`Underlay.measured`), so are bandwidth and latency here: the former takes
    the place of `A(i', j')`, the latter that of `l(i, j)`.

    Source: section 2 and appendix G of the paper. Time and memory as `shortest_routes`.
    """
    router = _routers(underlay, routers)
    silos = len(router)
    if underlay.measured is not None:
        _check_no_core_rules(underlay, core, bandwidth, latency, routing)
        pairs = underlay.measured.of(router)
        core_bps, core_assumed = np.empty(0), np.empty(0, dtype=bool)
        routes: Routes = UnroutedPairs(sites=underlay.routers)
        latency_s = np.array(pairs.latency_s)
        np.fill_diagonal(latency_s, 0.0)
        bandwidth = pairs.bandwidth_bps
    else:
        core_bps, core_assumed = core_capacity(underlay, core)
        routes = with_stated(underlay, core_bps, routing(underlay, core_bps))
        latency_s = latencies(routes, router, latency)
    available_bps = available_bandwidth(routes, core_bps, bandwidth, router, blocked)
    up_bps, down_bps = _access(access, silos)
    freeze(router, core_bps, core_assumed, latency_s, available_bps)
    return Connectivity(
        underlay=underlay,
        routes=routes,
        labels=silo_labels(underlay, router.tolist()),
        router=router,
        up_bps=up_bps,
        down_bps=down_bps,
        core_bps=core_bps,
        core_assumed=core_assumed,
        latency_s=latency_s,
        available_bps=available_bps,
        bandwidth=bandwidth if isinstance(bandwidth, str) else "measured",
        latency=latency if underlay.measured is None else "measured",
        routing=routing,
    )


def with_access(graph: Connectivity, access: AccessLinks) -> Connectivity:
    """The same network with other access links, which change neither routes nor what lies between routers.

    Raises
    ------
    InputError
        If a capacity is not > 0, or an array has the wrong shape.
    """
    up_bps, down_bps = _access(access, graph.silos)
    return replace(graph, up_bps=up_bps, down_bps=down_bps)


def with_bottleneck(graph: Connectivity) -> Connectivity:
    """The same network where `A(i', j')` is the smallest capacity on the route, as if nobody else used it.

    No fair sharing of the links gives a message a higher rate. Where the bandwidth is measured, that is so already.
    """
    if graph.is_measured or graph.bandwidth == "bottleneck":
        return graph
    blocked = [(int(i), int(j)) for i, j in np.argwhere(graph.available_bps == 0)]
    available_bps = available_bandwidth(graph.routes, graph.core_bps, "bottleneck", graph.router, blocked)
    freeze(available_bps)
    return replace(graph, available_bps=available_bps, bandwidth="bottleneck")


def _access(access: AccessLinks, silos: int) -> tuple[FloatArray, FloatArray]:
    """Checked capacities of the access links, up and down."""
    return (
        per_silo("access up_bps", access.up_bps, silos, positive=True),
        per_silo("access down_bps", access.down_bps, silos, positive=True),
    )


def _check_no_core_rules(
    underlay: Underlay, core: float | str | None, bandwidth: object, latency: str, routing: Routing
) -> None:
    """Raise an error for a rule of a routed core where the underlay's pairs are measured."""
    why = f"goes with a routed core; the pairs of {underlay.name} are measured."
    if core is not None:
        raise InputError(why, field=Field("core", value=core))
    if not isinstance(bandwidth, str):
        raise InputError(f"the matrix given as bandwidth {why}")
    if bandwidth != "hop_share":
        raise InputError(why, field=Field("bandwidth", value=bandwidth))
    if latency != "per_path":
        raise InputError(why, field=Field("latency", value=latency))
    if routing is not shortest_routes:
        raise InputError(f"the routing {why}")


def _range(bps: ArrayLike) -> str:
    """Smallest and largest capacity."""
    low, high = np.min(bps), np.max(bps)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def latencies(routes: Routes, router: IntArray, rule: str) -> FloatArray:
    """Latency of the route between every pair of silos.

    Parameters
    ----------
    router : ndarray of int, shape (silos,)
        The router of each silo.
    rule : {"per_path", "per_link"}
        See `connectivity`.

    Returns
    -------
    ndarray, shape (silos, silos)
        `l(i, j)` in seconds, zero on the diagonal.

    Raises
    ------
    InputError
        If the rule is unknown.
    """
    if rule not in ("per_path", "per_link"):
        raise unknown_name("latency", rule, ("per_path", "per_link"))
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
    """Label of each silo: that of its router, followed by a number where several are attached to it.

    Parameters
    ----------
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

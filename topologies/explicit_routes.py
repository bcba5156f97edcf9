"""Routes that are given one by one: for all pairs by a routing that is no shortest path, or stated for some pairs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.errors import InputError
from topologies.routing import Routes
from topologies.underlay import Underlay


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ExplicitRoutes:
    """A route for every ordered pair of routers; made by `explicit_routes` and `with_stated`.

    Attributes
    ----------
    distance_km : ndarray, shape (routers, routers)
    hops : ndarray of int, shape (routers, routers)
    route : mapping from (int, int) to tuple of int
        Link directions from the first router to the second, see `topologies.routing.Routes.links`.
    number_of_links : int
        Of the underlay.
    otherwise : Routes, optional
        Those of the pairs that `route` does not hold.
    """

    distance_km: FloatArray
    hops: IntArray
    route: Mapping[tuple[int, int], tuple[int, ...]]
    number_of_links: int
    otherwise: Routes | None = None

    def __repr__(self) -> str:
        """Number of routers."""
        return f"<ExplicitRoutes between {len(self.hops)} routers>"

    def links(self, source: int, target: int) -> tuple[int, ...]:
        """See `topologies.routing.Routes`."""
        if source == target:
            return ()
        if self.otherwise is not None and (source, target) not in self.route:
            return self.otherwise.links(source, target)
        return self.route[source, target]

    @property
    def splits(self) -> bool:
        """See `topologies.routing.Routes`."""
        return self.otherwise is not None and self.otherwise.splits

    def shares(self, source: int, target: int) -> tuple[float, ...]:
        """See `topologies.routing.Routes`."""
        if self.otherwise is None or (source, target) in self.route:
            return ()
        return self.otherwise.shares(source, target)

    def bottleneck_bps(self, core_bps: FloatArray) -> FloatArray:
        """See `topologies.routing.Routes`. O(total route length)."""
        rest = self.otherwise
        smallest = np.full(self.hops.shape, np.inf) if rest is None else rest.bottleneck_bps(core_bps).copy()
        for pair, links in self.route.items():
            smallest[pair] = core_bps[np.array(links) // 2].min()
        return smallest

    def used_links(self) -> BoolArray:
        """See `topologies.routing.Routes`. O(total route length)."""
        used = np.zeros(self.number_of_links, dtype=bool)
        # What else a routing chose for the pairs of `route` is used by none.
        pairs = np.argwhere(self.hops).tolist()
        used[[direction // 2 for pair in pairs for direction in self.links(*pair)]] = True
        return used


def explicit_routes(underlay: Underlay, routes: Iterable[tuple[int, int, Sequence[int]]]) -> ExplicitRoutes:
    """Routes from a routing that yields them.

    Parameters
    ----------
    routes : iterable of (source, target, link directions)
        One for every ordered pair of different routers, in any order. Link `l` is ``2 * l`` from its first to its
        second end and ``2 * l + 1`` back.

    Raises
    ------
    InputError
        If a pair has no route or two, or a route does not lead from its source to its target.

    Notes
    -----
    Time and memory O(total route length).
    """
    found: dict[tuple[int, int], tuple[int, ...]] = {}
    distance_km = np.zeros((underlay.routers, underlay.routers))
    hops = np.zeros((underlay.routers, underlay.routers), dtype=np.int64)
    for source, target, links in routes:
        route = tuple(int(direction) for direction in links)
        _check_route(underlay, source, target, route)
        if (source, target) in found:
            raise InputError(f"{_pair(underlay, source, target)} is given twice.")
        found[source, target] = route
        distance_km[source, target] = underlay.length_km[np.array(route) // 2].sum()
        hops[source, target] = len(route)
    missing = np.argwhere((hops == 0) & ~np.eye(underlay.routers, dtype=bool))
    if len(missing):
        raise InputError(f"{_pair(underlay, *missing[0].tolist())} is missing.")
    return ExplicitRoutes(distance_km=distance_km, hops=hops, route=found, number_of_links=underlay.links)


def with_stated(underlay: Underlay, core_bps: FloatArray, routes: Routes) -> Routes:
    """Routes in which pairs of routers have those that the underlay states for them.

    Parameters
    ----------
    underlay : Underlay
    core_bps : ndarray, shape (links,)
        Capacities, 0 of links that are down. Of parallel links between two routers of a stated route the shortest that
        is not down carries it; where all are down, the pair takes its route of `routes`.
    routes : Routes
        Of a routing on these capacities.

    Notes
    -----
    `routes` itself where the underlay states none. Time and memory O(routers^2 + total length of stated routes).
    """
    if underlay.stated_routes is None:
        return routes
    direction: dict[tuple[int, int], int] = {}
    for link in np.argsort(underlay.length_km, kind="stable").tolist():
        a, b = underlay.ends[link].tolist()
        if core_bps[link] > 0:
            direction.setdefault((a, b), 2 * link)
            direction.setdefault((b, a), 2 * link + 1)
    found: dict[tuple[int, int], tuple[int, ...]] = {}
    distance_km, hops = routes.distance_km.copy(), routes.hops.copy()
    for path in underlay.stated_routes.paths:
        route = tuple(direction.get(hop, -1) for hop in pairwise(path))
        if -1 in route:
            continue
        pair = (path[0], path[-1])
        found[pair] = route
        distance_km[pair] = underlay.length_km[np.array(route) // 2].sum()
        hops[pair] = len(route)
    return ExplicitRoutes(
        distance_km=distance_km,
        hops=hops,
        route=found,
        number_of_links=underlay.links,
        otherwise=routes,
    )


def _check_route(underlay: Underlay, source: int, target: int, route: tuple[int, ...]) -> None:
    """Raise an error unless the links lead from one router to another one."""
    if not (0 <= source < underlay.routers and 0 <= target < underlay.routers and source != target):
        raise InputError(
            f"route(={(source, target)}) must join two different routers of 0..{underlay.routers - 1}."
        )
    name, router = _pair(underlay, source, target), source
    for direction in route:
        if not 0 <= direction < 2 * underlay.links:
            raise InputError(f"{name}: link direction(={direction}) must be in 0..{2 * underlay.links - 1}.")
        ends = underlay.ends[direction // 2].tolist()
        tail, head = ends if direction % 2 == 0 else reversed(ends)
        if tail != router:
            raise InputError(f"{name}: link direction {direction} does not leave {underlay.labels[router]}.")
        router = head
    if router != target:
        raise InputError(f"{name} ends at {underlay.labels[router]}.")


def _pair(underlay: Underlay, source: int, target: int) -> str:
    """Name of a route."""
    return f"the route {underlay.labels[source]} -> {underlay.labels[target]}"

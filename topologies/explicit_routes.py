"""Routes that are given one by one, for routings that are no shortest path.

Library only: no command calls it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.errors import InputError
from topologies.underlay import Underlay


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ExplicitRoutes:
    """A route for every ordered pair of routers; made by `explicit_routes`.

    Attributes
    ----------
    distance_km : ndarray, shape (routers, routers)
    hops : ndarray of int, shape (routers, routers)
    route : mapping from (int, int) to tuple of int
        Link directions from the first router to the second, see `topologies.routing.Routes.links`.
    number_of_links : int
        Of the underlay.
    """

    distance_km: FloatArray
    hops: IntArray
    route: Mapping[tuple[int, int], tuple[int, ...]]
    number_of_links: int

    def __repr__(self) -> str:
        """Number of routers."""
        return f"<ExplicitRoutes between {len(self.hops)} routers>"

    def links(self, source: int, target: int) -> tuple[int, ...]:
        """See `topologies.routing.Routes`."""
        return () if source == target else self.route[source, target]

    def bottleneck_bps(self, core_bps: FloatArray) -> FloatArray:
        """See `topologies.routing.Routes`. O(total route length)."""
        smallest = np.full(self.hops.shape, np.inf)
        for pair, links in self.route.items():
            smallest[pair] = core_bps[np.array(links) // 2].min()
        return smallest

    def used_links(self) -> BoolArray:
        """See `topologies.routing.Routes`. O(total route length)."""
        used = np.zeros(self.number_of_links, dtype=bool)
        used[[direction // 2 for links in self.route.values() for direction in links]] = True
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

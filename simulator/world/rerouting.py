"""Routes around links that are down."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isinf

import numpy as np

from simulator.arc import unequal
from simulator.world.changes import CapacityChange, RouteChange
from simulator.world.failures import Downs, links_down
from topologies import Connectivity
from topologies.arrays import FloatArray
from topologies.connectivity import Occupied, latencies
from topologies.explicit_routes import with_stated
from topologies.routing import Routes

Pairs = Sequence[tuple[int, int]]
"""Source and target of each arc."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Detours:
    """Routes around some links that are down.

    Parameters
    ----------
    graph : Connectivity
    down : frozenset of int
        Core links.
    routes : Routes
        Those that cross none of them wherever there are such.
    latency_s : ndarray of shape (silos, silos)
    """

    graph: Connectivity
    down: frozenset[int]
    routes: Routes
    latency_s: FloatArray

    def of(self, source: int, target: int) -> tuple[Occupied, float] | None:
        """Links that models occupy and latency in seconds between two silos, or None where there is no route."""
        route = self._route(source, target)
        back = self._route(target, source) if self.graph.rules.ack_share else {}
        if route is None or back is None:
            return None
        return self.graph.occupying((source, target), route, back), self._one_way_s(source, target)

    def trip_s(self, source: int, target: int) -> float:
        """Round-trip time between two silos; a way that is down keeps its latency."""
        return self._one_way_s(source, target) + self._one_way_s(target, source)

    def _one_way_s(self, source: int, target: int) -> float:
        is_usual = self._is_free(self.graph.core_route(source, target))
        return float((self.graph.latency_s if is_usual else self.latency_s)[source, target])

    def _route(self, source: int, target: int) -> dict[int, float] | None:
        """The way between two silos over links that are not down; None where there is none."""
        if self._is_free(self.graph.core_route(source, target)):
            return self.graph.way(source, target)
        router = self.graph.router
        around = self.routes.links(int(router[source]), int(router[target]))
        return self.graph.detour(self.routes, source, target) if self._is_free(around) else None

    def _is_free(self, core: Sequence[int]) -> bool:
        return self.down.isdisjoint(direction // 2 for direction in core)


def detours(graph: Connectivity, down: frozenset[int]) -> Detours:
    """Routes by the network's own rule, without some core links.

    Parameters
    ----------
    graph : Connectivity
    down : frozenset of int
        Core links.

    Returns
    -------
    Detours

    Notes
    -----
    A link that is down has capacity 0: a route crosses it only where there is no other. A pair whose stated route is
    down takes that of the network's `routing`, others keep theirs. Time and memory as
    the network's `routing`.
    """
    core_bps = np.array(graph.core_bps)
    core_bps[list(down)] = 0.0
    routes = with_stated(graph.underlay, core_bps, graph.routing(graph.underlay, core_bps))
    return Detours(
        graph=graph, down=down, routes=routes, latency_s=latencies(routes, graph.router, graph.latency)
    )


def route_changes(
    graph: Connectivity, arcs: Pairs, downs: Downs
) -> Callable[[], Iterator[RouteChange | CapacityChange]]:
    """Changes of the arcs' routes when core links fail and return.

    Parameters
    ----------
    graph : Connectivity
    arcs : sequence of (int, int)
        Source and target of each arc.
    downs : mapping
        See `down_times`.

    Returns
    -------
    callable
        Makes the changes in the order of their dates. An arc without a route keeps its own, whose capacity is 0.

    Notes
    -----
    One call of the routing for each set of links that are down at a time.
    """
    by_date = links_down(downs)

    def changes() -> Iterator[RouteChange | CapacityChange]:
        if not by_date:
            return
        usual = [
            (occupied, float(graph.latency_s[arc]))
            for occupied, arc in zip(graph.occupied(arcs), arcs, strict=True)
        ]
        # One window is sent per round-trip time, which the way back decides, too.
        windows = [next(filter(graph.is_window, occupied.links), None) for occupied, _ in usual]
        trips_s = [float(graph.latency_s[i, j] + graph.latency_s[j, i]) for i, j in arcs]
        current, now_trips_s = list(usual), list(trips_s)
        for date_s, down in by_date:
            around = detours(graph, down)
            for number, arc in enumerate(arcs):
                link = windows[number]
                if link is not None and (trip_s := around.trip_s(*arc)) != now_trips_s[number]:
                    now_trips_s[number] = trip_s
                    bps = float(graph.link_capacity_bps[link]) * trips_s[number] / trip_s
                    yield CapacityChange(date_s=date_s, link=link, capacity_bps=bps)
                route = around.of(*arc) or usual[number]
                if route != current[number]:
                    current[number] = route
                    occupied, now_s = route
                    yield RouteChange(
                        date_s=date_s,
                        arc=number,
                        links=occupied.links,
                        latency_s=now_s,
                        usage=unequal(occupied.links, occupied.usage),
                        hops=occupied.hops,
                    )

    return changes


def permanent_cut(graph: Connectivity, arcs: Pairs, downs: Downs) -> tuple[int, int, int] | None:
    """The first arc that permanent failures leave without a route.

    Parameters
    ----------
    graph, arcs, downs
        As for `route_changes`.

    Returns
    -------
    (int, int, int) or None
        Source and target of the arc, and one of these links on its route.
    """
    down = frozenset(link for link, times in downs.items() if isinf(times[-1][1]))
    if not down:
        return None
    around = detours(graph, down)
    for source, target in arcs:
        if around.of(source, target) is None:
            crossed = [direction // 2 for direction in graph.core_route(source, target)]
            return source, target, next(link for link in crossed if link in down)
    return None

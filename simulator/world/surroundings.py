"""What a world does to the network under an overlay."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from math import isfinite, isinf
from typing import TypeVar

import numpy as np

from simulator.world.background import ConstantShare, OnOffFlow, on_off_changes
from simulator.world.capacities import CapacityTrace, capacity_steps
from simulator.world.changes import CapacityChange, Change, Changes
from simulator.world.failures import Downs, down_times
from simulator.world.names import core_link_of, directions_of
from simulator.world.rerouting import Pairs, cut_for_ever, route_changes
from simulator.world.world import World
from topologies import Connectivity
from topologies.arrays import FloatArray
from topologies.errors import InputError

Entry = TypeVar("Entry", ConstantShare, OnOffFlow, CapacityTrace)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Surroundings:
    """A network and what happens to it.

    Parameters
    ----------
    link_capacity_bps : ndarray of shape (links,)
        What constant shares leave of each link direction, where a trace gives its capacities of the largest one.
    changes : Changes or None
        None: all stays as it is at the start.
    """

    link_capacity_bps: FloatArray
    changes: Changes | None


def surroundings(world: World, graph: Connectivity, arcs: Pairs) -> Surroundings:
    """What a world does to the network under an overlay.

    Parameters
    ----------
    world : World
    graph : Connectivity
    arcs : sequence of (int, int)
        Source and target of each arc.

    Returns
    -------
    Surroundings

    Raises
    ------
    InputError
        If a name is unknown, entries overlap, a capacity that changes is infinite, or a link that never comes back
        leaves an arc without a route.
    """
    spread = _Spread(graph)
    background, capacities = dict(enumerate(world.background)), dict(enumerate(world.capacities))
    shares = spread(
        "background", "constant share", {n: e for n, e in background.items() if isinstance(e, ConstantShare)}
    )
    flows = spread(
        "background", "on/off flow", {n: e for n, e in background.items() if isinstance(e, OnOffFlow)}
    )
    traces = spread("capacities", "capacity trace", capacities)
    failing = [
        core_link_of(graph, failure.link, f"failures[{place}].link")
        for place, failure in enumerate(world.failures)
    ]
    downs = down_times(zip(failing, world.failures, strict=True))

    left = np.ones(len(graph.link_capacity_bps))
    for direction, (_, share) in shares.items():
        left[direction] = 1.0 - share.share
    stated_bps: list[float] = graph.link_capacity_bps.tolist()
    changing = sorted({*traces, *(2 * link + way for link in downs for way in (0, 1))})
    largest_bps = np.array(stated_bps)
    for direction in changing:
        if direction in traces:
            trace = traces[direction][1]
            first_bps = next(capacity_steps(trace, stated_bps[direction]))[1]
            largest_bps[direction] = max(first_bps, trace.capacity_bps.max())
        if isinf(largest_bps[direction]):
            entry = (
                f"capacities[{traces[direction][0]}]"
                if direction in traces
                else f"failures[{failing.index(direction // 2)}]"
            )
            raise InputError(
                f"{entry}: capacity of {graph.link_name(direction)}(=inf) must be finite to change."
            )

    _check_routes(world, graph, arcs, failing, downs)
    routes = route_changes(graph, arcs, downs)

    def changes() -> Iterator[Change]:
        sources: list[Iterator[Change]] = [
            _capacity_changes(
                direction,
                left[direction],
                stated_bps[direction],
                traces[direction][1] if direction in traces else None,
                downs.get(direction // 2, ()),
            )
            for direction in changing
        ]
        sources.append(routes())
        sources += [on_off_changes(flows[direction][1], direction) for direction in sorted(flows)]
        return merge(*sources, key=lambda change: change.date_s)

    return Surroundings(link_capacity_bps=largest_bps * left, changes=changes if changing or flows else None)


def _check_routes(
    world: World, graph: Connectivity, arcs: Pairs, failing: Sequence[int], downs: Downs
) -> None:
    """Accept failures that leave all arcs a route in the end."""
    cut = cut_for_ever(graph, arcs, downs)
    if cut is None:
        return
    source, target, link = cut
    place = next(
        place
        for place, failure in enumerate(world.failures)
        if failing[place] == link and isinf(failure.until_s)
    )
    raise InputError(
        f"failures[{place}].until_s must be a date: while {graph.underlay.link_name(link)} is down, no route is left "
        f"between {graph.labels[source]} and {graph.labels[target]}."
    )


def _capacity_changes(
    direction: int,
    left: float,
    stated_bps: float,
    trace: CapacityTrace | None,
    down: Sequence[tuple[float, float]],
) -> Iterator[CapacityChange]:
    """Capacities of a link direction; its trace goes on while it is down."""
    steps = iter(()) if trace is None else capacity_steps(trace, stated_bps)
    turns = [
        turn for from_s, until_s in down for turn in ((from_s, 0.0), (until_s, 1.0)) if isfinite(turn[0])
    ]
    open_bps, is_up = stated_bps, 1.0
    for date_s, capacity_bps, up in merge(
        ((date_s, capacity_bps, None) for date_s, capacity_bps in steps),
        ((date_s, None, up) for date_s, up in turns),
        key=lambda step: step[0],
    ):
        open_bps = open_bps if capacity_bps is None else capacity_bps
        is_up = is_up if up is None else up
        yield CapacityChange(date_s=date_s, link=direction, capacity_bps=open_bps * left * is_up)


class _Spread:
    """Entries by the link directions that they name."""

    def __init__(self, graph: Connectivity) -> None:
        self._graph = graph
        self._find: Callable[[str | int | None, str], tuple[int, ...]] = directions_of(graph)

    def __call__(self, field: str, what: str, entries: Mapping[int, Entry]) -> dict[int, tuple[int, Entry]]:
        """Each direction's entry with its place in the field; a direction has one at most."""
        found: dict[int, tuple[int, Entry]] = {}
        for place, entry in entries.items():
            for direction in self._find(entry.link, f"{field}[{place}].link"):
                if direction in found:
                    raise InputError(
                        f"{field}[{place}] must not name {self._graph.link_name(direction)} again: "
                        f"{field}[{found[direction][0]}] is its {what}."
                    )
                found[direction] = place, entry
        return found

"""What a world does to the network under an overlay."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from math import isfinite, isinf
from typing import TypeVar

import numpy as np

from simulator.world.background import ConstantShare, OnOffFlow, on_off_changes
from simulator.world.capacities import CapacityTrace, capacity_steps
from simulator.world.changes import CapacityChange, Change, Changes
from simulator.world.failures import down_times
from simulator.world.names import core_link_of, directions_of
from simulator.world.rerouting import Pairs, route_changes
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
    shares = spread("constant share", (e for e in world.background if isinstance(e, ConstantShare)))
    flows = spread("on/off flow", (e for e in world.background if isinstance(e, OnOffFlow)))
    traces = spread("capacity trace", world.capacities)
    downs = down_times((core_link_of(graph, failure.link), failure) for failure in world.failures)

    left = np.ones(len(graph.link_capacity_bps))
    for direction, share in shares.items():
        left[direction] = 1.0 - share.share
    stated_bps: list[float] = graph.link_capacity_bps.tolist()
    changing = sorted({*traces, *(2 * link + way for link in downs for way in (0, 1))})
    largest_bps = np.array(stated_bps)
    for direction in changing:
        if direction in traces:
            trace = traces[direction]
            first_bps = next(capacity_steps(trace, stated_bps[direction]))[1]
            largest_bps[direction] = max(first_bps, trace.capacity_bps.max())
        if isinf(largest_bps[direction]):
            raise InputError(f"capacity of {graph.link_name(direction)}(=inf) must be finite to change.")

    routes = route_changes(graph, arcs, downs)

    def changes() -> Iterator[Change]:
        sources: list[Iterator[Change]] = [
            _capacity_changes(
                direction,
                left[direction],
                stated_bps[direction],
                traces.get(direction),
                downs.get(direction // 2, ()),
            )
            for direction in changing
        ]
        sources.append(routes())
        sources += [on_off_changes(flow, direction) for direction, flow in sorted(flows.items())]
        return merge(*sources, key=lambda change: change.date_s)

    return Surroundings(link_capacity_bps=largest_bps * left, changes=changes if changing or flows else None)


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
        self._find: Callable[[str | int | None], tuple[int, ...]] = directions_of(graph)

    def __call__(self, what: str, entries: Iterable[Entry]) -> dict[int, Entry]:
        found: dict[int, Entry] = {}
        for entry in entries:
            for direction in self._find(entry.link):
                if direction in found:
                    raise InputError(f"{what} of {self._graph.link_name(direction)} must not be given twice.")
                found[direction] = entry
        return found

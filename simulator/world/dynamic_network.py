"""A network whose capacities, routes and background traffic change by date, from the effects of all events."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice, pairwise
from math import isfinite, isinf, prod
from typing import TypeVar

import numpy as np

from simulator.world.changes import CapacityChange, Change, Changes
from simulator.world.effects import Capacities, Effects, Load, Steps
from simulator.world.failures import Downs, down_times
from simulator.world.rerouting import Pairs, permanent_cut, route_changes
from topologies import Connectivity
from topologies.arrays import FloatArray
from topologies.errors import Field, InputError
from topologies.quantities import with_prefix

Effect = TypeVar("Effect")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class DynamicNetwork:
    """Capacities of a network, and how the network changes.

    Attributes
    ----------
    link_capacity_bps : ndarray of shape (links,)
        What constant shares, and loads that never change, leave of each link direction: of its largest capacity,
        without loads, where that changes.
    changes : Changes or None
        None: all stays as it is at the start.
    positive_capacities : bool
        Whether it changes by loads alone, which leave something of every link.
    """

    link_capacity_bps: FloatArray
    changes: Changes | None
    positive_capacities: bool


def dynamic_network(
    effects: Sequence[Effects], graph: Connectivity, arcs: Pairs, *, traffic: bool = True
) -> DynamicNetwork:
    """What events do to the network under an overlay.

    Parameters
    ----------
    effects : sequence of Effects
        Of all events, in their order.
    graph : Connectivity
    arcs : sequence of (int, int)
        Source and target of each arc.
    traffic : bool
        Whether background traffic takes its part of the links.

    Returns
    -------
    DynamicNetwork

    Raises
    ------
    InputError
        If events of one sort overlap, a capacity that changes is infinite, a factor is out of its range, a load reaches
        the capacity, or a link that never comes back leaves an arc without a route.
    """
    shares = _one_each("constant share", [effect.shares for effect in effects], graph)
    loads = _one_each("demands", [effect.loads for effect in effects], graph) if traffic else {}
    flows = _one_each("on/off flow", [effect.flows for effect in effects], graph)
    traces = _one_each("capacity trace", [effect.capacities for effect in effects], graph)
    factors = _factors(effects)
    downs = down_times(effects)

    _check_plain(effects, graph)
    left = np.ones(len(graph.link_capacity_bps))
    for direction, (_, share) in shares.items() if traffic else ():
        left[direction] = 1.0 - share
    stated_bps: list[float] = graph.link_capacity_bps.tolist()
    changing = sorted({*traces, *factors, *(2 * link + way for link in downs for way in (0, 1))})
    largest_bps = np.array(stated_bps)
    for direction in changing:
        if direction in traces:
            largest_bps[direction] = traces[direction][1].largest_bps(stated_bps[direction])
        if isinf(largest_bps[direction]):
            raise InputError(
                f"must be on links of finite capacity, not on {graph.link_name(direction)} of unlimited capacity.",
                field=Field("events", _first_on(effects, direction)),
            )
    loads = {direction: load for direction, load in loads.items() if not isinf(largest_bps[direction])}
    _check_loads(loads, largest_bps * left, graph)
    constant_bps = np.zeros(len(left))
    stepped = set(changing)
    for direction, (_, load) in loads.items():
        (_, first_bps), *later = islice(load.steps(), 2)
        if later or direction in changing:
            stepped.add(direction)
        else:
            constant_bps[direction] = first_bps
    changing = sorted(stepped)
    _check_routes(effects, graph, arcs, downs)
    routes = route_changes(graph, arcs, downs)

    def changes() -> Iterator[Change]:
        sources: list[Iterator[Change]] = [
            _capacity_changes(
                direction,
                left[direction],
                stated_bps[direction],
                traces[direction][1] if direction in traces else None,
                [*factors.get(direction, ()), _up(downs.get(direction // 2, ()))]
                if direction < graph.first_uplink
                else factors.get(direction, ()),
                loads[direction][1] if direction in loads else None,
            )
            for direction in changing
        ]
        sources.append(routes())
        if traffic:
            sources += [flows[direction][1]() for direction in sorted(flows)]
        return merge(*sources, key=lambda change: change.date_s)

    is_changing = bool(changing or (flows and traffic))
    return DynamicNetwork(
        link_capacity_bps=largest_bps * left - constant_bps,
        changes=changes if is_changing else None,
        positive_capacities=not (traces or factors or downs or (flows and traffic)),
    )


def _one_each(
    what: str, effects: Sequence[Mapping[int, Effect]], graph: Connectivity
) -> dict[int, tuple[int, Effect]]:
    """The effect on each link direction with the place of its event; a direction has one at most."""
    found: dict[int, tuple[int, Effect]] = {}
    for place, by_direction in enumerate(effects):
        for direction, effect in by_direction.items():
            if direction in found:
                raise InputError(
                    f"must not name {graph.link_name(direction)} again: ",
                    Field("events", found[direction][0]),
                    f" is its {what}.",
                    field=Field("events", place),
                )
            found[direction] = place, effect
    return found


def _factors(effects: Sequence[Effects]) -> dict[int, list[Steps]]:
    """Factors of each link direction, by event."""
    found: dict[int, list[Steps]] = {}
    for place, effect in enumerate(effects):
        for direction, steps in effect.factors.items():
            for (date_s, _), (next_s, _) in pairwise(steps):
                if not date_s <= next_s:
                    raise InputError(
                        f"must have factors in ascending order of dates, but {next_s} s comes after {date_s} s.",
                        field=Field("events", place),
                    )
            for _, factor in steps:
                if not 0 <= factor <= 1:
                    raise InputError(
                        "must be >= 0 and <= 1.", field=Field("events", place, "factor", value=factor)
                    )
            found.setdefault(direction, []).append(steps)
    return found


def _first_on(effects: Sequence[Effects], direction: int) -> int:
    """Place of the first event that changes the capacity of a link direction; that of a trace goes before others."""
    traces = [place for place, effect in enumerate(effects) if direction in effect.capacities]
    others = [
        place
        for place, effect in enumerate(effects)
        if direction in effect.factors or direction // 2 in effect.outages
    ]
    return [*traces, *others][0]


def _check_plain(effects: Sequence[Effects], graph: Connectivity) -> None:
    """Accept events on links that are full-duplex, of one silo, and shared by the models on them."""
    fat = {2 * link + way for link in graph.rules.fat_pipes for way in (0, 1)}
    special = fat.union(*(link.usage for link in graph.shared))
    for place, effect in enumerate(effects):
        if fat and effect.outages:
            raise InputError(
                "must not fail where core links are fat pipes: what a detour over these bounds is not simulated.",
                field=Field("events", place),
            )
        for direction in (*effect.shares, *effect.flows, *effect.loads, *effect.capacities, *effect.factors):
            if direction in special:
                kind = "is a fat pipe" if direction in fat else "is half-duplex or shared by silos"
                raise InputError(
                    f"must not be on {graph.link_name(direction)}, which {kind}.",
                    field=Field("events", place),
                )


def _check_routes(effects: Sequence[Effects], graph: Connectivity, arcs: Pairs, downs: Downs) -> None:
    """Accept failures that leave all arcs a route in the end."""
    cut = permanent_cut(graph, arcs, downs)
    if cut is None:
        return
    source, target, link = cut
    place = next(
        place
        for place, effect in enumerate(effects)
        if link in effect.outages and isinf(effect.outages[link][1])
    )
    raise InputError(
        f"must be a date: while {graph.underlay.link_name(link)} is down, no route is left "
        f"between {graph.labels[source]} and {graph.labels[target]}.",
        field=Field("events", place, "until_s"),
    )


def _up(down: Sequence[tuple[float, float]]) -> Steps:
    """Factor of the capacity of a link that is down at times."""
    turns = (turn for from_s, until_s in down for turn in ((from_s, 0.0), (until_s, 1.0)))
    return [turn for turn in turns if isfinite(turn[0])]


def _check_loads(
    loads: Mapping[int, tuple[int, Load]], capacity_bps: FloatArray, graph: Connectivity
) -> None:
    """Accept loads that leave something of each link's largest capacity."""
    full: list[tuple[float, int]] = []
    for direction, (_, load) in loads.items():
        _, load_bps = load.largest()
        if load_bps >= capacity_bps[direction]:
            full.append((float(capacity_bps[direction] / load_bps), direction))
    if not full:
        return
    share, direction = min(full)
    place, load = loads[direction]
    _, load_bps = load.largest()
    others = len(full) - 1
    more = (
        ""
        if not others
        else ", and one more link is full"
        if others == 1
        else f", and {others} more links are full"
    )
    raise InputError(
        f"must leave something of {graph.link_name(direction)}, but {load.largest_when()} they are "
        f"{with_prefix(load_bps, 'bps')} of its {with_prefix(float(capacity_bps[direction]), 'bps')}{more}: "
        f"{load.fitting(share)} they leave something of every link.",
        field=Field("events", place),
    )


def _capacity_changes(
    direction: int,
    left: float,
    stated_bps: float,
    trace: Capacities | None,
    factors: Sequence[Steps],
    load: Load | None,
) -> Iterator[CapacityChange]:
    """Capacities of a link direction; its trace goes on whatever the factors are."""
    open_bps, load_bps, current = stated_bps, 0.0, [1.0] * len(factors)
    for date_s, number, value in merge(
        ((date_s, -1, bps) for date_s, bps in (() if trace is None else trace.steps(stated_bps))),
        ((date_s, -2, bps) for date_s, bps in (() if load is None else load.steps())),
        *([(date_s, number, factor) for date_s, factor in steps] for number, steps in enumerate(factors)),
        key=lambda step: step[0],
    ):
        if number == -1:
            open_bps = value
        elif number == -2:
            load_bps = value
        else:
            current[number] = value
        free_bps = open_bps * left * prod(current) - load_bps
        yield CapacityChange(date_s=date_s, link=direction, capacity_bps=max(0.0, free_bps))

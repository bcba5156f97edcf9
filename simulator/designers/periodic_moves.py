"""Changes of the states of a periodic overlay around one of its arcs, tried by the search on simulated cycle times."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from simulator.designers.search_moves import (
    Move,
    NearSilos,
    bypass,
    detour,
    drop,
    relocate,
    reverse_path,
    swap,
)
from simulator.designers.simulated_cost import Arcs

States: TypeAlias = tuple[Arcs, ...]
"""The arcs of each state."""
StateArc: TypeAlias = tuple[int, int, int]
"""State, source and target."""


def pair(arcs: Arcs, arc: tuple[int, int], other: int) -> Arcs:
    """Let the arc's source and another silo send to each other."""
    return arcs | {(arc[0], other), (other, arc[0])}


def cross(arcs: Arcs, arc: tuple[int, int], other: int) -> Arcs:
    """Exchange the targets of the arc and of one into another silo: two circuits become one, or one becomes two."""
    into = sorted(i for i, j in arcs if j == other and i != arc[0])
    if not into:
        return arcs
    return (arcs - {arc, (into[0], other)}) | {
        one for one in ((arc[0], other), (into[0], arc[1])) if one[0] != one[1]
    }


def leave(arcs: Arcs, arc: tuple[int, int], _other: int) -> Arcs:
    """Let the arc's target compute only: those that send to it send to those that it sends to."""
    return without(arcs, arc[1])


def leave_both(arcs: Arcs, arc: tuple[int, int], _other: int) -> Arcs:
    """Let both ends of the arc compute only."""
    return without(without(arcs, arc[0]), arc[1])


def without(arcs: Arcs, silo: int) -> Arcs:
    """Take a silo out: the first that sends to it sends to all that it sends to, all others to the first of these."""
    before, after = sorted(i for i, j in arcs if j == silo), sorted(j for i, j in arcs if i == silo)
    left = frozenset(arc for arc in arcs if silo not in arc)
    if not before or not after:
        return left
    joined = {(before[0], j) for j in after} | {(i, after[0]) for i in before}
    return left | {arc for arc in joined if arc[0] != arc[1]}


def component(arcs: Arcs, silo: int) -> Arcs:
    """The arcs among the silos that a silo is joined with."""
    beside: dict[int, set[int]] = {}
    for i, j in sorted(arcs):
        beside.setdefault(i, set()).add(j)
        beside.setdefault(j, set()).add(i)
    found, ahead = {silo}, [silo]
    while ahead:
        new = beside.get(ahead.pop(), set()) - found
        found |= new
        ahead += sorted(new)
    return frozenset(arc for arc in arcs if arc[0] in found)


def change_turns(states: States, there: StateArc, to: int, other: int) -> States:
    """Let the arc's target take part in another state in place of the arc's, beside another silo."""
    state, silo = there[0], there[2]
    if other == silo or any(silo in arc for arc in states[to]):
        return states
    after = sorted(j for i, j in states[to] if i == other)
    joined = detour(states[to], (other, after[0]), silo) if after else pair(states[to], (other, silo), silo)
    return with_state(with_state(states, state, without(states[state], silo)), to, joined)


def move_component(states: States, there: StateArc, to: int, _other: int) -> States:
    """Let all that are joined with the arc send to each other in another state in place of the arc's."""
    moved = component(states[there[0]], there[1])
    return with_state(with_state(states, there[0], states[there[0]] - moved), to, states[to] | moved)


def exchange_components(states: States, there: StateArc, to: int, other: int) -> States:
    """Exchange what is joined with the arc for what is joined with another silo in another state."""
    here, away = component(states[there[0]], there[1]), component(states[to], other)
    left = with_state(states, there[0], (states[there[0]] - here) | away)
    return with_state(left, to, (states[to] - away) | here)


def with_state(states: States, place: int, arcs: Arcs) -> States:
    """The states with other arcs in one of them."""
    return (*states[:place], arcs, *states[place + 1 :])


WITHIN: tuple[Move, ...] = (
    leave,
    leave,
    leave_both,
    drop,
    detour,
    pair,
    cross,
    bypass,
    swap,
    relocate,
    reverse_path,
)
"""Changes of one state."""
BETWEEN: tuple[Callable[[States, StateArc, int, int], States], ...] = (
    change_turns,
    change_turns,
    move_component,
    exchange_components,
)
"""Changes of two states."""
SHARE_BETWEEN = 0.35
"""Share of the changes that are of two states."""


def changed_states(states: States, there: StateArc, near: NearSilos, rng: np.random.Generator) -> States:
    """Other states, changed around an arc; the same ones where the drawn change does not fit."""
    state, *ends = there
    other = near.draw(ends[int(rng.integers(2))], rng)
    if len(states) > 1 and rng.random() < SHARE_BETWEEN:
        to = (state + 1 + int(rng.integers(len(states) - 1))) % len(states)
        return BETWEEN[int(rng.integers(len(BETWEEN)))](states, there, to, other)
    move = WITHIN[int(rng.integers(len(WITHIN)))]
    return with_state(states, state, move(states[state], (ends[0], ends[1]), other))

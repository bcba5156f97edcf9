"""Changes of a strong digraph around one of its arcs, tried by the search on simulated cycle times."""

from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from simulator.designers.simulated_cost import Arcs
from topologies.arrays import FloatArray

NEAR = 12
"""Silos near another one that a move prefers."""
FAR = 0.2
"""Share of the moves that take any silo instead."""
Arc: TypeAlias = tuple[int, int]
Move: TypeAlias = "Callable[[Arcs, Arc, int], Arcs]"


class NearSilos:
    """Draws silos that are near another one.

    Parameters
    ----------
    delay_s : ndarray, shape (silos, silos)
        Infinite where two cannot talk.
    """

    def __init__(self, delay_s: FloatArray) -> None:
        both_s = np.minimum(delay_s, delay_s.T).copy()
        np.fill_diagonal(both_s, np.inf)
        self._near = np.argsort(both_s, axis=1, kind="stable")[:, :NEAR].tolist()

    def draw(self, silo: int, rng: np.random.Generator) -> int:
        """A silo near the given one, or any."""
        if rng.random() < FAR:
            return int(rng.integers(len(self._near)))
        near = self._near[silo]
        return int(near[int(rng.integers(len(near)))])


def drop(arcs: Arcs, arc: Arc, _other: int) -> Arcs:
    """Leave the arc out."""
    return arcs - {arc}


def turn_head(arcs: Arcs, arc: Arc, other: int) -> Arcs:
    """Send to another silo instead."""
    return (arcs - {arc}) | {(arc[0], other)}


def turn_tail(arcs: Arcs, arc: Arc, other: int) -> Arcs:
    """Let another silo send instead."""
    return (arcs - {arc}) | {(other, arc[1])}


def detour(arcs: Arcs, arc: Arc, other: int) -> Arcs:
    """Send through another silo."""
    return (arcs - {arc}) | {(arc[0], other), (other, arc[1])}


def bypass(arcs: Arcs, arc: Arc, other: int) -> Arcs:
    """Leave the arc's target out on the way to one of those that it sends to, which joins two circuits to one."""
    after = sorted(j for i, j in arcs if i == arc[1] and j != arc[0])
    if not after:
        return arcs
    next_one = after[other % len(after)]
    return (arcs - {arc, (arc[1], next_one)}) | {(arc[0], next_one)}


def swap(arcs: Arcs, arc: Arc, other: int) -> Arcs:
    """Exchange the places of the arc's target and another silo."""
    place = {arc[1]: other, other: arc[1]}
    return frozenset((place.get(i, i), place.get(j, j)) for i, j in arcs)


def relocate(arcs: Arcs, arc: Arc, other: int) -> Arcs:
    """Take another silo from between its two neighbours, and put it between the arc's (Or-opt of one silo)."""
    before, after = [i for i, j in arcs if j == other], [j for i, j in arcs if i == other]
    if len(before) != 1 or len(after) != 1 or other in arc:
        return arcs
    left = arcs - {(before[0], other), (other, after[0])}
    if before != after:
        left |= {(before[0], after[0])}
    return (left - {arc}) | {(arc[0], other), (other, arc[1])}


def reverse_path(arcs: Arcs, arc: Arc, other: int) -> Arcs:
    """Reverse the way from the arc's target to another silo where it does not branch (2-opt)."""
    after: dict[int, list[int]] = {}
    for i, j in sorted(arcs):
        after.setdefault(i, []).append(j)
    path = [arc[1]]
    while path[-1] != other:
        ahead = after[path[-1]]
        if len(ahead) != 1 or ahead[0] in path or ahead[0] == arc[0]:
            return arcs
        path.append(ahead[0])
    if len(path) < 2 or len(after[other]) != 1:
        return arcs
    old = {arc, *pairwise(path), (other, after[other][0])}
    turned = [arc[0], *reversed(path), after[other][0]]
    return (arcs - old) | set(pairwise(turned))


MOVES: tuple[Move, ...] = (drop, turn_head, turn_tail, detour, bypass, swap, relocate, reverse_path)

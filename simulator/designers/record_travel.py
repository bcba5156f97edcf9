"""Walks of a search by simulation that may become worse for a while: record-to-record travel."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from simulator.designers.simulated_cost import NOISE

F = TypeVar("F")
A = TypeVar("A")

SLACK, STRICT_FROM = 0.02, 0.75
"""How much worse than the best a walk may become at its start, and after which share of it no more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Travel(Generic[F, A]):
    """What a walk does with the overlays `F` that it has simulated, and the arcs `A` of others.

    Attributes
    ----------
    arcs : callable
        Those of an overlay; two overlays of the same arcs are one.
    time_s : callable
        What is to be small of an overlay: its simulated cycle time, or another time, in seconds.
    changed : callable
        Other arcs, near those of an overlay; None where the drawn change gives none.
    simulated_below : callable
        Of the overlay that the walk is at, the arcs changed from it, and a time in seconds: the overlay of these arcs,
        simulated, unless a bound or an estimate tells without that it is not below this time, or it is not one of those
        searched: then None.
    """

    arcs: Callable[[F], A]
    time_s: Callable[[F], float]
    changed: Callable[[F], A | None]
    simulated_below: Callable[[F, A, float], F | None]


def even_parts(evaluations: int, walks: int) -> list[int]:
    """Evaluations of each of some walks, as equal as can be, so many in all."""
    return [evaluations * (number + 1) // walks - evaluations * number // walks for number in range(walks)]


def record_travel(travel: Travel[F, A], start: F, *, evaluations: int, trials: int) -> F:
    """The best overlay on a walk.

    Parameters
    ----------
    travel : Travel
    start : F
    evaluations : int
        Overlays that are simulated at most.
    trials : int
        Changes that are looked at, at most.

    Notes
    -----
    The walk goes on from every overlay whose time is below that of the best one and a share of it, which falls to 0
    (G. Dueck, "New optimization heuristics: the great deluge algorithm and the record-to-record travel", 1993).
    """
    now = best = start
    seen, left = {travel.arcs(start)}, evaluations
    for trial in range(trials):
        if left == 0:
            break
        share = max(trial / trials, 1 - left / evaluations)
        limit_s = travel.time_s(best) * (1 - NOISE + SLACK * max(0.0, 1 - share / STRICT_FROM))
        if share >= STRICT_FROM and travel.time_s(now) > travel.time_s(best):
            now = best
        changed = travel.changed(now)
        if changed is None or changed in seen:
            continue
        seen.add(changed)
        found = travel.simulated_below(now, changed, limit_s)
        if found is None:
            continue
        left -= 1
        if travel.time_s(found) < limit_s:
            now = found
            if travel.time_s(found) < travel.time_s(best) * (1 - NOISE):
                best = found
    return best

"""What happens around some jobs: before, in, or after the rounds that their cycle times are means over."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from math import inf, isnan, nan

from scenarios.config.events import AwayConfig, CapacityConfig
from scenarios.config.quantities import format_rate
from scenarios.config.simulation import SimulationConfig
from scenarios.simulation.windows import Window, format_long
from simulator.world.capacities import capacity_steps

_BEFORE, _IN, _AFTER = -1, 0, 1
# A silo passes a delay on a round later: the rounds after an event may hold most of it.
_BEGINNINGS = {
    _IN: "What happens in a cycle time's rounds is part of it",
    _BEFORE: "Over before these rounds, so that only delays still on their way count",
    _AFTER: "Still to come after these rounds, and so no part of it",
}
_NO_WAIT = "--until-ci does not wait for what is still to come."


def events_note(simulation: SimulationConfig, windows: Mapping[str, Window | None]) -> list[str]:
    """Sentences that say what of all that happens around the jobs is part of their cycle times.

    Parameters
    ----------
    simulation : SimulationConfig
    windows : mapping from kind to Window or None
        Of each overlay's cycle time; None where that is exact, so that the network does not change.

    Returns
    -------
    list of str
        One for each side of the rounds on which something happens. Events name their overlays where these differ.
    """
    found: dict[int, dict[str, list[str]]] = {side: {} for side in _BEGINNINGS}
    for kind, window in windows.items():
        for side, event in _placed(simulation, window):
            found[side].setdefault(event, []).append(kind)
    lines = []
    for side, beginning in _BEGINNINGS.items():
        events = [
            event if len(kinds) == len(windows) else f"{event} ({', '.join(kinds)})"
            for event, kinds in found[side].items()
        ]
        if events:
            lines.append(f"{beginning}: {'; '.join(events)}.")
    if found[_AFTER] and simulation.until_ci is not None:
        lines.append(_NO_WAIT)
    return lines


def _placed(simulation: SimulationConfig, window: Window | None) -> Iterator[tuple[int, str]]:
    """Events in words, each with its side of given rounds; those with dates or rounds only where there is a window."""
    if simulation.background:
        yield _IN, "background"
    if window is None:
        return
    for capacity in simulation.capacity:
        yield from _capacities(capacity, window)
    for failed in simulation.failure:
        failure = failed.entry()
        until = "" if failed.until is None else f" until {failed.until}"
        yield (
            window.side_of_dates(failure.from_s, failure.until_s),
            f"{failed.link} down from {failed.from_}{until}",
        )
    for away in simulation.away:
        side, words = _away(away, simulation.away, window)
        yield side, words
        back = _last_round(away) + 1
        if simulation.until_ci is not None and away.rounds and side == _IN and back > window.last_round:
            yield _AFTER, f"{away.silo} back from round {back:,} on"


def _away(away: AwayConfig, all_away: Sequence[AwayConfig], window: Window) -> tuple[int, str]:
    """A silo's missed rounds, or the round in which it pauses."""
    words, first, last = (
        f"{away.silo} away from round {away.from_round:,}",
        away.from_round,
        _last_round(away),
    )
    longest = last
    # Where its in-neighbours are away too it misses further rounds: at most one more for each silo on the way to it.
    for other in sorted(all_away, key=lambda other: other.from_round):
        if away.rounds and other.rounds and other.silo != away.silo and other.from_round <= longest:
            longest += max(0, _last_round(other) - longest) + (_last_round(other) >= first)
    side = window.side_of_rounds(first, last)
    if side == window.side_of_rounds(first, longest):
        return side, words
    return _IN, f"{words}, longer than asked where it hears nobody"


def _last_round(away: AwayConfig) -> int:
    """The last of the rounds that a silo is asked to miss, or in which it pauses."""
    return away.from_round + (away.rounds or 1) - 1


def _capacities(config: CapacityConfig, window: Window) -> Iterator[tuple[int, str]]:
    """Capacities of a link's trace, those on one side of the rounds in one text; dates are since the job's start."""
    trace = config.entry()
    if trace.period_s is not None and window.until_s - window.from_s >= trace.period_s:
        yield _IN, f"{config.link}'s capacities, again every {config.repeat_every}"
        return
    sides: dict[int, list[tuple[float, float]]] = {_BEFORE: [], _IN: [], _AFTER: []}
    # Before its first date a trace says nothing, so that the capacity is the network's own.
    for (from_s, bps), (until_s, _) in pairwise(chain(capacity_steps(trace, nan), [(inf, nan)])):
        side = window.side_of_dates(from_s, until_s)
        if not isnan(bps) and until_s > from_s:
            sides[side].append((from_s, bps))
        if side == _AFTER and trace.period_s is not None:
            break
    for side, steps in sides.items():
        if steps:
            (first_s, bps), (last_s, _) = steps[0], steps[-1]
            yield (
                side,
                f"{config.link} at {format_rate(bps)} from {format_long(first_s)}"
                if len(steps) == 1
                else f"{config.link} at {len(steps)} capacities from {format_long(first_s)}, the last from "
                f"{format_long(last_s)}",
            )

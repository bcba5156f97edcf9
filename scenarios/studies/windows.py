"""Over which rounds a simulated cycle time is a mean, and which events lie outside of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Self

from scenarios.simulation_config import SimulationConfig
from scenarios.studies.how import events_of
from scenarios.studies.simulation import Outcome
from scenarios.units import digits, format_s
from simulator.confidence import counted_rounds
from topologies.arrays import FloatArray

_LONG = {"d": 86_400.0, "h": 3600.0, "min": 60.0}
"""Units of long durations, each for twice its length and more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """Consecutive rounds of a simulation.

    Attributes
    ----------
    first_round, last_round : int
        Both belong to it.
    from_s, until_s : float
        Mean start of all silos of the first round, and of the round after the last one.
    """

    first_round: int
    last_round: int
    from_s: float
    until_s: float

    @classmethod
    def of(cls, mean_start_s: FloatArray, rounds: int) -> Self:
        """The last `rounds` rounds of those with these mean starts, shape (n,); the last start ends them."""
        end = len(mean_start_s) - 1
        return cls(
            first_round=end - rounds,
            last_round=end - 1,
            from_s=float(mean_start_s[end - rounds]),
            until_s=float(mean_start_s[end]),
        )

    def __str__(self) -> str:
        """``rounds 248 to 997``."""
        return f"rounds {self.first_round:,} to {self.last_round:,}"


def estimate_window(outcome: Outcome) -> Window | None:
    """The rounds that an estimated cycle time is the mean over; None where it is exact.

    Parameters
    ----------
    outcome : Outcome

    Returns
    -------
    Window or None

    Notes
    -----
    With an interval those of `simulator.confidence.counted_rounds`; with fewer rounds the last half. Rounds that start
    after a silo has ended the job are in neither.
    """
    if outcome.steady.is_exact:
        return None
    rounds = len(outcome.mean_start_s) - 1
    counted = rounds - rounds // 2 if outcome.interval is None else counted_rounds(rounds)
    return Window.of(outcome.mean_start_s, counted)


def paired_window(start_s: FloatArray, other_s: FloatArray) -> Window:
    """The rounds that `simulator.confidence.paired_difference` is the mean over: of those that both have.

    Parameters
    ----------
    start_s, other_s : ndarray of shape (n,), (m,)
        Mean start of all silos of each round, for two overlays. The window's dates are of the first.
    """
    both = min(len(start_s), len(other_s))
    return Window.of(start_s[:both], counted_rounds(both - 1))


def format_long(seconds: float) -> str:
    """Duration for people, from two minutes on in minutes, hours or days: ``38.60 min``."""
    unit = next((unit for unit, unit_s in _LONG.items() if seconds >= 2 * unit_s), None)
    return format_s(seconds) if unit is None else f"{digits(seconds / _LONG[unit])} {unit}"


def means_note(windows: Mapping[str, Window | None]) -> list[str]:
    """One sentence that says over which rounds, and what time, the estimates of some overlays are means."""
    known = [
        f"{kind}, {window} ({format_long(window.from_s)} to {format_long(window.until_s)})"
        for kind, window in windows.items()
        if window is not None
    ]
    return [f"Without a period, a cycle time is a mean: {'; '.join(known)}."] if known else []


def events_note(simulation: SimulationConfig, windows: Mapping[str, Window | None]) -> list[str]:
    """Sentences that say whether what happens around the jobs is part of their cycle times.

    Parameters
    ----------
    simulation : SimulationConfig
    windows : mapping from kind to Window or None
        Of each overlay's cycle time; None where that is exact, so that the network does not change.

    Returns
    -------
    list of str
        None where nothing happens.
    """
    events = events_of(simulation)
    if not events:
        return []
    lines = [f"What happens in a cycle time's rounds is part of it: {', '.join(events)}."]
    for text, meets in _passing(simulation):
        missed = [kind for kind, window in windows.items() if window is not None and not meets(window)]
        if missed:
            lines.append(f"Not in these rounds, and so no part of it: {text} ({', '.join(missed)}).")
    return lines


def _passing(simulation: SimulationConfig) -> Iterator[tuple[str, Callable[[Window], bool]]]:
    """Events that come and pass, in words, and whether some part of each falls into given rounds."""
    for failed in simulation.failure:
        failure = failed.entry()
        yield (
            f"{failed.link} down from {failed.from_}",
            partial(_meets_dates, failure.from_s, failure.until_s),
        )
    for away in simulation.away:
        last = away.from_round + (away.rounds or 1) - 1
        yield (
            f"{away.silo} away from round {away.from_round:,}",
            partial(_meets_rounds, away.from_round, last),
        )


def _meets_dates(from_s: float, until_s: float, window: Window) -> bool:
    return from_s < window.until_s and until_s > window.from_s


def _meets_rounds(first: int, last: int, window: Window) -> bool:
    return first <= window.last_round and last >= window.first_round

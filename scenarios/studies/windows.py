"""Over which rounds, and what time, a simulated cycle time is a mean."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

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

    def side_of_dates(self, from_s: float, until_s: float) -> int:
        """Where a time lies that begins and ends at these dates: -1 before, 0 at least partly in it, 1 after."""
        return (from_s >= self.until_s) - (until_s <= self.from_s)

    def side_of_rounds(self, first: int, last: int) -> int:
        """Where these rounds lie, likewise."""
        return (first > self.last_round) - (last < self.first_round)

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

"""The rounds, and the time, over which a simulated cycle time is a mean; notes on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from scenarios.config.quantities import digits, format_s
from scenarios.simulation.runner import Outcome
from simulator.statistics.confidence import interval_rounds
from simulator.world.counted_silos import Counted, Starts

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
        Start of the first round, and of the round after the last one: the mean of all silos, or as
        `simulator.world.counted_silos.Starts` says.
    throughout : int or None
        Number of silos that are counted, where others are absent; None where none is.
    asked : tuple of (int, int) or None
        The first and the last of the rounds that would count if a silo were present in all of them; None if one is.
    """

    first_round: int
    last_round: int
    from_s: float
    until_s: float
    throughout: int | None = None
    asked: tuple[int, int] | None = None

    @classmethod
    def of(cls, counted: Counted) -> Self:
        """Those of a cycle time."""
        return cls(
            first_round=counted.first_round,
            last_round=counted.first_round + counted.rounds - 1,
            from_s=float(counted.start_s[0]),
            until_s=float(counted.start_s[-1]),
            throughout=None if counted.throughout is None else len(counted.throughout),
            asked=None if counted.asked is None else (counted.asked[0], counted.asked[1] - 1),
        )

    def side_of_dates(self, from_s: float, until_s: float) -> int:
        """Where an interval of time lies: -1 before the window, 0 at least partly in it, 1 after it."""
        return (from_s >= self.until_s) - (until_s <= self.from_s)

    def side_of_rounds(self, first: int, last: int) -> int:
        """Where these rounds lie, in the same sense."""
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
    See `confidence.estimated_cycle_time`. Rounds that start after a silo has ended the job do not count.
    """
    return None if outcome.estimate is None else Window.of(outcome.estimate.counted)


def paired_window(starts: Starts, others: Starts) -> Window | None:
    """The rounds that `simulator.statistics.confidence.paired_difference` is the mean over: of those that both have.

    Parameters
    ----------
    starts, others : Starts
        Of two overlays. The window's dates are of the first.
    """
    counted = interval_rounds([starts, others], silos=starts.presence.silos)
    return None if counted is None else Window.of(counted[0])


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
    means = [f"Without a period, a cycle time is a mean: {'; '.join(known)}."] if known else []
    return [*means, *presence_note(windows)]


def presence_note(windows: Mapping[str, Window | None]) -> list[str]:
    """Which silos are counted where some are absent, and overlays without a silo that is always present."""
    there = [
        f"{kind}, {window.throughout} silo{'' if window.throughout == 1 else 's'}"
        for kind, window in windows.items()
        if window is not None and window.throughout is not None
    ]
    cut = [
        f"{kind}, rounds {window.asked[0]:,} to {window.asked[1]:,}, of which the longest part counts in which one is"
        for kind, window in windows.items()
        if window is not None and window.asked is not None
    ]
    return [
        *(
            [
                f"Where silos are away, the last start counts of those that are there throughout: {'; '.join(there)}."
            ]
            if there
            else []
        ),
        *([f"No silo is there throughout: {'; '.join(cut)}."] if cut else []),
    ]


def disturbed_note(kinds: Sequence[str]) -> list[str]:
    """One sentence on the overlays of whose rounds too few start before a silo has ended the job.

    See Also
    --------
    simulator.statistics.steady_state.counted_rows : why all rounds count then.
    """
    if not kinds:
        return []
    return [
        f"~ {', '.join(kinds)}: most rounds start after a silo has ended the job and left its links to the others; "
        "more rounds show what a long job takes."
    ]

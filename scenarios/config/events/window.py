"""The rounds that a simulated cycle time is a mean over."""

from dataclasses import dataclass
from typing import Self

from simulator.computing_rounds import nth_computing
from simulator.world.counted_silos import Counted

BEFORE, IN, AFTER = -1, 0, 1
"""Sides of a window on which something may happen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """Consecutive rounds of a simulation.

    Attributes
    ----------
    first_round, last_round : int
        Both belong to it. Numbers among all rounds, of a periodic overlay those in which silos do not compute, too.
    from_s, until_s : float
        Start of the first round, and of the round after the last one: the mean of all silos, or as
        `simulator.world.counted_silos.Starts` says.
    throughout : int or None
        How many silos are counted, where others are away; None where all are there.
    asked : tuple of (int, int) or None
        The first and the last of the rounds that would count if a silo were there in all of them; None where one is.
    lacked_period : int or None
        Rounds of a period of the overlay's states, where fewer than two periods are there; None where more are.
    waits_from : int or None
        Round from which on the messages of the longest lag are awaited, where that is after this window; else None.
    """

    first_round: int
    last_round: int
    from_s: float
    until_s: float
    throughout: int | None = None
    asked: tuple[int, int] | None = None
    lacked_period: int | None = None
    waits_from: int | None = None

    @classmethod
    def of(cls, counted: Counted) -> Self:
        """Those of a cycle time."""

        def start(number: int) -> int:
            return nth_computing(counted.computes, number)

        return cls(
            first_round=start(counted.first_round),
            last_round=start(counted.first_round + counted.rounds) - 1,
            from_s=float(counted.start_s[0]),
            until_s=float(counted.start_s[-1]),
            throughout=None if counted.throughout is None else len(counted.throughout),
            asked=None if counted.asked is None else (start(counted.asked[0]), start(counted.asked[1]) - 1),
            lacked_period=len(counted.computes) if counted.lacks_period else None,
            waits_from=start(counted.regular_from) if counted.lacks_waiting else None,
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

"""Extrapolation from a repeat of the whole state: the steady state, and rounds that need no simulation."""

from collections.abc import Iterator, Sequence

import numpy as np

from simulator.compiled.rows import Rows, joined
from simulator.compiled.state import Network, Silos, Window
from simulator.statistics.steady_state import SteadyState, repeating
from topologies.arrays import FloatArray

_HISTORY = 1 << 22
"""Round starts to look back at for the first round that repeats, 32 MiB."""

_PIECE = 1 << 20
"""Numbers in a piece of copied rounds, 8 MiB."""


class History:
    """The latest round starts, as many as fit in memory.

    Parameters
    ----------
    computes : sequence of bool
        See `simulator.job.Job`.
    """

    def __init__(self, computes: Sequence[bool]) -> None:
        self._computes = computes
        self._first = 0
        self._starts_s: list[FloatArray] = []
        self._size = 0

    def add(self, round_start_s: FloatArray) -> None:
        """Add rounds, and drop the oldest ones if there are too many."""
        self._starts_s.append(round_start_s)
        self._size += round_start_s.size
        while self._size > _HISTORY and len(self._starts_s) > 1:
            oldest_s = self._starts_s.pop(0)
            self._size -= oldest_s.size
            self._first += len(oldest_s)

    def steady(self, period_rounds: int, period_s: float) -> SteadyState:
        """The steady state, with the first known round from which on all repeat.

        Dates that are not known yet (NaN) come after the repeat, and so repeat.
        """
        start_s = np.concatenate(self._starts_s)
        return repeating(start_s, period_rounds, period_s, first_round=self._first, computes=self._computes)


class Period:
    """The rounds of one period, from round `first` on.

    Parameters
    ----------
    first : int
        A round of which nothing had been sent when the state was first seen.
    period_rounds : int
    period_s : float
    """

    def __init__(self, first: int, period_rounds: int, period_s: float) -> None:
        self.first = first
        self.period_rounds = period_rounds
        self.period_s = period_s
        self._pieces: list[Rows] = []
        self._missing = period_rounds

    def add(self, first: int, rows: Rows) -> bool:
        """Take from rows ``first ...`` what belongs to the period; whether all of it is there."""
        begin = self.first + self.period_rounds - self._missing - first
        if begin < len(rows.start_s):
            piece = rows.cut(begin, begin + self._missing)
            self._pieces.append(piece)
            self._missing -= len(piece.start_s)
        return not self._missing

    def copies(self, first: int, count: int) -> Iterator[Rows]:
        """Rounds ``first .. first + count - 1``, in pieces."""
        period = joined(self._pieces)
        step = max(1, _PIECE // max(1, period.start_s.shape[1]))
        for begin in range(first, first + count, step):
            rounds = np.arange(begin, min(begin + step, first + count)) - self.first
            row = rounds % self.period_rounds
            later_s = (rounds // self.period_rounds * self.period_s)[:, np.newaxis]
            yield Rows(
                period.round_start_s[row] + later_s,
                period.start_s[row] + later_s,
                period.last_bit_s[row] + later_s,
                period.arrival_s[row] + later_s,
                period.bound_link[row],
            )


def advance_state(network: Network, silos: Silos, window: Window, rounds: int, seconds: float) -> None:
    """Advance a state that repeats by whole periods."""
    network.clock["base"] += rounds
    network.clock["latest"] += rounds
    silos.table["round"] += rounds
    network.arcs["head_round"] += rounds
    network.arcs["held_round"] += rounds
    for table, dates in (
        (network.clock, ("now_s",)),
        (network.arcs, ("since_s", "end_s", "bound_since_s", "open_until_s", "held_until_s")),
        (network.ends, ("key",)),
        (silos.events, ("key",)),
        (silos.table, ("computed_s",)),
        (window.inbox, ("round_start_s", "latest_s")),
        (window.messages, ("start_s", "last_bit_s", "arrival_s")),
    ):
        for date in dates:
            table[date] += seconds

"""Which arcs carry a message in which round."""

from typing import Protocol

import numpy as np

from topologies import Schedule
from topologies.arrays import FloatArray, IntArray
from topologies.delays import arc_rates, transmissions


class RoundPlan(Protocol):
    """Arcs by round; all rounds' arcs together are the arcs of the job."""

    @property
    def rounds(self) -> int:
        """Number of rounds that the plan covers."""

    def active(self, round_: int) -> IntArray:
        """Numbers of the arcs that carry a message in a round, each once, shape (active,)."""

    def sending_s(self, round_: int) -> FloatArray:
        """Time in which each of them sends its message at a constant rate, in seconds, shape (active,)."""


class ScheduledRounds:
    """The rounds of a schedule.

    Parameters
    ----------
    schedule : Schedule
    rounds : int
        How many of its first rounds.

    Attributes
    ----------
    source, target : ndarray of int, shape (arcs,)
        Arcs of all these rounds, sorted by source, then target.

    Notes
    -----
    Each round has the rates of the paper's Eq. 3 with its own degrees. Time O(arcs of a round) per call; memory
    O(silos^2).
    """

    __slots__ = ("_number", "_rounds", "_schedule", "source", "target")

    def __init__(self, schedule: Schedule, rounds: int) -> None:
        silos = schedule.overlay.graph.silos
        used = np.zeros((silos, silos), dtype=np.bool_)
        for choice in np.unique(schedule.index[:rounds]).tolist():
            used[schedule.overlay.arcs(schedule.choices[choice])] = True
        self.source, self.target = (ends.astype(np.int64) for ends in np.nonzero(used))
        self._number = np.full((silos, silos), -1, dtype=np.int64)
        self._number[self.source, self.target] = np.arange(len(self.source))
        self._schedule = schedule
        self._rounds = rounds

    def __repr__(self) -> str:
        return f"ScheduledRounds({self._rounds} rounds, {len(self.source)} arcs)"

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return self._rounds

    def active(self, round_: int) -> IntArray:
        """See `RoundPlan`."""
        return np.asarray(self._number[self._schedule.arcs(round_)])

    def sending_s(self, round_: int) -> FloatArray:
        """See `RoundPlan`."""
        overlay = self._schedule.overlay
        rates_bps = arc_rates(overlay.graph, *self._schedule.arcs(round_))
        return transmissions(overlay.work.model_bits, rates_bps)

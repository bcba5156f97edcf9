"""Which arcs carry a message in which round."""

from typing import Protocol

import numpy as np

from topologies import Schedule
from topologies.arc_numbers import ArcNumbers
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
    arcs : ArcNumbers
        Of all these rounds.

    Notes
    -----
    Each round has the rates of the paper's Eq. 3 with its own degrees. Time O(arcs of a round) per call; memory
    O(silos^2).
    """

    __slots__ = ("_rounds", "_schedule", "arcs")

    def __init__(self, schedule: Schedule, rounds: int) -> None:
        overlay = schedule.overlay
        used = np.unique(schedule.index[:rounds]).tolist()
        self.arcs = ArcNumbers(
            overlay.graph.silos, (overlay.arcs(schedule.choices[choice]) for choice in used)
        )
        self._schedule = schedule
        self._rounds = rounds

    def __repr__(self) -> str:
        return f"ScheduledRounds({self._rounds} rounds, {len(self.arcs.source)} arcs)"

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return self._rounds

    def active(self, round_: int) -> IntArray:
        """See `RoundPlan`."""
        return self.arcs.of(*self._schedule.arcs(round_))

    def sending_s(self, round_: int) -> FloatArray:
        """See `RoundPlan`."""
        overlay = self._schedule.overlay
        rates_bps = arc_rates(overlay.graph, *self._schedule.arcs(round_))
        return transmissions(overlay.work.model_bits, rates_bps)

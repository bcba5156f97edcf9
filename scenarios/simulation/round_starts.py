"""Round starts of a running simulation in little memory, and the cycle time that they show."""

import numpy as np

from simulator import Block, Job, SteadyState
from simulator.statistics.confidence import Estimate, estimated_cycle_time
from simulator.statistics.steady_state import (
    counted_rows,
    counts_disturbed,
    max_plus_steady_state,
    repeating,
    undisturbed_rows,
)
from simulator.world.counted_silos import Presence, Starts
from topologies.arrays import FloatArray

_HEAD = 2**22
"""Round starts that are kept for the length of the transient: 32 MiB."""


class RoundStarts:
    """Takes the blocks of a simulation and keeps two numbers of each round, and the first rounds of each silo.

    Where silos are away with others going on, it keeps one number more for those that miss the same rounds.

    Parameters
    ----------
    job : Job
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._presence = Presence.of(job.absences, job.silos)
        self._last_s = np.empty((job.rounds + 1, len(self._presence.members)))
        self._mean_s = np.empty(job.rounds + 1)
        self._head_s = np.empty((min(job.rounds + 1, _HEAD // job.silos + 1), job.silos))
        self._rows = 0
        self._first_end_s: float | None = None

    @property
    def last_s(self) -> FloatArray:
        """When the last silo starts each round so far."""
        return np.asarray(self._last_s[: self._rows].max(axis=1))

    @property
    def so_far(self) -> Starts:
        """All starts so far of rounds in which silos compute."""
        rows = slice(self._rows)
        starts = Starts(mean_s=self._mean_s[rows], last_s=self._last_s[rows], presence=self._presence)
        return starts.computing(self._job.computes, self._job.regular_from)

    @property
    def counted(self) -> Starts:
        """Starts of the rounds that count for an estimate: see `simulator.statistics.steady_state.counted_rows`."""
        starts = self.so_far
        if self._first_end_s is None:
            return starts
        return starts.until(counted_rows(starts.last_s.max(axis=1), self._first_end_s))

    @property
    def counts_disturbed(self) -> bool:
        """Whether rounds that start after a silo has ended the job count for an estimate."""
        return self._first_end_s is not None and counts_disturbed(
            self.so_far.last_s.max(axis=1), self._first_end_s
        )

    def add(self, block: Block) -> None:
        """Take the next block."""
        first, rows_s = block.first_round, block.round_start_s
        self._rows = first + len(rows_s)
        self._last_s[first : self._rows] = self._presence.last_s(rows_s)
        self._mean_s[first : self._rows] = rows_s.mean(axis=1)
        head_s = self._head_s[first : self._rows]
        head_s[...] = rows_s[: len(head_s)]
        if len(rows_s) > block.rounds:
            self._first_end_s = self._presence.first_end_s(rows_s[-1], self._rows - 1)

    def steady_state(self, proven: SteadyState | None) -> tuple[SteadyState, Estimate | None]:
        """Steady state of the job: exact, or the mean of the confidence interval, or the slope of the last half.

        Parameters
        ----------
        proven : SteadyState or None
            What the engine has proven.

        Returns
        -------
        steady : SteadyState
        estimate : Estimate or None
            None where it is exact.

        Notes
        -----
        The rounds that count for an estimate are those of `simulator.statistics.steady_state.counted_rows`.
        """
        job, rows = self._job, self._rows
        exact = max_plus_steady_state(job, proven, rows)
        if exact is not None and exact[0].is_exact:
            return exact[0], None
        if proven is not None:
            return self._within(proven), None
        estimate = estimated_cycle_time(self.counted, silos=job.silos)
        return SteadyState(cycle_time_s=estimate.cycle_time_s, is_exact=False), estimate

    def _within(self, proven: SteadyState) -> SteadyState:
        """A proven steady state with the transient that undisturbed rounds show; without where these are too few."""
        if proven.period_rounds is None or proven.period_s is None or proven.transient_rounds is None:
            return proven
        job = self._job
        end = proven.transient_rounds + proven.period_rounds
        end_s = self._first_end_s
        if end > (self._rows if end_s is None else undisturbed_rows(self.last_s, end_s)):
            return SteadyState(cycle_time_s=proven.cycle_time_s, is_exact=True)
        if end >= min(len(self._head_s), self._rows):
            return proven
        return repeating(
            self._head_s[: end + 1], proven.period_rounds, proven.period_s, computes=job.computes
        )

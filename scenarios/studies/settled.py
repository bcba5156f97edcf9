"""What a simulation settles at: its cycle time, how sure that is, and the rounds that show it."""

from dataclasses import dataclass

import numpy as np

from simulator import Timeline
from topologies.arrays import FloatArray, IntArray
from topologies.statistics import batch_means

BATCHES = 30
LEAST_ROUNDS = 100
"""Rounds from which on batches are more than single rounds."""
WARM_UP = 0.25
"""Part of the rounds that is discarded where a run does not repeat."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settled:
    """Cycle time of a simulated job.

    Attributes
    ----------
    cycle_time_s : float
    half_width_s : float
        Of its 95 % confidence interval; 0 where the job repeats.
    is_exact : bool
        Whether the job repeats, so that the cycle time is exact.
    first_round, rounds : int
        The rounds that the cycle time is the mean over: one whole period, or what is left after the warm-up, in 30
        batches of equal length. The first ``first_round`` rounds of an estimate are the warm-up.
    simulated_rounds : int
    period_s : float or None
    period_rounds : int or None
    transient_rounds : int or None
        See `simulator.SteadyState`; None for an estimate.
    """

    cycle_time_s: float
    half_width_s: float
    is_exact: bool
    first_round: int
    rounds: int
    simulated_rounds: int
    period_s: float | None = None
    period_rounds: int | None = None
    transient_rounds: int | None = None


def settle(timeline: Timeline, silos: IntArray) -> Settled:
    """Cycle time of a timeline, exact or with a confidence interval.

    Parameters
    ----------
    timeline : Timeline
        Of `LEAST_ROUNDS` rounds or more.
    silos : ndarray of int, shape (n,)
        Silos whose round starts an estimate follows; one that is named twice counts twice.

    Returns
    -------
    Settled

    Notes
    -----
    Silos that are rounds ahead end the job early and leave their links to the others. So the rounds that start after
    the first silo has ended are left out, as long as half of the rounds remain.

    Without a repeat, the cycle time is the mean growth per round of the mean start of `silos`, after a warm-up of a
    quarter of the rounds, with an interval by `topologies.statistics.batch_means`. In a strongly connected overlay all
    silos have the same growth rate in the long run. Time O(rounds * silos).
    """
    start_s, steady = timeline.round_start_s, timeline.steady
    simulated = len(start_s) - 1
    last = _undisturbed(start_s)
    if steady.is_exact and steady.period_rounds is not None:
        rounds = min(steady.period_rounds, last)
        return Settled(
            cycle_time_s=steady.cycle_time_s,
            half_width_s=0.0,
            is_exact=True,
            first_round=last - rounds,
            rounds=rounds,
            simulated_rounds=simulated,
            period_s=steady.period_s,
            period_rounds=steady.period_rounds,
            transient_rounds=steady.transient_rounds,
        )
    rounds = BATCHES * int((1 - WARM_UP) * last / BATCHES)
    mean_start_s = start_s[last - rounds : last + 1, silos].mean(axis=1)
    interval = batch_means(np.diff(mean_start_s), batches=BATCHES)
    return Settled(
        cycle_time_s=interval.mean,
        half_width_s=interval.half_width,
        is_exact=False,
        first_round=last - rounds,
        rounds=rounds,
        simulated_rounds=simulated,
    )


def _undisturbed(start_s: FloatArray) -> int:
    """The last round that all silos start before one of them has ended the job, if that is in the last half."""
    last = int(np.searchsorted(start_s.max(axis=1), start_s[-1].min(), side="right")) - 1
    rounds = len(start_s) - 1
    return last if 2 * last >= rounds else rounds

"""Confidence interval of a simulated cycle time, and the rule that stops a simulation when it is narrow."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np

from simulator.world.counted_silos import CATCHING_UP, Counted, Starts, counted_together
from topologies.arrays import FloatArray
from topologies.errors import InputError
from topologies.statistics import ConfidenceInterval, correlated_batch_means

CONFIDENCE = 0.95
BATCHES = 20
WARM_UP = 0.25
"""Fraction of the rounds that does not count."""
_LEAST_ROUNDS, _LEAST_PER_SILO, _LEAST_PERIODS = 400, 20, 10
_LOOK_AGAIN = 1.25


def least_rounds(silos: int, period: int = 1, regular_from: int = 0) -> int:
    """Rounds from which on the cycle time of so many silos has a confidence interval.

    Parameters
    ----------
    silos : int
    period, regular_from : int
        See `simulator.world.counted_silos.Starts`.

    Returns
    -------
    int
        The largest of 400, 20 times the silos, and what holds ten periods after the warm-up; and as many after it where
        it is longer than a quarter since lags are long, see `Starts.warm_up`.
    """
    periods = int(np.ceil((_LEAST_PERIODS * period + BATCHES) / (1 - WARM_UP))) if period > 1 else 0
    least = max(_LEAST_ROUNDS, _LEAST_PER_SILO * silos, periods)
    return max(least, CATCHING_UP * regular_from + counted_rounds(least))


def rounds_for_interval(silos: int, period: int = 1, regular_from: int = 0) -> int:
    """Rounds to simulate for a confidence interval of the cycle time.

    Parameters
    ----------
    silos, period, regular_from : int
        As for `least_rounds`.

    Returns
    -------
    int
        A quarter more than `least_rounds`, since the last rounds may not count: see
        `simulator.statistics.steady_state.counted_rows`. In MATCHAs of 87 silos up to 184 of 1,914 did not.
    """
    return 5 * least_rounds(silos, period, regular_from) // 4


def counted_rounds(rounds: int) -> int:
    """How many of the first rounds of a simulation its estimated cycle time is the mean over: the last ones.

    Parameters
    ----------
    rounds : int
        Simulated rounds, >= 1.

    Returns
    -------
    int
        All but a warm-up of a quarter, in 20 batches of equal length where there are enough.
    """
    counted = max(1, int((1 - WARM_UP) * rounds))
    return counted - counted % BATCHES if counted >= BATCHES else counted


def cycle_time_interval(starts: FloatArray | Starts, *, silos: int) -> ConfidenceInterval | None:
    """Confidence interval of the cycle time, by batch means of the growth per round.

    Parameters
    ----------
    starts : Starts, or ndarray of shape (n,)
        Of each round from round 0 on, in seconds; as an array those of one silo, or the mean of several, none of which
        is ever absent.
    silos : int
        All silos of the overlay.

    Returns
    -------
    ConfidenceInterval or None
        95 %, in seconds; None for fewer than `least_rounds` rounds, or where no silo is there throughout enough of
        them.

    Notes
    -----
    The first quarter of the rounds is a warm-up; the others make 20 batches of equal length, whose correlation widens
    the interval: see `topologies.statistics.correlated_batch_means`. All silos of a strongly connected overlay have the
    same growth rate in the long run; where silos are away, `counted_silos.Starts` says which are followed.
    Time O(n).

    With random computing times a late silo is felt by the others for many rounds, and for more the more silos there
    are; so the least number of rounds grows with them. Measured on max-plus rings of 1, 11, 40 and 87 silos with
    lognormal computing times (cv 0.5) and no delays, which forget slowly: of 400 intervals each, 92 to 98 % hold the
    cycle time, from `least_rounds` to 20,000 rounds (40 silos: 92 % after 800 rounds; 87 silos: 93 % after 1,740).
    Those of the last start are up to a fifth wider: of 300 each, from `least_rounds` to three times as many, 97 to 99 %
    hold it (11 and 40 silos).

    The interval is not valid where something lasts for more than a small part of the simulated time, such as a trace
    of capacities with a period of a day in a run of two days, or hours without traffic of others.
    """
    return _interval([_as_starts(starts)], silos=silos)


def paired_difference(
    starts: FloatArray | Starts, others: FloatArray | Starts, *, silos: int
) -> ConfidenceInterval | None:
    """Confidence interval of a cycle time minus another one that was simulated on the same computing times.

    Parameters
    ----------
    starts, others : Starts, or ndarray of shape (n,), (m,)
        As for `cycle_time_interval`; the first ``min(n, m)`` rounds are compared.
    silos : int
        Of both overlays.

    Returns
    -------
    ConfidenceInterval or None
        As `cycle_time_interval`, over the rounds of `interval_rounds`.

    Notes
    -----
    Common random numbers: the difference of each round of one run and the same round of the other varies less than
    that of independent runs. Its mean is the difference of both growth rates.
    """
    return _interval([_as_starts(starts), _as_starts(others)], silos=silos)


def interval_rounds(jobs: Sequence[Starts], *, silos: int) -> list[Counted] | None:
    """The rounds that a confidence interval is over: of a cycle time, or of the difference of two.

    Parameters
    ----------
    jobs : sequence of Starts
    silos : int
        Of each job.

    Returns
    -------
    list of Counted or None
        The same rounds of each job: `counted_rounds` of those that all have, without those before messages of all lags
        are awaited; or, where no silo is there in all of these, the longest part in which one is. Of periodic overlays
        whole periods, of two the periods in which both repeat. None where they are too few.

    Notes
    -----
    Measured on periodic overlays of Gaia (multigraph, 60 states; base, 7; hierarchical, 82 of which 40 compute) with
    lognormal computing times (cv 0.5), after `rounds_for_interval`: of 150 intervals each, 95, 100 and 97 % hold the
    cycle time.

    The batches are whole periods, too: 20, or fewer, from 10 on, where there are fewer periods or 20 would leave out a
    tenth of them. The periods in which two jobs repeat may be too long for that: the difference of these is over
    batches that are parts of periods, whose variation widens the interval.
    """
    found = _batched(jobs, silos)
    return None if found is None else found[0]


def _batched(jobs: Sequence[Starts], silos: int) -> tuple[list[Counted], int] | None:
    """The rounds of `interval_rounds`, and in how many batches."""
    rounds = min(starts.rounds for starts in jobs)
    first = max(rounds - counted_rounds(rounds), *(starts.warm_up for starts in jobs))
    if rounds < least_rounds(silos) or first >= rounds:
        return None
    counted = counted_together(jobs, first, rounds)
    if counted[0].rounds < counted_rounds(least_rounds(silos)):
        return None
    period = lcm(*(starts.period for starts in jobs))
    batches = _batches(counted[0].rounds // period)
    if batches < _LEAST_PERIODS:
        if len(jobs) == 1:
            return None
        period, batches = 1, BATCHES
    return [one.whole(period * batches) for one in counted], batches


def _batches(periods: int) -> int:
    """Number of batches of equally many periods, that leaves out few of these."""
    if periods < BATCHES:
        return periods
    if 10 * (periods % BATCHES) < periods:
        return BATCHES
    return max(range(BATCHES, BATCHES // 2 - 1, -1), key=lambda batches: periods - periods % batches)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Estimate:
    """Cycle time of a job that is not known to repeat.

    Attributes
    ----------
    cycle_time_s : float
    interval : ConfidenceInterval or None
        See `cycle_time_interval`; the cycle time is its mean.
    counted : Counted
        The rounds that it is the mean over.
    """

    cycle_time_s: float
    interval: ConfidenceInterval | None
    counted: Counted


def estimated_cycle_time(starts: Starts, *, silos: int) -> Estimate:
    """Cycle time of a job that is not known to repeat: the mean of its interval, or the slope of the last half.

    Parameters
    ----------
    starts : Starts
        Of one round or more.
    silos : int
        All silos of the overlay.

    Returns
    -------
    Estimate
    """
    found, interval = interval_rounds([starts], silos=silos), _interval([starts], silos=silos)
    if found is None or interval is None:
        counted = starts.latest(last=True)
        return Estimate(cycle_time_s=counted.cycle_time_s, interval=None, counted=counted)
    return Estimate(cycle_time_s=interval.mean, interval=interval, counted=found[0])


def _interval(jobs: Sequence[Starts], *, silos: int) -> ConfidenceInterval | None:
    """Of the growth of a job, or of the difference of two, over the rounds of `interval_rounds`."""
    found = _batched(jobs, silos)
    if found is None:
        return None
    (one, *others), batches = found
    start_s = one.start_s - others[0].start_s if others else one.start_s
    return correlated_batch_means(np.diff(start_s), batches=batches, confidence=CONFIDENCE)


def _as_starts(starts: FloatArray | Starts) -> Starts:
    """Those of an array are of silos that are always there."""
    return starts if isinstance(starts, Starts) else Starts.of_all(starts)


class StopRule:
    """Decides when the confidence interval of a running simulation's cycle time is narrow enough.

    Parameters
    ----------
    relative : float
        Half width of the interval as a fraction of its mean that is narrow enough, > 0.
    silos : int
        All silos of the overlay.
    least : int
        Never before so many rounds.

    Raises
    ------
    InputError
        If `relative` is not finite and > 0.

    Notes
    -----
    It looks after `least_rounds` rounds, then each time the rounds are a quarter more, so that few looks share the
    chance of an interval that is narrow by luck; and it wants two narrow ones in a row. Measured as for
    `cycle_time_interval`, 92 to 95 % of the intervals at the stop hold the cycle time, at 2 %, 1 % and 0.7 % (one silo:
    2 % only).
    """

    __slots__ = ("_narrow_before", "_next", "_relative", "_silos")

    def __init__(self, relative: float, *, silos: int, least: int = 0) -> None:
        if not (np.isfinite(relative) and relative > 0):
            raise InputError(f"until_ci(={relative}) must be finite and > 0.")
        self._relative = relative
        self._silos = silos
        self._next = max(least_rounds(silos), least)
        self._narrow_before = False

    def is_met(self, starts: FloatArray | Starts) -> bool:
        """Whether the simulation may stop.

        Parameters
        ----------
        starts : Starts, or ndarray of shape (n,)
            As for `cycle_time_interval`, of the rounds so far.

        Returns
        -------
        bool
        """
        starts = _as_starts(starts)
        rounds = starts.rounds
        if rounds < self._next:
            return False
        self._next = int(np.ceil(_LOOK_AGAIN * rounds))
        interval = cycle_time_interval(starts, silos=self._silos)
        narrow = interval is not None and interval.half_width <= self._relative * interval.mean
        met = narrow and self._narrow_before
        self._narrow_before = narrow
        return met

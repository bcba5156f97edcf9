"""Confidence interval of a simulated cycle time, and the rule that stops a simulation when it is narrow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lcm

import numpy as np

from simulator.world.counted_silos import Counted, Starts, counted_together
from topologies.arrays import FloatArray
from topologies.errors import InputError
from topologies.statistics import ConfidenceInterval, correlated_batch_means

CONFIDENCE = 0.95
BATCHES = 20
WARM_UP = 0.25
"""Fraction of the rounds that does not count."""
_LEAST_ROUNDS, _LEAST_PER_SILO = 400, 20
_LOOK_AGAIN = 1.25


def least_rounds(silos: int) -> int:
    """Rounds from which on the cycle time of so many silos has a confidence interval.

    Parameters
    ----------
    silos : int

    Returns
    -------
    int
        The larger of 400 and 20 times the silos.
    """
    return max(_LEAST_ROUNDS, _LEAST_PER_SILO * silos)


def rounds_for_interval(silos: int) -> int:
    """Rounds to simulate for a confidence interval of the cycle time.

    Parameters
    ----------
    silos : int

    Returns
    -------
    int
        A quarter more than `least_rounds`, since the last rounds may not count: see
        `simulator.statistics.steady_state.counted_rows`. In MATCHAs of 87 silos up to 184 of 1,914 did not.
    """
    return 5 * least_rounds(silos) // 4


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
    counted = interval_rounds([_as_starts(starts)], silos=silos)
    return None if counted is None else _interval(counted[0].start_s)


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
    counted = interval_rounds([_as_starts(starts), _as_starts(others)], silos=silos)
    return None if counted is None else _interval(counted[0].start_s - counted[1].start_s)


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
        The same rounds of each job: `counted_rounds` of those that all have, or, where no silo is there in all of
        these, the longest part in which one is. None where they are too few. Of jobs whose silos compute in some states
        only, batches are whole periods, if there are enough of them.
    """
    rounds = min(starts.rounds for starts in jobs)
    if rounds < least_rounds(silos):
        return None
    counted = counted_together(jobs, rounds - counted_rounds(rounds), rounds)
    if counted[0].rounds < counted_rounds(least_rounds(silos)):
        return None
    whole = BATCHES * lcm(*(sum(starts.computes) for starts in jobs))
    odd = counted[0].rounds % (whole if whole <= counted[0].rounds else BATCHES)
    return [replace(one, first_round=one.first_round + odd, start_s=one.start_s[odd:]) for one in counted]


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
    found = interval_rounds([starts], silos=silos)
    if found is None:
        counted = starts.counted(starts.rounds // 2, starts.rounds, last=True)
        return Estimate(cycle_time_s=counted.cycle_time_s, interval=None, counted=counted)
    interval = _interval(found[0].start_s)
    return Estimate(cycle_time_s=interval.mean, interval=interval, counted=found[0])


def _interval(start_s: FloatArray) -> ConfidenceInterval:
    """Of the growth over all these rounds."""
    return correlated_batch_means(np.diff(start_s), batches=BATCHES, confidence=CONFIDENCE)


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

"""How sure a simulated cycle time is, and when a simulation may stop for it."""

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import InputError
from topologies.statistics import ConfidenceInterval, batch_means

BATCHES = 30
WARM_UP = 0.25
"""Part of the rounds that does not count."""
LEAST_ROUNDS = 400
"""Rounds from which on each batch holds ten or more."""
_LOOK_AGAIN = 1.25


def cycle_time_interval(start_s: FloatArray) -> ConfidenceInterval | None:
    """Confidence interval of the cycle time, by batch means of the growth per round.

    Parameters
    ----------
    start_s : ndarray of shape (n,)
        Start of each round from round 0 on, in seconds: of one silo, or the mean of all.

    Returns
    -------
    ConfidenceInterval or None
        95 %, in seconds; None for fewer than `LEAST_ROUNDS` rounds.

    Notes
    -----
    The first quarter of the rounds is a warm-up; the others make 30 batches of equal length. See
    `topologies.statistics.batch_means`. All silos of a strongly connected overlay have the same growth rate in the
    long run. Time O(n).
    """
    rounds = len(start_s) - 1
    if rounds < LEAST_ROUNDS:
        return None
    return batch_means(np.diff(start_s[int(WARM_UP * rounds) :]), batches=BATCHES)


def paired_difference(start_s: FloatArray, other_s: FloatArray) -> ConfidenceInterval | None:
    """Confidence interval of a cycle time minus another one that was simulated on the same computing times.

    Parameters
    ----------
    start_s, other_s : ndarray of shape (n,), (m,)
        As for `cycle_time_interval`; the first ``min(n, m)`` rounds are compared.

    Returns
    -------
    ConfidenceInterval or None
        As `cycle_time_interval`.

    Notes
    -----
    Common random numbers: the difference of each round of one run and the same round of the other varies less than
    that of independent runs. Its mean is the difference of both growth rates.
    """
    both = min(len(start_s), len(other_s))
    return cycle_time_interval(start_s[:both] - other_s[:both])


class StopRule:
    """Says when the confidence interval of a running simulation's cycle time is narrow enough.

    Parameters
    ----------
    relative : float
        Half width of the interval as a fraction of its mean that is narrow enough, > 0.
    least_rounds : int
        Never before so many rounds.

    Raises
    ------
    InputError
        If `relative` is not finite and > 0.

    Notes
    -----
    It looks after `LEAST_ROUNDS` rounds, then each time the rounds are a quarter more, so that few looks share the
    chance of an interval that is narrow by luck; and it wants two narrow ones in a row.
    """

    __slots__ = ("_narrow_before", "_next", "_relative")

    def __init__(self, relative: float, *, least_rounds: int = 0) -> None:
        if not (np.isfinite(relative) and relative > 0):
            raise InputError(f"until_ci(={relative}) must be finite and > 0.")
        self._relative = relative
        self._next = max(LEAST_ROUNDS, least_rounds)
        self._narrow_before = False

    def is_met(self, start_s: FloatArray) -> bool:
        """Whether the simulation may stop.

        Parameters
        ----------
        start_s : ndarray of shape (n,)
            As for `cycle_time_interval`, of the rounds so far.

        Returns
        -------
        bool
        """
        rounds = len(start_s) - 1
        if rounds < self._next:
            return False
        self._next = int(np.ceil(_LOOK_AGAIN * rounds))
        interval = cycle_time_interval(start_s)
        narrow = interval is not None and interval.half_width <= self._relative * interval.mean
        met = narrow and self._narrow_before
        self._narrow_before = narrow
        return met

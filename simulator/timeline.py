"""The result of a simulation: when every silo started every round."""

from dataclasses import dataclass

import numpy as np

from topologies.arrays import FloatArray

_SAME = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """Dates and loads of a simulated job of a given number of rounds.

    Parameters
    ----------
    round_start_s : ndarray of shape (rounds + 1, silos)
        ``round_start_s[k, i]`` is t_i(k), when silo `i` starts the computing of round `k`; the last row is
        when the silos have ended the job.
    arrival_s : ndarray of shape (rounds, arcs)
        When the message of each round arrives at the target of each arc.
    link_bits : ndarray of shape (links,)
        Bits that crossed each link direction.
    """

    round_start_s: FloatArray
    arrival_s: FloatArray
    link_bits: FloatArray

    @property
    def cycle_time_s(self) -> float:
        """Time per round in the steady state, in seconds; see `cycle_time`."""
        return cycle_time(self.round_start_s)


def cycle_time(round_start_s: FloatArray) -> float:
    """Growth of the round starts per round in the steady state.

    Parameters
    ----------
    round_start_s : ndarray of shape (rounds + 1, silos)
        Round starts of every silo, in seconds.

    Returns
    -------
    float
        Cycle time in seconds.

    Notes
    -----
    Silos that are rounds ahead end the job early and leave their links to the others, whose last rounds are
    faster for it. So the rounds that some silo starts after the first silo has ended the job are left out, as
    long as half of the rounds remain (they do not if a silo that hears nobody runs far ahead).

    If a period `p` of at most a quarter of these rounds exists such that ``t(k + p) - t(k)`` is one and the
    same number (relative 1e-9) for all silos and all `k` in their last half, the cycle time is that number
    divided by the smallest such `p`. A max-plus system has such a period after a transient. Otherwise, as
    after too few rounds or with max-min fair sharing that never repeats, the result is an estimate: the mean
    slope of the date at which the last silo starts a round, over the last half.

    Finding the period takes O(rounds^2 * silos) time at worst, and O(rounds + rounds * silos * p) as a rule.
    """
    start_s = _undisturbed(round_start_s)
    rounds = len(start_s) - 1
    settled_s = start_s[rounds // 2 :]
    for period in range(1, rounds // 4 + 1):
        growth_s = _common(settled_s[-1] - settled_s[-1 - period])
        if growth_s is not None and _common(settled_s[period:] - settled_s[:-period]) is not None:
            return growth_s / period
    last_s = settled_s.max(axis=1)
    return float(last_s[-1] - last_s[0]) / (len(last_s) - 1)


def _undisturbed(round_start_s: FloatArray) -> FloatArray:
    """Rounds that all silos start before one of them has ended the job, if these are at least half."""
    rows = int(np.searchsorted(round_start_s.max(axis=1), round_start_s[-1].min(), side="right"))
    return round_start_s[:rows] if 2 * (rows - 1) >= len(round_start_s) - 1 and rows > 1 else round_start_s


def _common(growth_s: FloatArray) -> float | None:
    """The number that all entries are equal to, if they are."""
    low, high = float(growth_s.min()), float(growth_s.max())
    return (low + high) / 2 if high - low <= _SAME * high else None

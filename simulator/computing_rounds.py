"""Rounds in which silos compute, where those of some states only mix."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.compute_times import ComputeTimes
from topologies.arrays import BoolArray, FloatArray

ALL = (True,)
"""Silos compute in all rounds."""


def are_computing(computes: Sequence[bool], first: int, count: int) -> BoolArray:
    """Whether silos compute in rounds ``first .. first + count - 1``, shape (count,).

    Parameters
    ----------
    computes : sequence of bool
        Of each state; round `k` is in state ``k mod len(computes)``.
    """
    return np.asarray(computes, dtype=np.bool_)[np.arange(first, first + count) % len(computes)]


def computing_before(computes: Sequence[bool], round_: int) -> int:
    """Number of rounds before a round in which silos compute."""
    periods, rest = divmod(round_, len(computes))
    return periods * sum(computes) + sum(computes[:rest])


def nth_computing(computes: Sequence[bool], number: int) -> int:
    """Number, among all rounds, of the round in which silos compute for the time `number`, from 0 on."""
    periods, rest = divmod(number, sum(computes))
    return periods * len(computes) + int(np.flatnonzero(computes)[rest])


def rounds_to_compute(computes: Sequence[bool], rounds: int) -> int:
    """Number of rounds, whole periods, in which silos compute so many times or more; `rounds` if in all."""
    if all(computes):
        return rounds
    return -(-rounds // sum(computes)) * len(computes)


def in_states(compute: ComputeTimes, computes: Sequence[bool]) -> ComputeTimes:
    """Computing times of all rounds of a job whose silos compute in some states only.

    Parameters
    ----------
    compute : ComputeTimes
        Of the rounds in which they do, numbered by themselves.
    computes : sequence of bool
        See `are_computing`.

    Returns
    -------
    ComputeTimes
        `compute` itself where they compute in all states.
    """
    return compute if all(computes) else StateTimes(compute=compute, computes=tuple(computes))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StateTimes:
    """Computing times that are 0 in rounds of some states; a `ComputeTimes`.

    Notes
    -----
    The n-th round in which silos compute has the times of round `n` of `compute`, whatever stands between: random ones
    are those of an overlay whose silos compute in every round.
    """

    compute: ComputeTimes
    computes: tuple[bool, ...]

    @property
    def silos(self) -> int:
        """Number of silos."""
        return self.compute.silos

    @property
    def period(self) -> int | None:
        """The states, where those in which silos compute have the same times."""
        return len(self.computes) if self.compute.period == 1 else None

    def rows(self, first: int, count: int, /) -> FloatArray:
        """See `ComputeTimes`."""
        rows_s = np.zeros((count, self.silos))
        computing = are_computing(self.computes, first, count)
        computed = int(computing.sum())
        if computed:
            rows_s[computing] = self.compute.rows(computing_before(self.computes, first), computed)
        return rows_s

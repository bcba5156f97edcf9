"""How long each silo computes in each round."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from simulator import input_checks as checks
from topologies.arrays import FloatArray, freeze
from topologies.errors import InputError


class ComputeTimes(Protocol):
    """Computing times, a pure function of round and silo."""

    @property
    def silos(self) -> int:
        """Number of silos."""

    @property
    def period(self) -> int | None:
        """After how many rounds the same times come again, 1 if all have the same; None where that is not known."""

    def rows(self, first: int, count: int, /) -> FloatArray:
        """Computing times in seconds of `count` rounds from round `first` on, shape (count, silos).

        The same round has the same numbers, whichever rounds are asked for and in whatever order.
        """


def span_s(times_s: ArrayLike) -> str:
    """Smallest and largest of some times, for a `repr`."""
    low_s, high_s = np.min(times_s), np.max(times_s)
    return f"{low_s:.6g} s" if low_s == high_s else f"{low_s:.6g} to {high_s:.6g} s"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Constant:
    """The same time in every round.

    Parameters
    ----------
    compute_s : ndarray of shape (silos,)
        In seconds, finite and >= 0.

    Raises
    ------
    InputError
        If a time is negative or not finite, or there is no silo.
    """

    compute_s: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "compute_s", np.array(checks.check_compute(self.compute_s)))
        freeze(self.compute_s)

    def __repr__(self) -> str:
        return f"Constant({self.silos} silos, {span_s(self.compute_s)})"

    @property
    def silos(self) -> int:
        """Number of silos."""
        return len(self.compute_s)

    @property
    def period(self) -> int:
        """All rounds have the same times."""
        return 1

    def rows(self, _first: int, count: int, /) -> FloatArray:
        """The same row `count` times, read-only."""
        return np.broadcast_to(self.compute_s, (count, self.silos))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Trace:
    """Measured times.

    Parameters
    ----------
    table_s : ndarray of shape (rows, silos)
        Time of each silo in each round, in seconds, finite and >= 0.
    repeat : bool
        Whether round `k` has row ``k mod rows``; otherwise there are no rounds after the last row.

    Raises
    ------
    InputError
        If a time is negative or not finite, or there is no row or no silo.
    """

    table_s: FloatArray
    repeat: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "table_s", checks.check_table("table_s", self.table_s))
        freeze(self.table_s)

    def __repr__(self) -> str:
        repeat = ", repeat" if self.repeat else ""
        return f"Trace({len(self.table_s)} rounds, {self.silos} silos, {span_s(self.table_s)}{repeat})"

    @property
    def silos(self) -> int:
        """Number of silos."""
        return int(self.table_s.shape[1])

    @property
    def period(self) -> int | None:
        """1 where the trace is one row that repeats; longer ones are not looked at as a period."""
        return 1 if self.repeat and len(self.table_s) == 1 else None

    def rows(self, first: int, count: int, /) -> FloatArray:
        """See `ComputeTimes`; an InputError if the trace is too short and does not repeat."""
        if not self.repeat and first + count > len(self.table_s):
            raise InputError(
                f"computing times of round {first + count - 1} are missing: the trace has {len(self.table_s)} "
                "rounds and does not repeat."
            )
        return self.table_s[np.arange(first, first + count) % len(self.table_s)]

"""Capacities that change at given dates."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from simulator.input_checks import check_not_negative
from topologies.arrays import FloatArray, freeze
from topologies.errors import InputError


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CapacityTrace:
    """Capacity of a link by date, in each direction that `link` names.

    Parameters
    ----------
    link : str or int
        See `World`.
    date_s : array_like of shape (n,)
        Dates in seconds, finite, >= 0 and increasing, one or more.
    capacity_bps : array_like of shape (n,)
        Capacity from each date to the next, finite and >= 0; the last one > 0, or with a period any of them. Before
        the first date it is what the network states for the link, or with a period the last one.
    period_s : float, optional
        The trace repeats after this time, longer than the last date: 86,400 for the time of day.
    job_start_s : float
        Date in the trace at which the job starts, finite and >= 0: 8 * 3600 for a job that starts at 8 o'clock.

    Raises
    ------
    InputError
        If a value breaks one of these rules.

    Notes
    -----
    A message on the link keeps the bits that it sent, and goes on with its new share; where the capacity is 0 it
    stands still.
    """

    link: str | int
    date_s: FloatArray
    capacity_bps: FloatArray
    period_s: float | None = None
    job_start_s: float = 0.0

    def __post_init__(self) -> None:
        date_s, capacity_bps = _vector("date_s", self.date_s), _vector("capacity_bps", self.capacity_bps)
        if len(date_s) != len(capacity_bps):
            raise InputError(
                f"capacity_bps(of length {len(capacity_bps)}) must hold one number per date ({len(date_s)})."
            )
        for place in np.flatnonzero(np.diff(date_s) <= 0).tolist():
            raise InputError(
                f"date_s[{place + 1}](={date_s[place + 1]}) must be > date_s[{place}](={date_s[place]})."
            )
        check_not_negative("job_start_s", self.job_start_s)
        if self.period_s is None:
            if not capacity_bps[-1]:
                raise InputError("capacity_bps[-1](=0.0) must be > 0: the last one lasts for ever.")
        elif not (isfinite(self.period_s) and self.period_s > date_s[-1]):
            raise InputError(f"period_s(={self.period_s}) must be finite and > date_s[-1](={date_s[-1]}).")
        elif not capacity_bps.any():
            raise InputError("capacity_bps must hold a number > 0: the trace repeats for ever.")
        freeze(date_s, capacity_bps)
        object.__setattr__(self, "date_s", date_s)
        object.__setattr__(self, "capacity_bps", capacity_bps)


def capacity_steps(trace: CapacityTrace, stated_bps: float) -> Iterator[tuple[float, float]]:
    """Capacities of a trace by date of the job, without end where the trace repeats.

    Parameters
    ----------
    trace : CapacityTrace
    stated_bps : float
        Capacity before the first date of a trace that does not repeat.

    Yields
    ------
    (float, float)
        Seconds since the job's start, first 0, and the capacity from then on, in bit/s.
    """
    steps = list(zip(trace.date_s.tolist(), trace.capacity_bps.tolist(), strict=True))
    period_s = trace.period_s
    phase_s = trace.job_start_s if period_s is None else trace.job_start_s % period_s
    begun = int(np.searchsorted(trace.date_s, phase_s, side="right"))
    yield 0.0, steps[begun - 1][1] if begun or period_s is not None else stated_bps
    for date_s, capacity_bps in steps[begun:]:
        yield date_s - phase_s, capacity_bps
    if period_s is not None:
        for repeat in count(1):
            for date_s, capacity_bps in steps:
                yield repeat * period_s + (date_s - phase_s), capacity_bps


def _vector(name: str, values: ArrayLike) -> FloatArray:
    """One or more finite numbers >= 0, copied."""
    try:
        vector = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}(={values!r:.60}) must hold numbers.") from None
    if vector.ndim != 1 or not len(vector):
        raise InputError(f"{name}(of shape {vector.shape}) must have one dimension and one or more numbers.")
    for place in np.flatnonzero(~(np.isfinite(vector) & (vector >= 0))).tolist():
        raise InputError(f"{name}[{place}](={vector[place]}) must be finite and >= 0.")
    return vector

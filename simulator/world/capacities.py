"""Capacities that change at given dates."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from simulator.input_checks import check_not_negative
from simulator.world.dated_steps import job_steps
from simulator.world.effects import Effects
from simulator.world.names import Names
from topologies.arrays import FloatArray, freeze
from topologies.errors import Field, InputError


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CapacityTrace:
    """Capacity of a link by date, in each direction that `link` names.

    Parameters
    ----------
    link : str or int
        See `Names.directions`.
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
                f"must hold one number per date: {len(date_s)}, not {len(capacity_bps)}.",
                field=Field("capacity_bps"),
            )
        for place in np.flatnonzero(np.diff(date_s) <= 0).tolist():
            before = Field("date_s", place, value=date_s[place])
            raise InputError(
                "must be > ", before, ".", field=Field("date_s", place + 1, value=date_s[place + 1])
            )
        check_not_negative("job_start_s", self.job_start_s)
        if self.period_s is None:
            if not capacity_bps[-1]:
                raise InputError(
                    "must be > 0: the last one holds permanently.", field=Field("capacity_bps", -1, value=0.0)
                )
        elif not (isfinite(self.period_s) and self.period_s > date_s[-1]):
            raise InputError(
                "must be finite and > ",
                Field("date_s", -1, value=date_s[-1]),
                ".",
                field=Field("period_s", value=self.period_s),
            )
        elif not capacity_bps.any():
            raise InputError(
                "must hold a number > 0: the trace repeats without end.", field=Field("capacity_bps")
            )
        freeze(date_s, capacity_bps)
        object.__setattr__(self, "date_s", date_s)
        object.__setattr__(self, "capacity_bps", capacity_bps)

    def __repr__(self) -> str:
        """Link, number of dates and range of capacities."""
        low, high = self.capacity_bps.min(), self.capacity_bps.max()
        period = "" if self.period_s is None else f", every {self.period_s:g} s"
        return (
            f"<CapacityTrace of {self.link!r}: {len(self.date_s)} dates, {low:g} to {high:g} bit/s{period}>"
        )

    def effects(self, names: Names, /) -> Effects:
        """See `simulator.world.effects.Event`."""
        return Effects(capacities=dict.fromkeys(names.directions(self.link), self))

    def steps(self, stated_bps: float) -> Iterator[tuple[float, float]]:
        """Capacities by date of the job, without end where the trace repeats.

        Parameters
        ----------
        stated_bps : float
            Capacity before the first date of a trace that does not repeat.

        Returns
        -------
        iterator of (float, float)
            Seconds since the job's start, first 0, and the capacity from then on, in bit/s.
        """
        return job_steps(
            self.date_s,
            self.capacity_bps,
            period_s=self.period_s,
            job_start_s=self.job_start_s,
            before=stated_bps,
        )

    def largest_bps(self, stated_bps: float) -> float:
        """The largest capacity, the first one included."""
        return max(next(self.steps(stated_bps))[1], float(self.capacity_bps.max()))


def _vector(name: str, values: ArrayLike) -> FloatArray:
    """One or more finite numbers >= 0, copied."""
    try:
        vector = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("must hold numbers.", field=Field(name, value=values)) from None
    if vector.ndim != 1 or not len(vector):
        raise InputError(
            f"must have one dimension and one or more numbers, not the shape {vector.shape}.",
            field=Field(name),
        )
    for place in np.flatnonzero(~(np.isfinite(vector) & (vector >= 0))).tolist():
        raise InputError("must be finite and >= 0.", field=Field(name, place, value=vector[place]))
    return vector

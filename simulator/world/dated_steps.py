"""Values from dates on, by date of a job that starts at one of them or between."""

from collections.abc import Iterator
from itertools import count

import numpy as np

from topologies.arrays import FloatArray


def job_steps(
    date_s: FloatArray, values: FloatArray, *, period_s: float | None, job_start_s: float, before: float
) -> Iterator[tuple[float, float]]:
    """Values by date of the job, without end where they repeat.

    Parameters
    ----------
    date_s : ndarray of shape (n,)
        Ascending, >= 0.
    values : ndarray of shape (n,)
        From each date to the next; the last one holds on, or to the period's end.
    period_s : float or None
        After which the dates repeat.
    job_start_s : float
        Date at which the job starts.
    before : float
        Value before the first date of dates that do not repeat; with a period it is the last one.

    Yields
    ------
    (float, float)
        Seconds since the job's start, first 0, and the value from then on.
    """
    steps = list(zip(date_s.tolist(), values.tolist(), strict=True))
    phase_s = job_start_s if period_s is None else job_start_s % period_s
    begun = int(np.searchsorted(date_s, phase_s, side="right"))
    yield 0.0, steps[begun - 1][1] if begun or period_s is not None else before
    for date, value in steps[begun:]:
        yield date - phase_s, value
    if period_s is not None:
        for repeat in count(1):
            for date, value in steps:
                yield repeat * period_s + (date - phase_s), value

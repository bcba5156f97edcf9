"""Computing times for a window of rounds."""

import numpy as np

from simulator.job import Job
from topologies.arrays import FloatArray


def computing(job: Job, first: int, rows: int) -> FloatArray:
    """Computing times of rounds ``first .. first + rows - 1``, 0 where the job has ended."""
    table_s = np.zeros((rows, job.silos))
    known = max(0, min(rows, job.rounds - first))
    if known:
        table_s[:known] = job.compute.rows(first, known)
    return table_s

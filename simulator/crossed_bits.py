"""Bits that the messages of a job put on each link."""

from collections.abc import Mapping, Sequence

import numpy as np

from simulator.job import Job
from topologies.arrays import FloatArray, IntArray


class CrossedBits:
    """Bits on the links of the arcs' own routes.

    Parameters
    ----------
    job : Job
    """

    def __init__(self, job: Job) -> None:
        usage: Sequence[Mapping[int, float]] = job.usage or [{}] * len(job.arcs)
        self._links = len(job.link_capacity_bps)
        self._arc = np.repeat(np.arange(len(job.arcs)), [len(route) for route in job.routes])
        self._link = np.array([link for route in job.routes for link in route], dtype=np.int64)
        self._bits = np.array(
            [
                bits * used.get(link, 1.0)
                for route, bits, used in zip(job.routes, job.message_bits, usage, strict=True)
                for link in route
            ]
        )

    def bits(self, sent: IntArray) -> FloatArray:
        """Bits on each link direction, given the number of messages of each arc."""
        crossed_bits = sent[self._arc] * self._bits
        return np.asarray(np.bincount(self._link, crossed_bits, minlength=self._links), dtype=np.float64)

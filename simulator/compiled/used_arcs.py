"""Which arcs each silo uses in a window of rounds."""

from typing import NamedTuple

import numpy as np

from simulator.job import Job
from topologies.arrays import IntArray


class Wiring(NamedTuple):
    """The arcs of each silo: a row for each round of a window, or one that holds for all of them."""

    in_arcs: IntArray
    first: IntArray  # where its out-arcs with and without a token lie in the row of `out`
    middle: IntArray
    end: IntArray
    out: IntArray


class Wirings:
    """The wiring of a job.

    Parameters
    ----------
    job : Job

    Notes
    -----
    A plan is asked once for each round. Time and memory O(arcs of the rounds in the window).
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._source = np.array([arc.source for arc in job.arcs], dtype=np.int64)
        self._target = np.array([arc.target for arc in job.arcs], dtype=np.int64)
        self._tokens = np.array([arc.tokens for arc in job.arcs], dtype=np.int64)
        self._fixed: Wiring | None = None
        self._planned: dict[int, IntArray] = {}

    def rows(self, first: int, count: int) -> Wiring:
        """The wiring of rounds ``first .. first + count - 1``; none after the end of the job."""
        plan = self._job.plan
        if plan is None:
            self._fixed = self._fixed or self._wiring([np.arange(len(self._source))])
            return self._fixed
        rounds = range(first, first + count)
        self._planned = {
            k: self._planned[k] if k in self._planned else np.sort(plan.active(k))
            for k in rounds[: max(0, self._job.rounds - first)]
        }
        return self._wiring([self._planned.get(k, np.arange(0)) for k in rounds])

    def _wiring(self, active: list[IntArray]) -> Wiring:
        silos, rows, counts = self._job.silos, len(active), np.array([len(arcs) for arcs in active])
        row, arcs = np.repeat(np.arange(rows), counts), np.concatenate(active)
        in_arcs = np.bincount(row * silos + self._target[arcs], minlength=rows * silos)
        # After computing, then after the start of the next round.
        moment = 2 * self._source[arcs] + 1 - self._tokens[arcs]
        sent = np.bincount(2 * silos * row + moment, minlength=2 * silos * rows).reshape(rows, 2 * silos)
        end = np.cumsum(sent, axis=1)
        place = np.arange(len(arcs)) - np.repeat(np.cumsum(counts) - counts, counts)
        out = np.zeros((rows, counts.max()), dtype=np.int64)
        out[row, place] = arcs[np.lexsort((moment, row))]
        return Wiring(
            in_arcs=in_arcs.reshape(rows, silos),
            first=(end - sent)[:, ::2],
            middle=end[:, ::2],
            end=end[:, 1::2],
            out=out,
        )

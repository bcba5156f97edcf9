"""Which arcs each silo uses in a window of rounds."""

from typing import NamedTuple

import numpy as np

from simulator.job import Job
from simulator.rounds import RoundPlan
from topologies.arrays import IntArray


class Wiring(NamedTuple):
    """The arcs of each silo: a row for each round of a window, or one that holds for all of them."""

    in_arcs: IntArray
    first: IntArray  # where its out-arcs with and without a token lie in the row of `out`
    middle: IntArray
    end: IntArray
    out: IntArray
    ahead: IntArray  # of each entry of `out`: how many rounds later than its own the row's message is awaited


class Wirings:
    """The wiring of a job.

    Parameters
    ----------
    job : Job

    Notes
    -----
    A plan is asked once for each round, and one that repeats once for each of its period and of the first and last
    rounds. Time and memory O(arcs of the rounds in the window).
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._source = np.array([arc.source for arc in job.arcs], dtype=np.int64)
        self._target = np.array([arc.target for arc in job.arcs], dtype=np.int64)
        self._tokens = np.array([arc.tokens for arc in job.arcs], dtype=np.int64)
        self._fixed: Wiring | None = None
        self._repeated: Wiring | None = None
        self._planned: dict[int, tuple[IntArray, IntArray]] = {}

    def rows(self, first: int, count: int) -> Wiring:
        """The wiring of rounds ``first .. first + count - 1``; none after the end of the job."""
        job, plan = self._job, self._job.plan
        if plan is None:
            every = np.arange(len(self._source))
            self._fixed = self._fixed or self._wiring(1, np.zeros_like(every), every, np.ones_like(every))
            return self._fixed
        end = first + count + job.longest_lag - 1
        if plan.period is None or first < job.regular_from or end > job.rounds:
            return self._planned_rows(plan, first, count, min(end, job.rounds))
        if self._repeated is None:
            late = (job.regular_from // plan.period + 1) * plan.period
            self._repeated = self._planned_rows(
                plan, late, plan.period, late + plan.period + job.longest_lag - 1
            )
        state = np.arange(first, first + count) % plan.period
        return Wiring(*(table[state] for table in self._repeated))

    def _planned_rows(self, plan: RoundPlan, first: int, count: int, end: int) -> Wiring:
        """The wiring of some rounds, in which messages of the rounds before `end` leave."""
        rounds = range(first, max(first, end))
        self._planned = {k: self._planned[k] if k in self._planned else _awaited(plan, k) for k in rounds}
        if not self._planned:
            nothing = np.arange(0)
            return self._wiring(count, nothing, nothing, nothing)
        active, lags = zip(*self._planned.values(), strict=True)
        row = np.repeat(np.arange(len(rounds)), [len(arcs) for arcs in active])
        return self._wiring(count, row, np.concatenate(active), np.concatenate(lags))

    def _wiring(self, rows: int, row: IntArray, arcs: IntArray, lag: IntArray) -> Wiring:
        """Wiring of messages: the row of the round at whose end each is awaited, which may lie after all, and so on."""
        silos = self._job.silos
        awaited = row < rows
        in_arcs = np.bincount((row * silos + self._target[arcs])[awaited], minlength=rows * silos)
        sent = row + 1 - lag
        inside = (sent >= 0) & (sent < rows)
        sent, arcs, ahead = sent[inside], arcs[inside], lag[inside] - 1
        # After computing, then after the start of the next round.
        moment = 2 * self._source[arcs] + 1 - self._tokens[arcs]
        each = np.bincount(2 * silos * sent + moment, minlength=2 * silos * rows).reshape(rows, 2 * silos)
        end = np.cumsum(each, axis=1)
        counts = end[:, -1]
        order = np.lexsort((moment, sent))
        place = np.arange(len(arcs)) - np.repeat(np.cumsum(counts) - counts, counts)
        out, later = np.zeros((2, rows, counts.max()), dtype=np.int64)
        out[sent[order], place], later[sent[order], place] = arcs[order], ahead[order]
        return Wiring(
            in_arcs=in_arcs.reshape(rows, silos),
            first=(end - each)[:, ::2],
            middle=end[:, ::2],
            end=end[:, 1::2],
            out=out,
            ahead=later,
        )


def _awaited(plan: RoundPlan, k: int) -> tuple[IntArray, IntArray]:
    """Arcs of a round in order, and their lags."""
    arcs, lags = plan.active(k), plan.lags(k)
    order = np.argsort(arcs)
    return arcs[order], lags[order]

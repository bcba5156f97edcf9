"""Constant rates, compiled: round after round of the max-plus recurrence."""

from collections.abc import Iterator
from graphlib import TopologicalSorter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.compiled.compute_windows import computing
from simulator.compiled.extrapolation import History
from simulator.compiled.rows import Rows
from simulator.job import Job
from simulator.rounds import RoundPlan
from simulator.statistics.steady_state import SteadyState
from simulator.tolerances import REPEATED_START, SAME_INSTANT
from topologies.arrays import FloatArray, IntArray
from topologies.jit import compiled


class Arcs(NamedTuple):
    """Arcs in an order in which everything is known when it is needed; of one round after the other with a plan."""

    number: NDArray[np.int32]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    lag: NDArray[np.int32]  # 0: without a token
    latency_s: FloatArray
    sending_s: FloatArray
    slow_s: FloatArray  # slow start as of `FlowArc`
    after_s: FloatArray


class RecurrenceRun:
    """A simulation with ``sharing="equal"`` under way; see `simulator.compiled.max_min_run.MaxMinRun`.

    Notes
    -----
    A message costs a few additions, and no event: the rounds follow from one another.
    """

    def __init__(self, job: Job, rows: int) -> None:
        self.steady: SteadyState | None = None
        self._job = job
        self._rows = rows
        self._arcs = _sorted_arcs(job)
        self._history = History(job.computes)
        self._repeated: tuple[Arcs, IntArray, IntArray] | None = None

    def pieces(self) -> Iterator[Rows]:
        """All rounds, some at a time."""
        job, before = self._job, self._job.longest_lag - 1
        # Round starts and computing times of the rounds before a piece, of which messages may be sent late.
        start_s, computed_s = np.full((before + 1, job.silos), np.nan), np.empty((before, job.silos))
        start_s[-1] = 0.0
        # When each arc is free; of messages that start slowly also when the last one took its links.
        slow = job.starts_slowly
        open_until_s = np.full(len(job.arcs), -np.inf)
        free_s = np.zeros(len(job.arcs))
        if slow:
            free_s = np.concatenate((free_s, open_until_s))
        saved_s = np.zeros(start_s.size + len(free_s))
        saved_round = np.array([-1, max(1, job.regular_from)], dtype=np.int64)
        period = job.period
        watch = period is not None
        for first in range(0, job.rounds, self._rows):
            count = min(self._rows, job.rounds - first)
            compute_s = np.concatenate((computed_s, computing(job, first, count)))
            arcs, begin, end = self._arcs_of(first, count)
            round_start_s = np.empty((before + count + 1, job.silos))
            round_start_s[: before + 1] = start_s
            begin_s, last_bit_s, arrival_s = self._messages(count)
            repeat = advance(
                arcs, begin, end, job.fifo, 1.0 - job.backward_share, compute_s, round_start_s, begin_s, last_bit_s,
                arrival_s, free_s, saved_s, saved_round, first, period or 1, watch, slow, open_until_s,
            )  # fmt: skip
            start_s, computed_s = round_start_s[count:], compute_s[count:]
            round_start_s = round_start_s[before:]
            if watch:
                self._history.add(round_start_s[:-1])
            if repeat:
                period_s = float(round_start_s[repeat - first, 0] - saved_s[0])
                self._history.add(round_start_s[-1:])
                self.steady = self._history.steady(repeat - int(saved_round[0]), period_s)
                watch = False
            yield Rows(
                round_start_s=round_start_s if first + count == job.rounds else round_start_s[:-1],
                start_s=begin_s,
                last_bit_s=last_bit_s,
                arrival_s=arrival_s,
                bound_link=np.full((count, len(job.arcs)), -1, dtype=np.int32),
            )

    def _arcs_of(self, first: int, count: int) -> tuple[Arcs, IntArray, IntArray]:
        """Arcs, and where those of each round begin and end."""
        plan, arcs = self._job.plan, self._arcs
        if plan is None:
            return arcs, np.zeros(count, dtype=np.int64), np.full(count, len(arcs.number))
        if plan.period is None:
            return _planned(plan, arcs, range(first, first + count))
        if self._repeated is None:
            # Late enough for all messages to be sent; those of rounds before round 0 are passed over.
            late = (self._job.regular_from // plan.period + 1) * plan.period
            self._repeated = _planned(plan, arcs, range(late, late + plan.period))
        planned, begin, end = self._repeated
        state = np.arange(first, first + count) % plan.period
        return planned, begin[state], end[state]

    def _messages(self, count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Room for the dates of all messages, in arrays of their own: a caller may keep one of them."""
        shape = (count, len(self._job.arcs))
        if self._job.plan is None:
            return np.empty(shape), np.empty(shape), np.empty(shape)
        return np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, np.nan)


def _planned(plan: RoundPlan, arcs: Arcs, rounds: range) -> tuple[Arcs, IntArray, IntArray]:
    """Arcs of some rounds of a plan, and where those of each begin and end."""
    place_of = np.argsort(arcs.number)
    places = [place_of[plan.active(k)] for k in rounds]
    counts = np.array([len(place) for place in places])
    place, row = np.concatenate(places), np.repeat(np.arange(len(rounds)), counts)
    order = np.lexsort((place, row))
    sending_s = np.concatenate([plan.sending_s(k) for k in rounds])[order]
    lag = np.concatenate([plan.lags(k) for k in rounds])[order]
    place = place[order]
    planned = Arcs(
        number=arcs.number[place],
        source=arcs.source[place],
        target=arcs.target[place],
        lag=np.where(arcs.lag[place] == 0, 0, lag).astype(np.int32),
        latency_s=arcs.latency_s[place],
        sending_s=sending_s,
        slow_s=arcs.slow_s[place],
        after_s=arcs.after_s[place],
    )
    return planned, np.cumsum(counts) - counts, np.cumsum(counts)


@compiled
def advance(
    arcs: Arcs,
    begin: IntArray,
    end: IntArray,
    fifo: bool,
    forward: float,
    compute_s: FloatArray,
    round_start_s: FloatArray,
    begin_s: FloatArray,
    last_bit_s: FloatArray,
    arrival_s: FloatArray,
    free_s: FloatArray,
    saved_s: FloatArray,
    saved_round: IntArray,
    first: int,
    period: int,
    watch: bool,
    slow: bool,
    open_until_s: FloatArray,
) -> int:
    """Fill in some rounds; the first round whose start repeats an earlier one up to a shift, or 0.

    Messages begin to leave after the share `forward` of the computing, and the last bit not before its end. The first
    rows of the round starts, all but the last of which have a row of computing times, are of earlier rounds.
    """
    repeat = 0
    before = len(compute_s) - len(begin_s)
    for row in range(len(begin_s)):
        here = before + row
        now_s, next_s = round_start_s[here], round_start_s[here + 1]
        for silo in range(len(now_s)):
            next_s[silo] = now_s[silo] + compute_s[here, silo]
        for place in range(begin[row], end[row]):
            arc, source, target = arcs.number[place], arcs.source[place], arcs.target[place]
            lag = arcs.lag[place]
            if lag == 0:
                start_s = ready_s = next_s[source]
            elif lag > first + row + 1:
                continue
            else:
                sent_s, computing_s = round_start_s[here + 1 - lag, source], compute_s[here + 1 - lag, source]
                start_s, ready_s = sent_s + forward * computing_s, sent_s + computing_s
            if fifo:
                start_s = max(start_s, free_s[arc])
            if slow and arcs.slow_s[place] > 0.0:
                if start_s > open_until_s[arc] * SAME_INSTANT:
                    start_s += arcs.slow_s[place]
                held = len(open_until_s) + arc
                start_s = free_s[held] = max(start_s, free_s[held])
                left_s = start_s + arcs.sending_s[place]
                # A longer message before it may leave later.
                open_until_s[arc] = max(open_until_s[arc], left_s + arcs.after_s[place])
            begin_s[row, arc] = start_s
            free_s[arc] = start_s + arcs.sending_s[place]
            last_bit_s[row, arc] = max(free_s[arc], ready_s)
            arrival_s[row, arc] = last_bit_s[row, arc] + arcs.latency_s[place]
            next_s[target] = max(next_s[target], arrival_s[row, arc])
        if watch and not repeat:
            k = first + row + 1
            state_s = round_start_s[row + 1 : here + 2]
            same_arcs = saved_round[0] >= 0 and (k - saved_round[0]) % period == 0
            if same_arcs and _is_repeat(state_s, free_s, saved_s, fifo or slow):
                repeat = k
            elif k >= saved_round[1]:
                saved_round[0], saved_round[1] = k, 2 * k
                _save(state_s, free_s, saved_s)
    return repeat


@compiled
def _save(state_s: FloatArray, free_s: FloatArray, saved_s: FloatArray) -> None:
    """Save the latest round starts, the last of them first, and when each arc is free."""
    place = 0
    for row in range(len(state_s) - 1, -1, -1):
        for silo in range(state_s.shape[1]):
            saved_s[place] = state_s[row, silo]
            place += 1
    for arc in range(len(free_s)):
        saved_s[place + arc] = free_s[arc]


@compiled
def _is_repeat(state_s: FloatArray, free_s: FloatArray, saved_s: FloatArray, with_arcs: bool) -> bool:
    growth_s = state_s[len(state_s) - 1, 0] - saved_s[0]
    place = 0
    for row in range(len(state_s) - 1, -1, -1):
        for silo in range(state_s.shape[1]):
            if abs(state_s[row, silo] - saved_s[place] - growth_s) > REPEATED_START * growth_s:
                return False
            place += 1
    if with_arcs:
        for arc in range(len(free_s)):
            if abs(free_s[arc] - saved_s[place + arc] - growth_s) > REPEATED_START * growth_s:
                return False
    return True


def _sorted_arcs(job: Job) -> Arcs:
    """First the arcs with a token, then the others in an order in which their sources' starts are known."""
    sorter: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(range(job.silos), ()))
    for arc in job.arcs:
        if not arc.tokens:
            sorter.add(arc.target, arc.source)
    rank = {silo: number for number, silo in enumerate(sorter.static_order())}
    order = sorted(
        range(len(job.arcs)), key=lambda n: (-1 if job.arcs[n].tokens else rank[job.arcs[n].source], n)
    )
    arcs = [job.arcs[number] for number in order]
    return Arcs(
        number=np.array(order, dtype=np.int32),
        source=np.array([arc.source for arc in arcs], dtype=np.int32),
        target=np.array([arc.target for arc in arcs], dtype=np.int32),
        lag=np.array([arc.tokens for arc in arcs], dtype=np.int32),
        latency_s=np.array([arc.latency_s for arc in arcs], dtype=np.float64),
        sending_s=np.array([job.sending_s[number] for number in order], dtype=np.float64),
        slow_s=np.array([arc.slow_start_s for arc in arcs], dtype=np.float64),
        after_s=np.array([arc.slow_start_after_s for arc in arcs], dtype=np.float64),
    )

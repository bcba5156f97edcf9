"""Max-min fair sharing, compiled: from a job to its rounds."""

from collections.abc import Iterator
from math import inf

import numpy as np

from simulator.compiled.compute_windows import computing
from simulator.compiled.events import CHANGE, DONE, FULL_QUEUE, FULL_WINDOW, REPEATED, run
from simulator.compiled.extrapolation import History, Period, advance_state
from simulator.compiled.fair_sharing import set_capacity
from simulator.compiled.rows import Rows
from simulator.compiled.state import OFF, Window, make_network, make_queue, make_silos, make_window
from simulator.compiled.used_arcs import Wirings
from simulator.job import Job
from simulator.statistics.steady_state import SteadyState
from simulator.world.changes import CapacityChange, Change
from topologies.arrays import FloatArray

_BUDGET = 1 << 22
"""Work between two returns to Python, a tenth of a second."""

_PERIOD = 1 << 24
"""Numbers that the rounds of one period may hold to be copied instead of simulated, 128 MiB."""


class MaxMinRun:
    """A simulation with max-min fair rates under way.

    Parameters
    ----------
    job : Job
    rows : int
        Rounds to work on at a time; more are taken if the silos drift farther apart.
    fast_forward : bool
        Whether rounds that repeat are copied.

    Attributes
    ----------
    steady : SteadyState or None
        Once the job has been seen to repeat.
    """

    def __init__(self, job: Job, rows: int, *, fast_forward: bool) -> None:
        self.steady: SteadyState | None = None
        self._job = job
        self._fast_forward = fast_forward
        self._network = make_network(job)
        self._silos = make_silos(job)
        self._wirings = Wirings(job)
        self._queue = make_queue(self._network, 1 if job.fifo else 4)
        self._window = self._make_window(rows)
        self._saved = self._room_for_state()
        self._history = History(job.computes)
        self._period: Period | None = None
        self._changes: Iterator[Change] = iter(()) if job.changes is None else job.changes()
        self._wait_for(next(self._changes, None))

    def pieces(self) -> Iterator[Rows]:
        """All rounds, some at a time, as they are complete."""
        while True:
            status = run(self._network, self._silos, self._queue, self._window, self._saved, _BUDGET)
            if status == FULL_QUEUE:
                self._lengthen_queue()
            elif status == REPEATED:
                self._prove()
            elif status == CHANGE:
                self._change()
            elif status == FULL_WINDOW:
                complete = int(self._silos.table["round"].min()) - self._base
                if 2 * complete < len(self._window.inbox):
                    self._move(0, 2 * len(self._window.inbox))
                else:
                    yield from self._complete(complete)
            elif status == DONE:
                yield self._rows(self._job.rounds - self._base, ended=True)
                return

    def _wait_for(self, change: Change | None) -> None:
        """Note the next change."""
        self._next = change
        self._network.clock["change_s"] = inf if change is None else change.date_s

    def _change(self) -> None:
        """Apply the changes that are due."""
        while self._next is not None and self._next.date_s <= self._network.clock["now_s"][0]:
            assert isinstance(self._next, CapacityChange)  # See `unsupported`.
            set_capacity(self._network, self._next.link, self._next.capacity_bps)
            self._wait_for(next(self._changes, None))

    @property
    def _base(self) -> int:
        return int(self._network.clock["base"][0])

    def _complete(self, count: int) -> Iterator[Rows]:
        """The first rows of the window; after the last one of a period also its copies."""
        first, rows = self._base, self._rows(count)
        self._move(count, len(self._window.inbox))
        yield rows
        period = self._period
        if self.steady is None:
            self._history.add(rows.round_start_s)
        elif period is not None and period.add(first, rows):
            self._period = None
            # No silo may end the job, or omit messages of rounds after it, in the rounds left out: its links would be
            # free for the others.
            latest = int(self._silos.table["round"].max())
            periods = (self._job.rounds - self._job.longest_lag - latest) // period.period_rounds
            if periods > 0:
                rounds = periods * period.period_rounds
                yield from period.copies(first + count, rounds)
                advance_state(self._network, self._silos, self._window, rounds, periods * period.period_s)
                # The window may reach the end of the job now, after which nothing is sent.
                self._move(0, len(self._window.inbox))

    def _rows(self, count: int, *, ended: bool = False) -> Rows:
        inbox, messages = self._window.inbox, self._window.messages
        return Rows(
            round_start_s=inbox["round_start_s"][: count + ended].copy(),
            start_s=messages["start_s"][:count].copy(),
            last_bit_s=messages["last_bit_s"][:count].copy(),
            arrival_s=messages["arrival_s"][:count].copy(),
            bound_link=messages["bound_link"][:count].copy(),
        )

    def _prove(self) -> None:
        """Note the steady state that a repeat of the whole state proves."""
        clock, rounds = self._network.clock[0], self._silos.table["round"]
        period_rounds, period_s = (
            int(rounds[0] - clock["saved_round"]),
            float(clock["now_s"] - clock["saved_s"]),
        )
        latest = int(rounds.max())
        self._history.add(self._window.inbox["round_start_s"][: latest + 1 - self._base])
        self.steady = self._history.steady(period_rounds, period_s)
        clock["reference"] = OFF
        if self._fast_forward and period_rounds * (self._job.silos + 4 * len(self._job.arcs)) <= _PERIOD:
            # Of later rounds all messages are sent from now on.
            self._period = Period(latest + self._job.longest_lag, period_rounds, period_s)

    def _move(self, begin: int, rows: int) -> None:
        """Move the beginning of the window by some rows, and change its number of rows."""
        old = self._window
        self._network.clock["base"] += begin
        self._window = self._make_window(rows)
        rows_left = len(old.inbox) - begin
        for name in ("round_start_s", "missing", "latest_s"):
            self._window.inbox[name][:rows_left] = old.inbox[name][begin:]
        self._window.messages[:rows_left] = old.messages[begin:]
        if rows > len(old.inbox):
            self._forget_state()

    def _make_window(self, rows: int) -> Window:
        job, base = self._job, self._base
        return make_window(job, self._wirings.rows(base, rows), computing(job, base, rows))

    def _room_for_state(self) -> FloatArray:
        rows, silos, arcs = len(self._window.inbox), self._job.silos, len(self._job.arcs)
        return np.zeros(silos * (4 + 2 * rows) + arcs * (8 + 2 * len(self._queue.gap_bits)))

    def _forget_state(self) -> None:
        """Allocate the saved state again, larger; what it held is lost."""
        self._saved = self._room_for_state()
        self._network.clock["saved_round"] = -1

    def _lengthen_queue(self) -> None:
        """Allocate room for twice as many messages under way on one arc."""
        old, new = self._queue, make_queue(self._network, 2 * len(self._queue.gap_bits))
        arcs, hop_arc = np.arange(len(self._job.arcs)), self._network.hops["arc"]
        hops = np.arange(len(hop_arc))
        for ahead in range(len(old.gap_bits)):
            place = self._network.arcs["head"] + ahead
            here, there = place % len(old.gap_bits), place % len(new.gap_bits)
            new.gap_bits[there, arcs] = old.gap_bits[here, arcs]
            new.bound_s[there[hop_arc], hops] = old.bound_s[here[hop_arc], hops]
        self._queue = new
        self._forget_state()

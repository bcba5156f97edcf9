"""Round starts and messages of a running simulation, cut into blocks of complete rounds."""

from collections.abc import Mapping
from math import nan

import numpy as np
from numpy.typing import NDArray

from simulator.block import Block, LinkArray, Messages
from simulator.crossed_bits import CrossedBits
from simulator.job import Job
from simulator.observer import OnRound
from topologies.arrays import FloatArray

_SPARE_ROWS = 8


class Recorder:
    """Notes round starts and messages, and cuts complete rounds into blocks of equal size.

    Parameters
    ----------
    job : Job
    block_rounds : int
        Rounds in a block; the last one may be shorter.
    on_round : callable, optional
        See `Observer`.

    Attributes
    ----------
    complete : int
        Number of rounds that all silos have ended.
    is_full : bool
        Whether `take` has a block to give.

    Notes
    -----
    Every message of round `k` gates its target's start of round ``k + 1``. So round `k` is complete, with the messages
    of all arcs, when all silos have started round ``k + 1``. Silos that are ahead need rows beyond: at most as many as
    an overlay's longest shortest path has arcs, and as its lags are long.
    """

    __slots__ = (
        "_arrival_s",
        "_bound_link",
        "_crossed",
        "_first",
        "_job",
        "_last_bit_s",
        "_missing",
        "_on_round",
        "_otherwise",
        "_otherwise_bits",
        "_round_start_s",
        "_sent",
        "_size",
        "_start_s",
        "complete",
        "is_full",
    )

    def __init__(self, job: Job, *, block_rounds: int, on_round: OnRound | None = None) -> None:
        self._job = job
        self._size = block_rounds
        self._on_round = on_round
        self._first = 0
        self.complete = 0
        self.is_full = False
        rows = min(block_rounds, job.rounds) + _SPARE_ROWS
        arcs = len(job.arcs)
        self._round_start_s = np.full((rows, job.silos), nan)
        self._start_s = np.full((rows, arcs), nan)
        self._last_bit_s = np.full((rows, arcs), nan)
        self._arrival_s = np.full((rows, arcs), nan)
        self._bound_link: LinkArray = np.full((rows, arcs), -1, dtype=np.int32)
        self._missing = [job.silos] * rows
        self._sent = np.zeros(arcs, dtype=np.int64)
        self._crossed = CrossedBits(job)
        self._otherwise: dict[tuple[int, int], Mapping[int, float]] = {}
        self._otherwise_bits = np.zeros(len(job.link_capacity_bps))

    def started(self, silo: int, k: int, now_s: float) -> None:
        """Note that a silo starts a round."""
        row = k - self._first
        while row >= len(self._missing):
            self._grow()
        self._round_start_s[row, silo] = now_s
        self._missing[row] -= 1
        if not self._missing[row]:
            self.complete = k
            if row == self._size or k == self._job.rounds:
                self.is_full = True
            if self._on_round is not None:
                self._on_round(k, now_s)

    def message(
        self, arc: int, k: int, start_s: float, last_bit_s: float, arrival_s: float, bound_link: int
    ) -> None:
        """Note a message whose last bit leaves; the dates may lie ahead."""
        row = k - self._first
        while row >= len(self._missing):
            self._grow()
        self._start_s[row, arc] = start_s
        self._last_bit_s[row, arc] = last_bit_s
        self._arrival_s[row, arc] = arrival_s
        self._bound_link[row, arc] = bound_link

    def crossed_otherwise(self, arc: int, k: int, link_bits: Mapping[int, float]) -> None:
        """Note the bits that a message sent over other links than its arc's own route."""
        self._otherwise[k, arc] = link_bits

    def take(self) -> Block:
        """The next block; only when `is_full`."""
        first, end = self._first, self.complete
        rows = end - first
        is_last = end == self._job.rounds
        messages = Messages(
            start_s=self._start_s[:rows].copy(),
            last_bit_s=self._last_bit_s[:rows].copy(),
            arrival_s=self._arrival_s[:rows].copy(),
            bound_link=self._bound_link[:rows].copy(),
        )
        block = Block(
            first_round=first,
            round_start_s=self._round_start_s[: rows + is_last].copy(),
            messages=messages,
            link_bits=self._bits_until(end, messages.last_bit_s),
            now_s=float(self._round_start_s[rows].max()),
        )
        self._drop(rows)
        return block

    def _bits_until(self, end: int, last_bit_s: FloatArray) -> FloatArray:
        """Bits per link of all messages before round `end`, the last of which have these dates."""
        self._sent += np.count_nonzero(~np.isnan(last_bit_s), axis=0)
        for k, arc in [key for key in self._otherwise if key[0] < end]:
            self._sent[arc] -= 1
            for link, sent_bits in self._otherwise.pop((k, arc)).items():
                self._otherwise_bits[link] += sent_bits
        return self._otherwise_bits + self._crossed.bits(self._sent)

    def _tables(self) -> tuple[NDArray[np.generic], ...]:
        return (self._round_start_s, self._start_s, self._last_bit_s, self._arrival_s, self._bound_link)

    def _drop(self, rows: int) -> None:
        """Move the rows behind the first ones up, and empty as many at the end."""
        for table, empty in zip(self._tables(), (nan, nan, nan, nan, -1), strict=True):
            table[:-rows] = table[rows:]
            table[-rows:] = empty
        self._missing = self._missing[rows:] + [self._job.silos] * rows
        self._first += rows
        self.is_full = False

    def _grow(self) -> None:
        """Twice as many rows."""
        rows = len(self._missing)
        self._round_start_s = np.pad(self._round_start_s, ((0, rows), (0, 0)), constant_values=nan)
        self._start_s = np.pad(self._start_s, ((0, rows), (0, 0)), constant_values=nan)
        self._last_bit_s = np.pad(self._last_bit_s, ((0, rows), (0, 0)), constant_values=nan)
        self._arrival_s = np.pad(self._arrival_s, ((0, rows), (0, 0)), constant_values=nan)
        self._bound_link = np.pad(self._bound_link, ((0, rows), (0, 0)), constant_values=-1)
        self._missing += [self._job.silos] * rows

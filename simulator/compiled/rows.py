"""Complete rounds, cut into blocks for the caller."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from simulator.block import Block, LinkArray, Messages
from simulator.crossed_bits import CrossedBits
from simulator.job import Job
from topologies.arrays import FloatArray

Number = TypeVar("Number", np.int32, np.float64)


class Rows(NamedTuple):
    """Consecutive complete rounds; the last ones of a job have one row of round starts more."""

    round_start_s: FloatArray
    start_s: FloatArray
    last_bit_s: FloatArray
    arrival_s: FloatArray
    bound_link: LinkArray

    def cut(self, begin: int, end: int | None = None) -> "Rows":
        """Some of the rows, not copied."""
        return Rows(
            self.round_start_s[begin:end],
            self.start_s[begin:end],
            self.last_bit_s[begin:end],
            self.arrival_s[begin:end],
            self.bound_link[begin:end],
        )


def joined(pieces: Sequence[Rows]) -> Rows:
    """Rows one after the other."""
    return Rows(
        np.concatenate([piece.round_start_s for piece in pieces]),
        np.concatenate([piece.start_s for piece in pieces]),
        np.concatenate([piece.last_bit_s for piece in pieces]),
        np.concatenate([piece.arrival_s for piece in pieces]),
        np.concatenate([piece.bound_link for piece in pieces]),
    )


def blocks(job: Job, pieces: Iterator[Rows], block_rounds: int) -> Iterator[Block]:
    """Cut rows that come in pieces of any length into blocks of equal length; the last one may be shorter."""
    crossed, sent = CrossedBits(job), np.zeros(len(job.arcs), dtype=np.int64)
    round_bits = crossed.bits(sent + 1)
    first, held = 0, next(pieces)
    while first < job.rounds:
        count = min(block_rounds, job.rounds - first)
        while len(held.start_s) < count:
            held = joined((held, next(pieces)))
        last = first + count == job.rounds
        # One more row of round starts tells when the last round of the block ends.
        after = held.cut(count) if len(held.round_start_s) > count else next(pieces)
        if job.plan is not None:
            sent = sent + np.count_nonzero(~np.isnan(held.last_bit_s[:count]), axis=0)
        yield Block(
            first_round=first,
            round_start_s=_taken(held.round_start_s, count + last),
            messages=Messages(
                start_s=_taken(held.start_s, count),
                last_bit_s=_taken(held.last_bit_s, count),
                arrival_s=_taken(held.arrival_s, count),
                bound_link=_taken(held.bound_link, count),
            ),
            link_bits=round_bits * (first + count) if job.plan is None else crossed.bits(sent),
            now_s=float(after.round_start_s[0].max()),
        )
        held = after
        first += count


def _taken(table: NDArray[Number], count: int) -> NDArray[Number]:
    """The first rows; copied where there are more, which they would keep in memory."""
    return table if len(table) == count else table[:count].copy()

"""Complete rounds on their way to the caller."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from simulator.block import Block, LinkArray, Messages
from simulator.job import Job
from topologies.arrays import FloatArray


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


def joined(parts: Sequence[Rows]) -> Rows:
    """Rows one after the other."""
    return Rows(
        np.concatenate([part.round_start_s for part in parts]),
        np.concatenate([part.start_s for part in parts]),
        np.concatenate([part.last_bit_s for part in parts]),
        np.concatenate([part.arrival_s for part in parts]),
        np.concatenate([part.bound_link for part in parts]),
    )


def blocks(job: Job, pieces: Iterator[Rows], block_rounds: int) -> Iterator[Block]:
    """Cut rows that come in pieces of any length into blocks of equal length; the last one may be shorter."""
    load_bits = np.zeros(len(job.link_capacity_bps))
    for route, bits in zip(job.routes, job.message_bits, strict=True):
        load_bits[list(route)] += bits
    first, held = 0, next(pieces)
    while first < job.rounds:
        # One more row of round starts tells when the last round of the block ends.
        count = min(block_rounds, job.rounds - first)
        while len(held.round_start_s) <= count:
            held = joined((held, next(pieces)))
        last = first + count == job.rounds
        yield Block(
            first_round=first,
            round_start_s=held.round_start_s[: count + last].copy(),
            messages=Messages(
                start_s=held.start_s[:count].copy(),
                last_bit_s=held.last_bit_s[:count].copy(),
                arrival_s=held.arrival_s[:count].copy(),
                bound_link=held.bound_link[:count].copy(),
            ),
            link_bits=load_bits * (first + count),
            now_s=float(held.round_start_s[count].max()),
        )
        held = held.cut(count)
        first += count

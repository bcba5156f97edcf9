"""Consecutive complete rounds of a running simulation."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import FloatArray

LinkArray = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Messages:
    """What happened to the message of each arc in each of some consecutive rounds.

    Parameters
    ----------
    start_s : ndarray of shape (rounds, arcs)
        When the message starts to occupy its links, after the earlier ones of its arc where these are queued;
        NaN here and below where an arc has no message in a round.
    last_bit_s : ndarray of shape (rounds, arcs)
        When its last bit leaves: its mean rate is its bits divided by ``last_bit_s - start_s``.
    arrival_s : ndarray of shape (rounds, arcs)
        When it is at the target: a latency after its last bit left.
    bound_link : ndarray of int32, shape (rounds, arcs)
        The link direction that bounded its rate for the longest time; -1 where none did, as with constant rates,
        without bits, and without a link of finite capacity.
    """

    start_s: FloatArray
    last_bit_s: FloatArray
    arrival_s: FloatArray
    bound_link: LinkArray

    def __repr__(self) -> str:
        rounds, arcs = self.start_s.shape
        return f"Messages({rounds} rounds, {arcs} arcs)"

    def part(self, begin: int, stop: int) -> "Messages":
        """Those of some of the rounds."""
        return Messages(**{field.name: getattr(self, field.name)[begin:stop] for field in fields(self)})


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Block:
    """Consecutive rounds that all silos have ended.

    Parameters
    ----------
    first_round : int
    round_start_s : ndarray of shape (n, silos)
        When every silo starts rounds ``first_round .. first_round + n - 1``. The last block of a job has one
        more row, ``(n + 1, silos)``: when the silos have ended the job.
    messages : Messages
        Of the same `n` rounds.
    link_bits : ndarray of shape (links,)
        Bits that crossed each link direction, of all messages of the rounds 0 to ``first_round + n - 1``.
    now_s : float
        When the last silo started round ``first_round + n``, in seconds.
    """

    first_round: int
    round_start_s: FloatArray
    messages: Messages
    link_bits: FloatArray
    now_s: float

    def __repr__(self) -> str:
        return f"Block(rounds {self.first_round} to {self.first_round + self.rounds - 1}, now_s={self.now_s})"

    @property
    def rounds(self) -> int:
        """Number of rounds `n`."""
        return len(self.messages.start_s)


def all_messages(blocks: Sequence[Block]) -> Messages:
    """Messages of consecutive blocks."""
    return Messages(
        **{
            field.name: np.concatenate([getattr(block.messages, field.name) for block in blocks])
            for field in fields(Messages)
        }
    )

"""Which silos make their local steps in which rounds, where not all do in all."""

from dataclasses import dataclass

import numpy as np

from topologies.arrays import BoolArray
from topologies.errors import InputError

PARTICIPATION_STREAM = int.from_bytes(b"partake")
"""Separates who takes part from all other random numbers of the same seed."""

_BLOCK_ROUNDS = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Participation:
    """A random choice of silos for each round, independent of those of other rounds.

    Parameters
    ----------
    share : float, optional
        Probability with which each silo takes part, independently, above 0 and at most 1.
    count : int, optional
        In its place: so many silos, >= 1, all sets of which are equally likely.

    Raises
    ------
    InputError
        If a number breaks its rule, or not exactly one is given.

    Examples
    --------
    >>> Participation(count=2).rows(0, 1000, silos=5, seed=0).sum(axis=1).tolist() == [2] * 1000
    True
    """

    share: float | None = None
    count: int | None = None

    def __post_init__(self) -> None:
        if (self.share is None) == (self.count is None):
            raise InputError("participation must have one of share and count.")
        if self.share is not None and not 0 < self.share <= 1:
            raise InputError(f"participation share(={self.share!r}) must be > 0 and <= 1.")
        if self.count is not None and self.count < 1:
            raise InputError(f"participation count(={self.count!r}) must be >= 1.")

    def rows(self, first: int, count: int, *, silos: int, seed: int) -> BoolArray:
        """Which silos take part in rounds ``first .. first + count - 1``, shape (count, silos).

        Parameters
        ----------
        first, count : int
            Rounds, numbered by those in which silos compute.
        silos : int
            Number of silos; more than `count` silos all take part.
        seed : int
            At least 0.

        Notes
        -----
        Rounds ``1024 b`` to ``1024 b + 1023`` come from ``SeedSequence(seed, spawn_key=(PARTICIPATION_STREAM, b))``,
        so they are the same on every overlay, in simulation and training, with more rounds and in any order: one
        uniform number for each round and silo. Silos with a number below `share` take part, or the `count` silos with
        the smallest numbers.
        """
        block, skipped = divmod(first, _BLOCK_ROUNDS)
        blocks = range(block, (first + max(count, 1) - 1) // _BLOCK_ROUNDS + 1)
        drawn = np.concatenate(
            [
                np.random.default_rng(
                    np.random.SeedSequence(seed, spawn_key=(PARTICIPATION_STREAM, number))
                ).random((_BLOCK_ROUNDS, silos))
                for number in blocks
            ]
        )[skipped : skipped + count]
        if self.share is not None:
            return np.asarray(drawn < self.share)
        assert self.count is not None
        rank = drawn.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
        return np.asarray(rank < self.count)

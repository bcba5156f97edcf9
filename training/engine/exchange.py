"""The silos of each rank, and the rows of the parameter matrix that cross ranks."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from topologies.arrays import FloatArray, IntArray
from training.engine.lagged_mixing import passing_rows
from training.job import MixingPlan


def silo_blocks(silos: int, ranks: int) -> tuple[range, ...]:
    """Return the silos of each rank: consecutive blocks whose sizes differ by at most one.

    Examples
    --------
    >>> silo_blocks(5, 2)
    (range(0, 3), range(3, 5))
    """
    bounds = [rank * (silos // ranks) + min(rank, silos % ranks) for rank in range(ranks + 1)]
    return tuple(range(first, last) for first, last in pairwise(bounds))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Exchange:
    """The rows that one rank sends and receives in one round.

    Parameters
    ----------
    sends : tuple of (rank, silo)
        Own silos' rows and the ranks that need them; a row is sent to a rank once, however many of its silos mix it.
    receives : tuple of (rank, silo)
        Other ranks' rows that this rank needs.
    columns : IntArray, shape (columns,)
        Ascending silo indices of the rank's own rows and the received ones.
    """

    sends: tuple[tuple[int, int], ...]
    receives: tuple[tuple[int, int], ...]
    columns: IntArray


def plan_exchange(matrix: FloatArray | IntArray, blocks: tuple[range, ...], rank: int) -> Exchange:
    """Derive one round's exchange from the nonzeros of its consensus matrix.

    Parameters
    ----------
    matrix : ndarray, shape (silos, silos)
        The round's consensus matrix; with lags `training.engine.lagged_mixing.longest_uses`.
    blocks : tuple of range
        The silos of each rank.
    rank : int
        This rank. The sends of all ranks are the receives of all ranks.
    """
    own = blocks[rank]
    needed = [_columns(matrix, block) for block in blocks]
    sends = [
        (peer, int(silo))
        for peer in range(len(blocks))
        if peer != rank
        for silo in needed[peer]
        if silo in own
    ]
    owner = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
    receives = [(int(owner[silo]), int(silo)) for silo in needed[rank] if silo not in own]
    return Exchange(
        sends=tuple(sends),
        receives=tuple(receives),
        columns=np.union1d(needed[rank], np.arange(own.start, own.stop)),
    )


def remote_rows(mixing: MixingPlan, own: range) -> tuple[int, int]:
    """Return how many rows of lower and of higher silos a rank receives at most in one round, and does not keep."""
    if mixing.lags is not None:
        return passing_rows(mixing, own)
    # On all matrices: selecting those in use would copy them.
    used = (mixing.matrices[:, own.start : own.stop] != 0).any(axis=1)[np.unique(mixing.index)]
    before, after = used[:, : own.start].sum(axis=1), used[:, own.stop :].sum(axis=1)
    return int(before.max(initial=0)), int(after.max(initial=0))


def _columns(matrix: FloatArray | IntArray, block: range) -> IntArray:
    """Return the silos whose rows the silos of a block mix."""
    return np.flatnonzero((matrix[block.start : block.stop] != 0).any(axis=0))

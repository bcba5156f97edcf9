"""Communication between the processes of a training: the protocol, and the one of a single process."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from topologies.arrays import FloatArray

if TYPE_CHECKING:
    from torch import Tensor

Message = tuple[int, int, "Tensor"]
"""The other rank, the silo whose row it is, and the row, shape (width,)."""

MESSAGE = 1 << 20
"""Columns of one message, 4 MiB: enough for full bandwidth, and large rows still arrive in pieces."""

STEP = 1 << 18
"""Columns mixed between two calls of MPI, some milliseconds of work."""


class Communicator(Protocol):
    """The processes of one training, from the view of one of them."""

    @property
    def rank(self) -> int:
        """Index of this process, ``0 .. size - 1``."""

    @property
    def size(self) -> int:
        """Number of processes."""

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message], width: int) -> Iterator[slice]:
        """Send rows and fill others in place, while the caller works on what has arrived.

        Parameters
        ----------
        sends, receives : sequence of Message
            Rows of one device. Those of `sends` must not be changed until the end.
        width : int
            Length of the rows; the same on all ranks.

        Yields
        ------
        slice
            Columns that have arrived in every row of `receives`: ascending, disjoint, without a gap, at most `STEP`.
            When the iterator ends, all rows may be reused.
        """

    def sum(self, values: FloatArray) -> FloatArray:
        """Return the sum of every process' values, the same on all; all processes call it together."""


class SingleRank:
    """The communicator of a single process; needs no MPI."""

    rank = 0
    size = 1

    def exchange(
        self,
        sends: Sequence[Message],  # noqa: ARG002
        receives: Sequence[Message],  # noqa: ARG002
        width: int,
    ) -> Iterator[slice]:
        """Yield all columns: no row leaves the process."""
        yield from pieces(slice(0, width), STEP)

    def sum(self, values: FloatArray) -> FloatArray:
        """Return the values."""
        return values


def pieces(columns: slice, length: int) -> list[slice]:
    """Cut columns into pieces of a length; the last one may be shorter.

    Examples
    --------
    >>> pieces(slice(4, 9), 3)
    [slice(4, 7, None), slice(7, 9, None)]
    """
    starts = range(columns.start, columns.stop, length)
    return [slice(start, min(start + length, columns.stop)) for start in starts]

"""What the training loop needs from the processes that run it together."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from topologies.arrays import FloatArray

if TYPE_CHECKING:
    from torch import Tensor

Message = tuple[int, int, "Tensor"]
"""The other rank, the silo whose row it is, and the row, shape (parameters,)."""


class Communicator(Protocol):
    """The processes of one training run, as one of them sees them."""

    @property
    def rank(self) -> int:
        """Index of this process, ``0 .. size - 1``."""

    @property
    def size(self) -> int:
        """Number of processes."""

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> None:
        """Send rows and fill others in place; return when every row may be reused."""

    def sum(self, values: FloatArray) -> FloatArray:
        """Return the sum of every process' values, the same on all; all processes call it together."""


class Alone:
    """The communicator of a single process; needs no MPI."""

    rank = 0
    size = 1

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> None:
        """Do nothing: no row leaves the process."""

    def sum(self, values: FloatArray) -> FloatArray:
        """Return the values."""
        return values

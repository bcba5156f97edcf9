"""The communicator on MPI, which `training.launch.start_mpi` has started: only ranks import this module."""

import time
from collections.abc import Sequence

import numpy as np
from mpi4py import MPI

from topologies.arrays import FloatArray
from training.communicator import Message

LONGEST_SLEEP_S = 1e-3


class MpiCommunicator:
    """All processes of the MPI job.

    Notes
    -----
    A blocking call of MPICH burns a core while it waits, and ranks may share cores. So every wait is a poll with
    pauses that grow to a millisecond.
    """

    @property
    def rank(self) -> int:
        """Index of this process in MPI's world."""
        return int(MPI.COMM_WORLD.rank)

    @property
    def size(self) -> int:
        """Number of processes in MPI's world."""
        return int(MPI.COMM_WORLD.size)

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> None:
        """Send and receive rows point to point; rows in CPU memory travel without a copy.

        Notes
        -----
        A row's tag is its silo. Rounds cannot mix: between two ranks, messages of one tag arrive in order.
        """
        inbox = [row if row.device.type == "cpu" else row.cpu() for _, _, row in receives]
        requests = [
            MPI.COMM_WORLD.Irecv(row.numpy(), source=peer, tag=silo)
            for (peer, silo, _), row in zip(receives, inbox, strict=True)
        ]
        outbox = [row.cpu().numpy() for _, _, row in sends]
        requests += [
            MPI.COMM_WORLD.Isend(row, dest=peer, tag=silo)
            for (peer, silo, _), row in zip(sends, outbox, strict=True)
        ]
        _wait(requests)
        for (_, _, row), received in zip(receives, inbox, strict=True):
            if row is not received:
                row.copy_(received)

    def sum(self, values: FloatArray) -> FloatArray:
        """Return the sum over all processes."""
        total = np.empty_like(values)
        _wait([MPI.COMM_WORLD.Iallreduce(np.ascontiguousarray(values), total, op=MPI.SUM)])
        return total


def _wait(requests: list[MPI.Request]) -> None:
    """Poll until every request is complete."""
    pause_s = 1e-6
    while not MPI.Request.Testall(requests):
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, LONGEST_SLEEP_S)

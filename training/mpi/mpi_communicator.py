"""The communicator on MPI, which `training.mpi_environment.start_mpi` has started: only ranks import this module."""

import os
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from mpi4py import MPI

from topologies.arrays import FloatArray
from training.engine.communicator import MESSAGE, STEP, Message, pieces
from training.engine.progress import Progress, Stage
from training.mpi.staging import Staging

EAGER_S = 1e-4
SPIN_S = 1e-3
LONGEST_SLEEP_S = 1e-3
PAUSE_SHARE = 0.1


class MpiCommunicator:
    """All processes of the MPI job.

    Parameters
    ----------
    gpu_aware : bool, default False
        Whether MPI takes rows in a GPU's memory; otherwise they travel through pinned host memory.
    progress : Progress, optional
        Hears of waits and exchanges.

    Notes
    -----
    A blocking call of MPICH occupies a core while it waits, and ranks may share cores. So every wait is a poll: for
    `EAGER_S` without a pause, up to `SPIN_S` yielding the core, then with pauses of a tenth of the time waited so far,
    at most a millisecond. Ranks of even speed lose microseconds, and a rank that waits for a slow one frees its core.
    Large rows travel as several messages with waits of their own, so that long pauses do not interrupt their flow.
    """

    def __init__(self, *, gpu_aware: bool = False, progress: Progress | None = None) -> None:
        self._staging = Staging(gpu_aware=gpu_aware)
        self._progress = Progress() if progress is None else progress

    @property
    def rank(self) -> int:
        """Index of this process in MPI's world."""
        return int(MPI.COMM_WORLD.rank)

    @property
    def size(self) -> int:
        """Number of processes in MPI's world."""
        return int(MPI.COMM_WORLD.size)

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message], width: int) -> Iterator[slice]:
        """Send and receive rows point to point; rows in CPU memory travel without a copy.

        Parameters
        ----------
        sends, receives : sequence of Message
            Rows of one device.
        width : int
            Length of the rows.

        Yields
        ------
        slice
            Columns that have arrived.

        Notes
        -----
        A row's tag is its silo; between two ranks, messages of one tag arrive in order. MPI may make progress only when
        it is called, so it is called after every step of the caller.
        """
        incoming = {silo: row for _, silo, row in receives}
        rows = self._staging.open({silo: row for _, silo, row in sends}, incoming)
        memory = {silo: row.numpy() if row.device.type == "cpu" else row for silo, row in rows.items()}
        cuts = pieces(slice(0, width), MESSAGE)
        arriving = [
            [MPI.COMM_WORLD.Irecv(memory[silo][cut], source=peer, tag=silo) for peer, silo, _ in receives]
            for cut in cuts
        ]
        leaving = [
            [MPI.COMM_WORLD.Isend(memory[silo][cut], dest=peer, tag=silo) for peer, silo, _ in sends]
            for cut in cuts
        ]
        for cut, requests in zip(cuts, arriving, strict=True):
            self._wait_for(requests)
            self._staging.close(incoming, rows, cut)
            for columns in pieces(cut, STEP):
                yield columns
                MPI.COMM_WORLD.Iprobe()
        for requests in leaving:
            self._wait_for(requests)

    def sum(self, values: FloatArray) -> FloatArray:
        """Return the sum over all processes."""
        total = np.empty_like(values)
        self._wait_for([MPI.COMM_WORLD.Iallreduce(np.ascontiguousarray(values), total, op=MPI.SUM)])
        return total

    def _wait_for(self, requests: list[MPI.Request]) -> None:
        """Wait until every request is complete; who watches this rank hears of it."""
        with self._progress.during(Stage.WAITING):
            _wait(requests, self._progress.check)
        self._progress.step()


def _wait(requests: list[MPI.Request], check: Callable[[], None]) -> None:
    """Poll until every request is complete; once a wait takes long, `check` may end it by what it raises."""
    began = time.perf_counter()
    while not MPI.Request.Testall(requests):
        waited_s = time.perf_counter() - began
        if waited_s >= SPIN_S:
            check()
            time.sleep(min(PAUSE_SHARE * waited_s, LONGEST_SLEEP_S))
        elif waited_s >= EAGER_S:
            os.sched_yield()

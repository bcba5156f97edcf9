"""Workers that compute independent pieces of a command: processes of this machine, or those of an outer `mpiexec`."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from scenarios.runtime.processes import Processes
from topologies import InputError

T = TypeVar("T")


def worker_count(asked: int | None) -> int:
    """Number of workers: as asked, else the processors that this process may use.

    Raises
    ------
    InputError
        If it is not >= 1.
    """
    if asked is not None and asked < 1:
        raise InputError(f"workers(={asked}) must be >= 1.")
    return asked or len(os.sched_getaffinity(0))


def one_thread() -> None:
    """Let the libraries of this process compute with one thread, as other processes use the other processors."""
    import numba
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    numba.set_num_threads(1)


class _Here(Executor):
    """Computes at once, in this process."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """See `concurrent.futures.Executor`."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def process_pool(workers: int) -> Iterator[Executor]:
    """Processes of this machine, each with one thread; this process itself where it is to be the only worker.

    Notes
    -----
    After an error or Ctrl-C they are killed: a point under way may take minutes.
    """
    if workers == 1:
        yield _Here()
        return
    pool = Processes(workers, one_thread)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        pool.kill()
        raise


@contextmanager
def mpi_pool() -> Iterator[Executor | None]:
    """All processes of an outer `mpiexec` but process 0 as workers.

    Yields
    ------
    Executor or None
        None on the workers, which have computed all that process 0 gave them.

    Notes
    -----
    After an error or Ctrl-C nobody waits for the points under way: `scenarios.runtime.launcher` ends all processes.
    """
    from mpi4py import MPI
    from mpi4py.futures import MPICommExecutor

    pools = MPICommExecutor(MPI.COMM_WORLD, root=0, initializer=one_thread)
    # A pool of mpi4py's is one of concurrent.futures by its methods alone.
    pool = cast(Executor | None, pools.__enter__())
    try:
        yield pool
    except BaseException:
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        raise
    pools.__exit__(None, None, None)

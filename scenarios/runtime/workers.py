"""Workers that compute independent pieces of a command: processes of this machine, or those of an outer `mpiexec`."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar, cast

from scenarios.runtime.processes import Processes
from topologies import InputError

T = TypeVar("T")


def worker_count(asked: int | None) -> int:
    """Number of workers: as asked, else the processors that this process may use.

    Raises
    ------
    InputError
        If it is not >= 1, or a worker that imports the program of its parent comes to ask for workers again.
    """
    # The mark by which the standard library refuses to start processes of such a worker.
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InputError(
            'each worker imports this program, which must start them below `if __name__ == "__main__":` only.'
        )
    if asked is not None and asked < 1:
        raise InputError(f"workers(={asked}) must be >= 1.")
    return asked or len(os.sched_getaffinity(0))


def one_thread() -> None:
    """Let the libraries of this process compute with one thread, as other processes use the other processors."""
    import numba

    _thread_limits()
    numba.set_num_threads(1)


def _thread_limits() -> AbstractContextManager[Any]:
    """Limit the threads of linear algebra to one; where it is entered, until it is left."""
    # A limit holds for the libraries that are loaded: NumPy and SciPy have one each.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)  # type: ignore[no-any-return]


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
        with _thread_limits():
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

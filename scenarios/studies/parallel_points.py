"""Points handed out to workers, and their results as they are finished."""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import AbstractContextManager, suppress
from uuid import uuid4

from scenarios.runtime.progress import bar
from scenarios.runtime.signals import check_interrupts, deferred_interrupts
from scenarios.studies.study_points import Point, PointResult
from topologies import MachineError

_MOST_DESIGNED, _MOST_SIMULATED = 64, 4
"""Points that a worker computes at a time: a kill loses no more of each worker."""
_SHARE = 3
"""A worker takes no more than one in so many of its share of what is left, so that all end at one time."""


def compute_all(
    points: Sequence[Point],
    compute: Callable[[Sequence[Point], str], list[PointResult]],
    take: Callable[[PointResult], None],
    *,
    simulate: bool,
    pool: AbstractContextManager[Executor | None],
    workers: int,
    title: str,
    done: int = 0,
) -> None:
    """Compute points by workers.

    Parameters
    ----------
    points : sequence of Point
        Those of one network and workload side by side, so that a worker designs for them once.
    compute : callable
        `scenarios.studies.study_points.compute_points`, or one like it: of points and the name of this study.
    take : callable
        Takes each result as it is finished, in any order.
    simulate : bool
        Whether points are simulated, so that each takes long.
    pool : context manager of Executor
        See `scenarios.runtime.workers`; entered here.
    workers : int
    title : str
        In front of the progress bar.
    done : int
        Points that were finished before, for the bar.

    Raises
    ------
    MachineError
        If a worker's process ended.
    KeyboardInterrupt
        After Ctrl-C.

    Notes
    -----
    Whatever ends it, the results that have arrived are taken before.
    """
    most = _MOST_SIMULATED if simulate else _MOST_DESIGNED
    chunks = _chunks(points, most, workers)
    study = uuid4().hex
    started, computed = time.monotonic(), 0
    with pool as executor, bar(title, done + len(points)) as advance, deferred_interrupts() as interrupted:
        assert executor is not None
        waiting: set[Future[list[PointResult]]] = set()
        try:
            while True:
                # No more than are soon computed: what waits in a pool would be lost with it.
                for chunk in itertools.islice(chunks, max(0, 2 * workers - len(waiting))):
                    waiting.add(executor.submit(compute, chunk, study))
                if interrupted():
                    raise KeyboardInterrupt
                if not waiting:
                    return
                wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                computed += _take_finished(waiting, take)
                advance(done + computed, f"{computed / max(1e-9, time.monotonic() - started):.3g} points/s")
        except BaseException as error:
            with suppress(Exception):  # the first error is the one to report
                _take_finished(waiting, take)
            if isinstance(error, BrokenExecutor):
                check_interrupts()  # it may have been the workers' SIGTERM, too
                raise MachineError(
                    "a worker process ended before its points were computed, perhaps as memory ran out (fewer "
                    "--workers need less)."
                ) from None
            raise


def _chunks(points: Sequence[Point], most: int, workers: int) -> Iterator[Sequence[Point]]:
    """Points that workers compute at a time: fewer towards the end."""
    first = 0
    while first < len(points):
        size = max(1, min(most, (len(points) - first) // (workers * _SHARE)))
        yield points[first : first + size]
        first += size


def _take_finished(waiting: set[Future[list[PointResult]]], take: Callable[[PointResult], None]) -> int:
    """Take the results of all that are finished out of those that are waited for; how many results.

    Raises
    ------
    Exception
        The first error of a worker, when all results are taken.
    """
    finished = [future for future in waiting if future.done()]
    waiting.difference_update(finished)
    errors, taken = [], 0
    for future in finished:
        error = future.exception()
        if error is not None:
            errors.append(error)
            continue
        for result in future.result():
            take(result)
            taken += 1
    if errors:
        raise errors[0]
    return taken

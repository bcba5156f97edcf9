"""Points handed out to workers, and their results as they are finished."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import AbstractContextManager, suppress
from uuid import uuid4

from scenarios.runtime.progress import bar
from scenarios.runtime.signals import check_interrupts, deferred_interrupts
from scenarios.studies.study_points import Point, PointResult
from topologies import MachineError

_MOST = 64
"""Points that a worker computes at a time."""
_AT_A_TIME_S = 0.5
"""About as long a worker computes before its points are kept: a kill loses no more, but for the points under way."""
_SHARE = 3
"""A worker takes no more than one in so many of its share of what is left, so that all end at one time."""
_Waiting = Future[tuple[float, list[PointResult]]]


def compute_all(
    points: Sequence[Point],
    compute: Callable[[Sequence[Point], str], list[PointResult]],
    take: Callable[[PointResult], None],
    *,
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
    left = list(reversed(points))
    study = uuid4().hex
    started, computed, point_s = time.monotonic(), 0, math.inf
    with pool as executor, bar(title, done + len(points)) as advance, deferred_interrupts() as interrupted:
        assert executor is not None
        waiting: set[_Waiting] = set()
        try:
            while left or waiting:
                if interrupted():
                    raise KeyboardInterrupt
                # No more than are soon computed: what waits in a pool would be lost with it.
                if left and len(waiting) < 2 * workers:
                    size = chunk_size(len(left), point_s, workers)
                    chunk = [left.pop() for _ in range(size)]
                    waiting.add(executor.submit(_timed, compute, chunk, study))
                has_all = not left or len(waiting) >= 2 * workers
                wait(waiting, timeout=0.2 if has_all else 0, return_when=FIRST_COMPLETED)
                for taken_s, taken in _take_finished(waiting, take):
                    point_s = taken_s / taken
                    computed += taken
                    advance(
                        done + computed, f"{computed / max(1e-9, time.monotonic() - started):.3g} points/s"
                    )
        except BaseException as error:
            with suppress(Exception):  # the first error is the one to report
                for _ in _take_finished(waiting, take):
                    pass
            if isinstance(error, BrokenExecutor):
                check_interrupts()  # it may have been the workers' SIGTERM, too
                raise MachineError(
                    "a worker process ended before its points were computed, perhaps as memory ran out (fewer "
                    "--workers need less)."
                ) from None
            raise


def chunk_size(left: int, point_s: float, workers: int) -> int:
    """Number of points that a worker computes at a time.

    Parameters
    ----------
    left : int
        Points to hand out, >= 1.
    point_s : float
        Time that one took lately; infinity before any.
    workers : int

    Returns
    -------
    int
        As many as are soon computed, fewer towards the end, and at least 1.
    """
    soon = int(min(_MOST, _AT_A_TIME_S / max(point_s, 1e-9)))
    return max(1, min(soon, left // (workers * _SHARE)))


def _timed(
    compute: Callable[[Sequence[Point], str], list[PointResult]], points: Sequence[Point], study: str
) -> tuple[float, list[PointResult]]:
    """Results, and how long they took."""
    started = time.monotonic()
    results = compute(points, study)
    return time.monotonic() - started, results


def _take_finished(
    waiting: set[_Waiting], take: Callable[[PointResult], None]
) -> Iterator[tuple[float, int]]:
    """Take the results of all that are finished out of those that are waited for.

    Yields
    ------
    tuple of float and int
        Time and number of the results of each.

    Raises
    ------
    Exception
        The first error of a worker, when all results are taken.
    """
    finished = [future for future in waiting if future.done()]
    waiting.difference_update(finished)
    errors = []
    for future in finished:
        error = future.exception()
        if error is not None:
            errors.append(error)
            continue
        taken_s, results = future.result()
        for result in results:
            take(result)
        yield taken_s, len(results)
    if errors:
        raise errors[0]

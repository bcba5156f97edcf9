"""Trackers of a training while it runs; where one fails, or takes long, the user is told."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from scenarios.trackers.tracker import MakeTracker, TrackedTraining, Tracker
from scenarios.trackers.tracker_lookup import check_methods
from topologies import SilosimError
from topologies.arrays import FloatArray
from training import HistoryRow, Notice
from training.own_code import failed

SLOW_S, SLOW_SHARE = 2.0, 0.1
"""A tracker that has taken longer, and a larger share of the training's time, is named."""
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


@contextmanager
def followed(
    trackers: Mapping[str, MakeTracker],
    training: TrackedTraining,
    last_start_s: FloatArray,
    show: Callable[[Notice], None],
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Callable[[HistoryRow], None]]:
    """Begin trackers of a training, and end them with it.

    Parameters
    ----------
    trackers : mapping from str to callable
        As `load_trackers` returns them.
    training : TrackedTraining
    last_start_s : ndarray, shape (rounds + 1,)
        When the last silo starts each round.
    show : callable
        Shows notices to the user: once of each tracker that is slow.
    clock : callable
        Time in s.

    Yields
    ------
    callable
        Hands a row to all trackers.

    Raises
    ------
    TrainingError
        If a tracker fails, with the user's traceback; all that began get it as the end of the training. If another
        error ends the training, that one is raised, and a tracker that fails after it is a notice.
    """
    running: dict[str, Tracker] = {}
    spent_s, slow = dict.fromkeys(trackers, 0.0), set[str]()
    began_s = clock()
    ended: BaseException | None = None

    def follow(row: HistoryRow) -> None:
        time_s = float(last_start_s[row.round])
        for name, tracker in running.items():
            before_s = clock()
            _run(tracker.row, row, time_s)
            now_s = clock()
            spent_s[name] += now_s - before_s
            if name not in slow and spent_s[name] > max(SLOW_S, SLOW_SHARE * (now_s - began_s)):
                slow.add(name)
                took = f"{spent_s[name]:.1f} s of the {now_s - began_s:.1f} s"
                show(
                    Notice(
                        f"{training.overlay} waits for the tracker {name}: {took} since the training began"
                    )
                )

    try:
        for name, make in trackers.items():
            tracker = _run(make, training)
            check_methods(name, tracker)
            running[name] = tracker
        yield follow
    except BaseException as error:
        ended = error
    for name, tracker in running.items():
        try:
            _run(tracker.end, ended)
        except SilosimError as error:
            if ended is None:
                ended = error
            else:
                show(Notice(f"the tracker {name} failed at the end of {training.overlay}, too: {error}"))
    if ended is not None:
        raise ended


def _run(
    function: Callable[Arguments, Answer], *arguments: Arguments.args, **given: Arguments.kwargs
) -> Answer:
    """Call a tracker's function; an exception, or its exit, is a TrainingError with a traceback that begins in it."""
    try:
        return function(*arguments, **given)
    except SilosimError:
        raise
    except (Exception, SystemExit) as error:
        trace = error.__traceback__
        raise failed(error, None if trace is None else trace.tb_next) from None

"""A rank that would leave in the midst of its training as if nothing were wrong."""

import os
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn, TypeVar

from topologies.errors import LeftEarlyError

Item = TypeVar("Item")


def staying(items: Iterable[Item]) -> Iterator[Item]:
    """Yield what a training yields, and make an error of every way in which its code leaves the program quietly.

    Parameters
    ----------
    items : iterable
        Runs code that others wrote: models, data sets, libraries, backends. It is closed at the end, if it can be.

    Yields
    ------
    object
        Its items.

    Raises
    ------
    LeftEarlyError
        If that code calls ``sys.exit``, or ``os._exit`` with status 0. In another thread than the main one the process
        ends instead, with status 1.

    Notes
    -----
    The other ranks would wait for one that ``sys.exit`` takes to the end of MPI, and launchers report success where a
    process leaves with status 0, however early. Only code that runs for `items` is watched, not what their consumer
    does in between. Processes that were forked off, as by loaders of data, leave as they like. What leaves without
    Python is not seen.
    """
    iterator = iter(items)
    try:
        while True:
            with _watched():
                try:
                    item = next(iterator)
                except StopIteration:
                    return
            yield item
    finally:
        if hasattr(iterator, "close"):
            iterator.close()


@contextmanager
def _watched() -> Iterator[None]:
    """Raise LeftEarlyError instead of leaving."""
    leave, owner = os._exit, os.getpid()

    def refuse(status: int) -> NoReturn:
        if status % 256 or os.getpid() != owner:  # a shell sees the last eight bits
            leave(status)
        message = _message(f"os._exit({status})", sys._getframe(1))
        if threading.current_thread() is not threading.main_thread():
            print(message, file=sys.stderr, flush=True)
            leave(1)
        raise LeftEarlyError(message)

    os._exit = refuse
    try:
        yield
    except SystemExit as left:
        frames = [frame for frame, _ in traceback.walk_tb(left.__traceback__)]
        raise LeftEarlyError(_message(f"sys.exit({left.code!r})", frames[-1])) from None
    finally:
        os._exit = leave


def _message(call: str, frame: FrameType) -> str:
    """Where something has left the training."""
    return f"{call} was called in {frame.f_code.co_filename}, line {frame.f_lineno}."

"""Detection of code that exits the process during a training, with or without an error status."""

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


def reject_early_exit(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items of a training, and raise an error if its code exits the process.

    Parameters
    ----------
    items : iterable
        Runs third-party code: models, data sets, libraries, backends. Closed at the end if it has `close`.

    Yields
    ------
    object
        The items.

    Raises
    ------
    LeftEarlyError
        If that code calls ``sys.exit``, or ``os._exit`` with status 0. In another thread than the main one the process
        ends instead, with status 1.

    Notes
    -----
    The other ranks would wait for a rank that ``sys.exit`` takes to MPI's finalization, and launchers report success
    where a process exits with status 0, however early. Only the code behind `items` is watched, not their consumer.
    Forked processes, such as data loaders, may exit. An exit from native code is not detected.
    """
    iterator = iter(items)
    try:
        while True:
            with _exits_as_errors():
                try:
                    item = next(iterator)
                except StopIteration:
                    return
            yield item
    finally:
        if hasattr(iterator, "close"):
            iterator.close()


@contextmanager
def _exits_as_errors() -> Iterator[None]:
    """Raise LeftEarlyError instead of exiting the process."""
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
    """Where the exit was called."""
    return f"{call} was called in {frame.f_code.co_filename}, line {frame.f_lineno}."

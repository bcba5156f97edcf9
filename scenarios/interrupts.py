"""Ctrl-C that waits for the piece of work under way."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

GRACE_S = 0.7


@contextmanager
def polite_interrupts() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C wait for the end of a piece of work, but no longer than 0.7 seconds.

    Yields
    ------
    callable
        Whether the user has pressed Ctrl-C; ask between two pieces.

    Raises
    ------
    KeyboardInterrupt
        In the midst of a piece that takes longer, and at the second Ctrl-C.

    Notes
    -----
    Python hears of signals between two of its own instructions, so that one compiled call under way is not cut short:
    Ctrl-C takes 0.7 seconds at most, or as long as the longest call in a piece where that is longer.

    Elsewhere than in the main thread, where signals cannot be handled, it changes nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    pressed = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def note(_number: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        signal.setitimer(signal.ITIMER_REAL, GRACE_S)

    before = signal.signal(signal.SIGALRM, stop), signal.signal(signal.SIGINT, note)
    try:
        yield lambda: pressed
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before[0] or signal.SIG_DFL)
        signal.signal(signal.SIGINT, before[1] or signal.SIG_DFL)

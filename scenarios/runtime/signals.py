"""Ctrl-C, SIGTERM and SIGHUP that are not lost, and that wait for the piece of work under way."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""By which batch systems, and terminals that are closed, end a command."""
GRACE_S = 0.7
_AGAIN_S = 0.01


class _Note:
    """Handler that remembers the first signal.

    While it is patient, that one raises nothing at once; while it is held, none does, and one is owed.
    """

    def __init__(self) -> None:
        self.first = 0
        self.since_s = 0.0
        self.patient = self.held = self.owed = False

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        is_first, self.first = not self.first, self.first or number
        if is_first:
            self.since_s = time.monotonic()
        if self.patient and is_first:
            signal.setitimer(signal.ITIMER_REAL, GRACE_S)
        # `timeout` sends SIGTERM to its command and to the group, a shell and the system both send SIGHUP: the second
        # must not cut the way out short.
        elif is_first or number not in ENDING or time.monotonic() > self.since_s + GRACE_S:
            self.stop()

    def stop(self, _number: int = signal.SIGALRM, _frame: FrameType | None = None) -> None:
        """Raise KeyboardInterrupt; also the handler of the alarm."""
        self.owed = self.held
        if not self.held:
            raise KeyboardInterrupt


@contextmanager
def recorded_interrupts(*, sigterm: bool = False) -> Iterator[None]:
    """Remember Ctrl-C, and raise its KeyboardInterrupt again where Python discarded it.

    Parameters
    ----------
    sigterm : bool, default False
        Whether SIGTERM, by which batch systems end a job, and SIGHUP, by which a terminal that is closed does, do what
        Ctrl-C does; a second one at once does nothing.

    Notes
    -----
    Python discards what is raised in a destructor or a weak reference's callback, with a traceback on standard error,
    and hears of a signal wherever it is. Here nothing is printed, and the KeyboardInterrupt comes again 10 ms later.
    What else catches it is made up for by `check_interrupts`.

    Elsewhere than in the main thread, where signals cannot be handled, and inside itself it changes nothing. A signal
    that is ignored, as Ctrl-C is in a job that a shell's script left in the background and SIGHUP under nohup, stays
    ignored.
    """
    wanted = (signal.SIGINT, *ENDING) if sigterm else (signal.SIGINT,)
    before = {number: signal.getsignal(number) for number in wanted}
    heard = [number for number in wanted if before[number] is not signal.SIG_IGN]
    if not heard or _note() is not None or threading.current_thread() is not threading.main_thread():
        yield
        return
    report, complain = sys.unraisablehook, sys.excepthook

    def hear(discarded: "sys.UnraisableHookArgs") -> None:
        if issubclass(discarded.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        else:
            report(discarded)

    def explain(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        # Libraries in C print what ends their own imports.
        if not issubclass(kind, KeyboardInterrupt):
            complain(kind, error, trace)

    note = _Note()
    alarm = signal.signal(signal.SIGALRM, note.stop)
    sys.unraisablehook, sys.excepthook = hear, explain
    for number in heard:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number] or signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm or signal.SIG_DFL)
        sys.unraisablehook, sys.excepthook = report, complain


def _note() -> _Note | None:
    """The handler that `recorded_interrupts` has set, if it is under way."""
    handlers = map(signal.getsignal, (signal.SIGINT, *ENDING))
    return next((handler for handler in handlers if isinstance(handler, _Note)), None)


def interrupted_code() -> int:
    """Exit code of a command that a signal ended: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP."""
    note = _note()
    return 128 + (signal.SIGINT if note is None or not note.first else note.first)


def was_interrupted() -> bool:
    """Whether Ctrl-C, SIGTERM or SIGHUP has come since `recorded_interrupts` began."""
    note = _note()
    return note is not None and note.first != 0


def check_interrupts() -> None:
    """Raise KeyboardInterrupt if Ctrl-C, SIGTERM or SIGHUP has come since `recorded_interrupts` began."""
    if was_interrupted():
        raise KeyboardInterrupt


@contextmanager
def deferred_interrupts() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C wait for the end of a piece of work, but no longer than 0.7 seconds.

    Yields
    ------
    callable
        Whether the user has pressed Ctrl-C; ask between two pieces.

    Raises
    ------
    KeyboardInterrupt
        At once, if Ctrl-C was pressed earlier; in the midst of a piece that takes longer; and at the second Ctrl-C.

    Notes
    -----
    Python hears of signals between two of its own instructions, so that one compiled call under way is not cut short:
    Ctrl-C takes 0.7 seconds at most, or as long as the longest call in a piece where that is longer.

    Elsewhere than in the main thread, where signals cannot be handled, it changes nothing.
    """
    with recorded_interrupts():
        note = _note()
        if note is None or threading.current_thread() is not threading.main_thread():
            yield lambda: False
            return
        check_interrupts()
        note.patient = True
        try:
            yield lambda: note.first != 0
        finally:
            note.patient = False
            signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Let all signals that `recorded_interrupts` hears wait for the end of a short piece that must not be cut in two.

    Raises
    ------
    KeyboardInterrupt
        At the end, where one would have been raised meanwhile.

    Notes
    -----
    A mask of signals does not do this: Python's main thread hears what the system gives to any other thread.

    Outside `recorded_interrupts`, and in other threads, which hear no signals, it changes nothing.
    """
    note = _note()
    if note is None or note.held or threading.current_thread() is not threading.main_thread():
        yield
        return
    note.held = True
    try:
        yield
    finally:
        note.held = False
        if note.owed:
            note.owed = False
            raise KeyboardInterrupt

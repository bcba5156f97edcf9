"""Ctrl-C that is not lost, and that waits for the piece of work under way."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

EXIT_INTERRUPTED = 130
GRACE_S = 0.7
_AGAIN_S = 0.01


class _Note:
    """Handler of Ctrl-C that remembers it; while it is patient, the first one raises nothing at once."""

    def __init__(self) -> None:
        self.pressed = False
        self.patient = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        if self.patient and not self.pressed:
            signal.setitimer(signal.ITIMER_REAL, GRACE_S)
            self.pressed = True
            return
        self.pressed = True
        raise KeyboardInterrupt


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Handler of the alarm."""
    raise KeyboardInterrupt


@contextmanager
def noted_interrupts() -> Iterator[None]:
    """Remember Ctrl-C, and raise its KeyboardInterrupt again where Python discarded it.

    Notes
    -----
    Python discards what is raised in a destructor or a weak reference's callback, with a traceback on standard error,
    and hears of a signal wherever it is. Here nothing is printed, and the KeyboardInterrupt comes again 10 ms later.
    What else catches it is made up for by `check_interrupts`.

    Elsewhere than in the main thread, where signals cannot be handled, inside itself, and where Ctrl-C is ignored, as
    in a job that a shell's script left in the background, it changes nothing.
    """
    before = signal.getsignal(signal.SIGINT)
    is_heard = before is not signal.SIG_IGN and not isinstance(before, _Note)
    if not is_heard or threading.current_thread() is not threading.main_thread():
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

    alarm = signal.signal(signal.SIGALRM, _stop)
    sys.unraisablehook, sys.excepthook = hear, explain
    signal.signal(signal.SIGINT, _Note())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm or signal.SIG_DFL)
        sys.unraisablehook, sys.excepthook = report, complain


def was_interrupted() -> bool:
    """Whether the user has pressed Ctrl-C since `noted_interrupts` began."""
    note = signal.getsignal(signal.SIGINT)
    return isinstance(note, _Note) and note.pressed


def check_interrupts() -> None:
    """Raise KeyboardInterrupt if the user has pressed Ctrl-C since `noted_interrupts` began."""
    if was_interrupted():
        raise KeyboardInterrupt


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
        At once, if Ctrl-C was pressed earlier; in the midst of a piece that takes longer; and at the second Ctrl-C.

    Notes
    -----
    Python hears of signals between two of its own instructions, so that one compiled call under way is not cut short:
    Ctrl-C takes 0.7 seconds at most, or as long as the longest call in a piece where that is longer.

    Elsewhere than in the main thread, where signals cannot be handled, it changes nothing.
    """
    with noted_interrupts():
        note = signal.getsignal(signal.SIGINT)
        if not isinstance(note, _Note) or threading.current_thread() is not threading.main_thread():
            yield lambda: False
            return
        check_interrupts()
        note.patient = True
        try:
            yield lambda: note.pressed
        finally:
            note.patient = False
            signal.setitimer(signal.ITIMER_REAL, 0)

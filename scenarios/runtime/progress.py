"""Progress on standard error: bars where a person looks at them, lines elsewhere."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Protocol

import rich.console
import rich.progress

SHOW_AFTER_S = 2.0
LINE_EVERY_S = 10.0


class Advance(Protocol):
    """Moves a bar."""

    def __call__(self, done: int, note: str = "") -> None:
        """Show that `done` steps are done, with a short note."""


@contextmanager
def bar(title: str | None, total: int) -> Iterator[Advance]:
    """Bar that appears after two seconds and disappears at its end; nothing where standard error is no terminal.

    Parameters
    ----------
    title : str or None
        None for no bar.
    total : int
        Number of steps.

    Yields
    ------
    callable
        ``advance(done, note)``.
    """
    console = rich.console.Console(stderr=True)
    progress = rich.progress.Progress(
        rich.progress.TextColumn("{task.description}", markup=False),
        rich.progress.BarColumn(bar_width=8),
        rich.progress.TaskProgressColumn(),
        rich.progress.TimeRemainingColumn(),
        rich.progress.TextColumn("{task.fields[note]}", markup=False),
        console=console,
        transient=True,
        disable=title is None or not sys.stderr.isatty(),
    )
    task = progress.add_task(title or "", total=total, note="")
    show_at_s = time.monotonic() + SHOW_AFTER_S
    shown = False

    def advance(done: int, note: str = "") -> None:
        nonlocal shown
        progress.update(task, completed=done, note=note)
        if not shown and time.monotonic() >= show_at_s:
            shown = True
            progress.start()

    try:
        yield advance
    finally:
        if shown:
            progress.stop()


def log_lines(clock: Callable[[], float] = time.monotonic) -> Callable[[str], None]:
    """Lines for the log of a job: none where standard error is a terminal, and at most one in ten seconds.

    Parameters
    ----------
    clock : callable
        Time in s.

    Returns
    -------
    callable
        ``line(text)`` prints the text and the time since this call, if the last line, or this call, is old enough.
    """
    began_s = printed_s = clock()

    def line(text: str) -> None:
        nonlocal printed_s
        now_s = clock()
        if now_s - printed_s >= LINE_EVERY_S and not sys.stderr.isatty():
            printed_s = now_s
            print(f"{text}, after {timedelta(seconds=round(now_s - began_s))}", file=sys.stderr)

    return line


@contextmanager
def heartbeat(what: str | None) -> Iterator[None]:
    """Say what is under way where that takes long and has no steps that a bar could count.

    Parameters
    ----------
    what : str or None
        None says nothing.

    Notes
    -----
    On a terminal one line after two seconds, elsewhere one every ten seconds, with the time since the begin. Another
    thread prints them, later where compiled code does not let it.
    """
    ended, began_s = threading.Event(), time.monotonic()

    def beat() -> None:
        is_terminal = sys.stderr.isatty()
        while not ended.wait(SHOW_AFTER_S if is_terminal else LINE_EVERY_S):
            after = "" if is_terminal else f", after {timedelta(seconds=round(time.monotonic() - began_s))}"
            print(f"{what} ...{after}", file=sys.stderr, flush=True)
            if is_terminal:
                return

    if what is None:
        yield
        return
    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()

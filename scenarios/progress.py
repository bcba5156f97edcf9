"""Progress bars on standard error, only where a person looks at them."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import rich.console
import rich.progress

SHOW_AFTER_S = 2.0


class Advance(Protocol):
    """Moves a bar."""

    def __call__(self, done: int, note: str = "") -> None:
        """Show that `done` steps are done, with a short note."""


@contextmanager
def bar(title: str, total: int) -> Iterator[Advance]:
    """Bar that appears after two seconds and disappears at its end; nothing where standard error is no terminal.

    Parameters
    ----------
    title : str
    total : int
        Number of steps.

    Yields
    ------
    callable
        ``advance(done, note)``.
    """
    console = rich.console.Console(stderr=True)
    progress = rich.progress.Progress(
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(bar_width=8),
        rich.progress.TaskProgressColumn(),
        rich.progress.TimeRemainingColumn(),
        rich.progress.TextColumn("{task.fields[note]}"),
        console=console,
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    task = progress.add_task(title, total=total, note="")
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

"""Progress bars on standard error, only where a person looks at them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import rich.console
import rich.progress


class Advance(Protocol):
    """Moves a bar."""

    def __call__(self, done: int, note: str = "") -> None:
        """Show that `done` steps are done, with a short note."""


@contextmanager
def bar(title: str, total: int) -> Iterator[Advance]:
    """Bar that disappears at its end; nothing where standard error is no terminal.

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
        rich.progress.BarColumn(bar_width=24),
        rich.progress.MofNCompleteColumn(),
        rich.progress.TimeRemainingColumn(),
        rich.progress.TextColumn("{task.fields[note]}"),
        console=console,
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with progress:
        task = progress.add_task(title, total=total, note="")

        def advance(done: int, note: str = "") -> None:
            progress.update(task, completed=done, note=note)

        yield advance

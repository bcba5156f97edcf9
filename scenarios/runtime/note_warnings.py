"""Warnings of parts that draw, which commands print as notes."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from topologies.wrapping import wrapped


class NoteWarning(UserWarning):
    """What a file that was written lacks: from Python a warning, from a command a note on standard error."""


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Within it each `NoteWarning` is printed as its sentence alone, broken at 80 columns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=NoteWarning)
        plain = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, NoteWarning):
                print("\n".join(wrapped(str(message))), file=sys.stderr)
            else:
                plain(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield

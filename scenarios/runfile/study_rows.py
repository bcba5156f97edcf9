"""Rows of a study as they are finished: a CSV file beside the table to come, which a killed study continues."""

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from scenarios.runfile.paths import another_writes, open_locked, partial_path, replace_locked, writing
from topologies import InputError
from topologies.regular_files import regular, unreadable
from topologies.whole_files import make_folders

POINT, ERROR = "point", "error"
"""Columns of the identity of a row's point, and of what was wrong with it."""
_OTHER = (
    "holds the rows of another study; --force replaces it (its inputs, its files and the version of silosim make a "
    "study)."
)


class RowsFile:
    """The finished points of a study in ``<path>.partial``, locked for this process from here until `close`.

    Parameters
    ----------
    path : Path
        The table of the study.
    columns : sequence of str

    Attributes
    ----------
    done : dict
        Rows of the finished points, by identity.

    Raises
    ------
    InputError
        If another process has locked the file, or it cannot be made.

    Notes
    -----
    All rows of a point are written at once. What a kill has cut off is dropped when the file is read again.
    """

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.path = partial_path(path)
        self.done: dict[str, list[dict[str, str]]] = {}
        self._columns = columns
        self._file: TextIO | None = None
        with writing(self.path):
            make_folders(self.path.parent)
            try:
                self._descriptor = open_locked(self.path)
            except BlockingIOError:
                raise another_writes(self.path) from None

    def found(self, expected: Mapping[str, int]) -> dict[str, list[dict[str, str]]]:
        """Rows that a study left here when it was cut short; see `finished_points`."""
        is_new = os.fstat(self._descriptor).st_size == 0
        return (
            {} if is_new else finished_points(whole_lines(self.path), str(self.path), self._columns, expected)
        )

    def begin(self, done: Mapping[str, list[dict[str, str]]]) -> None:
        """Replace what the file holds by the rows of the points that are finished already, by identity."""
        self.done = {**done}
        text = rows_text(self._columns, (row for rows in self.done.values() for row in rows))
        with writing(self.path):
            self._descriptor = replace_locked(self.path, self._descriptor, text)
            self._file = os.fdopen(self._descriptor, "a", encoding="utf-8", newline="", closefd=False)

    def add(self, identity: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the rows of a point; a kill at any time later leaves them."""
        assert self._file is not None
        text = rows_text(self._columns, rows, head=False)
        with writing(self.path):
            self._file.write(text)
            self._file.flush()
        self.done[identity] = list(csv.DictReader(io.StringIO(text), fieldnames=self._columns))

    def remove(self) -> None:
        """Remove the file, as the table holds all of its rows."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Flush and close the file; one without any rows is removed."""
        try:
            with writing(self.path):
                if self._file is not None:
                    self._file.close()
                is_empty = os.fstat(self._descriptor).st_size == 0
                if is_empty or (self._file is not None and not self.done):
                    self.remove()
        finally:
            os.close(self._descriptor)


def rows_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], *, head: bool = True) -> str:
    """CSV text of rows, numbers at full precision."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=columns, lineterminator="\n")
    if head:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def whole_lines(path: Path) -> Iterator[str]:
    """Lines of a CSV file, one at a time: a study of `MOST_POINTS` has gigabytes. One that a kill cut off has no end.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    try:
        with regular(path).open(encoding="utf-8") as file:
            for line in file:
                if line.endswith("\n"):
                    yield line
    except UnicodeDecodeError:
        raise InputError("is not the table of a study: not UTF-8 text.", source=str(path)) from None
    except OSError as error:
        raise unreadable(path, error) from None


def finished_points(
    lines: Iterable[str], source: str, columns: Sequence[str], expected: Mapping[str, int]
) -> dict[str, list[dict[str, str]]]:
    """Rows of those points of a table that are complete, by identity; and of others that have nothing but errors.

    Parameters
    ----------
    lines : iterable of str
        Of CSV, with their ends; see `whole_lines`.
    source : str
        Its file, for messages.
    columns : sequence of str
    expected : mapping from str to int
        Rows of each point of the study by its identity.

    Raises
    ------
    InputError
        If the file is not one of this study, or holds a point that the study does not have.
    """
    reader = csv.DictReader(lines)
    found: dict[str, list[dict[str, str]]] = {}
    try:
        if list(reader.fieldnames or ()) != list(columns):
            raise InputError(_OTHER, source=source)
        for row in reader:
            if None not in row and None not in row.values():
                found.setdefault(row[POINT], []).append(row)
    except csv.Error:
        raise InputError(_OTHER, source=source) from None
    # A point with errors alone is computed again, and is another one when a file that it lacked is there.
    if any(name not in expected and not all(row[ERROR] for row in rows) for name, rows in found.items()):
        raise InputError(_OTHER, source=source)
    return {
        name: rows
        for name, rows in found.items()
        if len(rows) == expected.get(name, len(rows)) or _is_alone(rows[0])
    }


def _is_alone(row: Mapping[str, str]) -> bool:
    """Whether a row is the only one of its point: the error of all of it, not of an overlay."""
    return bool(row[ERROR]) and not row["overlay"]

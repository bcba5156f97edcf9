"""Rows of a study as they are finished: a CSV file beside the table to come, which a killed study continues."""

import csv
import io
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from scenarios.runfile.paths import partial_path, write_whole, writing
from topologies import InputError

_FLUSH_S = 0.5
POINT, ERROR = "point", "error"
"""Columns of the identity of a row's point, and of what was wrong with it."""
_OTHER = "holds the rows of another study; --force replaces it."


class RowsFile:
    """The finished points of a study in ``<path>.partial``.

    Parameters
    ----------
    path : Path
        The table of the study.
    columns : sequence of str
    done : mapping
        Rows of the points that are finished already, by identity.

    Notes
    -----
    All rows of a point are written at once. What a kill has cut off is dropped when the file is read again.
    """

    def __init__(
        self, path: Path, columns: Sequence[str], done: Mapping[str, Sequence[Mapping[str, str]]]
    ) -> None:
        self.path = partial_path(path)
        self.done = {**done}
        self._columns = columns
        text = rows_text(columns, (row for rows in self.done.values() for row in rows))
        write_whole(self.path, text, force=True)
        with writing(self.path):
            self._file: TextIO = self.path.open("a", encoding="utf-8", newline="")
        self._flushed_at = time.monotonic()

    def add(self, identity: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the rows of a point; within half a second of the next one they are flushed."""
        text = rows_text(self._columns, rows, head=False)
        with writing(self.path):
            self._file.write(text)
            if time.monotonic() - self._flushed_at > _FLUSH_S:
                self._file.flush()
                self._flushed_at = time.monotonic()
        self.done[identity] = list(csv.DictReader(io.StringIO(text), fieldnames=self._columns))

    def close(self) -> None:
        """Flush and close the file."""
        with writing(self.path):
            self._file.close()

    def remove(self) -> None:
        """Remove the file, as the table holds all of its rows."""
        self.path.unlink(missing_ok=True)


def rows_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], *, head: bool = True) -> str:
    """CSV text of rows, numbers at full precision."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=columns, lineterminator="\n")
    if head:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def finished_points(
    text: str, source: str, columns: Sequence[str], expected: Mapping[str, int], *, whole: bool = False
) -> dict[str, list[dict[str, str]]]:
    """Rows of those points of a table that are complete, by identity.

    Parameters
    ----------
    text : str
        CSV.
    source : str
        Its file, for messages.
    columns : sequence of str
    expected : mapping from str to int
        Rows of each point of the study by its identity.
    whole : bool
        Whether all points of the file must be the study's; else others are left out.

    Raises
    ------
    InputError
        If the file is not one of this study.
    """
    # The line that a kill has cut off has no end.
    text = text[: text.rfind("\n") + 1]
    reader = csv.DictReader(io.StringIO(text))
    if list(reader.fieldnames or ()) != list(columns):
        raise InputError(_OTHER, source=source)
    found: dict[str, list[dict[str, str]]] = {}
    for row in reader:
        if None not in row and None not in row.values():
            found.setdefault(row[POINT], []).append(row)
    if whole and not found.keys() <= expected.keys():
        raise InputError(_OTHER, source=source)
    return {
        identity: rows
        for identity, rows in found.items()
        if identity in expected and (len(rows) == expected[identity] or _is_alone(rows[0]))
    }


def _is_alone(row: Mapping[str, str]) -> bool:
    """Whether a row is the only one of its point: the error of all of it, not of an overlay."""
    return bool(row[ERROR]) and not row["overlay"]

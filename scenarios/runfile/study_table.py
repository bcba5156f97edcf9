"""The finished table of a study: CSV or Parquet."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scenarios.runfile.attributes import json_object
from scenarios.runfile.paths import PARTIAL, check_ending, write_whole
from scenarios.runfile.study_rows import POINT, rows_text, whole_lines
from topologies import InputError, MachineError
from topologies.errors import Field
from topologies.regular_files import is_file, no_file

if TYPE_CHECKING:
    import pandas

ENDINGS = (".csv", ".parquet")
RANGES = "ranges"
"""Column of the least and greatest value of each input in which silos or links differ: a JSON object, in SI units."""
TEXTS = (
    "overlay",
    "kind",
    "options",
    RANGES,
    "network",
    "hub",
    "busiest_link",
    "sharing",
    "queueing",
    "engine",
    "error",
    POINT,
)
"""Columns that hold texts whatever these look like."""


def ranges_of(cell: object) -> dict[str, list[float]]:
    """Inputs in which silos or links differ, with their ends, as a cell of the column `RANGES` has them.

    Raises
    ------
    InputError
        If a cell that is not empty holds anything else.
    """
    ranges = json_object(cell, RANGES) if isinstance(cell, str) and cell else {}
    for ends in ranges.values():
        if not (isinstance(ends, list) and len(ends) == _ENDS and all(map(_is_number, ends))):
            raise InputError("must have two numbers for each column.", field=Field(RANGES, value=cell))
    return ranges


_ENDS = 2


def _is_number(value: object) -> bool:
    """Whether a value of JSON is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_csv(path: Path) -> bool:
    """Whether a table is, or is to be, CSV."""
    return path.suffix.lower() == ENDINGS[0]


def check_study_path(path: Path) -> None:
    """Raise an error unless a table can be written in the format of the path's ending.

    Raises
    ------
    InputError
        If the ending is another one.
    MachineError
        If pyarrow, which writes Parquet, is not installed.
    """
    check_ending(path, ENDINGS)
    if not is_csv(path):
        check_pyarrow(path)


def check_pyarrow(path: Path) -> None:
    """Raise a `MachineError` if pyarrow, which writes and reads this Parquet file, is not installed."""
    if find_spec("pyarrow") is None:
        raise MachineError(f"{path} needs pyarrow: pip install 'silosim[parquet]'.")


def write_study(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    """Write all rows of a study; the file appears, or is replaced, when it is complete.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    text = rows_text(columns, rows)
    write_whole(path, text if is_csv(path) else _frame(io.StringIO(text)).to_parquet(index=False), force=True)


def read_study(path: Path) -> "pandas.DataFrame":
    """Read the table of a study; see `silosim.open_study`."""
    if not is_file(path):
        raise no_file(path)
    if _is_text(path):
        lines = whole_lines(path)
        head = next(lines, "")
        if path.name.endswith(PARTIAL) and not head:
            raise InputError("has no finished point yet, so nothing can be read.", source=str(path))
        try:
            table = _frame(chain([head], lines))
        except csv.Error as error:
            raise InputError(f"is not the table of a study: {error}.", source=str(path)) from None
    else:
        table = _parquet(path)
    if POINT not in table.columns or "overlay" not in table.columns:
        raise InputError("is not the table of a study.", source=str(path))
    return table


def table_lines(path: Path) -> Iterator[str]:
    """Lines of CSV of the table of a study, whatever the format that it is in."""
    if _is_text(path):
        return whole_lines(path)
    table = _parquet(path)
    cells = {str(name): [_cell(value) for value in column] for name, column in table.astype(object).items()}
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    return iter(io.StringIO(rows_text([*cells], rows)))


def _is_text(path: Path) -> bool:
    """Whether a file holds CSV: a finished table of that ending, or rows as they come."""
    return is_csv(path) or path.name.endswith(PARTIAL)


def _parquet(path: Path) -> "pandas.DataFrame":
    check_study_path(path)
    import pandas

    try:
        return pandas.read_parquet(path)
    except Exception as error:  # pyarrow has errors of its own
        raise InputError(f"is not the table of a study: {error}".splitlines()[0], source=str(path)) from None


def _cell(value: object) -> str:
    """A value as the CSV table has it; pandas' missing ones are not equal to themselves, or say so."""
    text = str(value)
    return "" if value is None or text in ("nan", "<NA>") else text


def table_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of the table of a study, with None for what is missing; see `silosim.open_study`."""
    table = read_study(path)
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def _frame(lines: Iterable[str]) -> "pandas.DataFrame":
    """Rows of lines of CSV, numbers and truth values as such; an empty text is missing.

    Notes
    -----
    Numbers are read by Python: the default of pandas' own reader rounds some in their last bit.
    """
    import pandas

    reader = csv.reader(lines)
    columns: dict[str, list[str]] = {name: [] for name in next(reader, [])}
    for row in filter(None, reader):
        for cells, cell in zip(columns.values(), chain(row, repeat("")), strict=False):
            cells.append(cell)
    return pandas.DataFrame({name: _column(cells, name) for name, cells in columns.items()})


def _column(cells: Sequence[str], name: str) -> "pandas.Series[Any]":
    """One column with the type of its cells."""
    import pandas

    stated = [cell for cell in cells if cell]
    if name not in TEXTS:
        if not stated:
            return pandas.Series(np.full(len(cells), np.nan))
        if set(stated) <= {"True", "False"}:
            return pandas.Series([None if not cell else cell == "True" for cell in cells], dtype="boolean")
        for number, dtype in ((int, "Int64" if len(stated) < len(cells) else "int64"), (float, "float64")):
            # pandas has both other errors for integers that need more than 64 bits.
            with suppress(ValueError, OverflowError, TypeError):
                return pandas.Series([number(cell) if cell else None for cell in cells], dtype=dtype)
    return pandas.Series([cell or None for cell in cells], dtype="string")

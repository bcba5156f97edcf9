"""One table for the terminal, as JSON and as CSV."""

import csv
import io
import json
import math
import os
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import rich.box
import rich.console
import rich.measure
import rich.table

from scenarios.units import digits, in_unit, time_unit

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """How one field of a row is shown.

    Parameters
    ----------
    key : str
        The field, named with its unit: the key in JSON and the head in CSV.
    title : str
        The head in the terminal.
    show : callable
        From the value to text; a value of None is shown as a dash.
    exact : str, optional
        The field that says whether the value is exact; ``~`` is put before one that is not.
    """

    key: str
    title: str
    show: Callable[[Any], str] = str
    exact: str | None = None

    def text(self, row: Row) -> str:
        """The cell of a row."""
        value = row[self.key]
        if value is None:
            return "-"
        return ("" if self.exact is None or row[self.exact] else "~") + self.show(value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Rows of results.

    Parameters
    ----------
    caption : str
        What the table is about; lines above it in the terminal.
    columns : sequence of Column
    rows : sequence of mapping
        Numbers in SI units at full precision; None where there is no value.
    notes : str
        Lines below the table in the terminal.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: str = ""

    def print(self, console: rich.console.Console) -> None:
        """Print the table with its caption and notes."""
        unlimited = console.options.update(max_width=1000)
        table = self._drawn(padding=1)
        if rich.measure.Measurement.get(console, unlimited, table).maximum > console.width:
            table = self._drawn(padding=0)
        # Where numbers need more columns than there are, the terminal breaks the lines: no digit is cut off.
        least = rich.measure.Measurement.get(console, unlimited, table).minimum
        console.print(self.caption, markup=False, highlight=False)
        console.print()
        wide = rich.console.Console(
            file=console.file, width=max(console.width, least), force_terminal=console.is_terminal
        )
        wide.print(table)
        console.print()
        if self.notes:
            console.print(self.notes, markup=False, highlight=False)

    def _drawn(self, padding: int) -> rich.table.Table:
        """The table with so many spaces more between its columns than one."""
        table = rich.table.Table(
            box=rich.box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 0, 0, padding)
        )
        for column in self.columns:
            text = all(isinstance(row[column.key], str) for row in self.rows)
            table.add_column(
                column.title, justify="left" if text else "right", overflow="fold", no_wrap=not text
            )
        for row in self.rows:
            table.add_row(*(column.text(row) for column in self.columns))
        return table

    def to_json(self) -> str:
        """Caption, rows with the same keys (null for infinite and missing numbers), and the lines of the notes."""
        rows = [{key: _finite(row.get(key)) for key in self._keys()} for row in self.rows]
        whole = {"caption": self.caption, "rows": rows, "notes": self.notes.splitlines()}
        return json.dumps(whole, indent=1, ensure_ascii=False)

    def to_csv(self) -> str:
        """Rows as CSV, one column for each field."""
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=self._keys())
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue()

    def _keys(self) -> list[str]:
        """All fields of all rows, in order of their first mention."""
        return list(dict.fromkeys(key for row in self.rows for key in row))


def print_table(table: Table, as_json: bool) -> None:
    """Print a table on standard output, as JSON or at the terminal's width (80 columns where there is none)."""
    if as_json:
        print_text(table.to_json())
        return
    terminal, text = rich.console.Console(), io.StringIO()
    table.print(rich.console.Console(file=text, width=terminal.width, force_terminal=terminal.is_terminal))
    print_text(text.getvalue().removesuffix("\n"))


def print_text(text: str) -> None:
    """Print on standard output; where its reader has left (``| head``), print nothing from then on."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The interpreter flushes again at its end, which must not fail either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def cycle_time_columns(rows: Sequence[Row], titles: Mapping[str, str]) -> tuple[list[Column], str]:
    """Columns of cycle times in one unit, which is returned for the table's notes.

    Parameters
    ----------
    rows : sequence of mapping
        All the table's rows.
    titles : mapping from key to title
        The columns, in order; their values are seconds or None.

    Returns
    -------
    columns : list of Column
    unit : str
        As `time_unit` of the longest.
    """
    unit = time_unit(max((row[key] for row in rows for key in titles if row[key] is not None), default=0.0))
    return [
        Column(
            key=key,
            title=title,
            show=lambda s: digits(in_unit(s, unit)),
            exact="simulated_is_exact" if key == "simulated_s" else None,
        )
        for key, title in titles.items()
    ], unit


def percent(fraction: float) -> str:
    """Signed percentage."""
    return f"{round(100 * fraction, 1) + 0.0:+.1f}%"


def note_lines(*sentences: str) -> str:
    """Sentences below a table, each from a new line, broken at 80 columns."""
    return "\n".join(line for sentence in sentences for line in textwrap.wrap(sentence, 80))


def _finite(value: object) -> object:
    """The value, or None for a float that JSON cannot hold."""
    return None if isinstance(value, float) and not math.isfinite(value) else value

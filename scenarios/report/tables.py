"""One table for the terminal, as JSON and as CSV."""

import csv
import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import rich.box
import rich.console
import rich.measure
import rich.table

from scenarios.config.quantities import digits, in_unit, time_unit
from topologies.wrapping import wrapped

Row = Mapping[str, Any]

_NARROW = {"serialized": "serial-\nized", "simulated": "simu-\nlated"}
"""Heads of cycle times that are wider than these."""
_LEAST_NAME = 3
"""Columns of each of several names in a shortened text: an end, an ellipsis, an end."""
_ARROW = re.compile("( -> )")
"""Between the names in a cell; one name may have commas."""


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
    impossible : str, optional
        The field that says whether no network can do this; ``!`` is put before such a value.
    narrow_title : str, optional
        The head where the terminal is too narrow for `title`.
    prose : bool
        Whether a text may take several lines where the terminal is too narrow; else it is shortened to one.
    least : int
        Columns that a shortened text keeps at least.
    """

    key: str
    title: str
    show: Callable[[Any], str] = str
    exact: str | None = None
    impossible: str | None = None
    narrow_title: str | None = None
    prose: bool = False
    least: int = 5

    def text(self, row: Row) -> str:
        """The cell of a row."""
        value = row[self.key]
        if value is None:
            return "-"
        estimated = self.exact is not None and not row[self.exact]
        impossible = self.impossible is not None and row[self.impossible]
        return f"{'~' if estimated else '!' if impossible else ''}{self.show(value)}"


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

    def __repr__(self) -> str:
        """One line: caption, fields and number of rows."""
        caption = " ".join(self.caption.splitlines()[:1])
        return f"Table({caption!r}, {len(self.rows)} rows, columns={[column.key for column in self.columns]})"

    def __str__(self) -> str:
        """The table as the terminal shows it, 80 columns wide."""
        text = io.StringIO()
        self.print(rich.console.Console(file=text, width=80))
        return text.getvalue().removesuffix("\n")

    def print(self, console: rich.console.Console) -> None:
        """Print the table with its caption and notes."""
        table = self._fitted(console)
        # Where numbers need more columns than there are, the terminal breaks the lines: no digit is cut off.
        wide = rich.console.Console(
            file=console.file,
            width=max(console.width, _measure(console, table).minimum),
            force_terminal=console.is_terminal,
        )
        console.print("\n".join(caption_lines(self.caption, console.width)), markup=False, highlight=False)
        console.print()
        wide.print(table)
        console.print()
        if self.notes:
            notes = [
                line for note in self.notes.splitlines() for line in wrapped(note, console.width) or [""]
            ]
            console.print("\n".join(notes), markup=False, highlight=False)

    def _fitted(self, console: rich.console.Console) -> rich.table.Table:
        """The table with wide gaps between its columns, or as narrow as it must be for the console."""
        for padding, narrow in ((1, False), (0, False), (0, True)):
            table = self._drawn(padding=padding, narrow=narrow)
            if _measure(console, table).maximum <= console.width:
                return table
        return self._drawn(padding=0, narrow=True, text_width=self._text_width(console))

    def _text_width(self, console: rich.console.Console) -> int:
        """Columns for each text that is shortened, so that the table fits; short texts leave theirs to long ones."""
        texts = [
            (max(len(column.text(row)) for row in self.rows), column.least)
            for column in self.columns
            if self._is_text(column)
        ]

        def needed(width: int) -> int:
            return sum(min(text, max(width, least)) for text, least in texts)

        numbers = _measure(console, self._drawn(padding=0, narrow=True, text_width=0)).maximum
        free = console.width - numbers + needed(0)
        widths = range(max((text for text, _ in texts), default=0), 0, -1)
        return next((width for width in widths if needed(width) <= free), 0)

    def _is_text(self, column: Column) -> bool:
        """Whether a column holds texts, and no numbers."""
        return bool(self.rows) and all(isinstance(row[column.key], str) for row in self.rows)

    def _drawn(self, padding: int, *, narrow: bool, text_width: int | None = None) -> rich.table.Table:
        """The table with so many spaces more between its columns than one, and texts of so many columns."""
        table = rich.table.Table(
            box=rich.box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 0, 0, padding)
        )
        cells = []
        for column in self.columns:
            text = self._is_text(column)
            shown = [column.text(row) for row in self.rows]
            width = max(text_width, column.least) if text and text_width is not None else None
            table.add_column(
                column.narrow_title if narrow and column.narrow_title is not None else column.title,
                justify="left" if text else "right",
                overflow="fold",
                no_wrap=not column.prose,
                max_width=width if column.prose else None,
            )
            cells.append(
                shown if width is None or column.prose else [shortened(cell, width) for cell in shown]
            )
        for row in zip(*cells, strict=True):
            table.add_row(*row)
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
        The columns, in order; their values are seconds or None. Where rows have ``maxmin_is_exact``, for instance,
        ``~`` is put before a ``maxmin_s`` that is not; those with ``paper_s`` have ``paper_below_load``.

    Returns
    -------
    columns : list of Column
    unit : str
        As `time_unit` of the longest.
    """
    unit = time_unit(max((row[key] for row in rows for key in titles if row[key] is not None), default=0.0))
    fields = {field for row in rows for field in row}
    return [
        Column(
            key=key,
            title=title,
            show=lambda s: digits(in_unit(s, unit)),
            exact=flag if (flag := f"{key.removesuffix('_s')}_is_exact") in fields else None,
            impossible="paper_below_load" if key == "paper_s" else None,
            narrow_title=_NARROW.get(title),
        )
        for key, title in titles.items()
    ], unit


def percent(fraction: float) -> str:
    """Signed percentage."""
    return f"{round(100 * fraction, 1) + 0.0:+.1f}%"


def note_lines(*sentences: str) -> str:
    """Sentences below a table, each from a new line, broken at 80 columns."""
    return "\n".join(line for sentence in sentences for line in wrapped(sentence))


def caption_lines(caption: str, width: int) -> list[str]:
    """Lines above a table, those that are too long broken where a clause ends, if that is enough.

    Parameters
    ----------
    caption : str
    width : int
        Columns.

    Returns
    -------
    list of str

    Examples
    --------
    >>> caption_lines("access 10 Gbps; 1 Gbps assumed on 22", 30)
    ['access 10 Gbps;', '1 Gbps assumed on 22']
    """
    lines: list[str] = []
    for long in caption.splitlines():
        line = ""
        for clause in re.split("(?<=;) ", long):
            both = f"{line} {clause}" if line else clause
            if len(both) > width and line:
                lines += wrapped(line, width)
                both = clause
            line = both
        lines += wrapped(line, width) or [""]
    return lines


def shortened(text: str, width: int) -> str:
    """A text of names, each as long as any other, with an ellipsis where it lacks characters.

    Parameters
    ----------
    text : str
        A name, or several with arrows between them.
    width : int
        Columns, at least one.

    Returns
    -------
    str
        Ends of names are kept, which often are numbers.

    Examples
    --------
    >>> shortened("University Hospital 01 -> Zürich", 20)
    'Unive…l 01 -> Zürich'
    """
    if len(text) <= width:
        return text
    parts = _ARROW.split(text)
    free = width - sum(map(len, parts[1::2]))
    most = max(
        (size for size in range(1, width + 1) if sum(min(len(name), size) for name in parts[::2]) <= free),
        default=0,
    )
    if most < _LEAST_NAME:
        return _middle(text, width)
    return "".join(part if place % 2 else _middle(part, most) for place, part in enumerate(parts))


def _middle(name: str, width: int) -> str:
    """A name without its middle."""
    if len(name) <= width:
        return name
    end = (width - 1) // 2
    return f"{name[: width - 1 - end].rstrip()}…{name[len(name) - end :].lstrip()}"


def _measure(console: rich.console.Console, table: rich.table.Table) -> rich.measure.Measurement:
    """Columns that a table needs and would like to have."""
    return rich.measure.Measurement.get(console, console.options.update(max_width=1000), table)


def _finite(value: object) -> object:
    """The value, or None for a float that JSON cannot hold."""
    return None if isinstance(value, float) and not math.isfinite(value) else value

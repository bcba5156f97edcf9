"""Tables as text for people: fitted to the terminal's width, with captions above and notes below."""

import io
import re
from collections.abc import Sequence
from dataclasses import replace

import rich.box
import rich.console
import rich.measure
import rich.table
import rich.text

from scenarios.report.tables import Column, Table
from topologies.wrapping import wrapped

_LEAST_NAME = 3
"""Columns of each of several names in a shortened text: an end, an ellipsis, an end."""
_ARROW = re.compile("( -> )")
"""Between the names in a cell; one name may have commas."""


class Terminal:
    """Tables for people, at most as wide as a terminal.

    Parameters
    ----------
    width : int
        Columns.
    is_terminal : bool
        Whether to write control sequences, such as those for bold letters.
    """

    name = "terminal"
    ending = ".txt"

    def __init__(self, width: int = 80, *, is_terminal: bool = False) -> None:
        self._width, self._is_terminal = width, is_terminal

    def text(self, tables: Sequence[Table]) -> str:
        """Tables one below the other."""
        return "\n\n".join(self._one(table) for table in tables)

    def _one(self, table: Table) -> str:
        """A table with its caption and notes."""
        text = io.StringIO()
        console = self._console(text, self._width)
        drawn = _fitted(
            replace(table, columns=[c for c in table.columns if not _is_empty(table, c)]), console
        )
        # Where numbers need more columns than there are, the terminal breaks the lines: no digit is cut off.
        wide = self._console(text, max(self._width, _measure(console, drawn).minimum))
        lines = caption_lines(table.caption, self._width)
        console.print("\n".join(lines), markup=False, emoji=False, highlight=False)
        console.print()
        wide.print(drawn)
        console.print()
        if table.notes:
            notes = [line for note in table.notes.splitlines() for line in wrapped(note, self._width) or [""]]
            console.print("\n".join(notes), markup=False, emoji=False, highlight=False)
        return "\n".join(line.rstrip() for line in text.getvalue().removesuffix("\n").split("\n"))

    def _console(self, text: io.StringIO, width: int) -> rich.console.Console:
        """Console that writes into a text."""
        return rich.console.Console(file=text, width=width, force_terminal=self._is_terminal)


def _fitted(table: Table, console: rich.console.Console) -> rich.table.Table:
    """The table with wide gaps between its columns, or as narrow as it must be for the console."""
    for padding, narrow in ((1, False), (0, False), (0, True)):
        drawn = _drawn(table, padding=padding, narrow=narrow)
        if _measure(console, drawn).maximum <= console.width:
            return drawn
    return _drawn(table, padding=0, narrow=True, text_width=_text_width(table, console))


def _text_width(table: Table, console: rich.console.Console) -> int:
    """Width of shortened texts with which the table fits; columns that short texts do not need go to long ones."""
    texts = [
        (max(len(column.text(row)) for row in table.rows), column.least)
        for column in table.columns
        if _is_text(table, column)
    ]

    def needed(width: int) -> int:
        return sum(min(text, max(width, least)) for text, least in texts)

    numbers = _measure(console, _drawn(table, padding=0, narrow=True, text_width=0)).maximum
    free = console.width - numbers + needed(0)
    widths = range(max((text for text, _ in texts), default=0), 0, -1)
    return next((width for width in widths if needed(width) <= free), 0)


def _is_empty(table: Table, column: Column) -> bool:
    """Whether a column has nothing to say: remarks that no row has."""
    return bool(table.rows) and all(row[column.key] == "" for row in table.rows)


def _is_text(table: Table, column: Column) -> bool:
    """Whether a column holds texts, and no numbers."""
    return bool(table.rows) and all(isinstance(row[column.key], str) for row in table.rows)


def _drawn(table: Table, padding: int, *, narrow: bool, text_width: int | None = None) -> rich.table.Table:
    """The table with so many spaces more between its columns than one, and texts of so many columns."""
    drawn = rich.table.Table(
        box=rich.box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 0, 0, padding)
    )
    cells = []
    for column in table.columns:
        text = _is_text(table, column)
        shown = [column.text(row) for row in table.rows]
        width = max(text_width, column.least) if text and text_width is not None else None
        drawn.add_column(
            rich.text.Text(
                column.narrow_title if narrow and column.narrow_title is not None else column.title
            ),
            justify="left" if text else "right",
            overflow="fold",
            no_wrap=not column.prose,
            max_width=width if column.prose else None,
        )
        cells.append(shown if width is None or column.prose else [shortened(cell, width) for cell in shown])
    for row in zip(*cells, strict=True):
        # Names of users may look like rich's markup.
        drawn.add_row(*map(rich.text.Text, row))
    return drawn


def _measure(console: rich.console.Console, table: rich.table.Table) -> rich.measure.Measurement:
    """Least and preferred width of a table."""
    return rich.measure.Measurement.get(console, console.options.update(max_width=1000), table)


def caption_lines(caption: str, width: int) -> list[str]:
    """Lines above a table; long ones are broken where a clause ends, if that is enough.

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
    """A text of names shortened to a width, with an ellipsis in each name that is cut.

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

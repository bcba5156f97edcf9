"""Tables of results: columns, rows and notes, independent of the format that they are written in."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scenarios.config.quantities import digits, in_unit, time_unit
from topologies.rounding import ROUNDING
from topologies.wrapping import wrapped

Row = Mapping[str, Any]

_NARROW = {"serialized": "serial-\nized", "simulated": "simu-\nlated"}
"""Heads of cycle times that are wider than these."""


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
    unit : str
        Of its numbers, for tables whose heads have room for it.
    """

    key: str
    title: str
    show: Callable[[Any], str] = str
    exact: str | None = None
    impossible: str | None = None
    narrow_title: str | None = None
    prose: bool = False
    least: int = 5
    unit: str = ""

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
    """Rows of results; `scenarios.report.table_formats` has the formats that it is written in.

    Parameters
    ----------
    caption : str
        Subject of the table; lines above it in the terminal.
    columns : sequence of Column
        The fields of the rows that are shown to people, in order.
    rows : sequence of mapping
        Numbers in SI units at full precision; None where there is no value.
    notes : str
        Lines below the table in the terminal.
    further : mapping
        Results beside the rows, by their keys in JSON; other formats leave them out.
    summaries : collection of str
        Fields that are texts for people, of numbers that other fields have; CSV leaves them out.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: str = ""
    further: Mapping[str, object] = field(default_factory=dict)
    summaries: Collection[str] = ()

    def __repr__(self) -> str:
        """One line: caption, number of rows and columns."""
        caption = " ".join(self.caption.splitlines()[:1])
        return f"Table({caption!r}, {len(self.rows)} rows, columns={[column.key for column in self.columns]})"

    def __str__(self) -> str:
        """The table as the terminal shows it, 80 columns wide."""
        # Here since that module imports this one.
        from scenarios.report.terminal import Terminal

        return Terminal().text([self])

    def fields(self) -> list[str]:
        """All fields of all rows, in order of their first mention."""
        return list(dict.fromkeys(key for row in self.rows for key in row))


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
            unit=unit,
        )
        for key, title in titles.items()
    ], unit


def percent(fraction: float) -> str:
    """Signed percentage: ``-0.0%`` is below 0, if by more than a rounding error.

    Examples
    --------
    >>> percent(0.125), percent(-0.0001), percent(-1e-12)
    ('+12.5%', '-0.0%', '+0.0%')
    """
    return f"{0.0 if abs(fraction) < ROUNDING else 100 * fraction:+.1f}%"


def note_lines(*sentences: str) -> str:
    """Sentences below a table, each from a new line, broken at 80 columns."""
    return "\n".join(line for sentence in sentences for line in wrapped(sentence))

"""Columns of a table: which is which, by their usual names, and their units."""

import difflib
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import Field, InputError, quoted
from topologies.networks.csv_table import Table, parse_number, split_quantity
from topologies.quantities import parse_quantity

_KM = {"km": 1.0, "m": 1e-3, "mi": 1.609344, "mile": 1.609344, "miles": 1.609344}
_DEGREES = frozenset({"deg", "degree", "degrees", "°"})
_FOLDED_RATES = {
    f"{prefix}{end}": f"{prefix if prefix == 'k' else prefix.upper()}bps"
    for prefix in ("", "k", "m", "g", "t")
    for end in ("bps", "bit/s", "bit s", "bits/s", "bits s")
}
"""Rates in a name that is all in one case, as names of columns are; other units are written as in cells."""
_EXAMPLES = {"bit/s": "uplink_mbps' or '100 Mbps", "s": "latency_ms' or '12 ms", "km": "length_km' or '12 km"}
MISSING = frozenset({"", "-", "–", "—", "nan", "na", "n/a", "null", "none"})
"""Cells that state nothing, in lower case."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Role:
    """What a column may hold.

    Parameters
    ----------
    title : str
        For notes and messages.
    names : tuple of tuple of str
        Names of such a column, in lower case with single blanks; a later group counts where no column has a name of an
        earlier one.
    kind : {"text", "deg", "bit/s", "s", "km"}
    """

    title: str
    names: tuple[tuple[str, ...], ...]
    kind: str = "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column of a table whose meaning is known.

    Parameters
    ----------
    index : int
    header : str
        As it stands in the file.
    unit : str
        Of the header; empty where it names none.
    role : Role
    """

    index: int
    header: str
    unit: str
    role: Role

    @property
    def origin(self) -> str:
        """For notes: ``access up from 'uplink_mbps' (Mbps)``."""
        unit = f" ({self.unit})" if self.unit and self.role.kind != "deg" else ""
        return f"{self.role.title} from {self.header!r}{unit}"


def find_columns(table: Table, roles: Mapping[str, Role]) -> tuple[dict[str, Column], list[str]]:
    """Which column of a table holds what.

    Parameters
    ----------
    table : Table
    roles : mapping from key to Role

    Returns
    -------
    found : dict from key to Column
    ignored : list of str
        Headers of the other columns.

    Raises
    ------
    InputError
        If two columns mean the same, or one is almost named like one that the table lacks.
    """
    names = [column_name(header) for header in table.header]
    found: dict[str, Column] = {}
    used: set[int] = set()
    for key, role in roles.items():
        for group in role.names:
            places = [i for i, (name, unit) in enumerate(names) if _is_named(name, unit, group)]
            if len(places) > 1:
                both = " and ".join(quoted(table.header[i]) for i in places[:2])
                raise InputError(f"the columns {both} both mean {role.title}; keep one.", source=table.source)
            if places:
                (place,) = places
                found[key] = Column(index=place, header=table.header[place], unit=names[place][1], role=role)
                used.add(place)
                break
    lacking = {name: key for key, role in roles.items() if key not in found for name in role.names[0]}
    ignored = [i for i in range(len(names)) if i not in used and table.header[i]]
    for i in ignored:
        close = difflib.get_close_matches(names[i][0], lacking, n=1, cutoff=0.85)
        if close and len(close[0]) > 4:
            raise InputError(
                f"the column {quoted(table.header[i])} is unknown (did you mean {close[0]!r}?).",
                source=table.source,
            )
    return found, [table.header[i] for i in ignored]


def _is_named(name: str, unit: str, group: Sequence[str]) -> bool:
    """Whether a column's name is one of a group; one that is a unit alone is its own name."""
    return name in group if name else bool(unit) and _spelled(unit) in group


def missing_column(table: Table, role: Role, purpose: str) -> InputError:
    """Error for a column that the table lacks, with the columns that it has."""
    names = " or ".join(repr(name) for name in role.names[0][:3])
    columns = ", ".join(quoted(header) for header in table.header[:12] if header)
    return InputError(f"needs a column {names} for {purpose}; it has {columns}.", source=table.source)


def column_name(header: str) -> tuple[str, str]:
    """Name of a column, in lower case with single blanks, and the unit in its header.

    Examples
    --------
    >>> column_name("uplink_mbps"), column_name("Bandwidth [Mbit/s]"), column_name("Latitude")
    (('uplink', 'Mbps'), ('bandwidth', 'Mbit/s'), ('latitude', ''))
    """
    header = header.strip()
    if found := re.fullmatch(r"(.*?)\s*[\[(]\s*([^\[\]()]*)\s*[\])]", header):
        unit = unit_of(found[2], fold=_one_case(header))
        if unit:
            return _spelled(found[1]), unit
    words = re.split(r"[\s_\-]+", header)
    for count in (2, 1):
        ends = words[-count:]
        if len(words) >= count and (unit := unit_of(" ".join(ends), fold=_one_case(header))):
            rest = words[:-count]
            if rest and rest[-1].lower() == "in":
                rest = rest[:-1]
            return _spelled(" ".join(rest)), unit
    return _spelled(header), ""


def _one_case(text: str) -> bool:
    """Whether a text says nothing by its case."""
    return text.lower() == text or text.upper() == text


def _spelled(text: str) -> str:
    """A name in lower case with single blanks."""
    return " ".join(re.split(r"[\s_\-/\\]+", text.strip().lower()))


def unit_of(text: str, *, fold: bool = True) -> str:
    """The unit that a word of a header or file name is; empty if it is none.

    Parameters
    ----------
    fold : bool
        Whether ``mbps`` is Mbps, as in a name that is all in one case.
    """
    text = text.strip()
    if fold and (folded := _FOLDED_RATES.get(text.lower())):
        return folded
    if text.lower() in _DEGREES or text in _KM:
        return text
    if fold and text.lower() in _KM:
        return text.lower()
    for kind in ("bit/s", "s"):
        for spelled in (text, text.lower()) if kind == "s" and fold else (text,):
            if _factor(spelled, kind) is not None:
                return spelled
    return ""


@functools.cache
def _factor(unit: str, kind: str) -> float | None:
    """How many SI units (km for lengths) a unit is; None if it is none of that kind."""
    if kind == "km":
        return _KM.get(unit)
    if kind == "deg":
        return 1.0 if unit in _DEGREES else None
    try:
        return parse_quantity("unit", f"1e6 {unit}", kind) / 1e6
    except InputError:
        return None


def unit_kind(unit: str) -> str:
    """Kind of a unit that `unit_of` gave."""
    return next((kind for kind in ("km", "deg", "bit/s", "s") if _factor(unit, kind) is not None), "")


def numbers(table: Table, column: Column) -> FloatArray:
    """Numbers of a column in SI units (km for lengths), NaN where a cell states nothing, shape (rows,).

    Raises
    ------
    InputError
        If a cell is no number, or has no unit where the header names none.
    """
    if column.unit and _factor(column.unit, column.role.kind) is None:
        raise InputError(
            f"the column {quoted(column.header)} has the unit {column.unit!r}, must have one of a "
            f"{_QUANTITIES[column.role.kind]}.",
            source=table.source,
        )
    return cell_numbers(
        table.column(column.index),
        kind=column.role.kind,
        unit=column.unit,
        decimal_comma=table.decimal_comma,
        error=lambda i, rule: table.error(i, column.header, table.rows[i][column.index], rule),
        where=f"neither in its name nor in the cell (the column {column.header!r})",
    )


_QUANTITIES = {"bit/s": "data rate", "s": "time", "km": "length", "deg": "angle"}


def cell_numbers(
    cells: Sequence[str],
    *,
    kind: str,
    unit: str,
    decimal_comma: bool,
    error: Callable[[int, str], InputError],
    where: str,
) -> FloatArray:
    """Numbers of cells in SI units, NaN where one states nothing.

    Parameters
    ----------
    cells : sequence of str
    kind : {"deg", "bit/s", "s", "km"}
    unit : str
        Of cells that name none; empty where there is none.
    decimal_comma : bool
    error : callable
        Error of a cell by its index and the rule.
    where : str
        For the error of a cell without a unit.

    Returns
    -------
    ndarray, shape (cells,)

    Notes
    -----
    Plain numbers are read at once: a million take about a second.
    """
    values = np.full(len(cells), np.nan)
    stated = [i for i, cell in enumerate(cells) if cell.lower() not in MISSING]
    if not stated:
        return values
    texts = [cells[i] for i in stated]
    factor = _factor(unit, kind) if unit else 1.0 if kind == "deg" else None
    if factor is not None and re.fullmatch(r"[\d.eE+\-\n]+", "\n".join(texts)):
        try:
            values[stated] = np.array(texts).astype(np.float64) * factor
        except ValueError:
            pass  # the loop below finds the cell
        else:
            return values
    marks: dict[str, str] = {}
    for i, cell in zip(stated, texts, strict=True):
        number, written = split_quantity(cell)
        try:
            value = parse_number(number, decimal_comma=decimal_comma)
            own = _cell_factor(written, kind, cell) if written else factor
        except InputError as problem:
            raise error(i, problem.rule) from None
        if own is None:
            raise error(i, f"has no unit, {where}: write '{_EXAMPLES[kind]}'.")
        for mark in ".,":
            if mark in number:
                marks.setdefault(mark, cell)
        if len(marks) == 2:
            other = marks["." if "," in number else ","]
            raise error(i, f"must have the decimal mark of {quoted(other)}, which is in the same column.")
        values[i] = value * own
    return values


def _cell_factor(unit: str, kind: str, cell: str) -> float:
    """How many SI units the unit in a cell is."""
    factor = _factor(unit, kind)
    if factor is not None:
        return factor
    if kind in ("bit/s", "s"):
        parse_quantity(("cell",), f"1e6 {unit}", kind)  # its error names likely units
    units = "degrees without a unit" if kind == "deg" else f"a unit: {', '.join(_KM)}"
    raise InputError(f"must have {units}.", field=Field("cell", value=cell))


def origins(table: Table, found: Mapping[str, Column], ignored: Sequence[str]) -> str:
    """One sentence: what was taken from which column, and which were ignored."""
    taken = ", ".join(column.origin for column in found.values())
    others = f"; ignored: {', '.join(map(quoted, ignored))}" if ignored else ""
    return f"{Path(table.source).name}: {taken}{others}."

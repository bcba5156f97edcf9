"""Columns of a table: which is which, by their usual names, and their units."""

import difflib
import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import Field, InputError, quoted
from topologies.networks.csv_table import Table, check_range, is_nonzero, parse_number, split_quantity
from topologies.quantities import parse_quantity

_KM = {"km": 1.0, "m": 1e-3, "mi": 1.609344, "mile": 1.609344, "miles": 1.609344}
_DEGREES = frozenset({"deg", "degree", "degrees", "°"})
_FOLDED_RATES = {
    f"{prefix}{end}": f"{prefix if prefix == 'k' else prefix.upper()}bps"
    for prefix in ("", "k", "m", "g", "t")
    for end in ("bps", "bit/s", "bit s", "bits/s", "bits s")
}
"""Rates in a name that is all in one case, as names of columns are; other units are written as in cells."""
_NO_SUFFIX = frozenset({"min", "mins", "h", "d"})
"""Units that are read in brackets and in cells, not at the end of a name: there ``min`` is the minimum."""
_AVERAGES = ("avg", "average", "mean")
_STATISTICS = frozenset({*_AVERAGES, "min", "minimum", "max", "maximum", "median", "mdev", "stddev", "std"})
"""Ends of names of columns, as ``ping`` has them."""
_ONE_MARK = re.compile(r"[-+\u2212]?\d*[.,]\d*(?:[eE][-+]?\d+)?")
_GROUPED = re.compile(r"[-+\u2212]?\d{1,3}[.,]\d{3}")
"""A number whose only mark may separate thousands."""
_USUAL_UNITS = {"bit/s": "Mbps", "s": "ms", "km": "km"}
"""For suggestions."""
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
        earlier one. Accents make no difference.
    kind : {"text", "deg", "bit/s", "s", "km"}
    """

    title: str
    names: tuple[tuple[str, ...], ...]
    kind: str = "text"

    @property
    def every_name(self) -> tuple[str, ...]:
        """Those of all groups."""
        return tuple(name for group in self.names for name in group)

    def is_in(self, table: Table) -> bool:
        """Whether a table has a column of one of these names."""
        return any(_is_named(*names, self.every_name) for names in _column_names(table.header))


def with_statistics(*names: str) -> tuple[tuple[str, ...], ...]:
    """Names of a column for a `Role`: the plain ones, else those of averages, else of one other value."""
    return (
        names,
        *(
            tuple(whole for name in names for word in words for whole in (f"{name} {word}", f"{word} {name}"))
            for words in (_AVERAGES, ("median", "min", "minimum", "max", "maximum"))
        ),
    )


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
        If two columns mean the same, one is almost named like one that the table lacks, or has a unit that must be in
        brackets, or numbers have different decimal marks.
    """
    names = _column_names(table.header)
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
        name, _, end = names[i][0].rpartition(" ")
        if end in _NO_SUFFIX - _STATISTICS and any(
            name in role.names[0] for role in roles.values() if role.kind == "s"
        ):
            raise InputError(
                f"the column {quoted(table.header[i])} must have its unit in brackets: '{name} [{end}]'.",
                source=table.source,
            )
        close = difflib.get_close_matches(names[i][0], lacking, n=1, cutoff=0.85)
        if close and len(close[0]) > 4:
            raise InputError(
                f"the column {quoted(table.header[i])} is unknown (did you mean {close[0]!r}?).",
                source=table.source,
            )
    _check_marks(table, [column.index for column in found.values() if column.role.kind != "text"])
    return found, [table.header[i] for i in ignored]


def _column_names(headers: Sequence[str]) -> list[tuple[str, str]]:
    """Name and unit of each column; in ``rtt [min], rtt [avg]`` no unit is meant."""
    names = [column_name(header) for header in headers]
    bracketed = [in_brackets(header) for header in headers]
    words = [(_spelled(found[0]), found[1].lower()) if found else ("", "") for found in bracketed]
    beside = {name for name, word in words if word in _STATISTICS and word != "min"}
    return [
        (f"{name} {word}".strip(), "") if name in beside and word in _STATISTICS else given
        for given, (name, word) in zip(names, words, strict=True)
    ]


def _check_marks(table: Table, columns: Sequence[int]) -> None:
    """Raise an error where numbers of a table have different decimal marks: one of them would separate thousands.

    Numbers of columns that are not read count where those that are read may be thousands.
    """
    if not table.decimal_comma:
        return
    first = {mark: next(_marked(table, columns, mark), None) for mark in ".,"}
    if first["."] is None or first[","] is None:
        mark, other = (",", ".") if first["."] is None else (".", ",")
        first[other] = next(_marked(table, set(range(len(table.header))) - set(columns), other), None)
        if first[other] is None or not all(
            _GROUPED.fullmatch(cell.number) for cell in _marked(table, columns, mark)
        ):
            return
    point, comma = first["."], first[","]
    if point is None or comma is None:
        return
    earlier, later = sorted((point, comma), key=lambda cell: (cell.row, cell.column))
    if earlier.column == later.column:
        place = "in the same column"
    else:
        place = f"in row {table.row_numbers[earlier.row]}, {table.header[earlier.column]}"
    raise table.error(
        later.row,
        table.header[later.column],
        table.rows[later.row][later.column],
        f"must have the decimal mark of {quoted(earlier.number)}, which is {place}: a table has one, and no thousands "
        "separators.",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Marked:
    """A number with one decimal mark, or separator of thousands."""

    row: int
    column: int
    number: str


def _marked(table: Table, columns: Iterable[int], mark: str) -> Iterator[_Marked]:
    """Numbers of some columns in which a mark occurs once, and the other one does not."""
    there = [i for i in sorted(columns) if mark in "".join(table.column(i))]
    for row in range(len(table.rows) if there else 0):
        for column in there:
            cell = table.rows[row][column]
            number = split_quantity(cell)[0] if mark in cell else ""
            if _ONE_MARK.fullmatch(number) and mark in number:
                yield _Marked(row=row, column=column, number=number)


def _is_named(name: str, unit: str, group: Sequence[str]) -> bool:
    """Whether a column's name is one of a group; one that is a unit alone is its own name."""
    return (name or _spelled(unit)) in _spelled_names(tuple(group))


@functools.cache
def _spelled_names(group: tuple[str, ...]) -> frozenset[str]:
    """Names of a group without accents."""
    return frozenset(filter(None, map(_spelled, group)))


def missing_column(table: Table, role: Role, purpose: str) -> InputError:
    """Error for a column that the table lacks, with the columns that it has."""
    names = " or ".join(repr(name) for name in role.names[0][:3])
    columns = ", ".join(quoted(header) for header in table.header[:12] if header)
    return InputError(f"needs a column {names} for {purpose}; it has {columns}.", source=table.source)


def column_name(header: str) -> tuple[str, str]:
    """Name of a column, in lower case with single blanks and without accents, and the unit in its header.

    Examples
    --------
    >>> column_name("uplink_mbps"), column_name("Bandwidth [Mbit/s]"), column_name("rtt_min")
    (('uplink', 'Mbps'), ('bandwidth', 'Mbit/s'), ('rtt min', ''))
    """
    header = header.strip()
    if found := in_brackets(header):
        unit = unit_of(found[1], fold=_one_case(header))
        if unit:
            return _spelled(found[0]), unit
    words = re.split(r"[\s_\-]+", header)
    statistic = words.pop().lower() if len(words) > 1 and words[-1].lower() in _STATISTICS else ""
    for count in (2, 1):
        ends = " ".join(words[-count:])
        if len(words) < count or ends.lower() in _NO_SUFFIX:
            continue
        if unit := unit_of(ends, fold=_one_case(header)):
            rest = words[:-count]
            if rest and rest[-1].lower() == "in":
                rest = rest[:-1]
            return _spelled(" ".join((*rest, statistic))), unit
    return _spelled(header), ""


def in_brackets(header: str) -> tuple[str, str] | None:
    """What stands before the brackets at the end of a header, and in them; None where there are none.

    Examples
    --------
    >>> in_brackets("Bandwidth [Mbit/s]")
    ('Bandwidth', 'Mbit/s')
    """
    text = header.strip()
    begin = max(text.rfind("["), text.rfind("("))
    inside = text[begin + 1 : -1]
    if begin < 0 or text[-1] not in "])" or "]" in inside or ")" in inside:
        return None
    return text[:begin].rstrip(), inside.strip()


def _one_case(text: str) -> bool:
    """Whether a text says nothing by its case."""
    return text.lower() == text or text.upper() == text


def _spelled(text: str) -> str:
    """A name in lower case with single blanks, and without accents, which may be written in two ways."""
    letters = unicodedata.normalize("NFKD", text.strip().lower())
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(re.split(r"[\s_\-/\\]+", plain))


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
    # In mixed case, B may mean bytes; all else is as clear as in one case.
    is_clear = "B" not in text or "bit" in text.lower()
    return _FOLDED_RATES.get(text.lower(), "") if is_clear else ""


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
            f"the column {quoted(column.header)} has the unit {column.unit!r}, must be a unit of "
            f"{_QUANTITIES[column.role.kind]}.",
            source=table.source,
        )
    is_minimum = column.role.kind == "s" and column_name(column.header)[0].endswith(" min")
    hint = "; min in a name is the minimum, [min] minutes" if is_minimum else ""
    return cell_numbers(
        table.column(column.index),
        kind=column.role.kind,
        unit=column.unit,
        decimal_comma=table.decimal_comma,
        error=lambda i, rule: table.error(i, column.header, table.rows[i][column.index], rule),
        where=f"neither in its name nor in the cell (the column {column.header!r}{hint})",
        place=f"'{re.sub('[{}]', '', column.header)} [{{unit}}]'",
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
    place: str,
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
    where, place : str
        For the error of a cell without a unit: where none is, and where it may be written, with ``{unit}``.

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
        with np.errstate(over="ignore", under="ignore"):
            try:
                values[stated] = np.array(texts).astype(np.float64) * factor
            except ValueError:
                values[stated] = np.nan
        zeros = (texts[i] for i in np.flatnonzero(values[stated] == 0).tolist())
        if np.isfinite(values[stated]).all() and not any(map(is_nonzero, zeros)):
            return values  # else the loop below finds the cell
    marks: dict[str, str] = {}
    for i, cell in zip(stated, texts, strict=True):
        number, written = split_quantity(cell)
        try:
            value = parse_number(number, decimal_comma=decimal_comma)
            own = _cell_factor(written, kind, cell) if written else factor
            if own is not None and np.isfinite(value):
                value = check_range(value * own, number)
        except InputError as problem:
            raise error(i, problem.rule) from None
        if own is None:
            usual = _USUAL_UNITS[kind]
            raise error(
                i,
                f"has no unit, {where}: write {place.format(unit=usual)} or '{cell} {usual}', for instance.",
            )
        for mark in ".,":
            if mark in number:
                marks.setdefault(mark, cell)
        if len(marks) == 2:
            other = marks["." if "," in number else ","]
            raise error(i, f"must have the decimal mark of {quoted(other)}, which is in the same column.")
        values[i] = value
    return values


def plain_number(table: Table, row: int, column: str, text: str) -> float | None:
    """Number without a unit in a cell, None where it states nothing.

    Parameters
    ----------
    row : int
        Index in `Table.rows`.
    column : str
        As an error names it.
    text : str
        The cell.

    Raises
    ------
    InputError
        If it is no number.
    """
    if text.lower() in MISSING:
        return None
    try:
        return parse_number(text, decimal_comma=table.decimal_comma)
    except InputError as error:
        raise table.error(row, column, text, error.rule) from None


def _cell_factor(unit: str, kind: str, cell: str) -> float:
    """How many SI units the unit in a cell is."""
    factor = _factor(unit, kind)
    if factor is not None:
        return factor
    if kind in ("bit/s", "s"):
        parse_quantity(("cell",), f"1e6 {unit}", kind)  # its error names likely units
    rule = (
        "be degrees alone, negative in the south and west"
        if kind == "deg"
        else f"have a unit: {', '.join(_KM)}"
    )
    raise InputError(f"must {rule}.", field=Field("cell", value=cell))


def origins(table: Table, found: Mapping[str, Column], ignored: Sequence[str]) -> str:
    """One sentence: what was taken from which column, and which were ignored."""
    taken = ", ".join(column.origin for column in found.values())
    others = f"; ignored: {', '.join(map(quoted, ignored))}" if ignored else ""
    return f"{Path(table.source).name}: {taken}{others}."

"""Tables as spreadsheets save them: CSV in their encodings and dialects."""

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from topologies.errors import Field, InputError, quoted
from topologies.networks.labels import one_line
from topologies.plain_text import UTF_16, check_uncompressed, is_workbook

_NAMES = {"\t": "tab", ";": "semicolon", ",": "comma"}
_DELIMITERS = tuple(_NAMES)
# Possessive where a text could be divided in several ways: a cell may be long, and would be tried in all of them.
_NUMBER = re.compile(r"[-+]?(?:\d++[.,]?\d*|[.,]\d+)(?:[eE][-+]?\d+)?")
_CONTENT = re.compile(r"[^\s,;]")
_NO_LIMIT = frozenset({"inf", "+inf", "infinity", "unlimited"})
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:[\s'’.,]\d{3})+(?:[.,]\d+)?")
"""A number with thousands separators, or one that looks like it."""
_WITH_UNIT = re.compile(
    r"(?P<number>[-+]?(?:\d[\d.,'’\s]*+|[.,]\d++)(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\d\s.,;'’][^\s]*)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Texts of a table.

    Parameters
    ----------
    source : str
        The file, for messages.
    header : tuple of str
        Cells of the first row that is not blank.
    rows : sequence of sequence of str
        Cells of all other rows that are not blank, without blanks around them, as many as the header has.
    row_numbers : sequence of int
        Number of each of these rows in a spreadsheet, where blank rows count and the file's first row is 1.
    decimal_comma : bool
        Whether a comma may be a decimal mark, as it separates no columns.
    """

    source: str
    header: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    row_numbers: Sequence[int]
    decimal_comma: bool

    def __repr__(self) -> str:
        """File and size."""
        return f"<Table {self.source}: {len(self.rows)} rows, {len(self.header)} columns>"

    def column(self, index: int) -> list[str]:
        """Cells of a column, one for each row."""
        return [row[index] for row in self.rows]

    def labels(self, index: int) -> list[str]:
        """Labels in a column, as `topologies.networks.labels.one_line` has them."""
        return [one_line(cell) for cell in self.column(index)]

    def error(self, row: int, column: str, value: str, rule: str) -> InputError:
        """Error of one cell: file, row, column, value and rule.

        Parameters
        ----------
        row : int
            Index in `rows`.
        """
        return InputError(
            rule, field=Field(f"row {self.row_numbers[row]}, {column}", value=value), source=self.source
        )


def read_table(data: bytes, source: str) -> Table:
    """Table of the bytes of a CSV file.

    Parameters
    ----------
    data : bytes
        UTF-8, with or without a byte order mark, or UTF-16 with one; columns separated by tabs, semicolons or commas:
        the first of these that the header holds. Cells may be quoted, rows blank, columns at the end empty; a cell
        that states nothing has its place, too. A first line ``sep=;`` of Excel's is passed over.
    source : str
        The file, for messages.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        If the bytes are no such text, or a row has more cells than the header, or fewer.
    """
    text = _text(data, source)
    text = re.sub(r"\Asep=.[ \t]*(\r\n|\r|\n|\Z)", "", text, flags=re.IGNORECASE)
    if not _CONTENT.search(text):
        raise InputError("is an empty table; it must have a row of column names.", source=source)
    delimiter = delimiter_of(text)
    header: tuple[str, ...] = ()
    rows, numbers = [], []
    for number, cells in _records(text, delimiter, source):
        # A tuple of texts, unlike a list, costs the garbage collector nothing.
        row = tuple(map(str.strip, cells))
        if not any(row):
            continue
        if not header:
            header = _without_empty_end(row)
            if len(header) < 2:
                raise InputError(
                    f"must have columns separated by commas, semicolons or tabs; its header is {quoted(header[0])}.",
                    source=source,
                )
            continue
        if len(row) != len(header):
            row = _fitted(row, header, number, delimiter, source)
        rows.append(row)
        numbers.append(number)
    if not rows:
        raise InputError("has column names, but no rows.", source=source)
    return Table(source=source, header=header, rows=rows, row_numbers=numbers, decimal_comma=delimiter != ",")


def _text(data: bytes, source: str) -> str:
    """Text of the file's bytes."""
    if is_workbook(data):
        raise InputError(
            "is a workbook, must be a table as text: save the sheet as 'CSV UTF-8'.", source=source
        )
    check_uncompressed(data, source)
    try:
        text = data.decode("utf-16" if data.startswith(UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"line {line} is no UTF-8 text: save it as 'CSV UTF-8'.", source=source) from None
    if "\0" in text:
        raise InputError("is no UTF-8 text, has a NUL: save it as 'CSV UTF-8'.", source=source)
    return text


def delimiter_of(text: str) -> str:
    """What separates the columns of the header, the first line that is not blank; a comma where there is none."""
    first = next((line[0] for line in re.finditer(r"[^\r\n]+", text) if _CONTENT.search(line[0])), "")
    unquoted = re.sub(r'"[^"]*"', "", first)
    return next((delimiter for delimiter in _DELIMITERS if delimiter in unquoted), ",")


def _records(text: str, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Rows with their numbers; a quoted cell of several lines is in one row, as in a spreadsheet."""
    number = 0
    # With newline="" line ends within quotes belong to the cell; unlike those of `str.splitlines`, they are CR and LF.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        number += 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(f"row {number}: {error}.", source=source) from None
        yield number, cells


def _fitted(
    row: tuple[str, ...], header: Sequence[str], number: int, delimiter: str, source: str
) -> tuple[str, ...]:
    """A row without what is empty beyond the header, which then has as many cells as this."""
    beyond = row[len(header) :]
    if beyond and not any(beyond):
        return row[: len(header)]
    if beyond:
        size, hint = len(_without_empty_end(row)), _comma_hint(delimiter)
    else:
        # A cell that was forgotten in the middle would move all others.
        size, hint = len(row), f"; a cell that states nothing is empty, but has its {_NAMES[delimiter]}"
    cells = f"{size} cell{'' if size == 1 else 's'}"
    raise InputError(f"row {number} has {cells}, the header {len(header)}{hint}.", source=source)


def _without_empty_end(cells: tuple[str, ...]) -> tuple[str, ...]:
    """Cells up to the last one that is not empty."""
    last = max(place for place, cell in enumerate(cells) if cell)
    return cells[: last + 1]


def _comma_hint(delimiter: str) -> str:
    """What may be wrong where a row has too many cells."""
    if delimiter != ",":
        return ""
    return "; numbers with decimal commas need semicolons or tabs between the columns"


def split_quantity(cell: str) -> tuple[str, str]:
    """Number and unit of a cell; the unit is empty where there is none."""
    # The number first: 1e5 is not one of the unit e5.
    if not _NUMBER.fullmatch(cell) and (found := _WITH_UNIT.fullmatch(cell)):
        return found["number"].strip(), found["unit"]
    word, _, unit = cell.partition(" ")
    if word.lower() in _NO_LIMIT:
        return word, unit.strip()
    return cell, ""


def parse_number(text: str, *, decimal_comma: bool) -> float:
    """Number of a cell without its unit.

    Parameters
    ----------
    decimal_comma : bool
        Whether a comma may be the decimal mark.

    Returns
    -------
    float

    Raises
    ------
    InputError
        With the rule alone, if the text is none, one that may be read in two ways, or one beyond the range of
        floating-point numbers: only words are infinite, and only zeros are 0.
    """
    text = text.replace("\u2212", "-")  # the minus sign of typographers
    if text.lower() in _NO_LIMIT:
        return float("inf")
    if _NUMBER.fullmatch(text) and ("," not in text or decimal_comma):
        return check_range(float(text.replace(",", ".")), text)
    if _GROUPED.fullmatch(text):
        plain = re.sub(r"[\s'’]", "", text)
        marks = [mark for mark in plain if mark in ".,"]
        if len(set(marks)) == 2:
            last = marks[-1]
            plain = plain.replace("," if last == "." else ".", "").replace(",", ".")
            raise InputError(f"must be written without thousands separators: {plain} if that is meant.")
        if len(set(marks)) == 1 and len(marks) == 1 and plain == text:
            raise InputError(
                "must have a decimal point, as commas separate the columns, and no thousands separators: "
                f"{text.replace(',', '.')} or {text.replace(',', '')}."
            )
        raise InputError("must be written without thousands separators.")
    if "," in text and _NUMBER.fullmatch(text):
        raise InputError(
            f"must have a decimal point, as commas separate the columns: {text.replace(',', '.')}."
        )
    raise InputError("must be a number.")


def with_point(text: str, delimiter: str) -> str:
    """A number that has a decimal comma, with a point, where commas separate no columns; any other text as it is.

    Parameters
    ----------
    text : str
    delimiter : str
        Between the columns.
    """
    is_number = delimiter != "," and _NUMBER.fullmatch(text.strip())
    return text.replace(",", ".") if is_number else text


def check_range(value: float, text: str) -> float:
    """The value of a number, checked.

    Parameters
    ----------
    value : float
        In any unit.
    text : str
        The number, no word, as it is written.

    Raises
    ------
    InputError
        With the rule alone, if the value is infinite, or 0 although the number is not.
    """
    if not math.isfinite(value):
        raise InputError("must be finite.")
    if value == 0 and is_nonzero(text):
        raise InputError("must be 0 or larger than the smallest floating-point number.")
    return value


def is_nonzero(text: str) -> bool:
    """Whether a number has a digit other than 0 before its exponent."""
    return re.search("[1-9]", re.split("[eE]", text)[0]) is not None

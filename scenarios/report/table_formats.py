"""Formats of tables: text for people, JSON, CSV, and those of installed packages."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, runtime_checkable

import rich.console

from scenarios.report.tables import Table
from scenarios.report.terminal import Terminal
from scenarios.runfile.paths import write_whole
from scenarios.runtime.streams import printable_json
from topologies import InputError, SilosimError
from topologies.entry_points import all_names, find_entry, load_instance, named

GROUP = "silosim.table_formats"
"""Entry points of further formats: each names a class that takes no arguments and is a `TableFormat`; its own name is
the ending without the dot."""


@runtime_checkable
class TableFormat(Protocol):
    """A format of tables.

    Attributes
    ----------
    name : str
    ending : str
        Of files in this format, in lower case, such as ``.csv``.
    """

    name: str
    ending: str

    def text(self, tables: Sequence[Table]) -> str:
        """Text of the tables of one command; most have one."""


class Json:
    """Caption, rows with the same keys (null for infinite and missing numbers), lines of the notes, and `further`."""

    name = "json"
    ending = ".json"

    def text(self, tables: Sequence[Table]) -> str:
        """An object, or a list of objects of several tables."""
        whole = [self._object(table) for table in tables]
        return json.dumps(whole[0] if len(whole) == 1 else whole, indent=1, ensure_ascii=False)

    @staticmethod
    def _object(table: Table) -> dict[str, object]:
        """One table."""
        keys = table.fields()
        rows = [{key: _finite(row.get(key)) for key in keys} for row in table.rows]
        return {"caption": table.caption, "rows": rows, "notes": table.notes.splitlines(), **table.further}


class Csv:
    """Rows of all tables below one head, with one column for each field that is no summary of others."""

    name = "csv"
    ending = ".csv"

    def text(self, tables: Sequence[Table]) -> str:
        """The rows at full precision."""
        text = io.StringIO()
        keys = dict.fromkeys(key for table in tables for key in table.fields() if key not in table.summaries)
        writer = csv.DictWriter(text, fieldnames=[*keys], extrasaction="ignore")
        writer.writeheader()
        for table in tables:
            writer.writerows(table.rows)
        return text.getvalue()


TABLE_FORMATS: Mapping[str, TableFormat] = {
    built_in.ending.removeprefix("."): built_in for built_in in (Csv(), Json(), Terminal())
}
"""Those that are built in, by their ending without the dot."""


def find_format(path: Path) -> TableFormat | None:
    """Format that a file's ending stands for.

    Parameters
    ----------
    path : Path

    Returns
    -------
    TableFormat or None
        None where no format has this ending.

    Raises
    ------
    InputError
        If two packages register a format of this ending, or one registers something else.
    MachineError
        If it cannot be imported.
    """
    return _named_format(path.suffix.lower().removeprefix("."))


def _named_format(name: str) -> TableFormat | None:
    """Format of a name; of those of installed packages only this one is imported."""
    if name in TABLE_FORMATS:
        return TABLE_FORMATS[name]
    entry = find_entry(GROUP, name, "table format")
    if entry is None:
        return None
    found = load_instance(entry, "table format")
    if not isinstance(found, TableFormat) or found.ending != f".{name}":
        raise InputError(f"{named(entry, 'table format')} must have name, text and the ending '.{name}'.")
    return found


def _endings() -> Iterator[str]:
    """Endings of the formats that can be used: those that are built in, then those of installed packages."""
    for name in all_names(TABLE_FORMATS, GROUP):
        with suppress(SilosimError):
            if (found := _named_format(name)) is not None:
                yield found.ending


def format_of(path: Path, *, others: Sequence[str] = (), rule: str = "") -> TableFormat:
    """Format that a file's ending stands for.

    Parameters
    ----------
    path : Path
    others : sequence of str
        Endings that the command writes besides, for the message.
    rule : str
        What else the message says.

    Returns
    -------
    TableFormat

    Raises
    ------
    InputError
        If no format has this ending, or as `find_format`.
    MachineError
        As `find_format`.
    """
    found = find_format(path)
    if found is None:
        endings = ", ".join([*others, *_endings()])
        raise InputError(f"output(={str(path)!r}) must end in one of {endings}{rule}.")
    return found


def write_tables(path: Path, tables: Sequence[Table]) -> None:
    """Write tables into a file, in the format that its ending stands for; an existing one is replaced as a whole.

    Raises
    ------
    InputError
        If there is none, or the file cannot be written.
    """
    text = format_of(path).text(tables)
    write_whole(path, text if text.endswith("\n") else f"{text}\n", force=True)


def print_table(table: Table, as_json: bool) -> None:
    """Print a table on standard output; see `print_tables`."""
    print_tables([table], as_json)


def print_tables(tables: Sequence[Table], as_json: bool) -> None:
    """Print tables on standard output, as JSON or at the terminal's width (80 columns where there is none)."""
    if as_json:
        print_text(printable_json(Json().text(tables)))
        return
    console = rich.console.Console()
    print_text(Terminal(console.width, is_terminal=console.is_terminal).text(tables))


def print_text(text: str) -> None:
    """Print on standard output at once."""
    print(text, flush=True)


def _finite(value: object) -> object:
    """The value, or None for a float that JSON cannot hold."""
    return None if isinstance(value, float) and not math.isfinite(value) else value

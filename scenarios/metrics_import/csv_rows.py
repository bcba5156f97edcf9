"""Rows of CSV files."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from scenarios.metrics_import.rows import MetricsRow
from scenarios.metrics_import.text_lines import text_lines
from topologies import InputError
from topologies.errors import quoted
from topologies.networks.csv_table import with_point


def table_rows(path: Path) -> Iterator[MetricsRow]:
    """Rows of a CSV file with a head.

    Parameters
    ----------
    path : Path
        Separated by tabs where a ``.tsv`` has one in its head, else by the one of comma, semicolon and tab that is
        most often there, outside quotes. Where it is no comma, numbers may have decimal commas.

    Raises
    ------
    InputError
        If the file cannot be read, or a line breaks its format.
    """
    lines = text_lines(path)
    head = next(lines, "")
    separator = _separator(head, path.suffix.lower())
    try:
        names = [name.strip() for name in next(csv.reader([head], delimiter=separator), [])]
    except csv.Error as error:
        raise InputError(f"is no CSV: {error}.", source=f"{path}, line 1") from None
    if not any(names):
        raise InputError("must have a header with the names of the columns.", source=f"{path}, line 1")
    repeated = next((name for name, count in Counter(names).items() if name and count > 1), None)
    if repeated is not None:
        raise InputError(f"column(={quoted(repeated)}) must not be repeated.", source=f"{path}, line 1")
    reader = csv.reader(lines, delimiter=separator)
    try:
        for cells in reader:
            source = f"{path}, line {reader.line_num + 1}"
            if not any(map(str.strip, cells)):
                continue
            if len(cells) != len(names):
                raise InputError(
                    f"has {len(cells)} cells, must have {len(names)} as the header.", source=source
                )
            yield MetricsRow(
                source=source,
                values={
                    name: with_point(cell.strip(), separator) or None
                    for name, cell in zip(names, cells, strict=True)
                    if name
                },
            )
    except csv.Error as error:
        raise InputError(f"is no CSV: {error}.", source=f"{path}, line {reader.line_num + 1}") from None


def _separator(head: str, ending: str) -> str:
    """What separates the columns; names in quotes may hold any sign."""
    bare = re.sub(r'"[^"]*"', "", head)
    return "\t" if ending == ".tsv" and "\t" in bare else max(",;\t", key=bare.count)

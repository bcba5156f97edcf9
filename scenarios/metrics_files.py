"""Readers of metrics that another program wrote: CSV, JSON lines, TensorBoard event files."""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from scenarios.event_files import read_events
from scenarios.metrics_rows import MetricsRow
from topologies import InputError
from topologies.errors import quoted

_TABLE_ENDINGS = (".csv", ".tsv")
_JSON_ENDINGS = (".jsonl", ".ndjson", ".json")


def read_rows(path: Path) -> Iterator[MetricsRow]:
    """Rows of a file of metrics, in its order.

    Parameters
    ----------
    path : Path
        CSV (``.csv``, ``.tsv``; comma, semicolon or tab), JSON lines (``.jsonl``, ``.ndjson``, ``.json``), a
        TensorBoard event file (``*tfevents*``), or a folder of these.

    Yields
    ------
    MetricsRow

    Raises
    ------
    InputError
        If the file cannot be read, has another ending, or a line breaks its format.
    MachineError
        If the format needs a package that is not installed.
    """
    if not path.exists():
        raise InputError("there is no such file.", source=str(path))
    if path.is_dir() or "tfevents" in path.name:
        yield from read_events(path)
    elif path.suffix.lower() in _TABLE_ENDINGS:
        yield from _table_rows(path)
    elif path.suffix.lower() in _JSON_ENDINGS:
        yield from _json_rows(path)
    else:
        endings = ", ".join((*_TABLE_ENDINGS, *_JSON_ENDINGS))
        raise InputError(
            f"must end in one of {endings}, or be a TensorBoard event file (*tfevents*) or a folder of these.",
            source=str(path),
        )


def _lines(path: Path) -> Iterator[str]:
    """Lines of a text file, with or without a byte-order mark."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from file
    except UnicodeDecodeError:
        raise InputError("must be UTF-8 text.", source=str(path)) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", source=str(path)) from None


def _table_rows(path: Path) -> Iterator[MetricsRow]:
    """Rows of a CSV file with a head."""
    lines = _lines(path)
    head = next(lines, "")
    separator = max(",;\t", key=head.count)
    names = [name.strip() for name in next(csv.reader([head], delimiter=separator), [])]
    if not any(names):
        raise InputError("must have a head with the names of the columns.", source=f"{path}, line 1")
    repeated = next((name for name in names if name and names.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"column(={quoted(repeated)}) must not be repeated.", source=f"{path}, line 1")
    reader = csv.reader(lines, delimiter=separator)
    try:
        for cells in reader:
            source = f"{path}, line {reader.line_num + 1}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(names):
                raise InputError(
                    f"has {len(cells)} cells, must have {len(names)} as the head.", source=source
                )
            yield MetricsRow(
                source=source,
                values={name: cell.strip() or None for name, cell in zip(names, cells, strict=True) if name},
            )
    except csv.Error as error:
        raise InputError(f"is no CSV: {error}.", source=f"{path}, line {reader.line_num + 1}") from None


def _json_rows(path: Path) -> Iterator[MetricsRow]:
    """Rows of a file with one JSON object on each line."""
    for number, line in enumerate(_lines(path), start=1):
        source = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            found = json.loads(line.rstrip("\r\n"))
        except (json.JSONDecodeError, RecursionError) as error:
            reason = "too many brackets"
            if isinstance(error, json.JSONDecodeError):
                # Some of the parser's messages end in "at" themselves.
                reason = f"{error.msg.removesuffix(' at')} at column {error.colno}"
            raise InputError(f"must be one JSON object on one line: {reason}.", source=source) from None
        if not isinstance(found, dict):
            raise InputError(f"(={quoted(found)}) must be one JSON object on one line.", source=source)
        yield MetricsRow(source=source, values=dict(_flat("", found)))


def _flat(prefix: str, value: object) -> Iterator[tuple[str, object]]:
    """Numbers and texts in nested objects and lists, with names such as ``train/loss`` and ``silo_loss/0``."""
    if isinstance(value, Mapping | list):
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, inner in pairs:
            yield from _flat(f"{prefix}/{key}" if prefix else str(key), inner)
    else:
        yield prefix, value

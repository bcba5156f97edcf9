"""Readers of metrics that another program wrote: CSV, JSON lines, TensorBoard event files."""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scenarios.metrics_import.tensorboard import read_events
from topologies import InputError
from topologies.errors import quoted

_TABLE_ENDINGS = (".csv", ".tsv")
_JSON_ENDINGS = (".jsonl", ".ndjson", ".json")


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsRow:
    """One line or record.

    Parameters
    ----------
    source : str
        File and line, for error messages.
    values : mapping
        Column or tag to value: a number, a text that may be one, or None where there is none.
    """

    source: str
    values: Mapping[str, object]


def read_rows(path: Path) -> Iterator[MetricsRow]:
    """Rows of a file of metrics, in the order of the file.

    Parameters
    ----------
    path : Path
        CSV (``.csv``, ``.tsv``; comma, semicolon or tab), JSON lines (``.jsonl``, ``.ndjson``, ``.json``), one JSON
        list of objects or an object that holds it as ``log_history`` (``.json``), a TensorBoard event file
        (``*tfevents*``), or a folder of these.

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
        for source, scalars in read_events(path):
            yield MetricsRow(source=source, values=scalars)
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
    """Rows of a file with one JSON object on each line, or of one JSON text with a list of objects."""
    lines = [*_lines(path)]
    if path.suffix.lower() == ".json":
        entries = _listed("".join(lines))
        if entries is not None:
            for number, entry in enumerate(entries, start=1):
                yield _json_row(entry, f"{path}, entry {number}")
            return
    for number, line in enumerate(lines, start=1):
        source = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            found = json.loads(line.rstrip("\r\n"), object_pairs_hook=_unrepeated)
        except (json.JSONDecodeError, RecursionError) as error:
            reason = "too many brackets"
            if isinstance(error, json.JSONDecodeError):
                # Some of the parser's messages end in "at" themselves.
                reason = f"{error.msg.removesuffix(' at')} at column {error.colno}"
            raise InputError(f"must be one JSON object on one line: {reason}.", source=source) from None
        except InputError as error:
            raise error.located(source) from None
        yield _json_row(found, source)


def _listed(text: str) -> list[object] | None:
    """The entries of a JSON text that is a list, or holds one as ``log_history`` as transformers writes it."""
    try:
        found = json.loads(text, object_pairs_hook=_unrepeated)
    except (ValueError, RecursionError):
        return None  # the lines, one by one, say what is wrong
    entries = found.get("log_history") if isinstance(found, dict) else found
    return entries if isinstance(entries, list) else None


def _json_row(found: object, source: str) -> MetricsRow:
    """The row of a JSON object."""
    if not isinstance(found, dict):
        what = "a JSON object" if ", entry " in source else "one JSON object on one line"
        raise InputError(f"(={quoted(found)}) must be {what}.", source=source)
    return MetricsRow(source=source, values=dict(_flat("", found)))


def _unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object whose keys are all different; the parser would keep the last value."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"key(={quoted(repeated)}) must not be repeated.")
    return found


def _flat(prefix: str, value: object) -> Iterator[tuple[str, object]]:
    """Numbers and texts in nested objects and lists, with names such as ``train/loss`` and ``silo_loss/0``."""
    if isinstance(value, Mapping | list):
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, inner in pairs:
            yield from _flat(f"{prefix}/{key}" if prefix else str(key), inner)
    else:
        yield prefix, value

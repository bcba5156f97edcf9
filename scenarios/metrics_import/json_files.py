"""Rows of JSON: one object on each line, a list of objects, or another program's whole log."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from scenarios.metrics_import.flower import FLOWER_KEYS, flower_rows, is_of_flower
from scenarios.metrics_import.rows import MetricsRow, MetricsRows
from scenarios.metrics_import.text_lines import text_lines
from topologies import InputError
from topologies.errors import quoted

_LOG = "log_history"
"""Key under which transformers keeps the rows."""


def json_rows(path: Path) -> MetricsRows:
    """Rows of a JSON file.

    Parameters
    ----------
    path : Path
        ``.jsonl`` and ``.ndjson`` have an object on each line, and are read line by line. ``.json`` may also be one
        text: a list of objects, an object that holds one as ``log_history`` (transformers), or what
        `scenarios.metrics_import.flower` reads.

    Raises
    ------
    InputError
        If the file cannot be read, or is JSON of another kind.
    """
    if path.suffix.lower() == ".json":
        text = "".join(text_lines(path))
        found = _parsed(text)
        if isinstance(found, dict) and is_of_flower(found):
            return flower_rows(found, str(path))
        entries = found.get(_LOG) if isinstance(found, dict) else found
        if isinstance(entries, list):
            return MetricsRows(start=partial(_entries, entries, path))
        is_row = isinstance(found, dict) and len(text.strip().splitlines()) == 1 and not _has_list(found)
        if found is not None and not is_row:
            keys = f"an object with {', '.join([*found][:5])}" if isinstance(found, dict) else quoted(found)
            raise InputError(
                f"is JSON of another kind ({keys}): must be objects line by line, a list of objects, an object with "
                f"{_LOG}, or one of Flower's with any of {', '.join(FLOWER_KEYS)}.",
                source=str(path),
            )
    return MetricsRows(start=partial(_line_rows, path))


def _has_list(found: dict[str, object]) -> bool:
    """Whether an object holds a list, as no row of numbers does."""
    values = found.values()
    return any(isinstance(each, list) or (isinstance(each, dict) and _has_list(each)) for each in values)


def _entries(entries: list[object], path: Path) -> Iterator[MetricsRow]:
    """Rows of a list."""
    for number, entry in enumerate(entries, start=1):
        yield _row(entry, f"{path}, entry {number}")


def _line_rows(path: Path) -> Iterator[MetricsRow]:
    """Rows of a file with one JSON object on each line."""
    for number, line in enumerate(text_lines(path), start=1):
        source = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            found = json.loads(line.rstrip("\r\n"), object_pairs_hook=_unrepeated)
        except InputError as error:
            raise error.located(source) from None
        except (ValueError, RecursionError) as error:
            reason = (
                "too many brackets" if isinstance(error, RecursionError) else "a number of too many digits"
            )
            if isinstance(error, json.JSONDecodeError):
                # Some of the parser's messages end in "at" themselves.
                reason = f"{error.msg.removesuffix(' at')} at column {error.colno}"
            raise InputError(f"must be one JSON object on one line: {reason}.", source=source) from None
        yield _row(found, source)


def _parsed(text: str) -> object:
    """The one value of a JSON text, else None: then the lines, one by one, say what is wrong."""
    try:
        return json.loads(text, object_pairs_hook=_unrepeated)
    except (ValueError, RecursionError, InputError):
        return None


def _row(found: object, source: str) -> MetricsRow:
    """The row of a JSON object."""
    if not isinstance(found, dict):
        what = "a JSON object" if ", entry " in source else "one JSON object on one line"
        raise InputError(f"(={quoted(found)}) must be {what}.", source=source)
    try:
        # Of {"a": {"b": 1}, "a/b": 2} only one value could be kept.
        return MetricsRow(source=source, values=_unrepeated([*_flat("", found)]))
    except InputError as error:
        raise error.located(source) from None


def _unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A dictionary of keys that must all be different, of which the last value would be kept."""
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

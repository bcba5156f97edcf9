"""Messages of the simulator about its world, in the keys and texts of a scenario's file."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields

from topologies import InputError

_KEYS = {
    "peak_bps": "peak",
    "mean_on_s": "mean_on",
    "mean_off_s": "mean_off",
    "date_s": "at",
    "capacity_bps": "capacity",
    "period_s": "repeat_every",
    "job_start_s": "job_starts_at",
    "from_s": "from",
    "until_s": "until",
    "first_round": "from_round",
    "duration_s": "duration",
}
"""Key in a scenario by the simulator's field."""
_TABLES = {"background": "background", "capacities": "capacity", "failures": "failure", "absences": "away"}
"""Table under ``[simulation]`` by the field of the simulator's world."""
_VALUE = r"(?P<value>\(=(?:'[^']*'|[^)]*)\))?"
_FIELD = re.compile(rf"\b(?P<field>{'|'.join(_KEYS)})\b(?P<place>\[-?\d+\])?{_VALUE}")
_ENTRY = re.compile(
    rf"\b(?P<table>{'|'.join(_TABLES)})\[(?P<number>\d+)\](?P<rest>\.\w+(?:\[-?\d+\])?(?:\(=(?:'[^']*'|[^)]*)\))?)?"
)


@contextmanager
def in_words_of(entry: object) -> Iterator[None]:
    """Within it, errors about the fields of one entry name its keys, and show its texts.

    Parameters
    ----------
    entry : object
        Configuration of the entry.
    """
    with _said_by(lambda message: _of_entry(message, entry)):
        yield


@contextmanager
def in_words_of_world(tables: object) -> Iterator[None]:
    """Within it, errors about the entries of a world name their tables, with the entry's number, keys and texts.

    Parameters
    ----------
    tables : object
        Has sequences of configurations as attributes, ``background`` and so on.
    """

    def one(match: re.Match[str]) -> str:
        table, number = _TABLES[match["table"]], int(match["number"])
        entries: Sequence[object] = getattr(tables, table)
        return f"simulation.{table}[{number}]{_of_entry(match['rest'] or '', entries[number])}"

    with _said_by(lambda message: _ENTRY.sub(one, message)):
        yield


@contextmanager
def located(source: str | None) -> Iterator[None]:
    """Within it, errors begin with the file, or what else holds the values; None adds nothing."""
    with _said_by(lambda message: message if source is None else f"{source}: {message}"):
        yield


@contextmanager
def in_table(name: str, owner: type) -> Iterator[None]:
    """Within it, errors that begin with a key of a table name the table, too.

    Parameters
    ----------
    name : str
        Of the table.
    owner : type
        Its dataclass.
    """
    keys = "|".join(field.name for field in fields(owner))
    with _said_by(lambda message: f"{name}.{message}" if re.match(rf"(?:{keys})\b", message) else message):
        yield


@contextmanager
def _said_by(words: Callable[[str], str]) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise InputError(words(str(error))) from None


def _of_entry(message: str, entry: object) -> str:
    """The message with the entry's keys and texts."""

    def one(match: re.Match[str]) -> str:
        key, place, value = _KEYS[match["field"]], match["place"] or "", match["value"] or ""
        text = getattr(entry, key, None) if hasattr(entry, key) else getattr(entry, f"{key}_", None)
        if place and text is not None:
            text = text[int(place[1:-1])]
        return f"{key}{place}{value if text is None or not value else f'(={text!r})'}"

    return _FIELD.sub(one, message)

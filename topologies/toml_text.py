"""TOML of users: Python's reader within limits, as it has none of its own."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from topologies.errors import Field, InputError
from topologies.input_limits import (
    MOST_DIGITS,
    MOST_ENTRIES,
    MOST_KEY_PARTS,
    MOST_NESTED,
    MOST_TOML_BYTES,
    check_size,
)

# A closing quote may be missing: a text that only its end would end is passed over once, not from each of its quotes.
_STRING = r'"(?:[^"\\\n]|\\.)*+"?+' + r"|'[^'\n]*+'?+"
_PART = rf"(?:[A-Za-z0-9_-]++|{_STRING})"
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"{0,5}+'
    r"|'''(?:[^']|'(?!''))*+'{0,5}+"
    rf"|(?P<long>{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_KEY_PARTS},}}+)"
    rf"|{_STRING}|#[^\n]*+|[A-Za-z0-9_-]++",
    re.DOTALL,
)
"""What holds dots that are none of a key, or is one with too many; a text may have two quotes before those that end it.
"""


def parse_toml(text: str, *, source: str | None = None) -> dict[str, Any]:
    """Tables of a TOML text.

    Parameters
    ----------
    text : str
    source : str, optional
        The file, for error messages.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If it is no TOML, larger than a limit of `topologies.input_limits`, or has an integer of more digits.

    Notes
    -----
    Linear in the length of the text, which is in letters; the standard reader alone is not.
    """
    check_size(text, MOST_TOML_BYTES, source)
    for found in _TOKEN.finditer(text):
        if found["long"] is not None:
            line = text.count("\n", 0, found.start()) + 1
            raise InputError(
                f"the dotted key at line {line} must have at most {MOST_KEY_PARTS} parts.", source=source
            )
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise InputError(_NESTED, source=source) from None
    except ValueError as error:
        said = str(error)
        # Of an integer of thousands of digits, Python's own advice is not for users.
        reason = f"an integer must have at most {MOST_DIGITS} digits" if "integer string" in said else said
        raise InputError(f"not valid TOML: {reason}", source=source) from None
    _check_values(tables, source)
    return tables


_NESTED = f"tables and lists must be nested at most {MOST_NESTED} deep."


def _check_values(tables: Mapping[str, Any], source: str | None) -> None:
    """Raise an error for what is nested too deep, and for integers that no field has room for."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), tables)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict | list):
            if len(path) > MOST_NESTED:
                raise InputError(_NESTED, source=source)
            if len(value) > MOST_ENTRIES:
                raise InputError(
                    f"has {len(value):,} entries, must have at most {MOST_ENTRIES:,}.",
                    field=Field(*path),
                    source=source,
                )
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [((*path, key), each) for key, each in inner if isinstance(each, dict | list | int)]
        elif abs(value) >= 10**MOST_DIGITS:
            rule = f"must have at most {MOST_DIGITS} digits."
            raise InputError(rule, field=Field(*path, value=value), source=source)

"""Problems that pydantic finds in a scenario, in the words of TOML."""

import re
from collections.abc import Mapping

import pydantic
from pydantic_core import ErrorDetails

from scenarios.config.quantities import RULE
from topologies import InputError
from topologies.errors import quoted

_RULES: Mapping[str, str] = {
    "string_type": "must be a text, in quotes",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "dict_type": "must be a table",
    "mapping_type": "must be a table",
    "dataclass_type": "must be a table",
    "dataclass_exact_type": "must be a table",
}
"""By pydantic's type of a problem."""
_TABLES = re.compile(r"simulation\.\w+")
"""Keys that hold lists of tables; all other lists hold texts."""


def first_problem(error: pydantic.ValidationError) -> str:
    """One line about the first of pydantic's problems: key, value and rule.

    Parameters
    ----------
    error : pydantic.ValidationError
        Of a scenario's tables.

    Returns
    -------
    str
        With the number of problems more.
    """
    problems = error.errors()
    first = problems[0]
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    key = "".join(parts).removeprefix(".")
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InputError):
        return f"{key + '.' if key else ''}{cause}{more}"
    if first["type"] == "missing":
        return f"{key} is missing{more}."
    return f"{key}(={quoted(first['input'])}) {_rule(first, key)}{more}."


def _rule(problem: ErrorDetails, key: str) -> str:
    """What pydantic asks of a value, in the words of TOML."""
    kind, expected = problem["type"], problem.get("ctx", {}).get("expected")
    if kind == RULE:
        return problem["msg"]
    if kind == "literal_error":
        return f"must be {expected}"
    if kind == "tuple_type" and isinstance(problem["input"], dict) and _TABLES.fullmatch(key):
        return f"must be a list of tables: [[{key}]]"
    return _RULES.get(kind, f"is wrong: {problem['msg'].lower()}")

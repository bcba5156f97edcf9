"""Problems that pydantic finds in a scenario, as errors about keys of its TOML."""

from collections.abc import Mapping

import pydantic
from pydantic_core import ErrorDetails

from scenarios.config.quantities import RULE
from topologies import InputError
from topologies.errors import Field

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


def first_problem(error: pydantic.ValidationError) -> InputError:
    """The first of pydantic's problems: key, value and rule, with the number of further problems.

    Parameters
    ----------
    error : pydantic.ValidationError
        Of a scenario's tables.

    Returns
    -------
    InputError
    """
    problems = error.errors()
    first = problems[0]
    path = _keys(first["loc"])
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InputError):
        return cause.within(*path).followed_by(more)
    if first["type"] == "missing":
        return InputError(f"is missing{more}.", field=Field(*path))
    return InputError(f"{_rule(first, path)}{more}.", field=Field(*path, value=first["input"]))


def _keys(place: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Pydantic's place of a value by the file's keys: events lie in ``[simulation]``, entries are ``[[overlays]]``."""
    if place[:2] == ("simulation", "events"):
        return ("simulation", *place[2:])
    is_entry = place[:2] == ("overlays", "entries") and len(place) > 2
    return ("overlays", *place[2:]) if is_entry else place


def _rule(problem: ErrorDetails, path: tuple[str | int, ...]) -> str:
    """The rule of pydantic that a value breaks, in terms of TOML."""
    kind, expected = problem["type"], problem.get("ctx", {}).get("expected")
    if kind == RULE:
        return problem["msg"]
    if kind == "literal_error":
        return f"must be {expected}"
    if (
        kind == "tuple_type"
        and isinstance(problem["input"], dict)
        and len(path) == 2
        and path[0] == "simulation"
    ):
        return f"must be a list of tables: [[{Field(*path)}]]"
    return _RULES.get(kind, f"is wrong: {problem['msg'].lower()}")

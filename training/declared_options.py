"""Options that a registered class declares as the fields of a dataclass."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

from topologies.errors import InputError, quoted, unknown_name

Declared = TypeVar("Declared")

_RULES: Mapping[type, str] = {
    bool: "must be true or false",
    float: "must be a number",
    int: "must be an integer",
    str: "must be a text",
}


def with_options(owner: type[Declared], options: Mapping[str, Any], *, field: str) -> Declared:
    """Return an instance of a class with a user's options.

    Parameters
    ----------
    owner : type
        A dataclass; each field is an option of type `bool`, `float`, `int` or `str`. Without a default it is required,
        and ``metadata={"help": ...}`` describes it. Another class has no options.
    options : mapping
        Values by name.
    field : str
        The setting that holds the options, for messages.

    Raises
    ------
    InputError
        If an option is unknown, missing, or of another type.
    """
    declared = {each.name: each for each in fields(owner)} if is_dataclass(owner) else {}
    kinds = get_type_hints(owner) if declared else {}
    for name, value in options.items():
        if name not in declared:
            raise unknown_name(f"option in {field}", name, declared)
        kind = kinds[name]
        if not _is_of(kind, value):
            raise InputError(f"{field}.{name}(={quoted(value)}) {_RULES.get(kind, 'is of another type')}.")
    for name, option in declared.items():
        if name not in options and option.default is MISSING and option.default_factory is MISSING:
            about = option.metadata.get("help", "")
            raise InputError(f"{field}.{name} is missing{f': {about}' if about else ''}.")
    return owner(**options)


def _is_of(kind: object, value: object) -> bool:
    """Whether a value has an option's type; integers are numbers, truth values are not."""
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(kind, type) and isinstance(value, kind)

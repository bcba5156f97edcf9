"""Options that a registered class declares as the fields of a dataclass."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from topologies.entry_points import reason
from topologies.errors import InputError, SilosimError, quoted, unknown_name

Declared = TypeVar("Declared")

_WORDS: Mapping[type, str] = {
    bool: "true or false",
    float: "a number",
    int: "an integer",
    str: "a text",
}


def with_options(owner: type[Declared], options: Mapping[str, Any], *, field: str) -> Declared:
    """Return an instance of a class with a user's options.

    Parameters
    ----------
    owner : type
        A dataclass; each field is an option of type `bool`, `float`, `int` or `str`, a `Literal` of values of these, or
        a union of such types. It may be ``| None`` for a default that users cannot write. Without a default it is
        required, and ``metadata={"help": ...}`` describes it. Another class has no options.
    options : mapping
        Values by name.
    field : str
        The setting that holds the options, for messages.

    Raises
    ------
    InputError
        If the class declares an option of another type, or cannot be called; if an option is unknown, missing, or of
        another type than declared.
    """
    declared = {each.name: each for each in fields(owner) if each.init} if is_dataclass(owner) else {}
    hints = _hints(owner, field) if declared else {}
    kinds = {name: _members(owner, name, hints[name], field) for name in declared}
    for name, value in options.items():
        if name not in declared:
            raise unknown_name(f"option in {field}", name, declared)
        if not any(_is_of(kind, value) for kind in kinds[name]):
            raise InputError(f"{field}.{name}(={quoted(value)}) must be {_words(kinds[name])}.")
    for name, option in declared.items():
        if name not in options and option.default is MISSING and option.default_factory is MISSING:
            about = option.metadata.get("help", "")
            raise InputError(f"{field}.{name} is missing{f': {about}' if about else ''}.")
    try:
        return owner(**options)
    except SilosimError:
        raise
    except Exception as error:
        # The constructor of another package may raise anything.
        given = quoted(dict(options))
        raise InputError(f"{field}(={given}): {owner.__name__} cannot be made: {reason(error)}.") from error


def _hints(owner: type, field: str) -> dict[str, Any]:
    """Types of the fields, also where annotations are texts."""
    try:
        return get_type_hints(owner)
    except Exception as error:
        # Annotations that are texts are expressions, which may raise anything.
        raise InputError(f"{field}: the types of {owner.__name__} cannot be read: {reason(error)}.") from None


def _members(owner: type, name: str, kind: Any, field: str) -> tuple[Any, ...]:
    """What a declared type accepts from users: types, and Literals."""
    union = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    members = tuple(member for member in union if member is not NoneType)
    if not members or any(get_origin(member) is not Literal and member not in _WORDS for member in members):
        raise InputError(
            f"{field}: {owner.__name__}.{name} must be declared as bool, float, int, str or Literal, "
            f"not {quoted(kind)}."
        )
    return members


def _words(members: tuple[Any, ...]) -> str:
    """What a value must be."""
    return " or ".join(
        _choices(member) if get_origin(member) is Literal else _WORDS[member] for member in members
    )


def _choices(literal: Any) -> str:
    choices = ", ".join(map(repr, get_args(literal)))
    return f"one of {choices}" if len(get_args(literal)) > 1 else choices


def _is_of(kind: Any, value: object) -> bool:
    """Whether a value has an option's type; integers are numbers, truth values are not."""
    if get_origin(kind) is Literal:
        return any(type(value) is type(choice) and value == choice for choice in get_args(kind))
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)

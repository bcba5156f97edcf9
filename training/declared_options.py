"""Options that a registered class declares as the fields of a dataclass."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from topologies.entry_points import reason
from topologies.errors import Field, InputError, SilosimError, quoted, unknown_name

Declared = TypeVar("Declared")

_WORDS: Mapping[type, str] = {
    bool: "true or false",
    float: "a number",
    int: "an integer",
    str: "a text",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredOption:
    """An option as a class declares it.

    Attributes
    ----------
    name : str
    kinds : tuple
        Types and Literals of which a value may be.
    required : bool
        Whether there is no default.
    default : object
        `dataclasses.MISSING` where there is none, or where a function makes it.
    help : str
        What it is for; may be empty.
    """

    name: str
    kinds: tuple[Any, ...]
    required: bool
    default: object
    help: str

    @property
    def values(self) -> str:
        """What a value must be, in words."""
        return _words(self.kinds)

    def __str__(self) -> str:
        rule = [self.values]
        if self.required:
            rule.append("required")
        elif self.default is not MISSING:
            rule.append(f"default: {_shown(self.default)}")
        return f"{self.name}{f': {self.help}' if self.help else ''} [{'; '.join(rule)}]"


def declared_options(owner: type, *, field: str) -> dict[str, DeclaredOption]:
    """Return the options of a class by name, in the order of its fields.

    Parameters
    ----------
    owner : type
        A dataclass; each field is an option of type `bool`, `float`, `int` or `str`, a `Literal` of values of these, or
        a union of such types. It may be ``| None`` for a default that users cannot write. Without a default it is
        required, and ``metadata={"help": ...}`` describes it. Another class has no options.
    field : str
        The setting that holds the options, for messages.

    Raises
    ------
    InputError
        If the class declares an option of another type.
    """
    own = [each for each in fields(owner) if each.init] if is_dataclass(owner) else []
    hints = _hints(owner, field) if own else {}
    return {
        each.name: DeclaredOption(
            name=each.name,
            kinds=_members(owner, each.name, hints[each.name], field),
            required=each.default is MISSING and each.default_factory is MISSING,
            default=each.default,
            help=str(each.metadata.get("help", "")),
        )
        for each in own
    }


def check_options(owner: type, options: Mapping[str, Any], *, field: str, what: str = "") -> None:
    """Check a user's options of a class.

    Parameters
    ----------
    owner : type
        As in `declared_options`.
    options : mapping
        Values by name.
    field : str
        The setting that holds the options, for messages.
    what : str, optional
        The class as users name it, such as ``backend mpi``; by default its own name.

    Raises
    ------
    InputError
        If the class declares an option of another type than can be; if an option is unknown, missing, or of another
        type than declared.
    """
    declared = declared_options(owner, field=field)
    for name, value in options.items():
        if not declared:
            nothing = f"must be left out: {what or owner.__name__} has no options."
            raise InputError(nothing, field=Field(f"option in {field}", value=name))
        if name not in declared:
            raise unknown_name(f"option in {field}", name, declared)
        kinds = declared[name].kinds
        if not any(_is_of(kind, value) for kind in kinds):
            raise InputError(f"must be {_words(kinds)}.", field=Field(field, name, value=value))
    for name, option in declared.items():
        if name not in options and option.required:
            about = f": {option.help}" if option.help else ""
            raise InputError(f"is missing{about}.", field=Field(field, name))


def with_options(
    owner: type[Declared], options: Mapping[str, Any], *, field: str, what: str = ""
) -> Declared:
    """Return an instance of a class with a user's options.

    Parameters
    ----------
    owner, options, field, what
        As in `check_options`.

    Raises
    ------
    InputError
        As `check_options`, and if the class cannot be called.
    """
    check_options(owner, options, field=field, what=what)
    try:
        return owner(**options)
    except SilosimError:
        raise
    except Exception as error:
        # The constructor of another package may raise anything.
        given = quoted(dict(options))
        raise InputError(f"{field}(={given}): {owner.__name__} cannot be made: {reason(error)}.") from error


def _shown(default: object) -> str:
    """A default as TOML has it."""
    if default is None:
        return "none"
    return quoted(default).lower() if isinstance(default, bool) else quoted(default)


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

"""Exceptions of silosim; every one is a `SilosimError`."""

import difflib
import re
import reprlib
from collections.abc import Callable, Iterable, Sequence

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class SilosimError(Exception):
    """Base class: a message for the user in one line, without a traceback."""


class _Unstated:
    """Marks a field whose value a message does not show."""

    def __repr__(self) -> str:
        return "UNSTATED"

    def __reduce__(self) -> str:
        """One object in every process."""
        return "UNSTATED"


UNSTATED = _Unstated()


class Field:
    """A field of the input, with the value that it has.

    Parameters
    ----------
    *path : str or int
        Names of tables and keys, and places in lists, from the outermost one.
    value : object
        As the user wrote it; left out where a message does not show it.

    Examples
    --------
    >>> str(Field("simulation", "capacity", 0, "at", 2, value="7 h"))
    "simulation.capacity[0].at[2](='7 h')"
    """

    __slots__ = ("path", "value")

    def __init__(self, *path: str | int, value: object = UNSTATED) -> None:
        self.path = path
        self.value = value

    def __str__(self) -> str:
        name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)
        shown = "" if self.value is UNSTATED else f"(={quoted(self.value)})"
        return f"{name.removeprefix('.')}{shown}"

    def __repr__(self) -> str:
        return f"Field({', '.join(map(repr, self.path))}, value={self.value!r})"

    def beside(self, other: "Field") -> "Field":
        """The same field without the tables that it shares with another one: of its list, both keep the name."""
        shared = 0
        while self.path[shared : shared + 1] == other.path[shared : shared + 1] != ():
            shared += 1
        if shared < len(self.path) and isinstance(self.path[shared], int):
            shared = shared - 1 if len(other.path) == shared + 1 else 0
        return Field(*self.path[shared if shared < len(self.path) else 0 :], value=self.value)

    def within(self, *path: str | int) -> "Field":
        """The same field of a table or list inside others."""
        return Field(*path, *self.path, value=self.value)


class InputError(SilosimError, ValueError):
    """Bad input: the message names the file, the field, the value and the rule.

    Parameters
    ----------
    *rule : str or Field
        The rule that is broken, ``"must be > 0."``, in parts where it compares with other fields. Without `field` the
        whole message.
    field : Field, optional
        What breaks the rule.
    source : str, optional
        The file or object that holds the value; it is put in front of the message, as `repr` shows it where it does not
        print as it is.

    Examples
    --------
    >>> str(InputError("must be > ", Field("from_s", value=3.0), ".", field=Field("until_s", value=2.0)))
    'until_s(=2.0) must be > from_s(=3.0).'
    """

    def __init__(self, *rule: str | Field, field: Field | None = None, source: str | None = None) -> None:
        self._rule = rule
        self.field = field
        self.source = source
        text = self.rule
        text = text if field is None else f"{field} {text}".removeprefix(" ")
        # Rules name columns and labels of users, which may hold what breaks lines or moves a terminal's cursor.
        text = _CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)
        # A path may hold line ends; a message has one line.
        shown = source if source is None or source.isprintable() else repr(source)
        super().__init__(text if source is None else f"{shown}: {text}")

    @property
    def path(self) -> tuple[str | int, ...]:
        """Of the field that breaks the rule; empty where the message names none."""
        return () if self.field is None else self.field.path

    @property
    def value(self) -> object:
        """Of the field; `UNSTATED` where the message shows none."""
        return UNSTATED if self.field is None else self.field.value

    @property
    def rule(self) -> str:
        """The rule as a text; fields that it compares with are named as seen from the table of the field."""
        near = self.field
        return "".join(
            str(part if near is None or not isinstance(part, Field) else part.beside(near))
            for part in self._rule
        )

    def located(self, source: str | None) -> "InputError":
        """The same error, of a file or an object; None adds nothing."""
        both = [name for name in (source, self.source) if name is not None]
        return InputError(*self._rule, field=self.field, source=": ".join(both) if both else None)

    def within(self, *path: str | int) -> "InputError":
        """The same error with its fields inside other tables and lists; a message without a field is prefixed."""
        if self.field is None or self.source is not None:
            place = str(self).startswith("[")
            return InputError(f"{Field(*path)}{'' if place else '.'}{self}" if path else str(self))
        return self.renamed(lambda field: field.within(*path))

    def followed_by(self, text: str) -> "InputError":
        """The same error with a text after its rule."""
        return InputError(*self._rule, text, field=self.field, source=self.source)

    def renamed(self, name: Callable[[Field], Field]) -> "InputError":
        """The same error with other names and values of its fields, those that the rule compares with as well."""
        rule = (name(part) if isinstance(part, Field) else part for part in self._rule)
        return InputError(*rule, field=None if self.field is None else name(self.field), source=self.source)


class MachineError(SilosimError, RuntimeError):
    """The machine lacks what the job needs, for instance an `mpiexec` of the right MPI."""


class TrainingError(SilosimError, RuntimeError):
    """A training run failed; the message ends with what the failing rank printed."""


class LeftEarlyError(TrainingError):
    """A rank or a backend left a training before its last round as if nothing were wrong, with exit status 0."""


class _ShortRepr(reprlib.Repr):
    """Short texts of values, also of integers with more digits than Python writes."""

    def repr_int(self, x: int, level: int) -> str:
        try:
            return super().repr_int(x, level)
        except ValueError:
            return f"an integer of {x.bit_length()} bits"


def quoted(value: object) -> str:
    """Text of a user's value for an error message: `repr` on one line, shortened.

    Parameters
    ----------
    value : object
        Anything, however large or nested.

    Returns
    -------
    str
        At most 80 printable characters.
    """
    if hasattr(value, "item") and not getattr(value, "ndim", 1):
        value = value.item()  # a number of NumPy's is shown without its type
    short = _ShortRepr()
    short.maxstring = short.maxother = short.maxlong = 60
    short.maxlevel, short.maxdict, short.maxlist = 2, 2, 3
    text = short.repr(value)
    return text if len(text) <= 80 else f"{text[: 80 - 3]}..."


MOST_NAMES, FEW_NAMES = 16, 10
"""A message lists up to `MOST_NAMES` known names, of more the first `FEW_NAMES`."""


def first_names(names: Sequence[str]) -> str:
    """Names for a message, quoted: all, or of more than `FEW_NAMES` the first, and how many there are beside them.

    Examples
    --------
    >>> first_names(["Rome", "Milan"])
    "'Rome', 'Milan'"
    """
    more = len(names) - FEW_NAMES
    return ", ".join(map(quoted, names[:FEW_NAMES])) + (f" and {more} more" if more > 0 else "")


def unknown_name(
    field: str | Field, value: str, known: Iterable[str], *, otherwise: str = "", source: str | None = None
) -> InputError:
    """Error for an unknown name, with the nearest known one.

    Parameters
    ----------
    field : str or Field
        What is named, for instance ``overlay kind``.
    value : str
        The name that the user gave.
    known : iterable of str
        The names that exist, in an order of their own. Up to 16 are listed, sorted; of more, after the suggestion, the
        nearest to the user's, then the first as given, ten in all.
    otherwise : str, optional
        What else is allowed.
    source : str, optional
        The file that holds the value.

    Returns
    -------
    InputError
        To be raised by the caller.
    """
    choices = list(dict.fromkeys(known))
    close = _close(value, choices)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    if len(choices) > MOST_NAMES:
        listed = _nearest_first(close, choices)
        names = f"{len(choices)} names"
        after = f"; did you mean {close[0]!r}? Among them are {listed}" if close else f": {listed}"
    else:
        names, after = ", ".join(sorted(choices)), f"{hint}."
    one = "" if len(choices) == 1 and otherwise else "one of "
    rule = f"{one}{names}, or {otherwise}" if otherwise else f"one of {names}"
    path = field.path if isinstance(field, Field) else (field,)
    return InputError(f"must be {rule}{after}", field=Field(*path, value=value), source=source)


def unknown_key(table: str, key: str, known: Iterable[str], *, source: str | None = None) -> InputError:
    """Error for a key that a table does not have, with the nearest one that it has.

    Parameters
    ----------
    table : str
        Its heading, such as ``[workload]``; empty for the file itself.
    key : str
        As the user wrote it.
    known : iterable of str
        All keys of the table.
    source : str, optional
        The file that holds it.

    Returns
    -------
    InputError
        To be raised by the caller.

    Examples
    --------
    >>> str(unknown_key("[workload]", "comput", ["preset", "compute"]))
    "[workload] has no key 'comput'; did you mean 'compute'? Its keys are compute, preset."
    """
    choices = sorted(set(known))
    close = _close(key, choices)
    if len(choices) > MOST_NAMES:
        listed = f"{len(choices)} keys are {_nearest_first(close, choices)}"
    else:
        listed = f"keys are {', '.join(choices)}."
    hint = f"did you mean {close[0]!r}? Its" if close else "its"
    rule = f"has no key {quoted(key)}; {hint} {listed}"
    return InputError(f"{table} {rule}" if table else rule, source=source)


def _nearest_first(close: Iterable[str], choices: Iterable[str]) -> str:
    """The first of many choices, those that are close before others."""
    return f"{', '.join(list(dict.fromkeys((*close, *choices)))[:FEW_NAMES])}, ..."


def _close(value: str, choices: Iterable[str]) -> list[str]:
    """The choices that are written almost like a value, the nearest first."""
    by_lower = {choice.lower(): choice for choice in sorted(choices)}
    return [by_lower[name] for name in difflib.get_close_matches(str(value).lower(), by_lower)]

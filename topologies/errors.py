"""Exceptions of silosim; every one is a `SilosimError`."""

import difflib
import reprlib
from collections.abc import Iterable


class SilosimError(Exception):
    """Base class: a message for the user in one line, without a traceback."""


class InputError(SilosimError, ValueError):
    """Bad input: the message names the file, the field, the value and the rule.

    Parameters
    ----------
    message : str
        What is wrong, with the value, for instance ``access(=-1) must be > 0``.
    source : str, optional
        The file or object that holds the value; it is put in front of the message.
    """

    def __init__(self, message: str, *, source: str | None = None) -> None:
        super().__init__(message if source is None else f"{source}: {message}")


class MachineError(SilosimError, RuntimeError):
    """The machine lacks what the job needs, for instance an `mpiexec` of the right MPI."""


class TrainingError(SilosimError, RuntimeError):
    """A training run failed; the message ends with what the failing rank printed."""


class LeftEarlyError(TrainingError):
    """A rank or a backend left a training before its last round as if nothing were wrong, with exit status 0."""


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
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 60
    short.maxlevel, short.maxdict, short.maxlist = 2, 2, 3
    text = short.repr(value)
    return text if len(text) <= 80 else f"{text[: 80 - 3]}..."


MOST_NAMES, FEW_NAMES = 16, 10
"""A message lists up to `MOST_NAMES` known names, of more the first `FEW_NAMES`."""


def unknown_name(
    field: str, value: str, known: Iterable[str], *, otherwise: str = "", source: str | None = None
) -> InputError:
    """Error for an unknown name, with the nearest known one.

    Parameters
    ----------
    field : str
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
    by_lower = {choice.lower(): choice for choice in sorted(choices)}
    close = [by_lower[name] for name in difflib.get_close_matches(str(value).lower(), by_lower)]
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    if len(choices) > MOST_NAMES:
        listed = list(dict.fromkeys((*close, *choices)))[:FEW_NAMES]
        names, after = f"{len(choices)} names", f"{hint}: {', '.join(listed)}, ..."
    else:
        names, after = ", ".join(sorted(choices)), f"{hint}."
    rule = f"{names} or {otherwise}" if otherwise else names
    return InputError(f"{field}(={quoted(value)}) must be one of {rule}{after}", source=source)

"""Errors of the command line itself: an unknown option, a missing argument, a value that is no number."""

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer

from topologies import InputError
from topologies.errors import quoted

_UsageError: Any = typer.BadParameter.__base__
"""Of all errors in the use of a command line; Typer has no name for it."""


@contextmanager
def usage_errors(context: Any, texts: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Within it, errors in the use of a command are an InputError: one line, with a hint at the command's help.

    Parameters
    ----------
    context : typer.Context
        Of the command.
    texts : mapping, optional
        What stands on the command line, by name of the parameter.
    """
    try:
        yield
    except _UsageError as error:
        # The help that a call without arguments gets is shown as it is.
        if type(error).show is not _UsageError.show:
            raise
        text = " ".join(error.format_message().split())
        text = text if text.endswith((".", "?")) else f"{text}."
        name = str(getattr(getattr(error, "param", None), "name", None))
        given = (texts or {}).get(name)
        # The words of Typer's library name neither the value nor the rule; only numbers are read by it, and it asks
        # whether files may be read.
        if isinstance(given, str) and type(error) is typer.BadParameter:
            if text.endswith("is not readable."):
                raise InputError(f"cannot be read: {os.strerror(errno.EACCES)}.", source=given) from None
            what = "an integer" if "integer" in text else "a number"
            text = f"{name}(={quoted(given)}) must be {what}."
        raise InputError(f"{text} Try '{context.command_path} --help'.") from None

"""Contexts that put the file, the table or the keys of a scenario into errors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields

from topologies import InputError


@contextmanager
def located(source: str | None) -> Iterator[None]:
    """Within it, errors begin with the file, or what else holds the values; None adds nothing."""
    with changed_errors(lambda error: error.located(source)):
        yield


@contextmanager
def in_table(name: str, owner: type) -> Iterator[None]:
    """Within it, errors about a key of a table name the table, too.

    Parameters
    ----------
    name : str
        Of the table.
    owner : type
        Its dataclass.
    """
    keys = {field.name for field in fields(owner)}

    def of_table(error: InputError) -> InputError:
        if error.source is not None or not error.path:
            return error
        # A key may have a noun behind it, as in "blocked silo"; one that is a table has options.
        key = str(error.path[0]).removeprefix("option in ").partition(" ")[0]
        return error.within(name) if key in keys else error

    with changed_errors(of_table):
        yield


@contextmanager
def in_stated_table(name: str, owner: type) -> Iterator[None]:
    """As `in_table`, also of errors whose text alone begins with the key and its value, as those of readers of data."""
    keys = {field.name for field in fields(owner)}

    def of_table(error: InputError) -> InputError:
        key, stated, _ = str(error).partition("(=")
        return error.within(name) if stated and key in keys else error

    with in_table(name, owner), changed_errors(of_table):
        yield


@contextmanager
def changed_errors(change: Callable[[InputError], InputError]) -> Iterator[None]:
    """Within it, an InputError is raised as `change` returns it."""
    try:
        yield
    except InputError as error:
        raise change(error) from None

"""Entry points of other packages, by one rule for all groups.

A name of silosim is looked up among its own parts first, so that no package replaces one of them. A name that packages
register twice is an error where it is asked for, and so is a part that cannot be imported; others are not imported.
"""

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from topologies.errors import InputError, MachineError, SilosimError


def all_names(own: Iterable[str], group: str) -> tuple[str, ...]:
    """Names of silosim's own parts, then the others of a group in alphabetical order; imports nothing."""
    return tuple(dict.fromkeys((*own, *(entry.name for entry in _registered(group, tuple(sys.path))))))


def find_entry(
    group: str, name: str, what: str, *, own: Iterable[EntryPoint] = (), beside: Sequence[str] = ()
) -> EntryPoint | None:
    """Entry point of a name; imports nothing.

    Parameters
    ----------
    group : str
        Such as ``silosim.sharing``.
    name : str
        As users write it.
    what : str
        What the group holds, for messages: ``sharing model``.
    own : iterable of EntryPoint
        Silosim's own, which go first.
    beside : sequence of str
        Groups that must not hold the name, too.

    Returns
    -------
    EntryPoint or None
        None where `group` has no such name.

    Raises
    ------
    InputError
        If packages register the name more than once.
    """
    for entry in own:
        if entry.name == name:
            return entry
    groups = (group, *beside)
    found = [entry for each in groups for entry in _registered(each, tuple(sys.path)) if entry.name == name]
    if not any(entry.group == group for entry in found):
        return None
    if len(found) > 1:
        where = " and ".join(dict.fromkeys(entry.group for entry in found))
        places = ", ".join(sorted(entry.value for entry in found))
        raise InputError(f"the {what} {name} is registered more than once in {where}: {places}.")
    return found[0]


def load_entry(entry: EntryPoint, what: str) -> object:
    """Import what an entry point names; a MachineError says why it cannot be imported."""
    try:
        return entry.load()
    except Exception as error:
        # The import of another package may raise anything.
        raise MachineError(f"{named(entry, what)} cannot be imported: {reason(error)}") from error


def load_class(entry: EntryPoint, what: str) -> type:
    """Import the class that an entry point names; as `load_entry`, and an InputError where it names no class."""
    found = load_entry(entry, what)
    if not isinstance(found, type):
        raise InputError(f"{named(entry, what)} must be a class.")
    return found


def load_instance(entry: EntryPoint, what: str) -> object:
    """Import the class that an entry point names, as `load_class`, and call it without arguments."""
    owner = load_class(entry, what)
    try:
        return owner()
    except SilosimError:
        raise
    except Exception as error:
        raise MachineError(f"{named(entry, what)} cannot be used: {reason(error)}") from error


def named(entry: EntryPoint, what: str) -> str:
    """An entry point in messages: ``the designer circulant (package:function)``."""
    return f"the {what} {entry.name} ({entry.value})"


def reason(error: BaseException) -> str:
    """Type and text of an exception of another package, on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


@cache
def _registered(group: str, _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Entry points of a group by name; the files that list them are read once for each search path."""
    return tuple(sorted(set(entry_points(group=group)), key=lambda entry: (entry.name, entry.value)))

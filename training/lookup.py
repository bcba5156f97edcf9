"""Look-up of built-in parts, and of those that installed packages register as entry points."""

from collections.abc import Mapping
from typing import TypeVar

from topologies.entry_points import all_names, find_entry, load_entry
from topologies.errors import unknown_name

Part = TypeVar("Part")


def lookup(table: Mapping[str, Part], name: str, *, field: str, otherwise: str = "") -> Part:
    """Return the part of a name.

    Parameters
    ----------
    name : str
        The name that the user wrote.
    field : str
        The field that holds the name, for the message.
    otherwise : str, optional
        What else is allowed, for the message.

    Raises
    ------
    InputError
        If the name is unknown; the message lists the known names and proposes the nearest one.

    Examples
    --------
    >>> lookup({"cnn": 1, "softmax": 2}, "softmax", field="model")
    2
    """
    if isinstance(name, str) and name in table:
        return table[name]
    raise unknown_name(field, name, table, otherwise=otherwise)


def lookup_registered(
    table: Mapping[str, Part], name: str, *, group: str, field: str, otherwise: str = ""
) -> object:
    """Return the built-in part of a name, or else the object that an entry point of that name loads.

    Parameters
    ----------
    table : mapping of str to Part
        The built-in parts, which take precedence.
    name : str
        The name that the user wrote.
    group : str
        Group of the entry points, such as ``silosim.models``.
    field : str
        The field that holds the name, for the message.
    otherwise : str, optional
        What else is allowed, for the message.

    Raises
    ------
    InputError
        If the name is unknown, or two packages register it.
    MachineError
        If the object cannot be imported.
    """
    if isinstance(name, str) and name in table:
        return table[name]
    entry = find_entry(group, name, field)
    if entry is None:
        raise unknown_name(field, name, all_names(table, group), otherwise=otherwise)
    return load_entry(entry, field)

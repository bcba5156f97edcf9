"""Look-up of a named part with an error that helps."""

from collections.abc import Mapping
from typing import TypeVar

from topologies.errors import unknown_name

Part = TypeVar("Part")


def lookup(table: Mapping[str, Part], name: str, *, field: str, otherwise: str = "") -> Part:
    """Return the part that a name stands for.

    Parameters
    ----------
    table : mapping of str to Part
        The known parts.
    name : str
        The name that the user wrote.
    field : str
        The field that holds the name, for the message.
    otherwise : str, optional
        What else the user could do, for the message.

    Returns
    -------
    Part
        ``table[name]``.

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

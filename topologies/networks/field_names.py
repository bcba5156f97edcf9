"""Names of the attributes that are read, in any case, and the numbers that they state."""

import difflib
import functools
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from topologies.errors import InputError, quoted

Attributes = Mapping[str, object]

_DECIMAL = re.compile(r"\s*[+-]?(?:[0-9]++\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
_OTHERS = frozenset({"altitude", "labels", "length", "linkspeed", "linklabel"})
"""Attributes of other tools that resemble one of these but mean something else, such as metres; in lower case."""
_LEAST_LETTERS = 5
"""Of a name that a misspelt one is compared with: ``flat`` is no ``lat``."""


@dataclass(frozen=True, slots=True)
class Name:
    """One thing that an attribute may state, under several names.

    Parameters
    ----------
    usual : str
        As messages suggest it.
    others : tuple of str
        Other names, in lower case.
    """

    usual: str
    others: tuple[str, ...] = ()

    def given(self, block: Attributes) -> Iterator[tuple[str, object]]:
        """Attributes of the block that state it, with their values, in the order of the block."""
        for key, value in block.items():
            if key.lower() == self.usual.lower() or key.lower() in self.others:
                yield key, value


LABEL = Name("label")
LATITUDE = Name("Latitude", ("lat",))
LONGITUDE = Name("Longitude", ("lon", "lng", "long"))
DISTANCE = Name("distance", ("dist", "length_km"))
PUBLISHED_DISTANCE = Name("published_distance")
PUBLISHED_INDEX = Name("published_index")
CAPACITY = Name("capacity")
RAW_SPEED = Name("LinkSpeedRaw")
NODE_NAMES = (LABEL, LATITUDE, LONGITUDE)
LINK_NAMES = (CAPACITY, RAW_SPEED, DISTANCE, PUBLISHED_DISTANCE)


def check_spelling(title: str, block: Attributes, names: Sequence[Name]) -> None:
    """Raise an error for an attribute that is named almost like one that is read and that the block lacks.

    Parameters
    ----------
    title : str
        How the message calls the block.
    block : mapping
    names : sequence of Name
        What is read of it.

    Raises
    ------
    InputError
        Since the attribute would be ignored.
    """
    if found := _misspelt(tuple(block), tuple(names)):
        key, meant = found
        raise InputError(f"{title}: the attribute {quoted(key)} is unknown (did you mean {meant!r}?).")


@functools.lru_cache(maxsize=256)
def _misspelt(keys: tuple[str, ...], names: tuple[Name, ...]) -> tuple[str, str] | None:
    """The first misspelt key and what it means; all links of a file mostly have the same keys."""
    known = {key for name in names for key in (name.usual.lower(), *name.others)}
    there = {key.lower() for key in keys}
    meant = {
        key: name.usual if key == name.usual.lower() else key
        for name in names
        if there.isdisjoint((name.usual.lower(), *name.others))
        for key in (name.usual.lower(), *name.others)
        if len(key) >= _LEAST_LETTERS
    }
    for key in keys:
        lower = key.lower()
        if lower in known or lower in _OTHERS:
            continue
        if close := difflib.get_close_matches(lower, meant, n=1, cutoff=0.8):
            return key, meant[close[0]]
    return None


def stated_number(title: str, block: Attributes, name: Name) -> float | None:
    """The number that a block states under one of the names of a thing, None where it states none.

    Parameters
    ----------
    title : str
        How a message calls the block.
    block : mapping
    name : Name

    Returns
    -------
    float or None

    Raises
    ------
    InputError
        If it is no finite number, or two names state different ones.
    """
    found: tuple[str, float] | None = None
    for key, value in name.given(block):
        number = finite_number(f"{title}: {key}", value)
        if found is not None and found[1] != number:
            raise InputError(
                f"{title}: {key}(={quoted(value)}) must be equal to {found[0]}(={quoted(block[found[0]])}), "
                "which states the same."
            )
        found = found or (key, number)
    return None if found is None else found[1]


def finite_number(title: str, value: object) -> float:
    """A finite number, also one in quotes: networkx writes integers from 2**31 on as texts in GML.

    Parameters
    ----------
    title : str
        How a message calls the value.
    value : object

    Returns
    -------
    float

    Raises
    ------
    InputError
        If it is another text, a boolean, a list, NaN or infinite.
    """
    number = value
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        number = float(value)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise InputError(f"{title}(={quoted(value)}) must be a number, stated once.")
    if not abs(number) <= sys.float_info.max:  # also holds for integers beyond any float
        raise InputError(f"{title}(={quoted(value)}) must be finite.")
    return float(number)


def stated_text(block: Attributes, name: str) -> object:
    """The value of an attribute named so, else of the only one whose name differs in upper and lower case alone.

    Parameters
    ----------
    block : mapping
    name : str

    Returns
    -------
    object
        None where there is none, or several and none is named exactly so.
    """
    if name in block:
        return block[name]
    found = [value for key, value in block.items() if key.lower() == name.lower()]
    return found[0] if len(found) == 1 else None

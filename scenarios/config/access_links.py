"""Capacities of single silos' access links."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from topologies import InputError
from topologies.arrays import FloatArray
from topologies.errors import Field, unknown_name
from topologies.quantities import parse_quantity

_DIRECTED = re.compile(r"\s*+(?P<quantity>[^,]*\S)\s+(?P<direction>up|down)\s*")
"""A capacity of one direction."""


def access_at(
    labels: Sequence[str], bps: float | FloatArray, special: Mapping[str, str] | None, direction: str
) -> FloatArray:
    """One capacity per silo: `bps`, except where `special` says otherwise of this direction.

    Parameters
    ----------
    labels : sequence of str
        Of all silos.
    bps : float or ndarray, shape (silos,)
    special : mapping from label to str, optional
        Texts that `up_down` takes.
    direction : {"up", "down"}

    Returns
    -------
    ndarray, shape (silos,)

    Raises
    ------
    InputError
        If a label is no silo's, or a text is wrong.
    """
    capacity = np.full(len(labels), bps)
    for label, text in (special or {}).items():
        if label not in labels:
            raise unknown_name("access_at silo", label, labels)
        silo = labels.index(label)
        capacity[silo] = up_down(("access_at", label), text).get(direction, capacity[silo])
    return capacity


def up_down(key: tuple[str, ...], text: str) -> dict[str, float]:
    """Capacities of one silo by direction, in bit/s.

    Parameters
    ----------
    key : tuple of str
        Where the text is, for the error message.
    text : str
        ``"10 Mbps"`` for both directions, ``"100 Mbps up, 1 Gbps down"``, or one of these two.

    Returns
    -------
    dict from {"up", "down"} to float
        A direction that the text does not name is missing.

    Raises
    ------
    InputError
        If the text is none of these, or a capacity is wrong.
    """
    field = Field(*key, value=text)
    parts = str(text).split(",")
    directed = [_DIRECTED.fullmatch(part) for part in parts]
    if len(parts) == 1 and directed[0] is None:
        both = parse_quantity(field.path, text, "bit/s")
        return {"up": both, "down": both}
    found = {
        part["direction"]: parse_quantity(
            (*key[:-1], f"{key[-1]} {part['direction']}"), part["quantity"], "bit/s"
        )
        for part in directed
        if part is not None
    }
    if len(found) != len(parts):
        raise InputError(
            "must be one capacity, or one up and one down: '100 Mbps up, 1 Gbps down'.", field=field
        )
    return found

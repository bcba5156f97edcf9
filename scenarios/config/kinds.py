"""Kinds of overlays: the names of static and randomized designers."""

from collections.abc import Sequence

from topologies import DESIGNERS, RANDOM_DESIGNERS
from topologies.errors import unknown_name

DEFAULT_KINDS = ("star", "mst", "delta_mbst", "ring")


def check_kinds(field: str, kinds: Sequence[str]) -> None:
    """Accept names of static and randomized overlays.

    Parameters
    ----------
    field : str
        The name for the error message.
    kinds : sequence of str

    Raises
    ------
    InputError
        If a name is unknown.
    """
    for kind in kinds:
        if kind not in DESIGNERS and kind not in RANDOM_DESIGNERS:
            raise unknown_name(field, kind, [*DESIGNERS, *RANDOM_DESIGNERS])

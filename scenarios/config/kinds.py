"""Kinds of overlays: the names of static, periodic and randomized designers."""

from collections.abc import Callable, Sequence
from typing import Any

from topologies import DESIGNERS, PERIODIC_DESIGNERS, RANDOM_DESIGNERS
from topologies.errors import unknown_name

DEFAULT_KINDS = ("star", "mst", "delta_mbst", "ring")


def all_kinds() -> tuple[str, ...]:
    """Names of all designers: of static, then periodic, then randomized overlays."""
    return (*DESIGNERS, *PERIODIC_DESIGNERS, *RANDOM_DESIGNERS)


def designer_of(kind: str) -> Callable[..., Any]:
    """The designer of a kind that there is.

    Raises
    ------
    InputError, MachineError
        If it comes from another package and cannot be used.
    """
    for registry in (PERIODIC_DESIGNERS, RANDOM_DESIGNERS):
        if kind in registry:
            return registry[kind]
    return DESIGNERS[kind]


def check_kinds(field: str, kinds: Sequence[str]) -> None:
    """Accept names of static, periodic and randomized overlays.

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
        if kind not in DESIGNERS and kind not in PERIODIC_DESIGNERS and kind not in RANDOM_DESIGNERS:
            raise unknown_name(field, kind, all_kinds())

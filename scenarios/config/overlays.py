"""Static and randomized overlays by name."""

from collections.abc import Mapping, Sequence

from scenarios.config.designer_options import Written, option_values, seed_values
from topologies import (
    DESIGNERS,
    RANDOM_DESIGNERS,
    ClosedForms,
    Connectivity,
    Overlay,
    RandomOverlay,
    Workload,
    design,
    design_random,
)
from topologies.errors import unknown_name
from topologies.random_cycle_time import random_cycle_time

DEFAULT_KINDS = ("star", "mst", "delta_mbst", "ring")
RANDOM_ROUNDS = 1000
"""Drawn rounds that the cycle times of a randomized overlay are estimated from."""


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


def design_any(
    kind: str,
    graph: Connectivity,
    work: Workload,
    options: Mapping[str, Written] | None = None,
    *,
    seed: int = 0,
) -> Overlay | RandomOverlay:
    """Design an overlay.

    Parameters
    ----------
    kind : str
        One of `DESIGNERS` or `RANDOM_DESIGNERS`.
    graph : Connectivity
    work : Workload
    options : mapping, optional
        Of the designer, as a scenario states them.
    seed : int
        For the designers that take one, such as the search of ``best``.

    Returns
    -------
    Overlay or RandomOverlay

    Raises
    ------
    InputError
        As `topologies.design`.
    """
    check_kinds("overlay kind", [kind])
    make = design_random if kind in RANDOM_DESIGNERS else design
    return make(kind, graph, work, **seed_values(kind, seed), **option_values(kind, options or {}))


def forms_of(overlay: Overlay | RandomOverlay, seed: int) -> ClosedForms:
    """Closed forms of an overlay; of a randomized one the `barrier` form as `paper`, and NaN for the others.

    Parameters
    ----------
    overlay : Overlay or RandomOverlay
    seed : int
        Of the rounds that are drawn.

    Returns
    -------
    ClosedForms
    """
    if isinstance(overlay, Overlay):
        return overlay.closed_forms
    barrier_s = random_cycle_time(overlay, RANDOM_ROUNDS, seed).barrier.mean
    nan = float("nan")
    return ClosedForms(paper_s=barrier_s, serialized_s=nan, load_bound_s=nan, busiest_link=None)

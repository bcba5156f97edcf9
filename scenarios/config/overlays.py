"""Static and randomized overlays by name."""

from collections.abc import Mapping

from scenarios.config.designer_options import Written, option_values, seed_values
from scenarios.config.kinds import check_kinds
from topologies import (
    RANDOM_DESIGNERS,
    ClosedForms,
    Connectivity,
    Overlay,
    RandomOverlay,
    Workload,
    design,
    design_random,
)
from topologies.random_cycle_time import random_cycle_time

RANDOM_ROUNDS = 1000
"""Drawn rounds that the cycle times of a randomized overlay are estimated from."""


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

"""EquiTopo's static digraph on a network."""

import math
from typing import Annotated

import numpy as np

from topologies.connectivity import Connectivity
from topologies.designers.options import DesignerOption, Seed
from topologies.designers.placed import Order, placed
from topologies.designers.stated_weights import overlay_of_state
from topologies.errors import Field, InputError
from topologies.overlay import Overlay
from topologies.periodic.equi_static import equi_static as equi_static_states
from topologies.workload import Workload

Draws = Annotated[
    int | None,
    DesignerOption(
        help="Random shifts that equi_static draws; by default the degree of exponential, log2 of the silos rounded up",
        at_least=1,
    ),
]
_SHOWN = 8
"""Shifts that a message names."""


def equi_static(
    graph: Connectivity, work: Workload, *, draws: Draws = None, order: Order = "none", seed: Seed = 0
) -> Overlay:
    """EquiTopo's D-EquiStatic: every silo sends along the same random shifts.

    Parameters
    ----------
    draws : int, optional
        Shifts that are drawn, at least 1; one that is drawn again adds to its weight. By default
        ``ceil(log2(silos))``. `topologies.periodic.equi_static.draws_for` says how many a proven norm takes.
    order : {"none", "tour", "searched"}
        Which silo stands where; see `topologies.designers.placed.placed`.
    seed : int
        Of the shifts, and of the search for an order.

    Raises
    ------
    InputError
        If the shifts that are drawn do not join all silos, a silo cannot send to one that it must send to, or an option
        is wrong.

    Notes
    -----
    See `topologies.periodic.equi_static.equi_static`, which names the source.
    """
    silos = graph.silos
    count = max(1, (silos - 1).bit_length()) if draws is None else draws
    if seed < 0:
        raise InputError(f"seed(={seed}) must be >= 0.")
    (state,) = equi_static_states(silos, count, np.random.default_rng(seed))
    shifts = state.target[state.source == 0].tolist()
    step = math.gcd(silos, *shifts)
    if step > 1:
        named = ", ".join(map(str, shifts[:_SHOWN])) + (", ..." if len(shifts) > _SHOWN else "")
        raise InputError(
            f"with seed {seed} draws the shifts {named} of {silos} silos, all multiples of {step}, which leave "
            f"{step} parts of the silos apart; take more draws or another seed.",
            field=Field("draws", value=count),
            source="equi_static",
        )
    (state,) = placed(graph, work, (state,), order, seed=seed)
    return overlay_of_state("equi_static", graph, work, state)

"""The designer `best`: the overlay with the smallest cycle time, in closed form or simulated."""

from typing import Annotated

from topologies.connectivity import Connectivity
from topologies.designers.best_costs import CRITERIA
from topologies.designers.best_of_all import best_of_all
from topologies.designers.options import DesignerOption, Progress, Seed
from topologies.errors import Field, InputError
from topologies.overlay import Overlay
from topologies.workload import Workload

SIMULATED = "simulated"
ITERATIONS = 200_000
"""Moves of the annealing on closed forms by default."""
Criterion = Annotated[
    str,
    DesignerOption(
        help="What best minimises; all: the largest closed form, simulated: the cycle time on shared links",
        choices=(*CRITERIA, SIMULATED),
    ),
]
Evaluations = Annotated[
    int | None,
    DesignerOption(
        help="Overlays that best with the criterion simulated, and best_periodic, simulate beside those of the other "
        "kinds; by default 400, fewer on more than 50 silos",
        at_least=0,
    ),
]


def best(
    graph: Connectivity,
    work: Workload,
    *,
    criterion: Criterion = "paper",
    evaluations: Evaluations = None,
    iterations: int | None = None,
    seed: Seed = 0,
    progress: Progress = None,
) -> Overlay:
    """Overlay with the smallest cycle time that a search finds, never worse than that of any other static kind.

    Parameters
    ----------
    criterion : {"paper", "serialized", "all", "simulated"}
        The cycle time that counts: a closed form as for `topologies.designers.best.best`, or that of the simulation,
        see `simulator.designers.simulated_search.fastest_simulated`.
    evaluations : int, optional
        Overlays that the search simulates; with ``simulated`` only.
    iterations : int, optional
        Moves of the annealing on closed forms from each of at most two rings; by default 200,000, with ``simulated``
        fewer on many silos.
    seed : int
        The same numbers give the same overlay.
    progress : callable, optional
        Is called with the share that is done.

    Returns
    -------
    Overlay
        Of kind ``best``, with weights by which the silos agree on the plain average.

    Raises
    ------
    InputError
        If no overlay connects all silos, with ``simulated`` none can be simulated, as time could not advance, or
        `evaluations` are given without.
    """
    if criterion != SIMULATED:
        if evaluations is not None:
            raise InputError(
                f"goes with the criterion {SIMULATED}, not with {criterion}.",
                field=Field("evaluations", value=evaluations),
            )
        moves = ITERATIONS if iterations is None else iterations
        return best_of_all(graph, work, criterion=criterion, iterations=moves, seed=seed, progress=progress)
    # Here since it needs the simulation, which the closed forms do without.
    from simulator.designers.simulated_search import fastest_simulated

    return fastest_simulated(
        graph, work, evaluations=evaluations, iterations=iterations, seed=seed, progress=progress
    )

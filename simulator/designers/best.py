"""The designer `best`: the overlay with the smallest cycle time, in closed form or simulated, or time to accuracy."""

from typing import Annotated

from topologies.connectivity import Connectivity
from topologies.designers.best_costs import CRITERIA
from topologies.designers.best_of_all import best_of_all
from topologies.designers.options import DesignerOption, Progress, Seed
from topologies.errors import Field, InputError, unknown_name
from topologies.input_limits import MOST_SEARCHED_SILOS
from topologies.overlay import Overlay
from topologies.workload import Workload

SIMULATED, TIME_TO_ACCURACY = "simulated", "time-to-accuracy"
ITERATIONS = 200_000
"""Moves of the annealing on closed forms by default."""
Criterion = Annotated[
    str,
    DesignerOption(
        help="What best minimises; all: the largest closed form, simulated: the cycle time on shared links, "
        "time-to-accuracy: that divided by log(1/contraction)",
        choices=(*CRITERIA, SIMULATED, TIME_TO_ACCURACY),
    ),
]
Evaluations = Annotated[
    int | None,
    DesignerOption(
        help="Overlays that best with the criterion simulated or time-to-accuracy, and best_periodic, simulate beside "
        "those of the other kinds; by default 400, with time-to-accuracy 300, fewer on many silos",
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
    criterion : {"paper", "serialized", "all", "simulated", "time-to-accuracy"}
        The cycle time that counts: a closed form as for `topologies.designers.best.best`, or that of the simulation,
        see `simulator.designers.simulated_search.fastest_simulated`. ``time-to-accuracy`` is the latter divided by
        ``log(1/contraction)``: see `simulator.designers.mixing_search.fewest_seconds_per_efold`, and there too what is
        done where a round averages exactly.
    evaluations : int, optional
        Overlays that the search simulates; with ``simulated`` and ``time-to-accuracy`` only.
    iterations : int, optional
        Moves of the annealing on closed forms from each of at most two rings; by default 200,000, with ``simulated``
        fewer on many silos, with ``time-to-accuracy`` 20,000.
    seed : int
        The same numbers give the same overlay.
    progress : callable, optional
        Is called with the share that is done.

    Returns
    -------
    Overlay
        Of kind ``best``, with weights by which the silos agree on the plain average; with ``time-to-accuracy`` these
        are optimal, and may be below 0.

    Raises
    ------
    InputError
        If there are more silos than `MOST_SEARCHED_SILOS`, no overlay connects them all, none can be simulated where
        that counts, as time could not advance, or `evaluations` are given where they do not.
    """
    if graph.silos > MOST_SEARCHED_SILOS:
        raise InputError(f"best: silos(={graph.silos}) must be <= {MOST_SEARCHED_SILOS}.")
    if criterion in CRITERIA:
        if evaluations is not None:
            raise InputError(
                f"goes with the criterion {SIMULATED} or {TIME_TO_ACCURACY}, not with {criterion}.",
                field=Field("evaluations", value=evaluations),
            )
        moves = ITERATIONS if iterations is None else iterations
        return best_of_all(graph, work, criterion=criterion, iterations=moves, seed=seed, progress=progress)
    # Here since they need the simulation, which the closed forms do without.
    from simulator.designers.mixing_search import fewest_seconds_per_efold
    from simulator.designers.simulated_search import fastest_simulated

    search = {SIMULATED: fastest_simulated, TIME_TO_ACCURACY: fewest_seconds_per_efold}.get(criterion)
    if search is None:
        raise unknown_name("criterion", criterion, (*CRITERIA, SIMULATED, TIME_TO_ACCURACY))
    return search(graph, work, evaluations=evaluations, iterations=iterations, seed=seed, progress=progress)

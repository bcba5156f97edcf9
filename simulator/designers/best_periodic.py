"""The designer `best_periodic`: the periodic overlay with the smallest simulated cycle time that mixes well enough."""

from typing import Annotated

from simulator.designers.best import Evaluations
from topologies.connectivity import Connectivity
from topologies.designers.options import DesignerOption, Progress, Seed
from topologies.periodic_overlay import PeriodicOverlay
from topologies.workload import Workload

MOST_STATES = 8
"""States of a period up to which a search over all of them finds much."""
Period = Annotated[
    int, DesignerOption(help="States of best_periodic, rounds of a period", at_least=1, at_most=MOST_STATES)
]
Contraction = Annotated[
    float | None,
    DesignerOption(
        help="Largest factor by which the silos' differences shrink per round of best_periodic; by default that of "
        "best with the criterion simulated",
        at_least=0,
        at_most=1,
    ),
]


def best_periodic(
    graph: Connectivity,
    work: Workload,
    *,
    period: Period = 2,
    contraction: Contraction = None,
    evaluations: Evaluations = None,
    iterations: int | None = None,
    seed: Seed = 0,
    progress: Progress = None,
) -> PeriodicOverlay:
    """Overlay of some states whose silos agree per round at least as fast as in ``best``, in the least simulated time.

    Parameters
    ----------
    period : int
        Number of states, 1 to 8.
    contraction : float, optional
        Largest contraction per round, see `topologies.contraction.worst_contraction`; by default one minus the spectral
        gap of ``best`` with the criterion ``simulated``. With 1 any states are allowed of which each period brings all
        models closer together.
    evaluations : int, optional
        Overlays that the search simulates, and the search for that static overlay as well.
    iterations : int, optional
        As for ``best``.
    seed : int
        The same numbers give the same overlay.
    progress : callable, optional
        Is called with the share that is done.

    Returns
    -------
    PeriodicOverlay
        Of kind ``best_periodic``, with lags of 1 and doubly stochastic weights. In simulation never slower than
        ``best`` with the criterion ``simulated``, unless that does not have the contraction asked for.

    Raises
    ------
    InputError
        As ``best``, or if nothing that is known has the contraction asked for.

    Notes
    -----
    See `simulator.designers.periodic_search.fastest_periodic`.
    """
    # Here since it needs the simulation, which the closed forms do without.
    from simulator.designers.periodic_search import fastest_periodic

    return fastest_periodic(
        graph,
        work,
        period=period,
        most_contraction=contraction,
        evaluations=evaluations,
        iterations=iterations,
        seed=seed,
        progress=progress,
    )

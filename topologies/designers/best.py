"""The best overlay that a search over strong digraphs finds."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from topologies.arrays import freeze
from topologies.balanced import fast_balanced
from topologies.connectivity import Connectivity
from topologies.consensus import SUM_TOLERANCE, check_consensus
from topologies.designers.best_costs import CRITERIA
from topologies.designers.best_detours import detour_search
from topologies.designers.best_polish import polish
from topologies.designers.options import unseen
from topologies.designers.ring import ring
from topologies.designers.ring_search import tour_along
from topologies.errors import InputError, unknown_name
from topologies.label_order import in_silo_order, renumbered
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload

TEMPERATURES = (0.05, 0.15, 0.05, 0.15)
"""First temperatures of the annealing runs, each with its own seed; few silos gain by the higher one."""
POLISH_WORK = 40_000
"""Arc changes tried in each polishing at the end, times silos, and not above `POLISH_TRIALS`."""
POLISH_TRIALS = 1_000
POLISHES = 4
"""Polishings, each with its own seed."""


def best(
    graph: Connectivity,
    work: Workload,
    *,
    candidates: Iterable[Overlay] = (),
    criterion: str = "paper",
    iterations: int,
    seed: int,
    progress: Callable[[float], None] | None = None,
) -> Overlay:
    """Overlay with the smallest cycle time that a search finds, never worse than any candidate.

    Parameters
    ----------
    candidates : iterable of Overlay
        Overlays on the same network and workload, for instance those of all other designers; the ring is always
        one of them.
    criterion : {"paper", "serialized", "all"}
        The closed form that counts; ``all`` is the largest of the three. ``paper`` may choose long circuits with slow
        arcs on them, whose links cannot finish a model per round; ``serialized`` rules that out, but does not see
        core links that several arcs share; ``all`` does.
    iterations : int
        Moves tried by the annealing from each of at most two rings; the time grows with it.
    seed : int
        The same numbers give the same overlay.
    progress : callable, optional
        Is called with the share that is done, a number of 0 to 1.

    Returns
    -------
    Overlay
        Of kind ``best``. Its consensus matrix is doubly stochastic: where the local-degree rule's columns do not sum
        to 1, it is `topologies.balanced.fast_balanced`.
        `topologies.bounds.lower_bound_s` tells how far any overlay could fall below it.

    Raises
    ------
    InputError
        If no overlay connects all silos.

    Notes
    -----
    `detour_search` from the fastest ring, and from the ring of a single search where that is another one (the annealing
    depends on where it starts more than on its seed), then `polish` on the best digraph whose arcs all carry one token,
    with Eq. 3's delays for the degrees that the digraph has; several seeds each.
    """
    if criterion not in CRITERIA:
        raise unknown_name("criterion", criterion, CRITERIA)

    there, its_work, order = in_silo_order(graph, work)
    if there is not graph:
        # Ties fall by label, however the silos are numbered.
        place = np.argsort(order)
        moved = [renumbered(overlay, there, its_work, place) for overlay in candidates]
        overlay = best(
            there,
            its_work,
            candidates=moved,
            criterion=criterion,
            iterations=iterations,
            seed=seed,
            progress=progress,
        )
        return renumbered(overlay, graph, work, order)

    found = searched(
        graph,
        work,
        candidates=candidates,
        criterion=criterion,
        iterations=iterations,
        seed=seed,
        progress=progress,
    )
    return averaging(min(found, key=lambda overlay: _tau(overlay, criterion)))


def searched(
    graph: Connectivity,
    work: Workload,
    *,
    candidates: Iterable[Overlay],
    criterion: str,
    iterations: int,
    seed: int,
    temperatures: Sequence[float] = TEMPERATURES,
    progress: Callable[[float], None] | None = None,
) -> list[Overlay]:
    """All overlays among which `best` chooses: the candidates with the ring, and what each of its searches ends with.

    Silos must be in the order of `in_silo_order`; the other parameters and errors are those of `best`.

    Parameters
    ----------
    temperatures : sequence of float
        First temperatures of the annealing runs, among which the iterations are divided.
    """
    found = list(candidates)
    if all(overlay.kind != "ring" for overlay in found):
        found += _ring(graph, work)
    found = found or [build_overlay("best", graph, work, np.argwhere(graph.may_send))]
    digraphs = [overlay for overlay in found if overlay.hub is None]
    if digraphs and graph.silos > 2 and iterations > 0:
        digraphs.sort(key=lambda overlay: _tau(overlay, criterion))
        found += _searched(
            graph, work, digraphs, criterion, iterations, seed, temperatures, progress or unseen
        )
    return found


def _tau(overlay: Overlay, criterion: str) -> float:
    """The closed form that a criterion minimises."""
    forms = overlay.closed_forms
    return {"paper": forms.paper_s, "serialized": forms.serialized_s}.get(
        criterion, max(forms.serialized_s, forms.load_bound_s)
    )


def averaging(overlay: Overlay) -> Overlay:
    """The same arcs as kind ``best``, with weights whose limit is the plain average of all silos' models."""
    matrix = overlay.consensus
    if np.abs(matrix.sum(axis=0) - 1).max() > SUM_TOLERANCE:
        matrix = fast_balanced(overlay.graph.silos, overlay.source, overlay.target)
        freeze(check_consensus(matrix, columns=True))
    return dataclasses.replace(overlay, kind="best", consensus=matrix)


def _searched(
    graph: Connectivity,
    work: Workload,
    digraphs: list[Overlay],
    criterion: str,
    iterations: int,
    seed: int,
    temperatures: Sequence[float],
    report: Callable[[float], None],
) -> list[Overlay]:
    """What the searches make of the digraphs, the best of which comes first."""
    rings = [overlay for overlay in digraphs if overlay.arcs == graph.silos >= 4]
    results = []
    starts = [*rings[:1], *_ring(graph, work, searches=1)] if rings else []
    tours = {tuple(tour_along(overlay.source, overlay.target)): None for overlay in starts}
    for place, tour in enumerate(map(list, tours)):
        for run, temperature in enumerate(temperatures):
            arcs = detour_search(
                graph,
                work,
                tour,
                steps=iterations // len(temperatures),
                seed=seed * len(temperatures) + run,
                temperature=temperature,
                criterion=criterion,
            )
            results.append(build_overlay("best", graph, work, arcs))
            report((place * len(temperatures) + run + 1) / (len(tours) * len(temperatures) + 1))
    start = min(digraphs[:1] + results, key=lambda overlay: _tau(overlay, criterion))
    before = frozenset(zip(start.source.tolist(), start.target.tolist(), strict=True))
    trials = min(iterations, POLISH_TRIALS, POLISH_WORK // graph.silos)
    for run in range(POLISHES):
        after = polish(graph, work, before, trials=trials, seed=seed * POLISHES + run, criterion=criterion)
        if after != before:
            results.append(build_overlay("best", graph, work, after))
    return results


def _ring(graph: Connectivity, work: Workload, *, searches: int | None = None) -> list[Overlay]:
    """The ring, if there is one."""
    try:
        return [ring(graph, work, searches=searches)]
    except InputError:
        return []

"""The best overlay that a search over strong digraphs finds."""

import dataclasses
from collections.abc import Callable, Iterable

import numpy as np

from topologies.connectivity import Connectivity
from topologies.designers.best_detours import detour_search
from topologies.designers.best_polish import polish
from topologies.designers.ring import ring
from topologies.errors import InputError, unknown_name
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload

WARMTHS = (0.05, 0.15, 0.05, 0.15)
"""First temperatures of the annealing runs, each with its own seed; few silos gain by the higher one."""
POLISH_WORK = 40_000
"""Arc changes tried at the end, times silos."""


CRITERIA = ("paper", "serialized", "all")


def best(
    graph: Connectivity,
    work: Workload,
    *,
    candidates: Iterable[Overlay] = (),
    criterion: str = "paper",
    iterations: int = 200_000,
    seed: int = 0,
) -> Overlay:
    """Overlay with the smallest cycle time that a search finds, never worse than any candidate.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
    candidates : iterable of Overlay
        Overlays on the same network and workload, for instance those of all other designers; the ring is always
        one of them.
    criterion : {"paper", "serialized", "all"}
        The closed form that counts; ``all`` is the largest of the three. ``paper`` may choose long circuits with slow
        arcs on them, whose links cannot finish a model per round; ``serialized`` rules that out, but does not see
        core links that several arcs share; ``all`` does. The moves of the search are made for the first two: under
        ``all`` it keeps the best of what they find and of the candidates.
    iterations : int
        Moves tried by the annealing; the time grows with it.
    seed : int
        The same numbers give the same overlay.

    Returns
    -------
    Overlay
        Of kind ``best``. `topologies.bounds.lower_bound_s` tells how far any overlay could fall below it.

    Raises
    ------
    InputError
        If no overlay connects all silos.

    Notes
    -----
    `detour_search` from the ring, then `polish` on the best digraph whose arcs all carry one token, with Eq. 3's
    delays for the degrees that the digraph has.
    """
    if criterion not in CRITERIA:
        raise unknown_name("criterion", criterion, CRITERIA)

    def tau(overlay: Overlay) -> float:
        forms = overlay.closed_forms
        return {"paper": forms.paper_s, "serialized": forms.serialized_s}.get(
            criterion, max(forms.serialized_s, forms.load_bound_s)
        )

    found = [*candidates, *_ring(graph, work)]
    found = found or [build_overlay("best", graph, work, _all_pairs(graph))]
    digraphs = [overlay for overlay in found if overlay.hub is None]
    if digraphs and graph.silos > 2 and iterations > 0:
        slow_arcs = criterion != "paper"
        found += _searched(graph, work, sorted(digraphs, key=tau), tau, slow_arcs, iterations, seed)
    winner = min(found, key=tau)
    return dataclasses.replace(winner, kind="best")


def _searched(
    graph: Connectivity,
    work: Workload,
    digraphs: list[Overlay],
    tau: Callable[[Overlay], float],
    serialized: bool,
    iterations: int,
    seed: int,
) -> list[Overlay]:
    """What the searches make of the digraphs, the best of which comes first."""
    rings = [overlay for overlay in digraphs if overlay.arcs == graph.silos >= 4]
    results = []
    if rings:
        tour = _tour(rings[0])
        for run, warmth in enumerate(WARMTHS):
            arcs = detour_search(
                graph,
                work,
                tour,
                steps=iterations // len(WARMTHS),
                seed=seed * len(WARMTHS) + run,
                warmth=warmth,
                serialized=serialized,
            )
            results.append(build_overlay("best", graph, work, arcs))
    start = min(digraphs[:1] + results, key=tau)
    before = frozenset(zip(start.source.tolist(), start.target.tolist(), strict=True))
    trials = min(iterations, POLISH_WORK // graph.silos)
    after = polish(graph, work, before, trials=trials, seed=seed, serialized=serialized)
    return results if after == before else [*results, build_overlay("best", graph, work, after)]


def _ring(graph: Connectivity, work: Workload) -> list[Overlay]:
    """The ring, if there is one."""
    try:
        return [ring(graph, work)]
    except InputError:
        return []


def _all_pairs(graph: Connectivity) -> list[tuple[int, int]]:
    """Every arc that the network allows."""
    return [(int(i), int(j)) for i, j in zip(*np.nonzero(graph.may_send), strict=True)]


def _tour(overlay: Overlay) -> list[int]:
    """Silos of a ring in order."""
    after = dict(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    tour = [0]
    while len(tour) < overlay.arcs:
        tour.append(after[tour[-1]])
    return tour

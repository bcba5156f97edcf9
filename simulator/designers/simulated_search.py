"""Search for the static overlay with the smallest simulated cycle time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf

import numpy as np

from simulator.designers.record_travel import Travel, even_parts, record_travel
from simulator.designers.search_moves import MOVES, NearSilos
from simulator.designers.simulated_cost import (
    NOISE,
    Arcs,
    LowerBound,
    Simulated,
    SimulatedCost,
    arcs_of,
    ends,
    reverse,
)
from simulator.statistics.confidence import rounds_for_interval
from topologies.compiled_designs import many_designs
from topologies.connectivity import Connectivity, with_bottleneck
from topologies.designers.best import averaging, searched
from topologies.designers.best_of_all import designed_candidates
from topologies.designers.options import unseen
from topologies.digraph import components
from topologies.errors import InputError
from topologies.label_order import by_label
from topologies.overlay import Overlay
from topologies.workload import Workload

EVALUATIONS, EVALUATED_ARCS = 400, 20_000
"""Overlays that a search simulates by default, fewer where that many times the silos is more than the latter."""
ITERATIONS, MOVED_SILOS = (100_000, 200_000), 3_300_000
"""Moves of the annealing on closed forms by default: the latter divided by the silos, within these limits."""
TEMPERATURES = (0.005, 0.02, 0.03, 0.15) * 2
"""First temperatures of its runs, see `topologies.designers.best.searched`: many short runs find more than few long
ones, as the overlays where no link is loaded twice lie apart from each other."""
FEW_ROUNDS = 80
"""Rounds that the search simulates; what is left in the end is simulated for as long as in tables."""
WALKS = 4
"""Overlays that the search starts from."""
TRIALS = 25
"""Changes whose bound is looked at for each overlay that may be simulated."""
BESIDE = 0.3
"""Share of the changes that begin at an arc beside the ones that cost time."""
CONFIRMED = 5
"""Overlays of the search that are simulated for long in the end, beside those of the other kinds."""
BEGUN, ANNEALED, SEARCHED = 0.05, 0.6, 0.95
"""Shares of the work that are done after each part."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """An overlay with what is known of it."""

    overlay: Overlay
    arcs: Arcs
    bound: LowerBound
    simulated: Simulated


@by_label
def fastest_simulated(
    graph: Connectivity,
    work: Workload,
    *,
    evaluations: int | None = None,
    iterations: int | None = None,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Overlay:
    """Static overlay with the smallest cycle time on shared links that a search finds, never worse than other kinds.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
        Its computing times are constant.
    evaluations : int, optional
        Overlays that the local search simulates; by default 400, or 20,000 divided by the silos if that is less.
    iterations : int, optional
        Moves of the annealing on closed forms from each of at most two rings; by default 200,000 on up to 16 silos,
        150,000 on 22, and 100,000 on 33 or more.
    seed : int
        The same numbers give the same overlay, on every machine.
    progress : callable, optional
        Is called with the share that is done.

    Returns
    -------
    Overlay
        Of kind ``best``; above `topologies.sizes.MANY_SILOS` silos nothing is promised about ``christofides`` and
        ``complete``, which take too long there. Weights as of `topologies.designers.best.best`.
        `topologies.bounds.simulated_bound_s` tells how far any overlay could fall below it.

    Raises
    ------
    InputError
        If no overlay connects all silos, or none can be simulated.

    Notes
    -----
    The simulation is that with max-min fair sharing in which an arc sends one message after the other. The search has
    three parts.

    (1) The searches of `topologies.designers.best.best` with the criterion ``all`` on the network of `with_bottleneck`.
    Where no two arcs share a link, no two models do, and Eq. 3's delays with the smallest capacity of each route are
    those of the simulation; the load keeps arcs off each other's links. This part takes no simulation.
    (2) Walks from the fastest overlays of all kinds, on Eq. 3's rates and on these, in both directions, and from what
    (1) has found: changes of the arcs that are on a critical circuit, on the busiest link, or slowed most by others on
    their links. A change is simulated for `FEW_ROUNDS` only if `SimulatedCost.bound` lies below the slowest time that
    the walk accepts: the fastest so far and a share that falls to 0 (record-to-record travel, Dueck 1993).
    (3) The best ones and all kinds whose load does not rule them out are simulated for `rounds_for_interval`, and the
    fastest is taken: by its exact cycle time where it repeats within these rounds, else by the estimate.

    Time: (1) as `best`; (2) a simulation of `FEW_ROUNDS` for each evaluation and `TRIALS` bounds at most.
    """
    report = progress or unseen
    cost = SimulatedCost(graph, work)
    kinds = designed_candidates(graph, work)
    report(BEGUN)
    if evaluations is None:
        evaluations = min(EVALUATIONS, EVALUATED_ARCS // graph.silos)
    if iterations is None:
        iterations = int(np.clip(MOVED_SILOS // graph.silos, *ITERATIONS))
    found: list[_Found] = []
    if graph.silos > 2:
        alone = with_bottleneck(graph)
        others = designed_candidates(alone, work)
        others = searched(
            alone,
            work,
            candidates=others,
            criterion="all",
            iterations=iterations,
            seed=seed,
            temperatures=TEMPERATURES,
            progress=lambda share: report(BEGUN + share * (ANNEALED - BEGUN)),
        )
        report(ANNEALED)
        with many_designs():
            starts = _starts(cost, [*kinds, *others])
            found = _walks(
                cost,
                starts,
                evaluations,
                np.random.default_rng(seed),
                lambda share: report(ANNEALED + share * (SEARCHED - ANNEALED)),
            )
    report(SEARCHED)
    overlay = _fastest(cost, [*kinds, *(one.overlay for one in found[:CONFIRMED])])
    report(1.0)
    return averaging(overlay)


def _starts(cost: SimulatedCost, overlays: Iterable[Overlay]) -> list[_Found]:
    """The overlays without a hub, each also with all arcs reversed, the fastest first."""
    distinct: dict[Arcs, None] = {}
    for overlay in overlays:
        if overlay.hub is None:
            arcs = arcs_of(overlay)
            distinct[arcs] = None
            distinct[reverse(arcs)] = None
    may_send = cost.graph.may_send
    allowed = [arcs for arcs in distinct if all(may_send[arc] for arc in arcs)]
    bounds = sorted(((cost.bound(arcs), arcs) for arcs in allowed), key=lambda pair: pair[0].time_s)
    found: list[_Found] = []
    for bound, arcs in bounds:
        # The simulation of the densest overlays takes longest, and theirs are the largest bounds.
        if len(found) >= WALKS and bound.time_s >= sorted(one.simulated.time_s for one in found)[WALKS - 1]:
            break
        overlay = cost.overlay(arcs)
        found.append(
            _Found(overlay=overlay, arcs=arcs, bound=bound, simulated=cost.simulated(overlay, FEW_ROUNDS))
        )
    return _in_order(found)


def _walks(
    cost: SimulatedCost,
    starts: list[_Found],
    evaluations: int,
    rng: np.random.Generator,
    report: Callable[[float], None],
) -> list[_Found]:
    """The fastest overlays of walks from some of the starts, and the starts, the fastest first."""
    chosen: list[_Found] = []
    for start in starts:
        if len(chosen) < WALKS and all(start.arcs != reverse(one.arcs) for one in chosen):
            chosen.append(start)
    found = list(starts)
    budgets = even_parts(evaluations, len(chosen))
    for number, (start, budget) in enumerate(zip(chosen, budgets, strict=True), 1):
        found.append(_walk(cost, start, budget, rng))
        report(number / len(chosen))
    return _in_order(found)


def _walk(cost: SimulatedCost, start: _Found, budget: int, rng: np.random.Generator) -> _Found:
    """The fastest overlay on a walk that changes arcs that cost time."""
    near = NearSilos(cost.alone_s)

    def simulated_below(_now: _Found, arcs: Arcs, limit_s: float) -> _Found | None:
        bound = cost.bound(arcs)
        if bound.time_s >= limit_s:
            return None
        overlay = cost.overlay(arcs)
        return _Found(overlay=overlay, arcs=arcs, bound=bound, simulated=cost.simulated(overlay, FEW_ROUNDS))

    travel: Travel[_Found, Arcs] = Travel(
        arcs=lambda found: found.arcs,
        time_s=lambda found: found.simulated.time_s,
        changed=lambda now: _changed(cost, now, near, rng),
        simulated_below=simulated_below,
    )
    return record_travel(travel, start, evaluations=budget, trials=TRIALS * budget)


def _changed(cost: SimulatedCost, now: _Found, near: NearSilos, rng: np.random.Generator) -> Arcs | None:
    """A strong digraph that differs around an arc that costs time; None where the drawn change gives none."""
    # Where a silo's own computing is the bound, no arc costs time.
    costly = sorted({*now.bound.arcs, *now.simulated.arcs}) or sorted(now.arcs)
    arc = costly[int(rng.integers(len(costly)))]
    if rng.random() < BESIDE:
        beside = sorted((i, j) for i, j in now.arcs if (i == arc[0]) != (j == arc[1]))
        arc = beside[int(rng.integers(len(beside)))] if beside else arc
    move = MOVES[int(rng.integers(len(MOVES)))]
    changed = move(now.arcs, arc, near.draw(arc[int(rng.integers(2))], rng))
    if not all(cost.graph.may_send[arc] for arc in changed - now.arcs):
        return None
    return changed if components(cost.graph.silos, *ends(changed), strong=True)[0] == 1 else None


def _in_order(found: Iterable[_Found]) -> list[_Found]:
    """The fastest first; of equally fast ones that with the smaller bound, then with fewer arcs."""
    return sorted(
        found, key=lambda one: (one.simulated.time_s, one.bound.time_s, len(one.arcs), sorted(one.arcs))
    )


def _fastest(cost: SimulatedCost, overlays: list[Overlay]) -> Overlay:
    """The overlay with the smallest simulated cycle time."""
    rounds = rounds_for_interval(cost.graph.silos)
    fastest, least_s = None, inf
    for overlay in sorted(overlays, key=_floor_s):
        if _floor_s(overlay) >= least_s:
            break
        time_s = cost.simulated(overlay, rounds).time_s
        if time_s < least_s * (1 - NOISE):
            fastest, least_s = overlay, time_s
    if fastest is None:
        if not overlays:
            raise InputError("best: no overlay connects all silos.")
        raise InputError("best: no overlay can be simulated: time could not advance.")
    return fastest


def _floor_s(overlay: Overlay) -> float:
    """The load bound, which no simulation falls below."""
    return overlay.closed_forms.load_bound_s

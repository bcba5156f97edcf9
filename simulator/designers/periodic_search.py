"""Search for the periodic overlay with the smallest simulated cycle time that mixes as well as the best static one."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from math import inf

import numpy as np

from simulator.designers.mixing_repair import mended, mixes
from simulator.designers.periodic_cost import Costly, PeriodicCost
from simulator.designers.periodic_moves import States, changed_states
from simulator.designers.record_travel import Travel, even_parts, record_travel
from simulator.designers.search_moves import NearSilos
from simulator.designers.simulated_cost import NOISE, Arcs, arcs_of, reverse
from simulator.designers.simulated_search import EVALUATED_ARCS, EVALUATIONS, FEW_ROUNDS, fastest_simulated
from simulator.statistics.confidence import rounds_for_interval
from topologies.balanced import fast_balanced
from topologies.compiled_designs import many_designs
from topologies.connectivity import Connectivity
from topologies.consensus import spectral_gap
from topologies.contraction import worst_contraction
from topologies.designers.best_of_all import designed_candidates
from topologies.designers.edge_colouring import edge_colouring
from topologies.designers.node_order import node_order, reordered
from topologies.designers.options import unseen
from topologies.errors import Field, InputError
from topologies.label_order import in_silo_order
from topologies.periodic.base import base
from topologies.periodic.one_peer_exponential import one_peer_exponential
from topologies.periodic_overlay import PeriodicOverlay, build_periodic
from topologies.state import State, state_of
from topologies.workload import Workload

WALKS = 4
"""Overlays that the search starts from."""
TRIALS = 25
"""Changes that are looked at for each overlay that may be simulated."""
CONFIRMED = 5
"""Overlays of the search that are simulated for long in the end."""
MOST_PEERS = 4
"""Largest degree of the Base graphs that are candidates."""
ADDED = 12
"""Pairs of arcs that are added at most to a candidate that does not mix well enough."""
ORDERS = ("none", "tour")
"""Which silo stands where in those, see `topologies.designers.node_order.node_order`."""
MENDED = 12
"""Candidates to which arcs are added, if need be."""
STATIC, SEARCHED = 0.6, 0.95
"""Shares of the work that are done after each part."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """An overlay with what is known of it."""

    overlay: PeriodicOverlay
    arcs: States
    bound: Costly
    simulated: Costly

    @property
    def time_s(self) -> float:
        """The simulated time, which few rounds may show too short."""
        return max(self.bound.time_s, self.simulated.time_s)


def fastest_periodic(
    graph: Connectivity,
    work: Workload,
    *,
    period: int = 2,
    most_contraction: float | None = None,
    evaluations: int | None = None,
    iterations: int | None = None,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> PeriodicOverlay:
    """Periodic overlay with the smallest cycle time on shared links that a search finds, of those that mix well enough.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
        Its computing times are constant.
    period : int
        Number of states, at least 1. With 1 it is the static overlay.
    most_contraction : float, optional
        Largest contraction per round (`topologies.contraction.worst_contraction`) that the overlay may have; by default
        one minus the spectral gap of the static overlay.
    evaluations : int, optional
        Overlays that the search for the static overlay simulates, and that for the periodic one, each; by default 400,
        or 20,000 divided by the silos if that is less.
    iterations : int, optional
        Of `simulator.designers.simulated_search.fastest_simulated`.
    seed : int
        The same numbers give the same overlay, on every machine.
    progress : callable, optional
        Is called with the share that is done.

    Returns
    -------
    PeriodicOverlay
        Of kind ``best_periodic``, with lags of 1 and doubly stochastic weights.
        `topologies.bounds.periodic_bound_s` tells how far any overlay of as many states could fall below it.

    Raises
    ------
    InputError
        If no overlay connects all silos, none can be simulated, or no overlay that is known has the contraction asked
        for.

    Notes
    -----
    Cycle time alone would be degenerate: the fewer arcs the states have, the faster they are, and the slower the silos
    agree. What they keep of their differences over a period, ``||W_(P-1) ... W_0 - J||_2``, is what enters the
    convergence bound of decentralized SGD on changing graphs (Koloskova et al., "A unified theory of decentralized SGD
    with changing topology and local updates", ICML 2020, assumption 4, with doubly stochastic weights and `tau` the
    period). So an overlay is feasible if it keeps no more, in the geometric mean per round, than the static overlay of
    `fastest_simulated` does in the long run, which is one minus its spectral gap: never more than by the norm of a
    period, so that the static overlay, which is feasible by definition, gets the benefit. At the same contraction `c`
    per round the bound's ``tau / p`` is ``P (1 - c^2) / (1 - c^(2 P))`` times as large as with one state: little more
    than 1 where mixing is slow. Where the static overlay is a STAR, the digraph of its arcs, which send in every round,
    stands for it.

    Candidates are the static overlays of all kinds and their reverses, in every state, or in one of two, three and so
    on and none between; edge colourings of them, a matching or some in each state; the one-peer exponential and the
    Base graphs by label and along a tour, where their period divides `period`. Those that do not mix well enough get
    exchanges of two silos that help most and cost no more time than the static overlay takes (`mended`). Walks from the
    fastest feasible ones, and one from the best that they find (`record_travel`), change arcs that are on a critical
    circuit, on the busiest link, or slowed most by others; silos and circuits change from state to state. An overlay is
    simulated only if it is feasible and `PeriodicCost.bound` lies below what the walk accepts. The fastest are
    simulated for `rounds_for_interval`, with the other periodic kinds that are feasible, and none is taken that is not
    faster than the static overlay.

    Time: as `fastest_simulated`, and as much again for each state.
    """
    there, its_work, order = in_silo_order(graph, work)
    states = _fastest_states(
        there, its_work, period, most_contraction, evaluations, iterations, seed, progress or unseen
    )
    return build_periodic("best_periodic", graph, work, reordered(states, order))


def _fastest_states(
    graph: Connectivity,
    work: Workload,
    period: int,
    most_contraction: float | None,
    evaluations: int | None,
    iterations: int | None,
    seed: int,
    report: Callable[[float], None],
) -> tuple[State, ...]:
    """The states of the overlay, silos in the order of labels."""
    silos = graph.silos
    static = fastest_simulated(
        graph,
        work,
        evaluations=evaluations,
        iterations=iterations,
        seed=seed,
        progress=lambda share: report(share * STATIC),
    )
    cost = PeriodicCost(graph, work)
    everywhere = (arcs_of(static),) * period
    reference = (
        cost.states(everywhere, weights=fast_balanced)
        if static.hub is not None
        else (state_of(static.source, static.target, static.consensus[static.target, static.source]),)
        * period
    )
    its_own = 1 - spectral_gap(reference[0].consensus(silos))
    limit = its_own if most_contraction is None else most_contraction
    meets = mixes(its_own, limit)
    if silos == 1 or (period == 1 and meets):
        report(1.0)
        return reference
    if evaluations is None:
        evaluations = min(EVALUATIONS, EVALUATED_ARCS // silos)
    with many_designs():
        below_s = _simulated(cost, everywhere).time_s if meets else inf
        starts = _starts(cost, _candidates(cost, everywhere[0], period), limit, below_s)
        if not starts and not meets:
            raise InputError(
                f"must be larger: of the overlays of {period} states that the search starts from none has so small a "
                "one.",
                field=Field("contraction", value=limit),
                source="best_periodic",
            )
        found = _walks(
            cost,
            starts,
            limit,
            evaluations,
            np.random.default_rng(seed),
            lambda share: report(STATIC + share * (SEARCHED - STATIC)),
        )
        states = _confirmed(cost, found, reference if meets else None, limit)
    report(1.0)
    return states


def _candidates(cost: PeriodicCost, static: Arcs, period: int) -> Iterator[States]:
    """Overlays to start from, feasible or not."""
    graph, nothing = cost.graph, frozenset[tuple[int, int]]()
    kinds = dict.fromkeys([static, *(arcs_of(overlay) for overlay in designed_candidates(graph, cost.work))])
    for arcs in kinds:
        for sent in dict.fromkeys((arcs, reverse(arcs), arcs | reverse(arcs))):
            for every in range(1, period + 1):
                if period % every == 0:
                    yield tuple(sent if place % every == 0 else nothing for place in range(period))
        edges = {(min(arc), max(arc)) for arc in arcs}
        matchings = edge_colouring(sorted(edges), graph.silos)
        turns = [
            frozenset(pair for i, j in matching.tolist() for pair in ((i, j), (j, i)))
            for matching in matchings
        ]
        yield tuple(
            frozenset[tuple[int, int]]().union(*islice(turns, place, None, period)) for place in range(period)
        )
    for states in _kinds(graph, cost.work, period):
        yield tuple(map(_arcs, states))


def _kinds(graph: Connectivity, work: Workload, period: int) -> list[tuple[State, ...]]:
    """Periodic overlays of other kinds whose period divides this one, repeated, silos in two orders."""
    silos = graph.silos
    peers = range(1, min(MOST_PEERS, silos - 1) + 1)
    made = [
        states * (period // len(states))
        for states in (one_peer_exponential(silos), *(base(silos, k) for k in peers))
        if period % len(states) == 0
    ]
    found = []
    for order in ORDERS if made else ():
        with suppress(InputError):
            places = node_order(order, graph, work)
            found += [reordered(states, places) for states in made]
    return [
        states
        for states in found
        if all(graph.may_send[state.source, state.target].all() for state in states)
    ]


def _arcs(state: State) -> Arcs:
    """The arcs of a state as a set."""
    return frozenset(zip(state.source.tolist(), state.target.tolist(), strict=True))


def _starts(cost: PeriodicCost, candidates: Iterable[States], limit: float, below_s: float) -> list[_Found]:
    """The fastest candidates that mix well enough, the fastest first; others with arcs that leave them below a time."""
    found: list[_Found] = []
    allowed = [states for states in dict.fromkeys(candidates) if cost.is_overlay(states)]
    bounds = sorted(((cost.bound(states).time_s, states) for states in allowed), key=lambda each: each[0])
    to_mend = MENDED
    for bound_s, states in bounds:
        # The simulation of the densest overlays takes longest, and theirs are the largest bounds.
        if len(found) >= WALKS and bound_s >= sorted(one.time_s for one in found)[WALKS - 1]:
            break
        mixing: States | None = states
        if not mixes(cost.contraction(states), limit):
            if not to_mend or bound_s >= below_s:
                continue
            to_mend -= 1
            mixing = mended(cost, states, limit, below_s, pairs=ADDED)
        if mixing is not None:
            found.append(_simulated(cost, mixing))
    return _in_order(found)


def _simulated(cost: PeriodicCost, states: States) -> _Found:
    """An overlay after a short simulation."""
    overlay = cost.overlay(cost.states(states))
    return _Found(
        overlay=overlay, arcs=states, bound=cost.bound(states), simulated=cost.simulated(overlay, FEW_ROUNDS)
    )


def _walks(
    cost: PeriodicCost,
    starts: list[_Found],
    limit: float,
    evaluations: int,
    rng: np.random.Generator,
    report: Callable[[float], None],
) -> list[_Found]:
    """The fastest overlays of walks from the first starts, and the starts, the fastest first."""
    near = NearSilos(cost.static.alone_s)

    def changed(now: _Found) -> States | None:
        costly = sorted({*now.bound.arcs, *now.simulated.arcs}) or [
            (place, *arc) for place, arcs in enumerate(now.arcs) for arc in sorted(arcs)
        ]
        states = changed_states(now.arcs, costly[int(rng.integers(len(costly)))], near, rng)
        return states if cost.is_overlay(states) else None

    def simulated_below(_now: _Found, states: States, limit_s: float) -> _Found | None:
        if cost.load_s(states) >= limit_s:
            return None
        if cost.bound(states).time_s >= limit_s:
            return None
        return _simulated(cost, states) if mixes(cost.contraction(states), limit) else None

    travel: Travel[_Found, States] = Travel(
        arcs=lambda found: found.arcs,
        time_s=lambda found: found.time_s,
        changed=changed,
        simulated_below=simulated_below,
    )
    found = list(starts)
    chosen = starts[:WALKS]
    budgets = _budgets(evaluations, len(chosen))
    for number, budget in enumerate(budgets):
        start = chosen[number] if number < len(chosen) else _in_order(found)[0]
        found.append(record_travel(travel, start, evaluations=budget, trials=TRIALS * budget))
        report((number + 1) / len(budgets))
    return _in_order(found)


def _budgets(evaluations: int, walks: int) -> list[int]:
    """Half of the evaluations for some walks, the others for one from the fastest overlay that they have found."""
    first = evaluations // 2
    return [*even_parts(first, walks), evaluations - first] if walks else []


def _in_order(found: Iterable[_Found]) -> list[_Found]:
    """Each once, the fastest first; of equally fast ones that with fewer messages."""
    distinct = {one.arcs: one for one in found}.values()
    return sorted(
        distinct,
        key=lambda one: (
            one.time_s,
            one.overlay.messages,
            [sorted(arcs) for arcs in one.arcs],
        ),
    )


def _confirmed(
    cost: PeriodicCost, found: list[_Found], reference: tuple[State, ...] | None, limit: float
) -> tuple[State, ...]:
    """The states of the overlay that is fastest in a long simulation; those of the reference unless one is faster."""
    silos, period = cost.graph.silos, len(found[0].arcs) if found else 0
    states = [_well_mixing(cost, one.arcs) for one in found[:CONFIRMED]]
    states += [
        each for each in _kinds(cost.graph, cost.work, period) if mixes(worst_contraction(silos, each), limit)
    ]
    fastest, least_s = reference, inf
    for each in states if reference is None else [reference, *states]:
        if cost.bound(tuple(map(_arcs, each))).time_s >= least_s:
            continue
        time_s = cost.simulated(cost.overlay(each), rounds_for_interval(silos)).time_s
        if time_s < least_s * (1 - NOISE):
            fastest, least_s = each, time_s
    if fastest is None or least_s == inf:
        raise InputError("best_periodic: no overlay can be simulated: time could not advance.")
    return fastest


def _well_mixing(cost: PeriodicCost, states: States) -> tuple[State, ...]:
    """The states with the weights by which the silos agree sooner, of two rules."""
    silos = cost.graph.silos
    made = [cost.states(states), cost.states(states, weights=fast_balanced)]
    return min(made, key=lambda each: worst_contraction(silos, each))

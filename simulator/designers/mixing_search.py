"""Search for the static overlay with the fewest seconds per e-fold of the silos' differences."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from simulator.designers.mixing_moves import apart, best_matching, cross, least_apart, most_apart
from simulator.designers.record_travel import Travel, even_parts, record_travel
from simulator.designers.search_moves import MOVES, Arc, NearSilos
from simulator.designers.shift_digraphs import shift_digraphs
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
from simulator.designers.simulated_search import fastest_simulated
from simulator.statistics.confidence import rounds_for_interval
from topologies.arrays import BoolArray, FloatArray
from topologies.compiled_designs import many_designs
from topologies.connectivity import Connectivity
from topologies.consensus import SUM_TOLERANCE
from topologies.contraction import round_contraction
from topologies.designers.best_of_all import best_of_all, designed_candidates
from topologies.designers.equi_static import equi_static
from topologies.designers.exponential import exponential
from topologies.designers.options import unseen
from topologies.digraph import components
from topologies.errors import InputError
from topologies.label_order import by_label
from topologies.optimal_consensus import EXACT_SIZE, fdla
from topologies.overlay import Overlay, build_overlay
from topologies.scaled_weights import scaled_weights
from topologies.sizes import MANY_SILOS
from topologies.time_to_accuracy import rounds_per_efold, seconds_per_efold
from topologies.workload import Workload

EVALUATIONS, EVALUATED_ARCS = 300, 8_000
"""Overlays that a search simulates by default, fewer where that many times the silos is more than the latter."""
FEW_ROUNDS = 40
"""Rounds that the search simulates: overlays that mix well soon repeat."""
ITERATIONS, SHORT_SEARCH = 20_000, 20
"""Moves of the annealing on closed forms, and simulated overlays, of the searches on cycle time that come first."""
DESCENTS = 3
"""Kinds that matchings of arcs are added to and taken from; single arcs then change on the best of them, and on the
best digraph of shifts."""
DESCENDED, REFINED = 0.35, 0.3
"""Shares of the simulations that go to the matchings, and to the walk with optimal weights."""
PROGRAMS, COARSE = 4_000_000, 1e-2
"""Programs of that walk times the square of their arcs, at most, and how near to the optimum their norms are."""
TRIALS = 12
"""Changes that are weighed for each overlay that may be simulated."""
HOPED = 0.9
"""How much better than that of the present overlay the criterion of a changed one may come out, by their estimates."""
COSTLY = 0.5
"""Share of the changes that begin at an arc that costs time; the others begin at one that mixes little."""
CONFIRMED = 4
"""Overlays of each part that get optimal weights and a long simulation in the end, beside the other kinds."""
BEGUN, DESIGNED, MATCHED, WALKED, SEARCHED = 0.05, 0.3, 0.5, 0.7, 0.9
"""Shares of the work that are done after each part."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """An overlay with what is known of it; `apart_by` is that of `apart`.

    `estimate_s` is the criterion by the bound of the cycle time and scaled weights, which take no simulation and no
    program.
    """

    arcs: Arcs
    bound: LowerBound
    simulated: Simulated
    apart_by: FloatArray
    estimate_s: float
    value_s: float

    @property
    def hoped(self) -> float:
        """The criterion of a change that is hoped for, as a part of its estimate."""
        return HOPED * self.value_s / self.estimate_s if 0 < self.estimate_s < inf else 0.0


@by_label
def fewest_seconds_per_efold(
    graph: Connectivity,
    work: Workload,
    *,
    evaluations: int | None = None,
    iterations: int | None = None,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Overlay:
    """Static overlay with the fewest seconds per e-fold that a search finds, never worse than other kinds.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
        Its computing times are constant.
    evaluations : int, optional
        Overlays that the search simulates; by default 300, or 8,000 divided by the silos if that is less.
    iterations : int, optional
        Moves of the annealing on closed forms; by default 20,000.
    seed : int
        The same numbers give the same overlay, on every machine.
    progress : callable, optional
        Is called with the share that is done.

    Returns
    -------
    Overlay
        Of kind ``best``, with the weights of `topologies.optimal_consensus.fdla`, some of which may be below 0, without
        the arcs that these do not use; if it is a STAR, with the plain average. In
        `topologies.time_to_accuracy.seconds_per_efold` of its simulated cycle time and
        `topologies.contraction.round_contraction` it is not above ``star``, ``mst``, ``delta_mbst``, ``ring``,
        ``christofides``, ``underlay``, ``complete``, ``exponential`` and ``equi_static`` with their own or optimal
        weights (above `topologies.sizes.MANY_SILOS` silos: without ``christofides`` and ``complete``, and with
        weights of `topologies.scaled_weights` in place of the optimal ones, as with more than 1,500 weights).

    Raises
    ------
    InputError
        If no overlay connects all silos, or none can be simulated.

    Notes
    -----
    The simulation is that with max-min fair sharing in which an arc sends one message after the other. The criterion is
    ``tau / log(1 / contraction)``, and `tau` where a round contracts by more than e: by that logarithm the STAR and the
    complete graph, which average exactly, would take no time at all, however long their rounds are. See
    `topologies.time_to_accuracy.rounds_per_efold` for the reason, and what bounds say.

    (1) All static kinds, those without a network along a tour, too, both searches of ``best`` on cycle time, and
    `shift_digraphs` of 2 to 8 models a silo, as they are and with all arcs reversed. (2) From the best but these,
    matchings: arcs that join the silos whose models stay farthest apart, one from each silo and one into each, are
    added, or present arcs that mix least taken out, all or half of them or fewer, while that lowers the criterion.
    Where arcs cost no time, this spends them. (3) Walks that
    add, drop and exchange single arcs, with the other moves of the search on cycle time, and accept a share that falls
    to 0 above the best so far (record-to-record travel, Dueck 1993); overlays that began symmetric stay so. Weights are
    those of `scaled_weights`, but for the last walk, whose weights are within `COARSE` of the optimal ones. An overlay
    is simulated, for `FEW_ROUNDS`, only if the bound of its cycle time and scaled weights are promising. (4) The best
    ones and all kinds that could still be better get optimal weights and are simulated for `rounds_for_interval`.

    Time: O(silos^3) for each of `TRIALS` changes per evaluation, a simulation of `FEW_ROUNDS` for each evaluation, and
    the programs of the last walk and of (4).
    """
    report = progress or unseen
    cost = SimulatedCost(graph, work)
    kinds = [*designed_candidates(graph, work), *_shifted(graph, work, seed, "none")]
    report(BEGUN)
    if evaluations is None:
        evaluations = min(EVALUATIONS, EVALUATED_ARCS // graph.silos)
    moves = ITERATIONS if iterations is None else iterations
    found: list[_Found] = []
    if graph.silos > 2:
        others = [
            best_of_all(graph, work, iterations=moves, seed=seed),
            fastest_simulated(
                graph, work, evaluations=min(evaluations, SHORT_SEARCH), iterations=moves, seed=seed
            ),
            *_shifted(graph, work, seed, "tour"),
        ]
        report(DESIGNED)
        rng = np.random.default_rng(seed)
        with many_designs():
            digraphs = [arcs_of(each) for each in (*kinds, *others) if each.hub is None]
            matchings, refined = int(DESCENDED * evaluations), int(REFINED * evaluations)
            matched = [
                _descents(cost, _starts(cost, digraphs), matchings),
                _starts(cost, shift_digraphs(graph, work, seed)),
            ]
            report(MATCHED)
            found = _walks(
                cost,
                matched,
                evaluations - matchings - refined,
                rng,
                lambda share: report(MATCHED + share * (WALKED - MATCHED)),
            )
            found = [*_refined(cost, found, refined, rng)[:CONFIRMED], *found[:CONFIRMED]]
    report(SEARCHED)
    overlay = _least(cost, kinds, dict.fromkeys(one.arcs for one in found))
    report(1.0)
    return replace(overlay, kind="best")


def _shifted(graph: Connectivity, work: Workload, seed: int, order: str) -> Iterator[Overlay]:
    """The kinds that come without a network, where they exist, in an order of the silos."""
    for designer in (exponential, equi_static):
        try:
            yield designer(graph, work, order=order, seed=seed)
        except InputError:
            continue


def _weighed(
    cost: SimulatedCost, arcs: Arcs, below_s: float = inf, *, hoped: float = 1.0, optimal: bool = False
) -> _Found | None:
    """An overlay with its criterion; None where `hoped` times its estimate is not below a limit."""
    weights = scaled_weights(cost.graph.silos, *ends(arcs))
    bound = cost.bound(arcs)
    estimate_s = seconds_per_efold(bound.time_s, round_contraction(weights))
    if hoped * estimate_s >= below_s:
        return None
    if optimal:
        weights = fdla(cost.graph.silos, *ends(arcs), accuracy=COARSE)
    simulated = cost.simulated(cost.overlay(arcs), FEW_ROUNDS)
    return _Found(
        arcs=arcs,
        bound=bound,
        simulated=simulated,
        apart_by=apart(weights),
        estimate_s=estimate_s,
        value_s=seconds_per_efold(simulated.time_s, round_contraction(weights)),
    )


def _starts(cost: SimulatedCost, digraphs: Iterable[Arcs]) -> list[_Found]:
    """The best `DESCENTS` of the digraphs that can be, each also with all arcs reversed."""
    may_send = cost.graph.may_send
    found: list[_Found] = []
    for arcs in dict.fromkeys(each for given in digraphs for each in (given, reverse(given))):
        if not all(may_send[arc] for arc in arcs) or not _is_strong(cost, arcs):
            continue
        limit_s = found[DESCENTS - 1].value_s if len(found) >= DESCENTS else inf
        one = _weighed(cost, arcs, limit_s)
        if one is not None:
            found = _in_order([*found, one])
    return found[:DESCENTS]


def _descents(cost: SimulatedCost, starts: list[_Found], evaluations: int) -> list[_Found]:
    """The starts, each with matchings added and taken out while that lowers the criterion."""
    left, results = evaluations, []
    for number, start in enumerate(starts):
        one, used = _descent(cost, start, left // (len(starts) - number))
        left -= used
        results.append(one)
    return _in_order([*starts, *results])


def _descent(cost: SimulatedCost, start: _Found, budget: int) -> tuple[_Found, int]:
    """One overlay with better matchings, and how many were simulated."""
    symmetric = _is_symmetric(start.arcs)
    now, used, better = start, 0, True
    while better and used < budget:
        better = False
        for changed in _matchings(cost, now, symmetric):
            if used >= budget:
                break
            one = _weighed(cost, changed, now.value_s * (1 - NOISE), hoped=now.hoped)
            used += one is not None
            if one is not None and one.value_s < now.value_s * (1 - NOISE):
                now, better = one, True
                break
    return now, used


def _matchings(cost: SimulatedCost, now: _Found, symmetric: bool) -> Iterator[Arcs]:
    """Strong digraphs with a matching more, or with one less; large ones first."""
    present = _present(cost, now.arcs)
    absent = _absent(cost, present)
    far = now.apart_by
    near = far.max(initial=0.0) - far
    more, fewer = best_matching(absent, far), best_matching(present, near)
    size = cost.graph.silos
    while size:
        if len(more) > size // 2:
            yield _kept(cost, now.arcs, now.arcs | set(more[:size]), symmetric)
        if len(fewer) > size // 2:
            changed = _kept(cost, now.arcs, now.arcs - set(fewer[:size]), symmetric)
            if _is_strong(cost, changed):
                yield changed
        size //= 2


def _walks(
    cost: SimulatedCost,
    groups: list[list[_Found]],
    evaluations: int,
    rng: np.random.Generator,
    report: Callable[[float], None],
) -> list[_Found]:
    """The best overlays of walks from the best of each group, and all of the groups, the best first."""
    found = [one for group in groups for one in group]
    chosen = [group[0] for group in groups if group]
    budgets = even_parts(evaluations, len(chosen))
    for number, (start, budget) in enumerate(zip(chosen, budgets, strict=True), 1):
        found.append(_walk(cost, start, budget, rng))
        report(number / len(chosen))
    return _in_order(found)


def _refined(
    cost: SimulatedCost, starts: list[_Found], evaluations: int, rng: np.random.Generator
) -> list[_Found]:
    """The best ones with optimal weights, and the best overlay of a walk from the best of them."""
    weighed: list[_Found] = []
    for start in starts[: 2 * CONFIRMED]:
        budget = min(evaluations, PROGRAMS // len(start.arcs) ** 2)
        if cost.graph.silos > MANY_SILOS or len(start.arcs) > EXACT_SIZE or len(weighed) >= budget:
            break
        one = _weighed(cost, start.arcs, optimal=True)
        assert one is not None
        weighed.append(one)
    if not weighed:
        return []
    weighed = _in_order(weighed)
    budget = min(evaluations, PROGRAMS // len(weighed[0].arcs) ** 2) - len(weighed)
    return _in_order([_walk(cost, weighed[0], budget, rng, optimal=True), *weighed])


def _walk(
    cost: SimulatedCost, start: _Found, budget: int, rng: np.random.Generator, *, optimal: bool = False
) -> _Found:
    """The best overlay on a walk that changes single arcs, by scaled or optimal weights."""
    near = NearSilos(cost.alone_s)
    symmetric = _is_symmetric(start.arcs)
    travel: Travel[_Found, Arcs] = Travel(
        arcs=lambda found: found.arcs,
        time_s=lambda found: found.value_s,
        changed=lambda now: _changed(cost, now, near, symmetric, rng),
        simulated_below=lambda now, arcs, limit_s: _weighed(
            cost, arcs, limit_s, hoped=now.hoped, optimal=optimal
        ),
    )
    return record_travel(travel, start, evaluations=budget, trials=TRIALS * budget)


def _changed(
    cost: SimulatedCost, now: _Found, near: NearSilos, symmetric: bool, rng: np.random.Generator
) -> Arcs | None:
    """A strong digraph that differs in few arcs; None where the drawn change gives none."""
    arcs = sorted(now.arcs)
    # Where a silo's own computing is the bound, no arc costs time.
    costly = sorted({*now.bound.arcs, *now.simulated.arcs}) or arcs
    old = (
        costly[int(rng.integers(len(costly)))]
        if rng.random() < COSTLY
        else least_apart(arcs, now.apart_by, rng)
    )
    new = most_apart(_absent(cost, _present(cost, now.arcs)), now.apart_by, rng)
    move = int(rng.integers(5))
    if move == 0:
        changed = now.arcs - {old}
    elif move == 1:
        changed = cross(now.arcs, old, arcs[int(rng.integers(len(arcs)))])
    elif move == 2:
        other = near.draw(old[int(rng.integers(2))], rng)
        changed = MOVES[int(rng.integers(len(MOVES)))](now.arcs, old, other)
    elif new is None:
        return None
    else:
        changed = now.arcs | {new} if move == 3 else (now.arcs - {old}) | {new}
    if not all(cost.graph.may_send[arc] for arc in changed - now.arcs):
        return None
    changed = _kept(cost, now.arcs, changed, symmetric)
    return changed if _is_strong(cost, changed) else None


def _kept(cost: SimulatedCost, before: Arcs, after: Arcs, symmetric: bool) -> Arcs:
    """The changed digraph, with every change in both directions where it has to stay symmetric."""
    if not symmetric:
        return after
    gone, new = before - after, after - before
    both = new | {arc for arc in reverse(new) if cost.graph.may_send[arc]}
    return (before - gone - reverse(gone)) | both


def _present(cost: SimulatedCost, arcs: Iterable[Arc]) -> BoolArray:
    """Which arcs there are, shape (silos, silos)."""
    present = np.zeros_like(cost.graph.may_send)
    present[ends(frozenset(arcs))[0], ends(frozenset(arcs))[1]] = True
    return present


def _absent(cost: SimulatedCost, present: BoolArray) -> BoolArray:
    """Which arcs there could be more, shape (silos, silos)."""
    return cost.graph.may_send & ~present


def _is_symmetric(arcs: Arcs) -> bool:
    """Whether each arc has its reverse."""
    return reverse(arcs) == arcs


def _is_strong(cost: SimulatedCost, arcs: Arcs) -> bool:
    """Whether every silo reaches every other one."""
    return components(cost.graph.silos, *ends(arcs), strong=True)[0] == 1


def _in_order(found: Iterable[_Found]) -> list[_Found]:
    """The best first, each once; of equally good ones that with fewer arcs."""
    distinct = {one.arcs: one for one in found}
    return sorted(distinct.values(), key=lambda one: (one.value_s, len(one.arcs), sorted(one.arcs)))


def _least(cost: SimulatedCost, kinds: Iterable[Overlay], arcs: Iterable[Arcs]) -> Overlay:
    """The overlay with the fewest seconds per e-fold, with optimal weights."""
    rounds = rounds_for_interval(cost.graph.silos)
    least, least_s, any_overlay = None, inf, False
    for overlay in [*(cost.overlay(each) for each in arcs), *kinds]:
        any_overlay = True
        if overlay.closed_forms.load_bound_s >= least_s:
            continue
        optimal = _optimal(cost, overlay)
        contraction = round_contraction(optimal.consensus)
        if optimal.closed_forms.load_bound_s * rounds_per_efold(contraction) >= least_s:
            continue
        value_s = seconds_per_efold(cost.simulated(optimal, rounds).time_s, contraction)
        if value_s < least_s * (1 - NOISE):
            least, least_s = optimal, value_s
    if least is None:
        if not any_overlay:
            raise InputError("best: no overlay connects all silos.")
        raise InputError("best: no overlay can be simulated: time could not advance.")
    return least


def _optimal(cost: SimulatedCost, overlay: Overlay) -> Overlay:
    """An overlay with optimal weights, without the arcs that have none; a STAR as it is."""
    silos = cost.graph.silos
    if overlay.hub is not None:
        return overlay
    found = [scaled_weights(silos, overlay.source, overlay.target)]
    if np.abs(overlay.consensus.sum(axis=0) - 1).max() <= SUM_TOLERANCE:
        found.append(overlay.consensus)
    exact = silos <= MANY_SILOS and overlay.arcs <= EXACT_SIZE
    if exact and all(rounds_per_efold(round_contraction(each)) > 1 for each in found):
        found.append(fdla(silos, overlay.source, overlay.target))
    weights = min(found, key=round_contraction)
    # The arcs that are left join all silos strongly, even with weights below 0: as much weight leaves each set of silos
    # as enters it, so that a set that arcs only enter would have a sum of 0 there, and would not contract.
    used = weights[overlay.target, overlay.source] != 0
    return build_overlay(
        "best",
        cost.graph,
        cost.work,
        np.column_stack((overlay.source[used], overlay.target[used])),
        consensus=weights,
        negative_weights=bool((weights < 0).any()),
    )

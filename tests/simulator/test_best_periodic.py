"""The search for periodic overlays: its requirement, never worse than kinds that meet it, brute force, edges."""

import functools
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import random_network

from simulator import simulate
from simulator.designers import periodic_search
from simulator.designers.best_periodic import best_periodic
from simulator.designers.mixing_repair import mended, mixes, pair_gains
from simulator.designers.periodic_cost import PeriodicCost
from simulator.designers.periodic_search import fastest_periodic
from simulator.designers.simulated_search import fastest_simulated
from simulator.statistics.confidence import rounds_for_interval
from topologies import (
    AccessLinks,
    InputError,
    Workload,
    build_periodic,
    connectivity,
    design_periodic,
    load_underlay,
    state_of,
)
from topologies.bounds import periodic_bound_s, simulated_bound_s
from topologies.consensus import check_consensus, spectral_gap
from topologies.contraction import worst_contraction

SHORT = {"iterations": 20, "evaluations": 12}


def simulated_s(overlay):
    """Cycle time as tables have it."""
    timeline = simulate(overlay, rounds_for_interval(overlay.graph.silos), engine="compiled")
    interval = timeline.confidence_interval()
    return timeline.cycle_time_s if interval is None else interval.mean


def pairs(*edges):
    """Both arcs of each edge."""
    return frozenset(arc for i, j in edges for arc in ((i, j), (j, i)))


def arcs_of(overlay):
    """The arcs of each state by label, as the silos are numbered otherwise elsewhere."""
    labels = overlay.graph.labels
    return [{(labels[i], labels[j]) for i, j in zip(s.source, s.target, strict=True)} for s in overlay.states]


@given(seed=st.integers(0, 2**32 - 1), silos=st.integers(2, 6), period=st.integers(1, 3))
@settings(max_examples=3, deadline=None)
def test_never_slower_and_never_mixing_worse_than_the_static_overlay(seed, silos, period):
    graph, work = random_network(seed, silos)
    static = fastest_simulated(graph, work, **SHORT)
    found = fastest_periodic(graph, work, period=period, **SHORT)

    assert (found.kind, found.period, found.longest_lag) == ("best_periodic", period, 1)
    assert simulated_s(found) <= simulated_s(static) * (1 + 1e-6)
    assert simulated_s(found) >= periodic_bound_s(graph, work, period) * (1 - 1e-9)
    for state in found.states:
        check_consensus(state.consensus(silos), columns=True)
    most = 1 - spectral_gap(static.consensus)
    copies = [state_of(static.source, static.target, static.consensus[static.target, static.source])] * period
    is_static = all(np.array_equal(state.source, static.source) for state in found.states)
    assert worst_contraction(silos, found.states) <= (
        worst_contraction(silos, copies) if is_static else most
    ) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_never_slower_than_periodic_kinds_that_mix_as_well(seed):
    graph, work = random_network(seed, 4)
    kinds = [
        design_periodic(kind, graph, work, order=order)
        for kind in ("one_peer_exponential", "base")
        for order in ("none", "tour")
    ]
    found = fastest_periodic(graph, work, most_contraction=0.0, **SHORT)

    assert {(kind.period, worst_contraction(4, kind.states)) for kind in kinds} == {(2, 0.0)}
    assert worst_contraction(4, found.states) == 0.0
    assert simulated_s(found) <= min(map(simulated_s, kinds)) * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_optimum_of_all_pairs_of_states_of_three_silos(seed):
    graph, work = random_network(seed, 3)
    cost = PeriodicCost(graph, work)
    every = list(itertools.permutations(range(3), 2))
    digraphs = [frozenset(arcs) for size in range(7) for arcs in itertools.combinations(every, size)]
    most = 1 - spectral_gap(fastest_simulated(graph, work, iterations=40, evaluations=24).consensus)
    allowed = [
        states
        for states in itertools.product(digraphs, repeat=2)
        if cost.is_overlay(states) and mixes(cost.contraction(states), most)
    ]
    assert len(allowed) > 20

    least_s = min(cost.simulated(cost.overlay(cost.states(states)), 400).time_s for states in allowed)
    found = fastest_periodic(graph, work, iterations=40, evaluations=24)
    assert simulated_s(found) <= least_s * (1 + 1e-9)


def test_a_slow_link_is_crossed_in_every_other_round_only():
    # GEANT has a silo behind 155 Mbit/s, which no static overlay can spare: 2.316 s a round.
    graph = connectivity(load_underlay("geant"), access=AccessLinks(up_bps=1e10, down_bps=1e10))
    work = Workload.preset("inaturalist")
    found = fastest_periodic(graph, work, iterations=8, evaluations=0)

    assert simulated_bound_s(graph, work, circuits=False) == pytest.approx(2.3159, abs=1e-4)
    assert periodic_bound_s(graph, work, 2, circuits=False) == pytest.approx(1.15794, abs=1e-5)
    assert simulated_s(found) == pytest.approx(1.15794, abs=1e-5)


def test_an_overlay_that_cannot_mix_so_well_is_asked_for():
    graph, work = random_network(0, 5)
    # Silo 0 talks with one other only, so that two rounds are not enough for the exact average of all.
    graph = connectivity(
        graph.underlay,
        access=AccessLinks(up_bps=1e9, down_bps=1e9),
        routers=range(5),
        blocked=[pair for j in (2, 3, 4) for pair in ((0, j), (j, 0))],
    )

    with pytest.raises(InputError, match=r"^best_periodic: contraction\(=0\.0\) must be larger: of the over"):
        fastest_periodic(graph, work, most_contraction=0.0, **SHORT)


def test_a_larger_contraction_allows_faster_overlays():
    graph, work = random_network(3, 6)
    strict, loose = (fastest_periodic(graph, work, most_contraction=c, **SHORT) for c in (0.8, 1.0))

    assert worst_contraction(6, strict.states) <= 0.8 * (1 + 1e-9)
    assert worst_contraction(6, loose.states) < 1
    assert simulated_s(loose) < simulated_s(strict)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_overlay_and_the_order_of_silos_plays_no_part():
    graph, work = random_network(5, 6)
    order = [3, 0, 5, 1, 4, 2]
    moved = connectivity(
        graph.underlay,
        access=AccessLinks(up_bps=graph.up_bps[order], down_bps=graph.down_bps[order]),
        routers=graph.router[order],
    )
    its_work = Workload(model_bits=work.model_bits, compute_s=np.asarray(work.compute_s)[order])

    one, two, three = (
        arcs_of(fastest_periodic(*each, **SHORT))
        for each in ((graph, work), (graph, work), (moved, its_work))
    )
    assert one == two == three


def test_progress_rises_to_the_end():
    shares = []
    fastest_periodic(*random_network(5, 6), progress=shares.append, **SHORT)

    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) > 10


def test_one_silo_only_computes():
    graph, _ = random_network(1, 1)
    found = fastest_periodic(graph, Workload(model_bits=1e6, compute_s=0.25), period=3)

    assert found.messages == 0
    assert found.closed_forms.paper_s == pytest.approx(0.25)


def test_two_silos_exchange_once_a_period_and_agree_exactly():
    graph, _ = random_network(1, 2)
    work = Workload(model_bits=4.5e7, compute_s=0.5)
    once, found = (fastest_periodic(graph, work, period=period, **SHORT) for period in (1, 4))

    assert worst_contraction(2, found.states) == 0.0
    assert found.messages == 2
    assert simulated_s(found) == pytest.approx((simulated_s(once) + 3 * 0.5) / 4)


def test_with_one_state_it_is_the_static_overlay():
    graph, work = random_network(2, 5)
    static, found = fastest_simulated(graph, work, **SHORT), best_periodic(graph, work, period=1, **SHORT)

    assert arcs_of(found) == [
        {(graph.labels[i], graph.labels[j]) for i, j in zip(static.source, static.target, strict=True)}
    ]
    assert np.array_equal(found.states[0].consensus(5), static.consensus)
    assert simulated_s(found) == pytest.approx(simulated_s(static), rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"period": 0}, "period(=0) must be >= 1 and <= 8"),
        ({"period": 9}, "period(=9) must be >= 1 and <= 8"),
        ({"contraction": 1.5}, "contraction(=1.5) must be >= 0 and <= 1"),
        ({"evaluations": -1}, "evaluations(=-1) must be >= 0"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(InputError) as error:
        design_periodic("best_periodic", *random_network(1, 3), **options)
    assert message in str(error.value)


@given(seed=st.integers(0, 2**32 - 1), silos=st.integers(2, 6), period=st.integers(1, 4))
@settings(max_examples=15, deadline=None)
def test_no_simulation_falls_below_the_bounds(seed, silos, period):
    graph, work = random_network(seed, silos)
    rng, cost = np.random.default_rng(seed), PeriodicCost(graph, work)
    states = tuple(
        functools.reduce(
            frozenset.union,
            (pairs(rng.choice(silos, 2, replace=False).tolist()) for _ in range(rng.integers(0, 4))),
            frozenset(),
        )
        for _ in range(period)
    )
    if not cost.is_overlay(states):
        return
    overlay = cost.overlay(cost.states(states))

    bound_s = cost.bound(states).time_s
    assert bound_s >= max(cost.load_s(states), periodic_bound_s(graph, work, period)) * (1 - 1e-9)
    for queueing in ("fifo", "overlap"):
        timeline = simulate(overlay, 300, queueing=queueing, engine="compiled")
        if timeline.cycle_time_is_exact:
            assert timeline.cycle_time_s >= bound_s * (1 - 1e-9)


def test_where_the_silos_agree_exactly_every_singular_value_is_the_largest():
    graph, work = random_network(0, 4)
    everyone = pairs(*itertools.combinations(range(4), 2))
    (state,) = PeriodicCost(graph, work).states((everyone,))
    average = np.full((4, 4), 0.25)
    agreed = SimpleNamespace(consensus=lambda _silos: average)

    # Each of the four vectors gives (u_i - u_j) (v_i - v_j), all together |e_i - e_j|^2 = 2.
    assert state.consensus(4) == pytest.approx(average, abs=1e-12)
    assert pair_gains(4, (agreed,)) == pytest.approx(2 * (1 - np.eye(4))[np.newaxis], abs=1e-12)


@pytest.mark.parametrize(("apart_by", "gain"), [(0.9e-6, 2.0), (2e-6, 1.0)])
def test_singular_values_a_millionth_apart_are_one(apart_by, gain):
    # Of the silos 0, 1 and 2, 3 each pair keeps this part of its difference, and the pairs are in agreement.
    halves = np.kron(np.eye(2), np.array([[1.0, -1.0], [-1.0, 1.0]]) / 2)
    matrix = 0.25 + np.diag((1.0, 1.0, 1 - apart_by, 1 - apart_by)) @ halves / 2
    gains = pair_gains(4, (SimpleNamespace(consensus=lambda _silos: matrix),))

    # By the first pair alone an exchange within it gains (1 / sqrt 2 + 1 / sqrt 2)^2, one across half of it squared.
    assert gains[0, 0, 1] == pytest.approx(2.0, abs=1e-5)
    assert gains[0, 2, 3] == pytest.approx(2.0 * (gain == 2.0), abs=1e-5)
    assert gains[0, 0, 2] == pytest.approx(0.5 * gain, abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_gains_are_the_slope_of_the_norm(seed):
    rng = np.random.default_rng(seed)
    silos, step, place = 5, 1e-6, 1
    cost = PeriodicCost(*random_network(seed, silos))
    states = cost.states(
        tuple(pairs(*(rng.choice(silos, 2, replace=False).tolist() for _ in range(3))) for _ in range(3))
    )
    matrices = [state.consensus(silos) for state in states]

    def norm(product):
        return np.linalg.norm((np.eye(silos) - 1 / silos) @ product, 2)

    gains = pair_gains(silos, states)
    before = norm(matrices[2] @ matrices[1] @ matrices[0])
    for i, j in itertools.combinations(range(silos), 2):
        exchange = np.zeros((silos, silos))
        exchange[[i, i, j, j], [i, j, i, j]] = (-1, 1, 1, -1)
        after = norm(matrices[2] @ (matrices[1] + step * exchange) @ matrices[0])
        assert (before - after) / step == pytest.approx(gains[place, i, j], abs=1e-4)


def test_mending_adds_what_lets_halves_of_the_silos_agree():
    graph, work = random_network(4, 6)
    cost = PeriodicCost(graph, work)
    triangle = pairs((0, 1), (1, 2), (0, 2))
    states = (triangle | pairs((3, 4), (4, 5), (3, 5)), pairs((0, 3)))
    most = cost.contraction(states) * 0.9
    found = mended(cost, states, most, np.inf, pairs=6)

    assert found is not None
    assert cost.contraction(found) <= most * (1 + 1e-9)
    assert all(before <= after for before, after in zip(states, found, strict=True))
    added = frozenset().union(*found) - frozenset().union(*states)
    assert any((i < 3) != (j < 3) for i, j in added) or found[1] != states[1]
    assert mended(cost, states, most, 0.0, pairs=6) is None
    assert mended(cost, states, 1.0, 0.0, pairs=0) == states


def test_the_bound_of_one_state_is_that_of_static_overlays():
    graph, work = random_network(7, 5)

    assert periodic_bound_s(graph, work, 1) == simulated_bound_s(graph, work)


def test_an_alternating_pair_meets_the_bound():
    graph, _ = random_network(1, 2)
    work = Workload(model_bits=4.5e7, compute_s=0.5)
    state = state_of([0, 1], [1, 0], [0.5, 0.5])
    overlay = build_periodic("pair", graph, work, [state, state_of([], [], []), state_of([], [], [])])

    assert simulated_s(overlay) == pytest.approx(periodic_bound_s(graph, work, 3), rel=1e-9)


def test_the_reference_stands_where_nothing_is_faster_and_must_be_simulated(monkeypatch):
    monkeypatch.setattr(periodic_search, "_kinds", lambda *_: [])
    ends = np.arange(2)
    reference = (state_of(ends, ends[::-1], np.full(2, 0.5)),)

    def confirmed(time_s, reference):
        cost = SimpleNamespace(
            graph=SimpleNamespace(silos=2),
            work=None,
            bound=lambda _arcs: SimpleNamespace(time_s=1.0),
            overlay=lambda states: states,
            simulated=lambda *_: SimpleNamespace(time_s=time_s),
        )
        return periodic_search._confirmed(cost, [], reference, 1.0)

    assert confirmed(2.0, reference) is reference
    for time_s, start in ((np.inf, reference), (2.0, None)):
        with pytest.raises(InputError, match="no overlay can be simulated: time could not advance"):
            confirmed(time_s, start)

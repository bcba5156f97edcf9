"""The lower bound: below every strong digraph of small networks, exact where theory knows it."""

import dataclasses
import functools
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from topologies import AccessLinks, InputError, Workload, connectivity, design, load_underlay
from topologies import circuit_bound as circuits
from topologies.bounds import (
    _cheapest_visit,
    _slowest_needed_s,
    lower_bound_s,
    periodic_bound_s,
    simulated_bound_s,
    simulated_bounds_s,
)
from topologies.circuit_bound import _Cut, _near, _reached, _solve, _violated, circuit_bound
from topologies.connectivity import with_bottleneck
from topologies.designers.ring import ring

INATURALIST = Workload.preset("inaturalist", variant="published")


@st.composite
def networks(draw, make_underlay, silos):
    """Any latencies and available bandwidths, few distinct values (ties, zeros), some pairs blocked."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    bps = (1e8, 1e9, 1e10)
    graph = connectivity(
        make_underlay(silos, [(i, j, 1.0) for i, j in itertools.combinations(range(silos), 2)]),
        access=AccessLinks(up_bps=rng.choice(bps, silos), down_bps=rng.choice(bps, silos)),
        blocked=[pair for pair in itertools.permutations(range(silos), 2) if rng.random() < 0.15],
    )
    available = np.where(graph.available_bps > 0, rng.choice((5e8, 1e9, 1e11), (silos, silos)), 0.0)
    graph = dataclasses.replace(
        graph,
        latency_s=rng.choice((0.0, 0.01, 0.3, rng.random()), (silos, silos)) * (1 - np.eye(silos)),
        available_bps=np.where(np.eye(silos, dtype=bool), np.inf, available),
    )
    work = Workload(
        model_bits=draw(st.sampled_from((0.0, 4.5e7))), compute_s=rng.choice((0.0, 0.02, 0.3), silos)
    )
    return graph, work


@functools.cache
def strong_digraphs(silos):
    """Pairs, membership of each strong digraph, simple circuits as lists of pair indices."""
    pairs = list(itertools.permutations(range(silos), 2))
    member = np.array(list(itertools.product((False, True), repeat=len(pairs))))
    reach = np.zeros((len(member), silos, silos), dtype=bool)
    for k, (i, j) in enumerate(pairs):
        reach[:, i, j] = member[:, k]
    reach |= np.eye(silos, dtype=bool)
    for k in range(silos):
        reach |= reach[:, :, k, np.newaxis] & reach[:, np.newaxis, k]
    circuits = [
        [pairs.index(arc) for arc in itertools.pairwise((*nodes, nodes[0]))]
        for size in range(2, silos + 1)
        for nodes in itertools.permutations(range(silos), size)
        if nodes[0] == min(nodes)
    ]
    return np.array(pairs), member[reach.all(axis=(1, 2))], circuits


def smallest_cycle_time(graph, work):
    """Over every strong digraph, each with its degrees, by its circuits and self-loops."""
    pairs, member, circuits = strong_digraphs(graph.silos)
    source, target = pairs.T
    out = member @ (source[:, np.newaxis] == np.arange(graph.silos))
    into = member @ (target[:, np.newaxis] == np.arange(graph.silos))
    with np.errstate(divide="ignore"):
        rate = np.minimum(graph.up_bps[source] / out[:, source], graph.down_bps[target] / into[:, target])
        rate = np.minimum(rate, graph.available_bps[source, target])
    compute_s = work.round_compute_s(graph.silos)
    talks = graph.available_bps[source, target] > 0
    delay = compute_s[source] + graph.latency_s[source, target]
    delay = np.where(talks, delay + work.model_bits / np.where(talks, rate, 1.0), np.inf)
    tau = np.full(len(member), compute_s.max())
    for circuit in circuits:
        mean = delay[:, circuit].mean(axis=1)
        tau = np.maximum(tau, np.where(member[:, circuit].all(axis=1), mean, -np.inf))
    return float(tau.min())


@pytest.mark.parametrize("silos", [2, 3, 4])
@given(data=st.data())
@settings(max_examples=10)
def test_no_strong_digraph_is_faster(make_underlay, silos, data):
    graph, work = data.draw(networks(make_underlay, silos))
    optimum = smallest_cycle_time(graph, work)
    if np.isinf(optimum):
        with pytest.raises(InputError):
            design("best", graph, work, iterations=10)
        return
    bound = lower_bound_s(graph, work)

    assert bound <= optimum * (1 + 1e-12)
    assert optimum <= design("best", graph, work, iterations=10).closed_forms.paper_s * (1 + 1e-12)


def smallest_circuit_mean(delay, node):
    others = [k for k in range(len(delay)) if k != node]
    return min(
        sum(delay[arc] for arc in itertools.pairwise((node, *rest, node))) / (size + 1)
        for size in range(1, len(delay))
        for rest in itertools.permutations(others, size)
    )


@given(seed=st.integers(0, 2**32 - 1), nodes=st.integers(2, 7))
@settings(max_examples=30)
def test_circuits_through_a_node_have_no_smaller_mean(seed, nodes):
    rng = np.random.default_rng(seed)
    delay = rng.choice((0.0, 1e-3, 1.0, 1.0 + rng.random(), np.inf), (nodes, nodes))
    optimum = smallest_circuit_mean(delay, 0)

    assert circuit_bound(delay, 0) <= optimum * (1 + 1e-12) or np.isinf(optimum)


def test_circuits_elsewhere_do_not_count():
    # Two near pairs far from each other: a permutation would take the pair (2, 3) along with the circuit (0, 1).
    delay = np.array([[9.0, 5, 9, 9], [5, 9, 9, 9], [9, 9, 9, 1], [9, 9, 1, 9]])

    assert circuit_bound(delay, 0) == pytest.approx(5.0)
    assert circuit_bound(delay, 2) == pytest.approx(1.0)


def test_one_circuit_through_arcs_that_are_not_the_cheapest():
    # 0 -> 1 -> 10 -> 0, and two groups of nine nodes each, in which each node has eight cheaper arcs than 1 -> 10.
    delay = np.full((19, 19), np.inf)
    delay[1:10, 1:10] = delay[10:, 10:] = 1.0
    delay[0, 1], delay[1, 10], delay[10, 0] = 2.0, 30.0, 4.0

    assert circuit_bound(delay, 0) == pytest.approx(12.0)


@pytest.mark.parametrize("nodes", [2, 5, 20])
def test_through_a_node_on_no_circuit_there_is_no_bound(monkeypatch, nodes):
    solved = []
    monkeypatch.setattr(circuits, "solve", lambda *at, **how: solved.append(at) or linprog(*at, **how))
    delay = np.where(np.triu(np.ones((nodes, nodes)), 1) > 0, 1.0, np.inf)

    assert circuit_bound(delay, 0) == -np.inf
    # All arcs of few nodes, and of many first the eight cheapest ones of each.
    assert len(solved) == (1 if nodes < 10 else 2)


def test_without_delays_no_program_is_needed():
    assert circuit_bound(np.zeros((3, 3)), 0) == 0.0
    assert circuit_bound(np.full((1, 1), 7.0), 0) == 0.0
    assert circuit_bound(np.array([[1.0, 2.0], [4.0, 1.0]]), 0, rounds=0) == -np.inf


def test_the_first_program_has_eight_arcs_out_of_and_into_each_node_and_all_of_the_one(monkeypatch):
    programs = []

    def solve(cost, kept, node, cuts):
        programs.append((kept.copy(), node, list(cuts)))
        return np.zeros_like(cost), 1.0, np.ones_like(cost)

    monkeypatch.setattr(circuits, "_solve", solve)
    monkeypatch.setattr(circuits, "_violated", lambda *_: ["cut"])
    silo = np.arange(12)
    # The nearest are the next ones, and those before.
    delay = 1.0 + (silo - silo[:, np.newaxis]) % 12
    assert circuit_bound(delay, 3) == 12.0

    # At most 25, each with the cuts of those before.
    assert [cuts for _, _, cuts in programs] == [["cut"] * k for k in range(25)]
    kept, node, _ = programs[0]
    near = (delay > 1) & (delay <= 9)
    near[3], near[:, 3] = silo != 3, silo != 3
    assert node == 3
    assert np.array_equal(kept, near)


@pytest.mark.parametrize(("below", "more"), [(0.9e-9, False), (1.1e-9, True)])
def test_arcs_below_the_optimum_are_added_until_there_are_none(monkeypatch, below, more):
    kept_arcs = []

    def solve(cost, kept, _node, _cuts):
        kept_arcs.append(kept.copy())
        left = np.ones_like(cost)
        left[0, 11] = 1.0 - below
        return np.zeros_like(cost), 1.0, left

    monkeypatch.setattr(circuits, "_solve", solve)
    monkeypatch.setattr(circuits, "_violated", lambda *_: [])
    silo = np.arange(12)
    delay = 1.0 + (silo - silo[:, np.newaxis]) % 12
    assert circuit_bound(delay, 5) == pytest.approx(12.0)

    assert [bool(kept[0, 11]) for kept in kept_arcs] == [False, True][: 1 + more]
    if more:
        assert np.argwhere(kept_arcs[1] ^ kept_arcs[0]).tolist() == [[0, 11]]


def test_reduced_costs_of_a_circuit_that_is_tight_in_all_rows_are_its_own(monkeypatch):
    multipliers = []

    def solve(*at, **how):
        result = linprog(*at, **how)
        multipliers.append(result.ineqlin.marginals)
        return result

    monkeypatch.setattr(circuits, "solve", solve)
    # Nodes 2 and 3 are near each other; so are 4 and 1.
    cost = 1.0 + np.random.default_rng(2).random((5, 5))
    cost[2, 3] = cost[3, 2] = 0.125
    cost[4, 1] = cost[1, 4] = 0.25
    arc = ~np.eye(5, dtype=bool)
    cuts = [
        circuits._Cut(inside=np.isin(np.arange(5), inside), visited=inside[0]) for inside in ((2, 3), (4, 1))
    ]
    flow, optimum, left = circuits._solve(np.where(arc, cost, np.inf), arc, 0, cuts)

    # Limits on visits and both cuts count here.
    assert multipliers[0][:5].min() < -0.01
    assert multipliers[0][5:].max() < -0.01
    assert optimum == pytest.approx(float((flow[arc] * cost[arc]).sum()), rel=1e-9)
    assert left[arc].min() == pytest.approx(optimum, rel=1e-9)
    # A circuit through all nodes that leaves each set once.
    for order in ((0, 2, 3, 4, 1), (0, 1, 4, 3, 2), (0, 4, 1, 2, 3)):
        tour = list(zip(order, (*order[1:], 0), strict=True))
        assert sum(left[arc] for arc in tour) == pytest.approx(sum(cost[arc] for arc in tour), rel=1e-9)


def cuts_of(flow, node):
    """Nodes inside each cut that a flow violates, and the node that is visited."""
    return [(np.flatnonzero(cut.inside).tolist(), cut.visited) for cut in circuits._violated(flow, node)]


def test_a_circuit_elsewhere_is_cut_off_once():
    flow = np.zeros((6, 6))
    flow[0, 1] = flow[1, 0] = 0.125
    flow[2, 3] = flow[3, 4] = flow[4, 2] = 0.125
    flow[3, 5] = flow[5, 3] = 0.125

    # More enters node 3 than any other of the four.
    assert cuts_of(flow, 0) == [([2, 3, 4, 5], 3)]
    assert cuts_of(flow, 3) == [([0, 1], 0)]


@pytest.mark.parametrize(
    ("size", "back", "violated"),
    [
        (0.25, 0.9e-3, False),
        (0.25, 1.1e-3, True),
        # Of three nodes, visits below a third of a millionth are rounding.
        (1.01e-6 / 3, 0.5, True),
        (0.99e-6 / 3, 0.5, False),
    ],
)
def test_a_thousandth_of_a_visit_and_tiny_ones_need_no_cut(size, back, violated):
    flow = np.zeros((3, 3))
    flow[1, 2], flow[2, 1] = size, size * back
    flow[2, 0] = flow[0, 1] = size * (1 - back)

    assert cuts_of(flow, 0) == ([([1, 2], 1)] if violated else [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "at_least_ms", "best_ms"),
    [
        ("gaia", 114.0, 116.7),
        ("aws_na", 80.05, 80.08),
        ("geant", 81.2, 92.0),
        ("exodus", 78.5, 85.6),
        ("ebone", 75.1, 83.3),
    ],
)
def test_published_networks(published_graph, name, at_least_ms, best_ms):
    assert at_least_ms <= 1e3 * lower_bound_s(published_graph(name, 1e10), INATURALIST) <= best_ms


def test_two_silos_have_one_overlay(make_underlay):
    graph = connectivity(make_underlay(2, [(0, 1, 500.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e8))

    assert lower_bound_s(graph, INATURALIST) == pytest.approx(ring(graph, INATURALIST).closed_forms.paper_s)


def test_one_silo_computes(make_underlay):
    graph = connectivity(
        make_underlay(2, [(0, 1, 1.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[0]
    )

    assert lower_bound_s(graph, INATURALIST) == INATURALIST.round_compute_s(1)[0]


def test_equal_delays_are_the_bound(make_underlay):
    links = [(i, j, 100.0) for i, j in itertools.combinations(range(6), 2)]
    graph = connectivity(make_underlay(6, links), access=AccessLinks(up_bps=1e9, down_bps=1e9))

    assert lower_bound_s(graph, INATURALIST) == pytest.approx(ring(graph, INATURALIST).closed_forms.paper_s)


def test_one_far_silo_is_averaged_with_the_near_ones(make_underlay):
    near, far = 0.0254 + 0.004, 0.0254 + 0.004 + 8.5e-6 * 10_000
    links = [(i, j, 0.0) for i, j in itertools.combinations(range(4), 2)]
    links += [(i, 4, 10_000.0) for i in range(4)]
    graph = connectivity(make_underlay(5, links), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    work = Workload(model_bits=0.0, compute_s=0.0254)

    assert lower_bound_s(graph, work) == pytest.approx((2 * far + 3 * near) / 5)
    assert ring(graph, work).closed_forms.paper_s == pytest.approx((2 * far + 3 * near) / 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaia", "aws_na", "geant"])
def test_designers_on_published_networks(published_graph, name):
    graph = published_graph(name, 1e8)
    bound = lower_bound_s(graph, INATURALIST)

    assert bound > INATURALIST.round_compute_s(1)[0]
    for kind in ("star", "mst", "ring"):
        assert bound <= design(kind, graph, INATURALIST).closed_forms.paper_s


@given(seed=st.integers(0, 2**32 - 1), silos=st.integers(2, 6))
@settings(max_examples=10)
def test_a_star_with_unequal_computing_is_no_faster(make_underlay, seed, silos):
    rng = np.random.default_rng(seed)
    graph = connectivity(
        make_underlay(silos, [(0, j, float(rng.integers(0, 100))) for j in range(1, silos)]),
        access=AccessLinks(up_bps=1e10, down_bps=1e10),
    )
    work = Workload(model_bits=1e6, compute_s=rng.choice((0.0, 1.0), silos))

    assert lower_bound_s(graph, work) <= design("star", graph, work).closed_forms.paper_s * (1 + 1e-12)


def test_a_silo_on_no_circuit_is_named(make_underlay):
    graph = connectivity(
        make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0)]),
        access=AccessLinks(up_bps=1e9, down_bps=1e9),
        blocked=[(2, 0), (2, 1)],
    )

    with pytest.raises(InputError, match="r2 lies on no circuit"):
        lower_bound_s(graph, INATURALIST)


def test_programs_only_raise_the_bound_of_the_assignments(published_graph):
    graph = published_graph("geant", 1e10)
    quick, highest = (lower_bound_s(graph, INATURALIST, circuits=circuits) for circuits in (False, True))

    assert 0.07 < quick < highest


def test_a_slow_link_that_no_overlay_avoids_bounds_the_simulation(make_underlay):
    # On the triangle the link of 1 Mbit/s is avoided; the only one to r3, of 2 Mbit/s, is not.
    links = dataclasses.replace(
        make_underlay(4, [(0, 1, 0.0), (1, 2, 0.0), (0, 2, 0.0), (2, 3, 0.0)]),
        capacity_bps=np.array([1e9, 1e9, 1e6, 2e6]),
    )
    graph = connectivity(links, access=AccessLinks(up_bps=1e9, down_bps=1e9))

    assert simulated_bound_s(graph, Workload(model_bits=1e6, compute_s=0.0)) == pytest.approx(0.5)
    # Whatever computes longer than that bounds it more.
    assert simulated_bound_s(graph, Workload(model_bits=1e6, compute_s=3.0)) > 3.0


def test_it_ignores_the_sharing_of_hops(make_underlay):
    # Both models cross two links, of which Eq. 3 with hop shares gives them a half each.
    graph = connectivity(
        make_underlay(3, [(0, 1, 0.0), (1, 2, 0.0)]),
        access=AccessLinks(up_bps=1e12, down_bps=1e12),
        core=1e6,
        routers=[0, 2],
    )
    work = Workload(model_bits=1e6, compute_s=0.0)

    assert lower_bound_s(graph, work) == pytest.approx(2.004)
    assert simulated_bound_s(graph, work) == pytest.approx(1.004)


def test_bottlenecks_leave_blocked_and_measured_pairs_as_they_are(make_underlay):
    underlay, access = make_underlay(3, [(0, 1, 0.0), (1, 2, 0.0)]), AccessLinks(up_bps=1e9, down_bps=1e9)
    blocked = with_bottleneck(connectivity(underlay, access=access, blocked=[(0, 2)]))
    measured = connectivity(underlay, access=access, bandwidth=np.full((3, 3), 5.0))

    assert np.array_equal(
        blocked.available_bps,
        connectivity(underlay, access=access, bandwidth="bottleneck", blocked=[(0, 2)]).available_bps,
    )
    assert with_bottleneck(measured) is measured


def test_no_period_is_shorter_than_the_longest_computing(make_underlay):
    graph = connectivity(
        make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9)
    )
    work = Workload(model_bits=1e9, compute_s=np.array([0.5, 10.0, 0.25]))
    bounds = simulated_bounds_s(graph, work, (1, 2, 1000))
    # One model takes 1 s; the rounds of a long period in which silos only compute take 0.25 s or more.
    assert bounds == pytest.approx((10.0, 10.0, 10.0), abs=2)
    assert min(bounds) >= 10.0
    equal = Workload(model_bits=1e9, compute_s=0.25)
    once, often = simulated_bounds_s(graph, equal, (1, 1000))
    assert once > 1.25
    assert 0.25 <= often < 0.26


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_without_programs_is_that_of_all_permutations(make_underlay, seed):
    rng, silos = np.random.default_rng(seed), 5
    graph = connectivity(
        make_underlay(silos, [(i, j, 1.0) for i, j in itertools.combinations(range(silos), 2)]),
        access=AccessLinks(up_bps=1e9, down_bps=1e9),
        blocked=[(1, 3)] if seed % 2 else [],
    )
    graph = dataclasses.replace(graph, latency_s=rng.choice((0.01, 0.05, rng.random()), (silos, silos)))
    work = Workload(model_bits=1e7, compute_s=rng.choice((0.0, 0.02, 0.3), silos))
    delay = work.compute_s[:, np.newaxis] + graph.latency_s + 0.01
    delay[~graph.may_send] = np.inf
    best = np.full(silos, np.inf)
    for order in itertools.permutations(range(silos)):
        moved = [silo for silo in range(silos) if order[silo] != silo]
        if moved:
            mean = np.mean([delay[silo, order[silo]] for silo in moved])
            best[moved] = np.minimum(best[moved], mean)

    assert lower_bound_s(graph, work, circuits=False) == pytest.approx(
        max(best.max(), work.compute_s.max()), rel=1e-12
    )


def test_the_cheapest_way_in_and_out_of_each_silo():
    delay = np.array([[0.0, 1, 5], [2, 0, 7], [3, 4, 0]])

    assert _cheapest_visit(delay).tolist() == [3.0, 3.0, 8.0]
    assert delay[0, 0] == 0.0


@pytest.mark.parametrize(
    ("compute_s", "period", "bound"),
    [
        # Each sends 1 Gbit over 1 Gbit/s, after computing and 4 ms: a mean of 1.004 s and 0.375 s of computing.
        ((0.5, 0.25), 1, 1.379),
        ((0.5, 0.25), 2, (1.379 + 0.25) / 2),
        ((0.5, 0.25), 3, (1.379 + 0.5) / 3),
        # Who computes for longest.
        ((0.5, 0.25), 10, 0.5),
        # Without computing the link is what counts.
        ((0.0, 0.0), 4, 1.004 / 4),
    ],
)
def test_bounds_of_periods_by_hand(make_underlay, compute_s, period, bound):
    graph = connectivity(
        make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9), core=1e10
    )
    work = Workload(model_bits=1e9, compute_s=np.array(compute_s))

    assert periodic_bound_s(graph, work, period) == pytest.approx(bound, rel=1e-9)
    assert simulated_bounds_s(graph, work, (1, period))[1] == periodic_bound_s(graph, work, period)
    assert simulated_bound_s(graph, work) == periodic_bound_s(graph, work, 1)


def test_the_slowest_link_that_is_needed_bounds_a_period_by_its_share(make_underlay):
    # 8 s on each link to silo 3, of which one in each direction is needed; the others take a second.
    links = dataclasses.replace(
        make_underlay(4, [(0, 1, 0.0), (1, 2, 0.0), (0, 2, 0.0), (2, 3, 0.0)]),
        capacity_bps=np.array([1e9, 1e9, 1e9, 0.125e9]),
    )
    graph = connectivity(links, access=AccessLinks(up_bps=1e9, down_bps=1e9))
    work = Workload(model_bits=1e9, compute_s=0.0)

    assert _slowest_needed_s(graph, work) == 8.0
    assert periodic_bound_s(graph, work, 4) >= 2.0
    two = connectivity(links, access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[0, 1])
    assert _slowest_needed_s(two, work) == 1.0
    one = connectivity(links, access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[0])
    assert _slowest_needed_s(one, work) == 0.0


def test_the_first_programs_have_the_eight_cheapest_arcs_of_each_node_either_way():
    cost = np.random.default_rng(3).random((12, 12))
    out, into = (np.sort(cost, axis=axis) for axis in (1, 0))
    assert np.array_equal(_near(cost), (cost <= out[:, [7]]) | (cost <= into[[7]]))


def flow_of(nodes, *circuits):
    flow = np.zeros((nodes, nodes))
    for *circuit, share in circuits:
        for i, j in zip(circuit, [*circuit[1:], circuit[0]], strict=True):
            flow[i, j] = share
    return flow


def test_a_circuit_apart_from_the_node_is_cut_off_once():
    flow = flow_of(6, (0, 1, 0.2), (2, 3, 0.2), (4, 5, 0.1))
    apart, more = _violated(flow, 0)
    assert np.flatnonzero(apart.inside).tolist() == [2, 3]
    assert apart.visited == 2
    assert (np.flatnonzero(more.inside).tolist(), more.visited) == ([4, 5], 4)
    assert np.flatnonzero(_violated(flow, 3)[0].inside).tolist() == [0, 1]


def test_a_circuit_through_the_node_violates_no_cut():
    assert _violated(flow_of(4, (0, 1, 2, 3, 0.25)), 2) == []
    # What is rounding is no circuit.
    assert _violated(flow_of(4, (0, 1, 0.5), (2, 3, 1e-7)), 0) == []
    # A tenth of what passes 2 and 3 goes through 0.
    flow = flow_of(4, (2, 3, 0.4)) + flow_of(4, (0, 2, 3, 0.04))
    (cut,) = _violated(flow, 0)
    assert (np.flatnonzero(cut.inside).tolist(), cut.visited) == ([2, 3], 2)


def test_nodes_behind_a_full_arc_are_not_reached():
    capacity = csr_array(np.array([[0, 5, 0], [0, 0, 3], [0, 0, 0]], dtype=np.int32))
    flow = csr_array(np.array([[0, 3, 0], [-3, 0, 3], [0, -3, 0]], dtype=np.int32))
    assert sorted(_reached(capacity, flow, 0).tolist()) == [0, 1]
    # Back along what flows.
    assert sorted(_reached(capacity, flow, 2).tolist()) == [0, 1, 2]


def test_a_program_with_and_without_a_cut_by_hand():
    # 0 and 1 exchange models in 3 each, 2 and 3 in 1 each; from one pair to the other it takes 5.
    cost = np.full((4, 4), 5.0)
    cost[0, 1] = cost[1, 0] = 3.0
    cost[2, 3] = cost[3, 2] = 1.0
    np.fill_diagonal(cost, np.inf)
    arc = np.isfinite(cost)
    # As much out of 2 and 3 as out of 0: a quarter on each of the four arcs.
    flow, optimum, left = _solve(cost, arc, 0, [])
    assert optimum == pytest.approx(2.0)
    assert flow == pytest.approx(flow_of(4, (0, 1, 0.25), (2, 3, 0.25)))
    assert left[arc].min() == pytest.approx(2.0)
    cuts = _violated(flow, 0)
    assert [(each.inside.tolist(), each.visited) for each in cuts] == [([False, False, True, True], 2)]
    # Then 0 and 1 alone are fastest but for 0 > 2 > 3 > 0 with (5 + 1 + 5) / 3.
    both = [*cuts, _Cut(inside=cuts[0].inside, visited=3)]
    flow, optimum, left = _solve(cost, arc, 0, both)
    assert optimum == pytest.approx(3.0)
    assert flow == pytest.approx(flow_of(4, (0, 1, 0.5)))
    assert left[arc].min() == pytest.approx(3.0)
    assert circuit_bound(cost, 0) == pytest.approx(3.0)
    assert circuit_bound(cost * 1e-6, 0) == pytest.approx(3e-6)
    # Without an arc into the node there is no program to solve.
    one_way = arc.copy()
    one_way[:, 0] = False
    assert _solve(cost, one_way, 0, []) is None
    assert circuit_bound(np.where(one_way, cost, np.inf), 0) == -np.inf


def test_bounds_are_the_highest_unless_a_quick_one_is_asked_for():
    graph = connectivity(
        load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=range(5)
    )
    graph = dataclasses.replace(graph, latency_s=np.random.default_rng(2).random((5, 5)))
    work = Workload(model_bits=1e6, compute_s=0.0)

    for bound_s in (
        lower_bound_s,
        simulated_bound_s,
        functools.partial(periodic_bound_s, period=1),
        lambda *network, **how: simulated_bounds_s(*network, (1,), **how)[0],
    ):
        quick_s, highest_s = (bound_s(graph, work, circuits=highest) for highest in (False, True))
        assert quick_s < bound_s(graph, work) == highest_s

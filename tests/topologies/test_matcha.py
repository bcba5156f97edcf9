"""MATCHA: optimal probabilities with proof, the best weight, the distribution of the rounds."""

import itertools
import warnings

import cvxpy
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Workload, connectivity, design, load_underlay
from topologies.designers import activation
from topologies.designers.activation import (
    Matchings,
    _orthonormal,
    activation_probabilities,
    best_alpha,
)
from topologies.designers.edge_colouring import edge_colouring
from topologies.designers.matcha import matcha, matcha_plus
from topologies.schedule import make_schedule

WORK = Workload(model_bits=1e6, compute_s=0.01)
ACCESS = AccessLinks(up_bps=1e9, down_bps=1e9)


@pytest.fixture(scope="module")
def make_graph(make_underlay):
    """Connectivity graph of silos on a cycle of routers with one chord."""

    def make(silos, routers=None, **options):
        nodes = max(silos, 2)
        links = [(i, i + 1, 100.0) for i in range(nodes - 1)]
        links += [(0, nodes - 1, 50.0), (0, 2, 0.0)] if nodes > 3 else []
        routers = list(range(silos)) if routers is None else routers
        return connectivity(make_underlay(nodes, links), access=ACCESS, routers=routers, **options)

    return make


def coloured(edges, nodes):
    matchings = edge_colouring(edges, nodes)
    number = np.repeat(np.arange(len(matchings)), [len(matching) for matching in matchings])
    return Matchings(nodes=nodes, edges=np.concatenate(matchings), number=number, count=len(matchings))


def solve(problem, solver, **options):
    """Solve the yardstick's program; whether the solver calls its solution accurate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        problem.solve(solver=solver, **options)
    return problem.status == cvxpy.OPTIMAL


def laplacians(matchings):
    return [matchings.laplacian(weight) for weight in np.eye(matchings.count)]


def connectivity_of(matrix):
    return np.linalg.eigvalsh(matrix)[1]


@st.composite
def connected_graphs(draw, largest=9):
    count = draw(st.integers(2, largest))
    tree = {(draw(st.integers(0, node - 1)), node) for node in range(1, count)}
    pairs = list(itertools.combinations(range(count), 2))
    return coloured(sorted(tree | draw(st.sets(st.sampled_from(pairs)))), count)


@given(connected_graphs(), st.sampled_from([0.1, 0.5, 0.8, 1.0]), st.integers(0, 10**6))
def test_probabilities_are_within_the_budget_and_proven_optimal(matchings, budget, seed):
    probability, found, bound = activation_probabilities(matchings, budget)

    assert np.all((probability >= 0) & (probability <= 1))
    assert probability.sum() <= budget * matchings.count * (1 + 1e-12)
    assert found == pytest.approx(connectivity_of(matchings.laplacian(probability)), rel=1e-9)
    assert bound * (1 - 2e-6) <= found <= bound * (1 + 1e-9)
    # The bound must hold for whatever else fits the budget.
    rng = np.random.default_rng(seed)
    for other in rng.random((20, matchings.count)):
        other *= min(1.0, budget * matchings.count / other.sum())
        assert connectivity_of(matchings.laplacian(other)) <= bound * (1 + 1e-9)


@pytest.mark.parametrize("nodes", [2, 3, 10, 11, 40, 87])
def test_equal_probabilities_are_optimal_on_complete_graphs(nodes):
    matchings = coloured(list(itertools.combinations(range(nodes), 2)), nodes)
    probability, found, bound = activation_probabilities(matchings, 0.3)

    assert set(probability) == {0.3}
    assert found == pytest.approx(0.3 * nodes, rel=1e-12)
    assert bound == pytest.approx(0.3 * nodes, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [cvxpy.CLARABEL, cvxpy.SCS])
def test_the_growing_subspace_reaches_the_whole_programme(solver, published_graph):
    found = matcha_plus(published_graph("geant", 1e10), WORK)
    forward = found.source < found.target
    ends = np.stack((found.source, found.target), axis=1)[forward]
    count = len(found.probability)
    matchings = Matchings(nodes=40, edges=ends, number=found.matching[forward], count=count)
    stack = np.array(laplacians(matchings)).reshape(count, -1)
    probability, smallest, across = cvxpy.Variable(count), cvxpy.Variable(), cvxpy.Variable()
    expected = cvxpy.reshape(stack.T @ probability, (40, 40), order="C")
    limits = [probability >= 0, probability <= 1, cvxpy.sum(probability) <= 0.5 * count]
    whole = expected - smallest * np.eye(40) + across * np.ones((40, 40)) >> 0
    problem = cvxpy.Problem(cvxpy.Maximize(smallest), [*limits, whole])
    assert solve(problem, solver, **({} if solver == cvxpy.CLARABEL else {"eps": 1e-8}))

    assert found.connectivity == pytest.approx(problem.value, rel=2e-6)
    assert found.connectivity >= found.connectivity_bound * (1 - 1e-6)


@pytest.mark.parametrize(
    ("solution", "share"),
    [
        ([1.5, 1.5, -0.1], [1.5, 1.5, 0.0]),  # below 0 by rounding
        (
            [2.5, 1.5, 0.5],
            [1.5, 1.125, 0.375],
        ),  # at most 1 / budget = 2, and three quarters of all, whose sum is 4
        ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    ],
)
@pytest.mark.parametrize(
    ("dual", "scaled"),
    [
        (np.diag([3.0, 1.0]), np.diag([0.75, 0.25])),
        (np.diag([-1.0, 2.0]), np.diag([0.0, 1.0])),
        (np.zeros((2, 2)), np.eye(2) / 2),
    ],
)
def test_what_a_solver_finds_is_brought_within_the_budget(monkeypatch, solution, share, dual, scaled):
    monkeypatch.setattr(activation, "solved", lambda *_, **__: (np.array(solution), dual))
    found = activation._solve(np.zeros((3, 2, 2)), 0.5, activation.COARSE)

    assert found[0] == pytest.approx(share)
    assert found[1] == pytest.approx(scaled)


@pytest.mark.parametrize("factor", [1.0, 1e-3])
def test_a_basis_spans_its_columns_and_no_direction_twice(factor):
    one, two = np.array([1.0, 2.0, 2.0, 0.0]) / 3, np.array([0.0, 0.0, 0.0, 1.0])
    columns = factor * np.column_stack((one, two, one - two, 2 * one))
    basis = _orthonormal(columns)

    assert basis.shape == (4, 2)
    assert basis.T @ basis == pytest.approx(np.eye(2), abs=1e-14)
    assert basis @ (basis.T @ columns) == pytest.approx(columns, abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("network", ["geant", "ebone", "exodus"])
@pytest.mark.parametrize("blocked", [[(3, 5)], [(0, 1), (0, 2), (4, 9), (7, 8)]])
def test_almost_complete_graphs_are_solved_on_all_directions(network, blocked, published_graph):
    underlay = published_graph(network, 1e10).underlay
    graph = connectivity(underlay, access=ACCESS, blocked=blocked)
    found = matcha(graph, WORK)

    # The coarse accuracy of the solver does not suffice for all of these.
    assert found.connectivity >= found.connectivity_bound * (1 - 1e-6)
    assert found.connectivity < 0.5 * graph.silos


def test_one_silo_needs_no_edge_weight_and_is_never_apart():
    alone = Matchings(nodes=1, edges=np.empty((0, 2), dtype=int), number=np.empty(0, dtype=int), count=0)

    assert best_alpha(alone, np.empty(0)) == (0.0, 0.0)


@settings(max_examples=10)
@given(connected_graphs(6), st.sampled_from([0.2, 0.5, 0.9]))
def test_alpha_is_what_the_semidefinite_programme_finds(matchings, budget):
    probability, _, _ = activation_probabilities(matchings, budget)
    alpha, norm = best_alpha(matchings, probability)
    lbar = matchings.laplacian(probability)
    ltilde = matchings.laplacian(probability * (1 - probability))
    rho, weight, square = cvxpy.Variable(), cvxpy.Variable(), cvxpy.Variable()
    nodes = matchings.nodes
    matrix = (
        np.eye(nodes)
        - 2 * weight * lbar
        + square * (lbar @ lbar + 2 * ltilde)
        - np.ones((nodes, nodes)) / nodes
    )
    problem = cvxpy.Problem(
        cvxpy.Minimize(rho), [cvxpy.square(weight) <= square, rho * np.eye(nodes) - matrix >> 0]
    )
    assume(solve(problem, cvxpy.SCS, eps=1e-9, max_iters=100_000))  # else it is no yardstick
    counted = 1 - np.prod(1 - probability)

    assert 1 - (1 - norm) * counted == pytest.approx(problem.value, abs=1e-6)
    assert alpha == pytest.approx(weight.value, rel=1e-3)


@settings(max_examples=20)
@given(connected_graphs(6), st.sampled_from([0.2, 0.5, 0.9]))
def test_spectral_norm_is_that_of_the_rounds_that_are_drawn(matchings, budget):
    assume(matchings.count <= 7)
    probability, _, _ = activation_probabilities(matchings, budget)
    alpha, norm = best_alpha(matchings, probability)

    def exact(weight):
        moment, total = np.zeros((matchings.nodes, matchings.nodes)), 0.0
        for active in itertools.product((0.0, 1.0), repeat=matchings.count):
            if any(active):
                chance = np.prod(np.where(active, probability, 1 - probability))
                mixing = np.eye(matchings.nodes) - weight * matchings.laplacian(np.array(active))
                moment, total = moment + chance * mixing.T @ mixing, total + chance
        return np.linalg.norm(moment / total - 1 / matchings.nodes, 2)

    assert norm == pytest.approx(exact(alpha), abs=1e-9)
    assert norm <= min(exact(0.97 * alpha), exact(1.03 * alpha)) + 1e-12
    assert norm < 1


def test_two_silos_average_every_round(make_graph):
    overlay = matcha(make_graph(2), WORK)
    assert overlay.alpha == pytest.approx(0.5, abs=1e-6)
    assert overlay.spectral_norm == pytest.approx(0, abs=1e-9)
    assert make_schedule(overlay, 0, 50).choices.tolist() == [[1]]


def test_active_edges_weigh_alpha_and_own_models_the_rest(make_graph):
    overlay = matcha(make_graph(4), WORK)
    alpha = overlay.alpha
    weights = overlay.consensus(np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1]))

    assert 0 < alpha < 1
    expected = [
        [1 - alpha, alpha, 0, 0],
        [alpha, 1 - 2 * alpha, alpha, 0],
        [0, alpha, 1 - alpha, 0],
        [0, 0, 0, 1],
    ]
    assert weights == pytest.approx(np.array(expected), abs=1e-15)


def test_one_silo_has_no_edges(make_graph):
    overlay = matcha(make_graph(1), WORK)
    source, target = overlay.arcs(overlay.draw(np.random.default_rng(0), 0))
    assert len(source) == len(target) == 0
    assert overlay.consensus(source, target).tolist() == [[1.0]]


def test_full_budget_keeps_every_edge_every_round(make_graph):
    overlay = matcha(make_graph(5), WORK, budget=1.0)
    schedule = make_schedule(overlay, 0, 10)
    assert len(schedule.choices) == 1
    assert len(schedule.arcs(0)[0]) == 20


@pytest.mark.parametrize("budget", [0.5, 0.05, 1e-9])
def test_rounds_follow_the_probabilities_given_that_some_matching_is_active(make_graph, budget):
    overlay = matcha_plus(make_graph(6), WORK, budget=budget)
    rng = np.random.default_rng(3)
    drawn = np.array([overlay.draw(rng, 0) for _ in range(20_000)])
    counted = -np.expm1(np.log1p(-np.minimum(overlay.probability, 1 - 1e-16)).sum())

    assert drawn.any(axis=1).all()
    assert drawn.mean(axis=0) == pytest.approx(overlay.probability / counted, abs=0.015)


def test_matcha_plus_joins_neighbours_in_the_underlay_and_silos_of_one_router(make_graph):
    graph = make_graph(5, routers=[0, 1, 1, 2, 3, 4])
    overlay = matcha_plus(graph, WORK)
    edges = {(i, j) for i, j in zip(overlay.source.tolist(), overlay.target.tolist(), strict=True) if i < j}
    assert edges == {(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (0, 5), (0, 3)}


def test_matcha_over_any_overlay_counts_each_edge_once(published_graph):
    graph = published_graph("gaia", 1e10)
    for kind in ("ring", "mst"):
        arcs = design(kind, graph, WORK)
        overlay = matcha(
            graph, WORK, edges=zip(arcs.source, arcs.target, strict=True), kind=f"matcha over {kind}"
        )
        undirected = {frozenset(arc) for arc in zip(arcs.source.tolist(), arcs.target.tolist(), strict=True)}
        assert {
            frozenset(arc) for arc in zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)
        } == undirected
        assert len(overlay.source) == 2 * len(undirected)
        assert len(overlay.probability) <= arcs.max_degree + 2
        assert overlay.kind == f"matcha over {kind}"


@pytest.mark.parametrize("budget", [0.0, -0.5, 1.5, float("nan")])
def test_budget_outside_its_range(make_graph, budget):
    with pytest.raises(InputError, match=r"budget\(=.*\) must be > 0 and <= 1"):
        matcha(make_graph(3), WORK, budget=budget)


def test_cuts_and_bad_edges_are_named(make_graph):
    apart = [(i, 2) for i in range(2)]
    with pytest.raises(InputError, match="none joins the silos of r0 with those of r2"):
        matcha(make_graph(3, blocked=apart), WORK)
    with pytest.raises(InputError, match="r0 and r2 cannot talk both ways"):
        matcha(make_graph(3, blocked=[(2, 0)]), WORK, edges=[(0, 1), (0, 2)])
    with pytest.raises(InputError, match="two different silos"):
        matcha(make_graph(3), WORK, edges=[(0, 1), (2, 2)])
    with pytest.raises(InputError, match=r"silos of 0\.\.2"):
        matcha(make_graph(3), WORK, edges=[(0, 3)])


def test_routers_without_a_silo_are_passed(make_underlay):
    path = make_underlay(4, [(i, i + 1, 100.0) for i in range(3)])
    overlay = matcha_plus(connectivity(path, access=ACCESS, routers=[0, 2, 3]), WORK)

    arcs = set(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    assert arcs == {(0, 1), (1, 0), (1, 2), (2, 1)}


@given(seed=st.integers(0, 2**32 - 1), nodes=st.integers(8, 16), budget=st.sampled_from([0.1, 0.2, 0.5]))
@settings(max_examples=10)
def test_the_bound_holds_on_trees(seed, nodes, budget):
    rng = np.random.default_rng(seed)
    matchings = coloured([(int(rng.integers(0, node)), node) for node in range(1, nodes)], nodes)
    probability, found, bound = activation_probabilities(matchings, budget)

    assert probability.sum() <= budget * matchings.count * (1 + 1e-9)
    assert found == pytest.approx(np.linalg.eigvalsh(matchings.laplacian(probability))[1], abs=1e-12)
    assert bound * (1 - 1e-5) <= found <= bound * (1 + 1e-9)


@pytest.mark.slow
def test_shipped_underlays_carry_it_too():
    graph = connectivity(load_underlay("ebone"), access=ACCESS)
    overlay = matcha_plus(graph, WORK)
    assert overlay.connectivity >= overlay.connectivity_bound * (1 - 1e-6)
    assert overlay.spectral_norm < 1

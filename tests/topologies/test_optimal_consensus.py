"""Fastest averaging and fastest mixing: optima known in closed form, and order relations."""

import itertools

import cvxpy
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csc_array

from topologies.consensus import consensus_matrix, spectral_gap
from topologies.errors import SilosimError
from topologies.optimal_consensus import (
    _circuits,
    _circulation,
    _first_order,
    _Program,
    _scaled,
    balanced,
    fdla,
    fmmc,
)


def both_ways(edges):
    a, b = np.array(sorted(edges)).T
    return np.concatenate((a, b)), np.concatenate((b, a))


def norm(matrix):
    return np.linalg.norm(matrix - 1 / len(matrix), 2)


def laplacian_eigenvalues(silos, edges):
    laplacian = np.zeros((silos, silos))
    for a, b in edges:
        laplacian[[a, b], [a, b]] += 1
        laplacian[[a, b], [b, a]] -= 1
    return np.linalg.eigvalsh(laplacian)


EDGE_TRANSITIVE = {
    "cycle of 7": (7, [(i, (i + 1) % 7) for i in range(7)]),
    "cycle of 10": (10, [(i, (i + 1) % 10) for i in range(10)]),
    "cycle of 40": (40, [(i, (i + 1) % 40) for i in range(40)]),
    "complete bipartite": (7, list(itertools.product(range(3), range(3, 7)))),
    "cube": (8, [(i, i ^ bit) for i in range(8) for bit in (1, 2, 4) if i < i ^ bit]),
    "complete": (6, list(itertools.combinations(range(6), 2))),
}


@pytest.mark.parametrize("name", sorted(EDGE_TRANSITIVE))
def test_fdla_on_edge_transitive_graphs(name):
    # Xiao and Boyd: all edges weigh 2 / (lambda_2 + lambda_n) of the Laplacian.
    silos, edges = EDGE_TRANSITIVE[name]
    eigenvalues = laplacian_eigenvalues(silos, edges)
    weight = 2 / (eigenvalues[1] + eigenvalues[-1])
    source, target = both_ways(edges)
    matrix = consensus_matrix("fdla", silos, source, target)

    assert spectral_gap(matrix) == pytest.approx(weight * eigenvalues[1], abs=1e-5)
    if silos <= 32:
        assert spectral_gap(matrix) == pytest.approx(weight * eigenvalues[1], abs=1e-7)
        assert matrix[target, source] == pytest.approx(np.full(len(source), weight), abs=1e-3)
    assert np.array_equal(matrix, matrix.T)


@pytest.mark.parametrize("silos", [2, 3, 6, 15, 35])
def test_fmmc_on_a_path(silos):
    # Boyd, Diaconis, Sun, Xiao, "Fastest mixing Markov chain on a path" (2006): 1/2 on every edge.
    matrix = consensus_matrix("fmmc", silos, *both_ways([(i, i + 1) for i in range(silos - 1)]))

    assert spectral_gap(matrix) == pytest.approx(1 - np.cos(np.pi / silos), abs=1e-5)
    assert np.all(matrix >= 0)


@pytest.mark.parametrize("rule", ["fdla", "fmmc"])
@pytest.mark.parametrize("silos", [3, 6, 50])
def test_a_directed_ring_takes_halves(rule, silos):
    matrix = consensus_matrix(rule, silos, np.arange(silos), (np.arange(silos) + 1) % silos)

    assert spectral_gap(matrix) == pytest.approx(1 - np.cos(np.pi / silos), abs=1e-12)


def test_fdla_on_a_circulant_digraph():
    # By convexity the average over all rotations of a solution is one too: two weights remain.
    silos = 7
    shifts = np.exp(-2j * np.pi * np.arange(1, silos) / silos)

    def worst(weights):
        return np.abs(1 - weights.sum() + weights[0] * shifts + weights[1] * shifts**2).max()

    best = minimize(
        worst, [0.3, 0.3], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}
    )
    nodes = np.arange(silos)
    matrix = consensus_matrix(
        "fdla", silos, np.tile(nodes, 2), np.concatenate(((nodes + 1) % silos, (nodes + 2) % silos))
    )

    assert norm(matrix) == pytest.approx(best.fun, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_order_of_the_gaps_on_random_graphs(seed):
    rng = np.random.default_rng(seed)
    silos = 9
    tree = {(int(rng.integers(i)), i) for i in range(1, silos)}
    extra = {tuple(sorted(map(int, rng.choice(silos, 2, replace=False)))) for _ in range(2 * seed)}
    source, target = both_ways(tree | extra)
    fdla, fmmc, metropolis = (
        consensus_matrix(r, silos, source, target) for r in ("fdla", "fmmc", "metropolis")
    )

    assert spectral_gap(fdla) >= spectral_gap(fmmc) - 1e-7
    assert spectral_gap(fmmc) >= spectral_gap(metropolis) - 1e-7
    assert spectral_gap(fdla) > spectral_gap(metropolis)
    assert np.all(fmmc >= 0)
    assert_matrix(fdla, source, target)
    assert_matrix(fmmc, source, target)


def assert_matrix(matrix, source, target):
    silos = len(matrix)
    allowed = np.eye(silos, dtype=bool)
    allowed[target, source] = True
    assert np.all(matrix[~allowed] == 0)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(silos), abs=1e-13)
    assert matrix.sum(axis=0) == pytest.approx(np.ones(silos), abs=1e-13)
    weights = np.abs(matrix[target, source])
    assert np.all((weights == 0) | (weights > 1e-7))


@pytest.mark.parametrize(("silos", "seed"), [(4, 0), (8, 1), (12, 2), (20, 3)])
def test_random_digraphs(silos, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(silos)
    arcs = set(zip(order.tolist(), np.roll(order, -1).tolist(), strict=True))
    arcs |= {tuple(map(int, rng.choice(silos, 2, replace=False))) for _ in range(2 * silos)}
    source, target = np.array(sorted(arcs)).T
    fdla, fmmc = (consensus_matrix(rule, silos, source, target) for rule in ("fdla", "fmmc"))
    start = balanced(silos, source, target)

    assert_matrix(fdla, source, target)
    assert_matrix(fmmc, source, target)
    assert_matrix(start, source, target)
    assert np.all(fmmc >= 0)
    assert np.all(start >= 0)
    assert norm(fdla) <= norm(fmmc) + 1e-4
    assert norm(fmmc) <= norm(start)
    assert norm(fmmc) < 1
    for matrix in (fdla, fmmc, start):
        assert spectral_gap(matrix) >= 1 - norm(matrix) - 1e-9


def test_the_same_input_gives_the_same_matrix():
    arcs = both_ways([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])

    assert np.array_equal(consensus_matrix("fdla", 4, *arcs), consensus_matrix("fdla", 4, *arcs))


@pytest.mark.parametrize("rule", ["fdla", "fmmc"])
def test_a_solver_that_fails_is_one_error(monkeypatch, rule):
    def fail(_problem, **_options):
        raise cvxpy.SolverError("it gave up")

    monkeypatch.setattr("topologies.optimal_consensus.EXACT_SIZE", 0)
    monkeypatch.setattr(cvxpy.Problem, "solve", fail)
    with pytest.raises(SilosimError, match=r"^fastest averaging: .*\bNone\b"):
        consensus_matrix(rule, 4, *both_ways([(0, 1), (1, 2), (2, 3)]))


FIRST_ORDER = {
    # A hub of four leaves, one of which has two more: the silos' own weights and those of arcs bound FMMC.
    "tree": both_ways([(0, 1), (0, 2), (0, 3), (0, 4), (4, 5), (4, 6)]),
    "cliques": both_ways([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]),
    "digraph": np.array([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 3), (2, 0), (3, 1)]).T,
}


@pytest.mark.parametrize("graph", sorted(FIRST_ORDER))
@pytest.mark.parametrize("rule", [fdla, fmmc])
def test_the_solver_of_large_overlays_comes_as_near_as_it_is_accurate(monkeypatch, rule, graph):
    source, target = FIRST_ORDER[graph]
    silos = int(source.max()) + 1
    exact = rule(silos, source, target)
    monkeypatch.setattr("topologies.optimal_consensus.EXACT_SIZE", 0)
    found = rule(silos, source, target)

    assert norm(found) == pytest.approx(norm(exact), abs=1e-4 if graph == "digraph" else 1e-5)
    # The closed forms, which it is compared with, are far from both.
    assert norm(balanced(silos, source, target)) > norm(exact) + 1e-2
    assert_matrix(found, source, target)


@pytest.mark.parametrize("nonnegative", [True, False])
def test_weights_of_large_overlays_are_the_solver_s_own(nonnegative):
    for name, (source, target) in FIRST_ORDER.items():
        silos, arcs = int(source.max()) + 1, len(source)
        program = _Program(
            silos=silos, source=source, target=target, weights=csc_array(np.eye(arcs)), symmetric=False
        )
        weights = _first_order(program, nonnegative)
        own = 1 - np.bincount(target, weights, silos)
        assert np.bincount(source, weights, silos) == pytest.approx(1 - own, abs=1e-3), name
        if nonnegative:
            assert min(weights.min(), own.min()) >= -1e-3


def test_weights_of_nothing_are_not_scaled():
    source, target = both_ways([(0, 1), (1, 2)])

    for nonnegative in (False, True):
        assert _scaled(3, source, target, np.zeros(4), nonnegative).tolist() == [0.0] * 4
        # Below 0 they drive the silos apart, whatever their size.
        assert _scaled(3, source, target, np.full(4, -0.1), nonnegative).tolist() == [-0.1] * 4
    # Two edges of 1 in a complete graph of 1/2 or 0.6 below 0: no silo has more above 0 than below it.
    source, target = both_ways(itertools.combinations(range(4), 2))
    inside = (source // 2) == (target // 2)
    for below in (-0.5, -0.6):
        weights = np.where(inside, 1.0, below)
        assert _scaled(4, source, target, weights, nonnegative=False).tolist() == weights.tolist()
    source, target = both_ways([(0, 1), (1, 2)])
    # On a path of three the Laplacian has 0, 1 and 3: the best weights are 1/2.
    assert _scaled(3, source, target, np.full(4, 0.1), nonnegative=False) == pytest.approx([0.5] * 4)
    # A hub of four leaves: 2 / (1 + 5), but each silo's own weight would be below 0 there.
    source, target = both_ways([(0, 1), (0, 2), (0, 3), (0, 4)])
    assert _scaled(5, source, target, np.full(8, 0.1), nonnegative=False) == pytest.approx([1 / 3] * 8)
    assert _scaled(5, source, target, np.full(8, 0.1), nonnegative=True) == pytest.approx([1 / 4] * 8)


@pytest.mark.parametrize(
    ("arcs", "weights", "circuits"),
    [
        ([(0, 1), (1, 2), (2, 0), (1, 0)], [0.5, 0.25, 0.25, 0.25], [0.5, 0.25, 0.25, 0.25]),
        # What a solver leaves below 0, and what flows to where nothing leaves, is none.
        ([(0, 1), (1, 0), (1, 2), (2, 0), (0, 2)], [0.5, 0.5, 0.125, 0.0, -0.1], [0.5, 0.5, 0.0, 0.0, 0.0]),
        # The larger of two circuits first; what is left over of an arc is none.
        ([(0, 1), (1, 0), (1, 2), (2, 0)], [0.75, 0.5, 0.25, 0.125], [0.625, 0.5, 0.125, 0.125]),
        # No silo receives more than 1.
        ([(0, 1), (1, 0), (2, 1), (1, 2)], [1.0, 1.0, 0.5, 0.5], [2 / 3, 2 / 3, 1 / 3, 1 / 3]),
        ([(1, 2), (2, 1)], [0.25, 0.25], [0.25, 0.25]),
        ([(0, 1), (1, 2), (2, 0)], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    ],
)
def test_a_circulation_is_the_sum_of_circuits(arcs, weights, circuits):
    source, target = np.array(arcs).T
    assert _circuits(3, source, target, np.array(weights)) == pytest.approx(circuits, abs=1e-15)


def test_the_nearest_circulation_on_arcs_that_weigh_something():
    # On a ring the mean of its weights; 0 stays 0.
    source, target = np.array([(0, 1), (1, 2), (2, 0), (0, 2)]).T
    found = _circulation(3, source, target, np.array([0.25, 0.5, 0.75, 0.0]))
    assert found == pytest.approx([0.5, 0.5, 0.5, 0.0], abs=1e-15)
    # Two silos, each to the other and over a third: the outflow of each is its inflow, at the least change.
    found = _circulation(3, source, target, np.array([0.25, 0.5, 0.75, 0.25]))
    assert np.bincount(source, found) == pytest.approx(np.bincount(target, found), abs=1e-15)
    change = found - [0.25, 0.5, 0.75, 0.25]
    # Circulations are spanned by the ring and by 0 -> 2 -> 0; the change is across both.
    assert [change[:3].sum(), change[2] + change[3]] == pytest.approx([0.0, 0.0], abs=1e-15)

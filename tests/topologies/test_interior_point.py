"""The interior-point method against a general solver on the program as it reads, and known optima."""

import cvxpy
import numpy as np
import pytest

from topologies.optimal_consensus import fdla, fmmc


def norm(matrix):
    return np.linalg.norm(matrix - 1 / len(matrix), 2)


def smallest_norm(silos, source, target, *, nonnegative):
    """By cvxpy: any matrix on these arcs whose rows and columns sum to 1."""
    allowed = np.eye(silos)
    allowed[target, source] = 1
    matrix = cvxpy.Variable((silos, silos))
    ones = np.ones(silos)
    limits = [matrix @ ones == ones, matrix.T @ ones == ones, cvxpy.multiply(1 - allowed, matrix) == 0]
    limits += [matrix >= 0] if nonnegative else []
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm(matrix - 1 / silos, 2)), limits)
    return problem.solve(solver=cvxpy.CLARABEL)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("silos", "seed"), [(3, 0), (6, 1), (10, 2), (14, 3)])
def test_a_general_solver_finds_no_smaller_norm(silos, seed, symmetric):
    rng = np.random.default_rng(seed)
    order = rng.permutation(silos)
    arcs = set(zip(order.tolist(), np.roll(order, -1).tolist(), strict=True))
    arcs |= {tuple(map(int, rng.choice(silos, 2, replace=False))) for _ in range(silos)}
    arcs |= {(j, i) for i, j in arcs} if symmetric else set()
    source, target = np.array(sorted(arcs)).T

    for rule, nonnegative in ((fdla, False), (fmmc, True)):
        expected = smallest_norm(silos, source, target, nonnegative=nonnegative)
        assert norm(rule(silos, source, target)) == pytest.approx(expected, abs=2e-6)


def test_a_large_cycle():
    # Xiao and Boyd: 2 / (lambda_2 + lambda_n) of the Laplacian on every edge of an edge-transitive graph.
    silos = 60
    nodes = np.arange(silos)
    after = (nodes + 1) % silos
    slowest = 2 - 2 * np.cos(2 * np.pi / silos)
    matrix = fdla(silos, np.concatenate((nodes, after)), np.concatenate((after, nodes)))

    assert norm(matrix) == pytest.approx((4 - slowest) / (4 + slowest), abs=2e-8)


def test_a_coarse_accuracy_is_kept():
    silos = 20
    source, target = np.array([(i, j) for i in range(silos) for j in range(silos) if abs(i - j) in (1, 2)]).T
    exact, coarse = norm(fdla(silos, source, target)), norm(fdla(silos, source, target, accuracy=0.01))

    assert exact - 1e-8 <= coarse <= exact + 0.01

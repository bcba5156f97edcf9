"""The interior-point method against a general solver on the program as it reads, and known optima."""

import math
from types import SimpleNamespace

import cvxpy
import numpy as np
import pytest
from scipy.sparse import csc_array

from topologies import interior_point
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


class Stages:
    """Newton steps with made-up decrements; keeps the weight of each."""

    def __init__(self, monkeypatch, *decrements):
        self.decrements, self.weights, self.sizes = list(decrements), [], []
        monkeypatch.setattr(interior_point, "_at", self.at)
        monkeypatch.setattr(interior_point, "_newton", self.newton)

    def at(self, _program, x, t):
        self.sizes.append(t)
        return SimpleNamespace(x=x, squares=np.array([0.09, 0.25]))

    def newton(self, _program, point, weight):
        self.weights.append(weight)
        decrement = self.decrements[(len(self.weights) - 1) % len(self.decrements)]
        return None if decrement is None else (point, decrement)


@pytest.mark.parametrize("decrements", [(0.31, 0.3, 0.29), (5.0, 0.3, None), (0.0,), (None,)])
def test_a_stage_ends_below_a_decrement_of_three_tenths_and_the_next_is_twenty_times_as_sharp(
    monkeypatch, decrements
):
    stages = Stages(monkeypatch, *decrements)
    # Two nodes and a limit: a parameter of 5. Stages at 0.05, 0.0025 and 0.000125 of the start, which is below 1e-3.
    program = SimpleNamespace(start="start", bound=np.zeros(1))

    assert interior_point._path(program, 1e-3) == "start"
    assert stages.sizes == [0.0, pytest.approx(0.6)]
    expected = [0.2 * 0.05**stage for stage in (1, 2, 3) for _ in decrements]
    assert stages.weights == pytest.approx(expected, rel=1e-12)
    # At an accuracy that is met nothing is left to do.
    stages.weights.clear()
    interior_point._path(program, 0.2 * 0.05 * 5)
    assert len(stages.weights) == len(decrements)


def test_no_more_than_400_steps(monkeypatch):
    stages = Stages(monkeypatch, 1.0)
    interior_point._path(SimpleNamespace(start="start", bound=np.zeros(1)), 1e-8)

    assert stages.weights == [pytest.approx(0.01)] * 400


@pytest.mark.parametrize(
    ("inside_from", "barrier", "size"), [(1, 0.0, 1.0), (3, 0.0, 0.25), (21, 0.0, None), (20, 0.0, 2.0**-19)]
)
def test_a_step_is_halved_until_it_is_inside_and_19_times_at_most(monkeypatch, inside_from, barrier, size):
    tried = []

    def at(_program, x, t):
        tried.append((x, t))
        return SimpleNamespace(x=x, inside=len(tried) >= inside_from, barrier=lambda _: barrier)

    monkeypatch.setattr(interior_point, "_at", at)
    monkeypatch.setattr(interior_point, "_derivatives", lambda *_: (np.array([0.0, 1.0]), None))
    monkeypatch.setattr(interior_point, "_descent", lambda *_: np.array([4.0, -9.0]))
    start = SimpleNamespace(x=1.0, t=50.0, barrier=lambda _: 100.0)
    moved = interior_point._newton(None, start, 1.0)

    # The gradient in t is 1 + 1 / weight; along the step it falls by 18, whose root is the decrement.
    assert (moved is None) == (size is None)
    if size is not None:
        point, decrement = moved
        assert point.x == pytest.approx(1.0 + 4.0 * size)
        assert tried[-1][1] == pytest.approx(50.0 - 9.0 * size)
        assert decrement == pytest.approx(18**0.5)
    assert len(tried) == min(inside_from, 20)


@pytest.mark.parametrize(("barrier", "halvings"), [(8.2, 0), (8.3, 1), (9.05, 1), (9.15, 2)])
def test_a_step_gains_a_tenth_of_what_its_slope_says(monkeypatch, barrier, halvings):
    tried = []

    def at(_program, x, _t):
        tried.append(x)
        return SimpleNamespace(inside=True, barrier=lambda _: barrier)

    monkeypatch.setattr(interior_point, "_at", at)
    monkeypatch.setattr(interior_point, "_derivatives", lambda *_: (np.array([0.0, 1.0]), None))
    monkeypatch.setattr(interior_point, "_descent", lambda *_: np.array([4.0, -9.0]))
    interior_point._newton(None, SimpleNamespace(x=1.0, t=50.0, barrier=lambda _: 10.0), 1.0)

    # 0.1 * 18, half of it, a quarter.
    assert len(tried) == halvings + 1


@pytest.mark.parametrize(
    ("t", "largest", "slack", "inside"),
    [
        (0.5, 0.25, (1.0,), False),
        (np.nextafter(0.5, 1.0), 0.25, (1.0,), True),
        (-1.0, 0.25, (1.0,), False),
        (0.0, -1.0, (1.0,), False),
        (1.0, 0.25, (), True),
        (1.0, 0.25, (1.0, 0.0), False),
        (1.0, 0.25, (5e-324, 1.0), True),
        (1.0, 0.25, (1.0, -1.0), False),
    ],
)
def test_the_barrier_is_finite_inside(t, largest, slack, inside):
    point = interior_point._Point(
        x=np.zeros(1),
        t=float(t),
        rest=np.zeros((2, 2)),
        squares=np.array([-2.0, largest]),
        vectors=np.eye(2),
        slack=np.array(slack),
    )
    assert point.inside is inside
    if inside:
        expected = t / 0.5 - sum(math.log(t**2 - square) for square in (-2.0, largest))
        assert point.barrier(0.5) == pytest.approx(expected - sum(map(math.log, slack)), rel=1e-12)


@pytest.fixture(params=[True, False], ids=["limits and equations", "neither"])
def program(request):
    """Four rank-one matrices on five nodes."""
    rng = np.random.default_rng(8)
    left, right = rng.normal(size=(2, 5, 4))
    rows = 3 if request.param else 0
    return interior_point.NormProgram(
        left=csc_array(np.where(rng.random((5, 4)) < 0.7, left, 0.0)),
        right=csc_array(right),
        start=np.zeros(4),
        balance=rng.normal(size=(rows - 1, 4)) if rows else np.empty((0, 4)),
        limit=csc_array(rng.normal(size=(rows, 4))),
        bound=rng.random(rows) + 0.5,
    )


POINT = np.array([0.05, -0.1, 0.15, 0.08, 1.9])
"""Combination and norm bound, inside of the barrier."""


def test_a_point_has_the_matrix_that_is_left_and_its_distances_from_the_limits(program):
    point = interior_point._at(program, POINT[:-1], 1.9)
    rest = np.eye(5) - 1 / 5
    for k in range(4):
        rest = rest - POINT[k] * np.outer(program.left.toarray()[:, k], program.right.toarray()[:, k])

    assert point.inside
    assert point.rest == pytest.approx(rest, abs=1e-14)
    assert np.sqrt(np.abs(point.squares)) == pytest.approx(
        np.linalg.svd(rest, compute_uv=False)[::-1], abs=1e-7
    )
    assert (point.vectors * point.squares) @ point.vectors.T == pytest.approx(rest @ rest.T, abs=1e-12)
    assert point.slack == pytest.approx(program.bound - program.limit.toarray() @ POINT[:-1], abs=1e-14)
    inside = np.block([[1.9 * np.eye(5), rest], [rest.T, 1.9 * np.eye(5)]])
    barrier = -np.linalg.slogdet(inside)[1] - np.log(point.slack).sum()
    assert point.barrier(0.25) == pytest.approx(1.9 / 0.25 + barrier, rel=1e-12)


def test_slopes_of_the_barrier_are_those_of_differences(program):
    def at(values):
        return interior_point._at(program, values[:-1], values[-1])

    gradient, hessian = interior_point._derivatives(program, at(POINT))
    assert hessian == pytest.approx(hessian.T, rel=1e-12)
    step = 1e-5
    for k in range(5):
        low, high = (at(POINT + sign * step * np.eye(5)[k]) for sign in (-1, 1))
        assert gradient[k] == pytest.approx(
            (high.barrier(np.inf) - low.barrier(np.inf)) / (2 * step), rel=1e-7, abs=1e-7
        )
        low_slope, high_slope = (interior_point._derivatives(program, each)[0] for each in (low, high))
        assert hessian[k] == pytest.approx((high_slope - low_slope) / (2 * step), rel=1e-6, abs=1e-6)


def test_a_newton_step_keeps_the_equations(program):
    gradient, hessian = interior_point._derivatives(
        program, interior_point._at(program, POINT[:-1], POINT[-1])
    )
    step = interior_point._descent(program, gradient, hessian)
    equations = len(program.balance)
    padded = np.column_stack((program.balance, np.zeros(equations)))
    # The smallest of the quadratic model where the equations hold, with their multipliers.
    whole = np.block([[hessian, padded.T], [padded, np.zeros((equations, equations))]])
    expected = np.linalg.solve(whole, np.concatenate((-gradient, np.zeros(equations))))[:5]

    assert step == pytest.approx(expected, rel=1e-9)
    assert program.balance @ step[:-1] == pytest.approx(np.zeros(equations), abs=1e-12)
    assert gradient @ step < 0


def test_the_search_ends_at_the_smallest_norm_within_the_limits(program):
    found = interior_point.smallest_norm(program, 1e-6)

    def norm_at(x):
        return np.linalg.norm(interior_point._at(program, x, 0.0).rest, 2)

    assert (program.limit.toarray() @ found <= program.bound).all()
    assert program.balance @ found == pytest.approx(np.zeros(len(program.balance)), abs=1e-9)
    x = cvxpy.Variable(4)
    rest = np.eye(5) - 1 / 5 - program.left.toarray() @ cvxpy.diag(x) @ program.right.toarray().T
    limits = [program.limit.toarray() @ x <= program.bound, program.balance @ x == 0]
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm(rest, 2)), limits if len(program.bound) else [])
    assert norm_at(found) == pytest.approx(problem.solve(solver=cvxpy.CLARABEL), abs=2e-6)

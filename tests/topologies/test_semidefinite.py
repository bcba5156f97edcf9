"""What a solver leaves: its optimum, or one line that says that there is none."""

import cvxpy
import numpy as np
import pytest

from topologies import SilosimError
from topologies.designers import activation
from topologies.designers.activation import Matchings, activation_probabilities
from topologies.semidefinite import solved

# A triangle with a tail: the matching of the tail is worth more than the others.
TAIL = Matchings(
    nodes=4, edges=np.array([[0, 1], [2, 3], [0, 2], [1, 2]]), number=np.array([0, 0, 1, 2]), count=3
)


def test_values_and_duals():
    x = cvxpy.Variable(2)
    above = x >= np.array([1.0, 2.0])
    value, dual = solved("x", cvxpy.Problem(cvxpy.Minimize(x[0] + 3 * x[1]), [above]), x, above)

    assert value == pytest.approx([1.0, 2.0])
    assert dual == pytest.approx([1.0, 3.0])


@pytest.mark.parametrize(("sense", "status"), [(1, "unbounded"), (-1, "infeasible")])
def test_no_optimum(sense, status):
    x = cvxpy.Variable()
    limits = [] if sense == 1 else [x >= 1, x <= 0]

    with pytest.raises(SilosimError, match=rf"^x: the solver found no solution \(status {status}"):
        solved("x", cvxpy.Problem(cvxpy.Minimize(sense * x), limits), x)


def test_a_solver_that_fails(monkeypatch):
    def fail(_problem, **_options):
        raise cvxpy.SolverError("Solver 'CLARABEL' failed.\nTry another solver.")

    monkeypatch.setattr(cvxpy.Problem, "solve", fail)
    with pytest.raises(SilosimError) as error:
        activation_probabilities(TAIL, 0.5)

    assert str(error.value) == (
        "activation probabilities: the solver found no solution (status None: Solver 'CLARABEL' failed.)."
    )


def test_where_clarabel_fails_the_other_solver_is_asked(monkeypatch):
    expected = activation_probabilities(TAIL, 0.5)
    real, asked = cvxpy.Problem.solve, []

    def without_clarabel(problem, **options):
        asked.append(options["solver"])
        if options["solver"] == cvxpy.CLARABEL:
            raise cvxpy.SolverError("Solver 'CLARABEL' failed.")
        return real(problem, **options)

    monkeypatch.setattr(cvxpy.Problem, "solve", without_clarabel)
    probability, found, bound = activation_probabilities(TAIL, 0.5)

    assert set(asked) == {cvxpy.CLARABEL, cvxpy.SCS}
    assert probability == pytest.approx(expected[0], abs=1e-4)
    assert found == pytest.approx(expected[1], rel=1e-6)
    assert bound == pytest.approx(expected[2], rel=1e-6)


def test_a_tree_of_a_torus_on_which_clarabel_fails():
    # The delta-MBST of a torus of 4 x 4 equal links at fast access links, with its matchings.
    edges = [[0, 1], [2, 6], [3, 7], [4, 8], [5, 9], [0, 3], [1, 2], [6, 10], [7, 11]]
    edges += [[0, 4], [1, 5], [2, 14], [3, 15], [0, 12], [1, 13]]
    number = np.repeat(np.arange(4), [5, 4, 4, 2])
    tree = Matchings(nodes=16, edges=np.array(edges), number=number, count=4)
    probability, found, bound = activation_probabilities(tree, 0.5)

    assert probability.sum() <= 2.0 * (1 + 1e-9)
    assert (1 - 1e-5) * bound <= found <= bound * (1 + 1e-9)


def test_a_solver_that_leaves_nothing(monkeypatch):
    monkeypatch.setattr(cvxpy.Problem, "solve", lambda _problem, **_options: None)

    with pytest.raises(SilosimError, match="activation probabilities: the solver found no solution"):
        activation_probabilities(TAIL, 0.5)


def test_a_connectivity_above_its_bound_is_an_error(monkeypatch):
    # A bound that is too small by more than the accuracy asked for can only come from wrong numbers.
    real = activation._most
    monkeypatch.setattr(activation, "_most", lambda gains, budget: 0.9 * real(gains, budget))

    with pytest.raises(SilosimError, match=r"connectivity found \(=.*\) is above its bound"):
        activation_probabilities(TAIL, 0.5)


def test_the_tail_on_a_grid():
    probability, found, bound = activation_probabilities(TAIL, 0.5)
    grid = np.linspace(0, 1, 501)
    best = max(
        np.linalg.eigvalsh(TAIL.laplacian(np.array([p, q, q])))[1] for p in grid if (q := (1.5 - p) / 2) <= 1
    )

    assert probability.sum() <= 1.5 * (1 + 1e-9)
    assert best * (1 - 1e-6) <= found <= best + 2e-3
    assert found <= bound * (1 + 1e-9)


def test_the_most_that_a_budget_buys():
    # Matchings of the largest gains are active always, the next one for what is left; gains below 0 are rounding.
    gains = np.array([3.0, -1e-17, 1.0, 2.0])
    for budget, most in ((1.0, 6.0), (0.5, 5.0), (0.375, 4.0), (0.25, 3.0), (0.125, 1.5)):
        assert activation._most(gains, budget) == pytest.approx(most, rel=1e-15)
    assert activation._most(np.array([-1e-17]), 1.0) == 0.0

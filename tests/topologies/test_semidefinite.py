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

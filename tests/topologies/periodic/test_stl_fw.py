"""STL-FW: closed forms, optima, invariants."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import InputError
from topologies.consensus import check_consensus
from topologies.periodic.stl_fw import label_spread, stl_fw


def weights(proportions, iterations, **options):
    (state,) = stl_fw(proportions, iterations, **options)
    return state.consensus(len(proportions))


def random_shares(rng, silos, classes):
    return rng.dirichlet(np.full(classes, 0.3), size=silos)


@given(
    st.integers(1, 9), st.integers(1, 5), st.integers(0, 12), st.floats(1e-3, 3), st.integers(0, 2**32 - 1)
)
def test_doubly_stochastic_sparse_and_ever_better(silos, classes, iterations, variance_weight, seed):
    shares = random_shares(np.random.default_rng(seed), silos, classes)
    values = []
    for k in range(iterations + 1):
        (state,) = stl_fw(shares, k, variance_weight=variance_weight)
        matrix = check_consensus(state.consensus(silos), columns=True)
        assert np.bincount(state.source, minlength=silos).max() <= k
        assert np.bincount(state.target, minlength=silos).max() <= k
        values.append(label_spread(matrix, shares, variance_weight=variance_weight))
    assert values[0] == pytest.approx(label_spread(np.eye(silos), shares, variance_weight=variance_weight))
    assert (np.diff(values) <= 1e-13).all()
    # The bound of the Frank-Wolfe algorithm.
    spread = ((shares - shares.mean(axis=0)) ** 2).sum() / silos
    assert values[-1] <= 16 / (iterations + 2) * (variance_weight + spread) + 1e-12


@pytest.mark.parametrize("silos", [2, 3, 5, 8])
@pytest.mark.parametrize("variance_weight", [0.01, 1.0])
def test_a_label_for_each_silo_mixes_disjoint_permutations_evenly(silos, variance_weight):
    """Then the objective is that of |W - J|, which k permutations and the identity bring to n / (k + 1) - 1."""
    shares = np.eye(silos)
    for k in range(silos):
        matrix = weights(shares, k, variance_weight=variance_weight)
        assert np.unique(np.round(matrix[matrix > 0], 12)).tolist() == [round(1 / (k + 1), 12)]
        assert (matrix > 0).sum(axis=1).tolist() == [k + 1] * silos
        value = (1 + variance_weight) / silos * (silos / (k + 1) - 1)
        assert label_spread(matrix, shares, variance_weight=variance_weight) == pytest.approx(
            value, abs=1e-12
        )
    assert weights(shares, silos + 3) == pytest.approx(np.full((silos, silos), 1 / silos), abs=1e-12)


def test_two_labels_pair_up():
    shares = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]], dtype=float)
    matrix = weights(shares, 1)
    assert matrix @ shares == pytest.approx(np.full((6, 2), 0.5), abs=1e-12)
    assert label_spread(matrix, shares) == pytest.approx(0.1 / 6 * 2, abs=1e-12)


@pytest.mark.parametrize("labels", [[0, 0, 1, 1], [0, 1, 2], [0, 1, 2, 3]])
def test_of_degree_one_no_permutation_and_share_is_better(labels):
    shares = np.eye(max(labels) + 1)[labels]
    silos = len(labels)
    best = np.inf
    for permutation in itertools.permutations(range(silos)):
        for share in np.linspace(0, 1, 401):
            matrix = (1 - share) * np.eye(silos) + share * np.eye(silos)[list(permutation)]
            best = min(best, label_spread(matrix, shares))
    assert label_spread(weights(shares, 1), shares) <= best + 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_the_first_step_is_towards_the_permutation_of_steepest_descent(seed):
    rng = np.random.default_rng(seed)
    shares = random_shares(rng, 5, 3)
    start, h = np.eye(5), 1e-6
    near = {
        permutation: label_spread((1 - h) * start + h * np.eye(5)[list(permutation)], shares)
        for permutation in itertools.permutations(range(5))
    }
    steepest = np.eye(5)[list(min(near, key=near.get))]
    shape = np.linspace(0, 1, 2001)
    best = min(label_spread((1 - t) * start + t * steepest, shares) for t in shape)
    value = label_spread(weights(shares, 1), shares)
    assert value <= best + 1e-12
    assert value == pytest.approx(best, abs=1e-6)


def test_many_steps_reach_the_optimum_which_is_the_average():
    shares = random_shares(np.random.default_rng(2), 6, 3)
    assert label_spread(weights(shares, 2000), shares) < 1e-5


def test_silos_alike_mix_by_the_variance_alone():
    shares = np.full((5, 2), 0.5)
    matrix = weights(shares, 1)
    assert np.unique(np.round(matrix, 12)).tolist() == [0, 0.5]
    assert np.trace(matrix) == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("shares", "iterations", "options", "message"),
    [
        ([[0.5, 0.5]], -1, {}, r"^iterations\(=-1\) must be >= 0\.$"),
        ([[0.5, 0.5]], 1, {"variance_weight": 0.0}, r"^variance_weight\(=0\.0\) must be finite and > 0\.$"),
        ([0.5, 0.5], 1, {}, r"^proportions has shape \(2,\); it must have a row for each silo"),
        ([[0.5, 0.5], [1.5, -0.5]], 1, {}, r"^proportions\[1\]\[1\]\(=-0\.5\) must be finite and >= 0\.$"),
        ([[0.5, np.nan]], 1, {}, r"^proportions\[0\]\[1\]\(=nan\) must be finite and >= 0\.$"),
        ([[0.5, 0.5], [0.5, 0.6]], 1, {}, r"^proportions\[1\] must sum to 1, not 1\.1\.$"),
    ],
)
def test_bad_input(shares, iterations, options, message):
    with pytest.raises(InputError, match=message):
        stl_fw(np.array(shares), iterations, **options)


def test_one_silo_has_no_arcs():
    assert weights(np.array([[0.25, 0.75]]), 3).tolist() == [[1.0]]

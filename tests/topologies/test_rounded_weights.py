"""Mixing matrices that were written with few digits: averages stay where they are for 100,000 rounds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import InputError, rounded_weights
from topologies.given_arcs import mixing_arcs, weighted_arcs
from topologies.rounded_weights import exact_sums, is_rounded_one

ROUNDS = 100_000


def off(sums_of):
    """Largest distance of a row's exact sum from 1."""
    return max(abs(math.fsum((*row, -1.0))) for row in sums_of.tolist())


def circulant(silos, *first):
    row = np.zeros(silos)
    row[: len(first)] = first
    return np.array([np.roll(row, shift) for shift in range(silos)])


def doubly_stochastic(seed, silos):
    """A sum of a few permutations, which is on few arcs and not symmetric, with weights of its own."""
    rng = np.random.default_rng(seed)
    parts = rng.dirichlet(np.ones(4))
    return sum(
        part * np.eye(silos)[order]
        for part, order in zip(
            parts, [np.arange(silos), *(rng.permutation(silos) for _ in range(3))], strict=True
        )
    )


@pytest.mark.parametrize("last", [0.333333, 0.333335])
def test_a_sum_at_the_bound_is_within_it(last):
    matrix = circulant(8, 0.333333, 0.333333, last)
    assert abs(matrix.sum(axis=1) - 1).max() == pytest.approx(1e-6, rel=1e-9)
    _, weights = mixing_arcs(matrix, "abcdefgh")

    assert off(weights) <= np.finfo(float).eps
    assert off(weights.T) <= np.finfo(float).eps
    arcs = ~np.eye(8, dtype=bool)
    assert np.array_equal(weights[arcs], matrix[arcs])


@pytest.mark.parametrize("last", [0.3333329, 0.3333351])
def test_a_sum_beyond_the_bound_is_refused_with_the_bound(last):
    with pytest.raises(InputError, match=r"the row of . sums to .*; rows .* must sum to 1 within 1e-06 \("):
        mixing_arcs(circulant(8, 0.333333, 0.333333, last), "abcdefgh")


def test_weights_of_arcs_at_the_bound():
    pairs = np.array([(i, j) for j in range(4) for i in range(4) if i != j])
    _, weights = weighted_arcs(pairs, [0.333333, 0.333333, 0.333335] * 4, "abcd")
    assert off(weights) <= np.finfo(float).eps
    assert weights == pytest.approx((1 - np.eye(4)) / 3, abs=2e-6)
    with pytest.raises(InputError, match=r"sum to 1\.000001.; they must sum to <= 1 within 1e-06"):
        weighted_arcs(pairs, [0.333333, 0.333333, 0.3333352] * 4, "abcd")


@given(st.integers(0, 10**6), st.integers(2, 9), st.booleans())
def test_no_average_drifts(seed, silos, has_columns):
    rng = np.random.default_rng(seed)
    whole = doubly_stochastic(seed, silos) if has_columns else rng.dirichlet(np.ones(silos), silos)
    matrix = np.round(whole, 7)
    weights = exact_sums(matrix)
    models = rng.normal(size=silos)
    later = np.linalg.matrix_power(weights, ROUNDS) @ models

    assert off(weights) <= np.finfo(float).eps
    assert np.array_equal(
        np.sign(weights[~np.eye(silos, dtype=bool)]), np.sign(matrix[~np.eye(silos, dtype=bool)])
    )
    assert np.abs(weights - matrix).max() <= 2e-5
    assert np.linalg.matrix_power(weights, ROUNDS).sum(axis=1) == pytest.approx(np.ones(silos), abs=1e-9)
    if has_columns and is_rounded_one(matrix.sum(axis=0)):
        assert weights.sum(axis=0) == pytest.approx(np.ones(silos), abs=1e-12)
        assert later.mean() == pytest.approx(models.mean(), abs=1e-7)


def test_columns_are_right_where_the_diagonal_alone_cannot_make_them_so():
    # Rounding of the arcs on a triangle goes around it: rows lack what columns have too much of.
    exact = 0.4 * np.eye(3) + 0.6 * np.roll(np.eye(3), 1, axis=1)
    matrix = exact + np.array([[0, 4e-7, 0], [0, 0, -3e-7], [1e-7, 0, 0]])
    plain = matrix + np.diag(1 - matrix.sum(axis=1))
    weights = exact_sums(matrix)

    assert np.abs(plain.sum(axis=0) - 1).max() > 5e-7
    assert np.abs(weights.sum(axis=0) - 1).max() <= 1e-12
    assert off(weights) <= np.finfo(float).eps
    assert weights == pytest.approx(exact, abs=1e-6)
    # On a directed triangle with equal weights of their own the only such matrices have equal weights on the arcs.
    assert np.ptp(np.roll(weights, 1, axis=0).diagonal()) <= 1e-12


def test_weights_below_0_keep_their_signs():
    rng = np.random.default_rng(5)
    whole = 1.5 * doubly_stochastic(1, 7) - 0.5 * doubly_stochastic(2, 7)
    matrix = np.round(whole + rng.uniform(-1e-8, 1e-8, (7, 7)) * (whole != 0), 8)
    weights = exact_sums(matrix)

    assert (matrix < 0).any()
    assert np.array_equal(np.sign(weights), np.sign(matrix))
    assert np.abs(weights.sum(axis=0) - 1).max() <= 1e-12


def test_rows_alone_are_made_right_where_columns_would_need_other_weights():
    # One pair of silos gives the other 8e-7 and gets 1e-9 back: what goes and comes would have to be equal.
    matrix = np.kron(np.eye(2), np.full((2, 2), 0.5))
    matrix[0] = [0.5 - 4e-7, 0.5 - 4e-7, 8e-7, 0]
    matrix[2] = [1e-9, 0, 0.5 - 5e-10, 0.5 - 5e-10]
    weights = exact_sums(matrix)

    assert is_rounded_one(matrix.sum(axis=0))
    assert off(weights) <= np.finfo(float).eps
    assert np.abs(weights - matrix).max() <= 1e-15


def test_what_is_right_stays_as_it_is():
    for matrix in (np.eye(3), circulant(4, 0.5, 0.25, 0.25), circulant(5, 0.3, 0.7)):
        assert np.array_equal(exact_sums(matrix), matrix)


def test_columns_are_made_right_although_rows_and_one_column_are():
    exact = circulant(3, 0.4, 0.35, 0.25)
    matrix = exact + np.array([[0, 4e-7, -4e-7], [0, 0, 0], [0, 0, 0]])
    assert matrix.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-15)
    assert matrix.sum(axis=0) == pytest.approx([1, 1 + 4e-7, 1 - 4e-7], abs=1e-15)
    weights = exact_sums(matrix)

    assert np.abs(weights.sum(axis=0) - 1).max() <= 1e-12
    assert off(weights) <= np.finfo(float).eps
    assert weights == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize(
    ("sums", "is_one"),
    [
        ([1.0, 1 + 1e-6, 1 - 1e-6], True),
        ([1.0, 1 + 1.1e-6], False),
        ([1 - 1.1e-6, 1.0], False),
        ([1.0], True),
    ],
)
def test_all_sums_must_be_one(sums, is_one):
    assert is_rounded_one(np.array(sums)) == is_one


@pytest.mark.parametrize("seed", range(8))
def test_rows_that_are_divided_by_their_sum_are_exact_to_the_last_bit(seed):
    # No silo keeps anything of its own model, and rows are half a millionth too large.
    rng = np.random.default_rng(seed)
    matrix = rng.random((9, 9)) + 0.1
    np.fill_diagonal(matrix, 0.0)
    matrix *= (1 + 5e-7) / matrix.sum(axis=1, keepdims=True)
    weights = exact_sums(matrix)

    assert off(weights) <= np.finfo(float).eps / 2
    assert weights.diagonal().tolist() == [0.0] * 9
    assert weights == pytest.approx(matrix / (1 + 5e-7), rel=1e-15)


@pytest.mark.parametrize("seed", [46, 54])
def test_columns_are_exact_where_the_first_step_leaves_more(seed, monkeypatch):
    # Weights of 1.5 and -1: after one of Newton's steps sums are 2.3e-12 and 1.3e-12 off, twice as many digits as
    # before. It is the square of the first 3e-7, of which rounding changes a hundredth.
    rng = np.random.default_rng(seed)
    whole = sum(part * np.eye(6)[rng.permutation(6)] for part in (1.5, -1.0, 0.25, 0.25))
    matrix = whole * (1 + rng.uniform(-1, 1, (6, 6)) * 3e-7 / np.abs(whole).max())
    assert is_rounded_one(matrix.sum(axis=0))
    with monkeypatch.context() as patch:
        # One step, and a look at what it left: too much, so that rows alone are made right.
        patch.setattr(rounded_weights, "_STEPS", 2)
        assert np.abs(exact_sums(matrix).sum(axis=0) - 1).max() > 1e-12
    weights = exact_sums(matrix)

    assert np.abs(weights.sum(axis=0) - 1).max() <= 1e-12
    assert off(weights) <= np.finfo(float).eps
    arcs = ~np.eye(6, dtype=bool)
    assert np.array_equal(np.sign(weights[arcs]), np.sign(matrix[arcs]))

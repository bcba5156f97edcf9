"""Epidemic learning: uniform draws, mean weights, edges."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from topologies import InputError
from topologies.consensus import check_consensus
from topologies.periodic.epidemic import draw_targets, epidemic, mean_contraction


@pytest.mark.parametrize("fanout", [1, 2, 3])
def test_every_set_of_others_is_as_likely(fanout):
    rng = np.random.default_rng(5)
    counts = [Counter() for _ in range(4)]
    for _ in range(3000):
        for silo, row in enumerate(draw_targets(4, fanout, rng).tolist()):
            counts[silo][tuple(sorted(row))] += 1
    for silo, count in enumerate(counts):
        others = [other for other in range(4) if other != silo]
        assert set(count) == set(itertools.combinations(others, fanout))
        assert len(count) == 1 or chisquare([*count.values()]).pvalue > 1e-3


def test_rows_are_independent():
    rng = np.random.default_rng(6)
    pairs = Counter(tuple(draw_targets(3, 1, rng)[:2, 0].tolist()) for _ in range(4000))
    assert len(pairs) == 4
    assert chisquare([*pairs.values()]).pvalue > 1e-3


def test_weights_of_a_round():
    state = epidemic(np.array([[1, 2], [2, 3], [3, 1], [2, 1]]))
    third, fourth = 1 / 3, 1 / 4
    assert state.consensus(4) == pytest.approx(
        np.array(
            [
                [1, 0, 0, 0],
                [fourth, fourth, fourth, fourth],
                [fourth, fourth, fourth, fourth],
                [0, third, third, third],
            ]
        )
    )


@pytest.mark.parametrize(("silos", "fanout"), [(2, 1), (5, 1), (6, 3), (9, 8)])
def test_mean_weight_of_the_own_model_and_mean_columns(silos, fanout):
    rng = np.random.default_rng(7)
    rounds = 1500
    mean, own = np.zeros((silos, silos)), np.empty(rounds)
    for k in range(rounds):
        state = epidemic(draw_targets(silos, fanout, rng))
        matrix = check_consensus(state.consensus(silos), columns=False)
        assert np.bincount(state.source).tolist() == [fanout] * silos
        mean += matrix / rounds
        own[k] = matrix[0, 0]
    share = fanout / (silos - 1)
    exact = (1 - (1 - share) ** silos) / (silos * share)
    assert abs(own.mean() - exact) <= 5 * own.std() / np.sqrt(rounds) + 1e-12
    assert np.abs(mean.sum(axis=0) - 1).max() < 0.1


@pytest.mark.parametrize(("silos", "fanout"), [(2, 1), (3, 1), (4, 1), (4, 2), (4, 3)])
def test_contraction_is_the_norm_of_the_expectation_over_all_draws(silos, fanout):
    sets = [
        list(itertools.combinations([other for other in range(silos) if other != silo], fanout))
        for silo in range(silos)
    ]
    rounds = [epidemic(np.array(rows)).consensus(silos) for rows in itertools.product(*sets)]
    expected = sum(matrix.T @ matrix for matrix in rounds) / len(rounds)
    norm = np.linalg.norm(expected - 1 / silos, 2)

    assert mean_contraction(silos, fanout) ** 2 == pytest.approx(norm, abs=1e-14)


def test_contraction_of_many_draws():
    rng = np.random.default_rng(0)
    rounds = [epidemic(draw_targets(11, 2, rng)).consensus(11) for _ in range(3000)]
    # On differences the mean of W'W is a multiple of them, which the squares of all weights tell.
    squares = np.array([((matrix**2).sum() - 1) / 10 for matrix in rounds])

    assert mean_contraction(11, 2) ** 2 == pytest.approx(0.3571, abs=5e-5)
    assert abs(squares.mean() - mean_contraction(11, 2) ** 2) < 5 * squares.std() / np.sqrt(len(squares))
    assert mean_contraction(1, 3) == 0
    assert mean_contraction(300, 299) == 0


def test_to_all_others_it_is_the_average():
    state = epidemic(draw_targets(6, 5, np.random.default_rng(0)))
    assert state.consensus(6) == pytest.approx(np.full((6, 6), 1 / 6), abs=1e-15)


def test_one_silo_and_bad_numbers():
    rng = np.random.default_rng(0)
    assert draw_targets(1, 3, rng).shape == (1, 0)
    assert len(epidemic(draw_targets(1, 3, rng)).source) == 0
    for silos, fanout, message in (
        (4, 4, r"^fanout\(=4\) must be < silos\(=4\)\.$"),
        (4, 0, r"^fanout\(=0\) must be >= 1\.$"),
        (0, 1, r"^silos\(=0\) must be >= 1\.$"),
    ):
        with pytest.raises(InputError, match=message):
            draw_targets(silos, fanout, rng)

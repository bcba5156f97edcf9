"""Changes that look at how well silos mix: exchanges of receivers, matchings, gains of exchanges of models."""

import itertools

import numpy as np
import pytest

from simulator.designers.mixing_moves import best_matching, cross, least_apart, most_apart
from simulator.designers.mixing_repair import pair_gains
from topologies import state_of


@pytest.mark.parametrize(
    ("one", "other", "after"),
    [
        ((0, 1), (2, 3), {(0, 3), (2, 1), (1, 2), (3, 0)}),
        ((0, 1), (1, 2), {(0, 2), (1, 1), (2, 3), (3, 0)}),  # a silo that would send to itself: not a digraph
        ((0, 1), (0, 1), None),
    ],
)
def test_two_senders_exchange_their_receivers(one, other, after):
    ring = frozenset({(0, 1), (1, 2), (2, 3), (3, 0)})
    assert cross(ring, one, other) == (ring if after is None else after)


def test_receivers_are_not_exchanged_along_an_arc_that_is_there():
    for extra in ((0, 3), (2, 1)):
        arcs = frozenset({(0, 1), (2, 3), extra})
        assert cross(arcs, (0, 1), (2, 3)) == arcs


@pytest.mark.parametrize("seed", range(4))
def test_the_best_matching_is_that_of_all_orders(seed):
    rng = np.random.default_rng(seed)
    allowed, gain = rng.random((4, 4)) < 0.6, rng.random((4, 4))
    found = best_matching(allowed, gain)

    # Sources and targets once each, the largest gain first.
    assert all(allowed[arc] for arc in found)
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found)
    gains = [gain[arc] for arc in found]
    assert gains == sorted(gains, reverse=True)
    best = max(
        sum(gain[i, j] for i, j in enumerate(order) if allowed[i, j])
        for order in itertools.permutations(range(4))
    )
    assert sum(gains) == pytest.approx(best, rel=1e-12)


def test_no_arc_is_matched_where_none_is_allowed():
    assert best_matching(np.zeros((3, 3), dtype=bool), np.ones((3, 3))) == []


def test_the_arc_that_stays_farthest_apart_and_the_nearest_of_eight():
    distance = np.arange(9.0).reshape(3, 3)
    absent = np.zeros((3, 3), dtype=bool)
    assert most_apart(absent, distance, np.random.default_rng(0)) is None
    absent[0, 1] = absent[2, 0] = True
    rng = np.random.default_rng(0)
    found = [most_apart(absent, distance, rng) for _ in range(200)]
    assert {*found} == {None, (0, 1), (2, 0)}
    # Of sixteen pairs drawn among nine, (2, 0) is one with a probability of 1 - (8 / 9)^16 = 0.85, or not far below.
    assert found.count((2, 0)) > 140
    arcs = [(0, 1), (2, 0)]
    nearest = [least_apart(arcs, distance, rng) for _ in range(2000)]
    assert nearest.count((0, 1)) > 1960


def test_gains_are_how_fast_the_norm_of_a_period_falls():
    # Two states of four silos; the norm of their product falls by the gain for each unit of an exchange's weight.
    ring, pairs = np.arange(4), np.array([0, 1, 2, 3])
    states = (
        state_of(ring, np.roll(ring, -1), np.array([0.3, 0.3, 0.3, 0.3])),
        state_of(pairs, np.array([1, 0, 3, 2]), np.array([0.4, 0.4, 0.2, 0.2])),
    )
    gains = pair_gains(4, states)
    matrices = [state.consensus(4) for state in states]

    def norm(place, i, j, weight):
        change = np.zeros((4, 4))
        change[[i, j], [i, j]] -= weight
        change[[i, j], [j, i]] += weight
        first, second = (matrix + change * (number == place) for number, matrix in enumerate(matrices))
        return np.linalg.norm(second @ first - 0.25, 2)

    for place, (i, j) in itertools.product(range(2), itertools.combinations(range(4), 2)):
        falls = (norm(place, i, j, -1e-6) - norm(place, i, j, 1e-6)) / 2e-6
        assert gains[place, i, j] == pytest.approx(falls, abs=1e-6)
        assert gains[place, j, i] == pytest.approx(gains[place, i, j], rel=1e-12)


def test_of_several_largest_singular_values_the_gains_are_their_sum():
    # Nothing is sent: the norm is 1 for every vector whose mean is 0, and an exchange of two silos takes 2 e of them.
    gains = pair_gains(3, (state_of([], [], []),))
    np.testing.assert_allclose(gains[0], 2.0 * (1 - np.eye(3)), atol=1e-12)

"""Seconds per e-fold by hand: rings, paths of no agreement, exact averages, and the bound that they stand for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies.contraction import round_contraction, worst_contraction
from topologies.state import state_of
from topologies.time_to_accuracy import rounds_per_efold, seconds_per_efold
from topologies.weights import half_ring, uniform


@pytest.mark.parametrize("silos", [3, 4, 11, 40])
def test_a_ring_of_half_weights_contracts_by_a_cosine(silos):
    silo = np.arange(silos)
    matrix = half_ring(silos, silo, (silo + 1) % silos)
    cosine = math.cos(math.pi / silos)

    assert round_contraction(matrix) == pytest.approx(cosine, rel=1e-12)
    assert seconds_per_efold(2.5, round_contraction(matrix)) == pytest.approx(2.5 / math.log(1 / cosine))
    state = state_of(silo, (silo + 1) % silos, np.full(silos, 0.5))
    assert worst_contraction(silos, [state]) == pytest.approx(cosine)


def test_it_is_the_worst_of_a_round_not_the_long_run():
    # Silo 0 takes over silo 1's model and the reverse, with silo 2's mixed in; by hand ||(I - J) W|| > |lambda_2|.
    matrix = np.array([[0.0, 1.0, 0.0], [0.0, 0.5, 0.5], [1.0, -0.5, 0.5]])
    assert matrix.sum(axis=0).tolist() == matrix.sum(axis=1).tolist() == [1, 1, 1]

    rest = matrix - 1 / 3
    assert round_contraction(matrix) == pytest.approx(np.sqrt(np.linalg.eigvalsh(rest.T @ rest)[-1]))
    assert round_contraction(matrix) > np.abs(np.linalg.eigvals(rest)).max() + 0.1


@pytest.mark.parametrize("silos", [1, 2, 7])
def test_an_exact_average_takes_one_round(silos):
    assert round_contraction(uniform(silos)) == 0.0
    assert seconds_per_efold(3.0, 0.0) == 3.0


def test_who_never_agrees_takes_for_ever():
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert seconds_per_efold(3.0, round_contraction(swap)) == math.inf
    assert seconds_per_efold(0.0, 1.2) == math.inf


@given(one=st.floats(0, 1), other=st.floats(0, 1))
def test_mixing_better_never_takes_longer_and_a_round_is_the_least(one, other):
    low, high = sorted((one, other))
    assert 1.0 <= rounds_per_efold(low) <= rounds_per_efold(high)


@given(st.floats(0, 1 - 1e-6))
def test_the_rounds_follow_the_bound_of_the_literature_within_the_stated_factors(factor):
    assert 0.86 <= rounds_per_efold(factor) * (1 - factor**2) <= 2


def test_a_period_that_averages_exactly_is_one_efold():
    # A hypercube of 8 silos: after two of its three rounds, differences along the last dimension are as they were.
    silo = np.arange(8)
    states = [state_of(silo, silo ^ bit, np.full(8, 0.5)) for bit in (1, 2, 4)]

    assert worst_contraction(8, states) == 0
    assert worst_contraction(8, states[:2]) == pytest.approx(1)
    assert seconds_per_efold(2.0, worst_contraction(8, states), period=3) == 6.0
    assert rounds_per_efold(0.9, period=3) == rounds_per_efold(0.9)


def test_rounds_at_the_ends_of_their_rule():
    assert rounds_per_efold(1 - 1e-9) == math.inf
    assert rounds_per_efold(1 - 2e-9) == pytest.approx(5e8, rel=1e-6)
    assert rounds_per_efold(math.exp(-1)) == pytest.approx(1.0, rel=1e-12)
    assert rounds_per_efold(math.exp(-0.5)) == pytest.approx(2.0)
    assert rounds_per_efold(1e-300, period=5) == 1.0
    assert rounds_per_efold(0.0) == 1.0
    assert rounds_per_efold(0.0, period=5) == 5.0
    assert isinstance(rounds_per_efold(0.0, period=5), float)
    assert seconds_per_efold(2.5, math.exp(-0.25)) == pytest.approx(10.0)
    assert seconds_per_efold(2.5, 1.0) == math.inf

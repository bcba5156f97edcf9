"""The contraction per round against published products, spectral gaps and lagged systems by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from periodic_cases import lagged_states

from topologies import state_of
from topologies.consensus import spectral_gap
from topologies.contraction import contraction


def one_peer(silos):
    """Round k sends to the silo 2^k ahead."""
    period, silo = int(np.ceil(np.log2(silos))), np.arange(silos)
    return [state_of(silo, (silo + 2**k) % silos, np.full(silos, 0.5)) for k in range(period)]


@pytest.mark.parametrize(
    ("silos", "expected"), [(11, 0.2196), (22, 0.2173), (40, 0.1894), (79, 0.1827), (87, 0.2155)]
)
def test_one_peer_exponential_graphs(silos, expected):
    states = one_peer(silos)
    assert contraction(silos, states) ** len(states) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("silos", [1, 2, 4, 64])
def test_they_agree_after_one_period_of_a_power_of_two(silos):
    assert contraction(silos, one_peer(silos) or [state_of([], [], [])]) == 0


@pytest.mark.parametrize(
    ("silos", "expected"), [(11, 0.4896), (22, 0.6667), (40, 0.7143), (79, 0.6552), (87, 0.6540)]
)
def test_a_static_exponential_graph_has_the_modulus_of_its_second_eigenvalue(silos, expected):
    degree = int(np.log2(silos - 1)) + 1
    offset = np.tile(2 ** np.arange(degree), silos)
    source = np.repeat(np.arange(silos), degree)
    state = state_of(source, (source + offset) % silos, np.full(len(source), 1 / (degree + 1)))
    # A circulant matrix is normal, so that its norm is the modulus.
    assert contraction(silos, [state]) == pytest.approx(expected, abs=5e-5)
    assert contraction(silos, [state]) == pytest.approx(1 - spectral_gap(state.consensus(silos)), rel=1e-9)
    assert contraction(silos, [state] * 3) == pytest.approx(contraction(silos, [state]), rel=1e-9)


def test_long_periods_lose_no_digits():
    # 0.5 per round: after 60 rounds 1e-18 of the difference is left, which is no rounding.
    pair = state_of([0, 1], [1, 0], [0.25, 0.25])
    assert contraction(2, [pair] * 60) == pytest.approx(0.5, rel=1e-9)
    assert contraction(2, [pair] * 60 + [state_of([], [], [])] * 60) == pytest.approx(0.5**0.5, rel=1e-9)


def test_silos_without_arcs_never_agree():
    assert contraction(3, [state_of([], [], [])]) == pytest.approx(1, rel=1e-12)


def test_a_lagged_pair_by_hand():
    # x_i(k+1) = (x_i(k) + x_j(k-1)) / 2: the difference d(k+1) = (d(k) - d(k-1)) / 2, of roots with modulus 1/sqrt(2);
    # the sum s(k+1) = (s(k) + s(k-1)) / 2, of roots 1 and -1/2.
    pair = state_of([0, 1], [1, 0], [0.5, 0.5], [2, 2])
    assert contraction(2, [pair]) == pytest.approx(0.5**0.5, rel=1e-9)
    assert contraction(2, [pair, pair]) == pytest.approx(0.5**0.5, rel=1e-9)


@given(states=lagged_states(4))
@settings(max_examples=40)
def test_differences_shrink_by_it_in_the_long_run(states):
    silos, longest = 4, max(int(state.lag.max(initial=1)) for state in states)
    rng = np.random.default_rng(0)
    models = [rng.normal(size=silos) for _ in range(longest)]  # the newest last
    spread = []
    for k in range(120 * len(states)):
        state = states[k % len(states)]
        mixed = (1 - np.bincount(state.target, state.weight, minlength=silos)) * models[-1]
        for i, j, n, weight in zip(state.source, state.target, state.lag, state.weight, strict=True):
            mixed[j] += weight * models[-n][i]
        models = [*models[1:], mixed] if longest > 1 else [mixed]
        spread.append(np.ptp(models[-1]))
    factor = contraction(silos, states)
    if longest == 1:  # a norm bounds what is left
        assert spread[-1] <= 10 * factor ** (120 * len(states)) + 1e-13
    elif spread[-1] > 1e-11:
        measured = (spread[-1] / spread[len(states) * 60 - 1]) ** (1 / (len(states) * 60))
        assert measured <= factor * 1.06

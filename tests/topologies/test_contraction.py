"""Contractions per round against published products, spectral gaps and lagged systems by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from periodic_cases import lagged_states

from topologies import InputError, state_of
from topologies.consensus import spectral_gap
from topologies.contraction import contraction, round_contraction, worst_contraction

BOTH = [contraction, worst_contraction]


def one_peer(silos):
    """Round k sends to the silo 2^k ahead."""
    period, silo = int(np.ceil(np.log2(silos))), np.arange(silos)
    return [state_of(silo, (silo + 2**k) % silos, np.full(silos, 0.5)) for k in range(period)]


@pytest.mark.parametrize(
    ("silos", "expected"), [(11, 0.2196), (22, 0.2173), (40, 0.1894), (79, 0.1827), (87, 0.2155)]
)
@pytest.mark.parametrize("factor", BOTH)
def test_one_peer_exponential_graphs(silos, expected, factor):
    states = one_peer(silos)
    assert factor(silos, states) ** len(states) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("silos", [1, 2, 4, 64])
@pytest.mark.parametrize("factor", BOTH)
def test_they_agree_after_one_period_of_a_power_of_two(silos, factor):
    assert factor(silos, one_peer(silos) or [state_of([], [], [])]) == 0


@pytest.mark.parametrize(
    ("silos", "expected"), [(11, 0.4896), (22, 0.6667), (40, 0.7143), (79, 0.6552), (87, 0.6540)]
)
@pytest.mark.parametrize("factor", BOTH)
def test_a_static_exponential_graph_has_the_modulus_of_its_second_eigenvalue(silos, expected, factor):
    degree = int(np.log2(silos - 1)) + 1
    offset = np.tile(2 ** np.arange(degree), silos)
    source = np.repeat(np.arange(silos), degree)
    state = state_of(source, (source + offset) % silos, np.full(len(source), 1 / (degree + 1)))
    # A circulant matrix is normal, so that its norm is the modulus.
    assert factor(silos, [state]) == pytest.approx(expected, abs=5e-5)
    assert factor(silos, [state]) == pytest.approx(1 - spectral_gap(state.consensus(silos)), rel=1e-9)
    assert factor(silos, [state] * 3) == pytest.approx(factor(silos, [state]), rel=1e-9)


def test_long_periods_lose_no_digits():
    # 0.5 per round: after 60 rounds 1e-18 of the difference is left, which is no rounding.
    pair = state_of([0, 1], [1, 0], [0.25, 0.25])
    assert contraction(2, [pair] * 60) == pytest.approx(0.5, rel=1e-9)
    assert contraction(2, [pair] * 60 + [state_of([], [], [])] * 60) == pytest.approx(0.5**0.5, rel=1e-9)
    # Beyond 1074 rounds even the smallest number above 0 would be rounded to 0.
    assert contraction(2, [pair] * 1100) == pytest.approx(0.5, rel=1e-9)
    assert worst_contraction(2, [pair] * 1100) == pytest.approx(0.5, rel=1e-9)


def path_of(matrix):
    target, source = np.nonzero(matrix - np.diag(np.diag(matrix)))
    return state_of(source, target, matrix[target, source])


def test_one_round_may_spread_models_that_agree_in_the_long_run():
    # Each silo takes over the model of the one before, the first gives 1/10 to the last one's.
    matrix = np.roll(np.eye(11), 1, axis=0)
    matrix[0] = 0.0
    matrix[0, [0, -1]] = 0.9, 0.1
    assert 1 - contraction(11, [path_of(matrix)]) == pytest.approx(spectral_gap(matrix), rel=1e-9)
    assert 1 - contraction(11, [path_of(matrix)] * 7) == pytest.approx(spectral_gap(matrix), rel=1e-9)
    assert spectral_gap(matrix) == pytest.approx(0.1272, abs=5e-5)
    assert worst_contraction(11, [path_of(matrix)]) == pytest.approx(round_contraction(matrix), rel=1e-12)
    assert worst_contraction(11, [path_of(matrix)]) == pytest.approx(1.2910, abs=5e-5)
    models = np.arange(11.0)
    for _ in range(200):
        models = matrix @ models
    assert np.ptp(models) < 1e-10


def test_models_that_are_handed_on_are_one_after_as_many_rounds():
    # Nilpotent: rounding would leave eigenvalues of 1e-16 to the power of 1/11.
    matrix = np.roll(np.eye(12), 1, axis=0)
    matrix[0] = np.eye(12)[0]
    state = path_of(matrix)
    assert contraction(12, [state]) == 0
    assert worst_contraction(12, [state]) > 1
    assert worst_contraction(12, [state] * 11) == 0


def test_small_eigenvalues_that_are_defective_do_not_hide_the_largest():
    # By hand: Jordan block of eigenvalue 0 and size 11 along the path, and the mean of two that exchange 0.3.
    matrix = np.roll(np.eye(14), 1, axis=0)
    matrix[0] = np.eye(14)[0]
    matrix[12:] = 0.0
    matrix[12, [0, 12, 13]] = 0.1, 0.6, 0.3
    matrix[13, [0, 12, 13]] = 0.1, 0.3, 0.6
    assert contraction(14, [path_of(matrix)]) == pytest.approx(0.9, rel=1e-9)


@pytest.mark.parametrize("first", range(4))
def test_it_does_not_matter_which_state_is_first(first):
    # Exact means along rows, then columns, of a square of silos in which two silos hand on in turn.
    silo = np.arange(4)
    states = [
        state_of(silo, silo ^ 1, np.full(4, 0.5)),
        state_of([0], [1], [1.0]),
        state_of(silo, silo ^ 2, np.full(4, 0.5)),
        state_of([1, 2], [3, 0], [0.5, 0.25]),
    ]
    turned = states[first:] + states[:first]
    assert contraction(4, turned) == pytest.approx(contraction(4, states), rel=1e-9)


@given(states=lagged_states(4, lags=False))
@settings(max_examples=30)
def test_one_period_bounds_what_the_long_run_says(states):
    assert contraction(4, states) <= worst_contraction(4, states) * (1 + 1e-9) + 1e-12
    alone = states[:1]
    gap = spectral_gap(alone[0].consensus(4))
    assert contraction(4, alone) == pytest.approx(1 - gap, abs=1e-4)  # a cube root of the precision


def test_the_worst_of_a_period_is_of_the_models_of_one_round():
    with pytest.raises(InputError, match=r"^lag\(=2\) must be 1\.$"):
        worst_contraction(2, [state_of([0, 1], [1, 0], [0.5, 0.5], [2, 1])])


def test_a_weight_of_0_needs_no_old_models():
    pair = state_of([0, 0, 1, 2], [1, 2, 0, 0], [0.5, 0.0, 0.25, 0.25], [1, 90, 1, 1])
    plain = state_of([0, 1, 2], [1, 0, 0], [0.5, 0.25, 0.25])
    for factor in BOTH:
        assert factor(3, [pair]) == pytest.approx(factor(3, [plain]), rel=1e-12)


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
        assert spread[-1] <= 10 * worst_contraction(silos, states) ** (120 * len(states)) + 1e-13
    elif spread[-1] > 1e-11:
        measured = (spread[-1] / spread[len(states) * 60 - 1]) ** (1 / (len(states) * 60))
        assert measured <= factor * 1.06

"""What the silos of a periodic overlay weigh, against trainings and models that are followed round by round."""

import numpy as np
import pytest
from hypothesis import given, settings
from periodic_cases import lagged_states

from topologies import state_of
from topologies.consensus import agreed_weights
from topologies.contraction import contraction
from topologies.periodic_agreement import periodic_agreed_weights


def pair(i, j, lag=1):
    return state_of([i, j], [j, i], [0.5, 0.5], [lag, lag])


def mixed(state, sent):
    """Models after a round, by the definition alone; `sent` are those of the rounds so far, the newest last."""
    own = 1 - np.bincount(state.target, state.weight, minlength=len(sent[-1]))
    models = own[:, None] * sent[-1] if sent[-1].ndim > 1 else own * sent[-1]
    for i, j, lag, weight in zip(state.source, state.target, state.lag, state.weight, strict=True):
        models[j] += weight * sent[-lag][i]
    return models


@given(states=lagged_states(3, pauses=True))
@settings(max_examples=15)
def test_a_step_moves_what_all_agree_on_by_its_weight(states):
    silos, period = 3, len(states)
    longest = max(int(state.lag.max(initial=1)) for state in states)
    factor = contraction(silos, states)
    if factor > 0.97:  # too slow to follow
        return
    total = np.zeros(silos)
    for begin in (s for s in range(period) if states[s].computes):
        # A column for each silo, whose step of 1 in one round is all that ever happens.
        sent = [np.zeros((silos, silos))] * (longest - 1) + [np.eye(silos)]
        for k in range(begin, begin + period * 900):
            sent.append(mixed(states[k % period], sent))
            if np.ptp(np.concatenate(sent[-longest:]), axis=0).max() < 1e-12:
                break
        assert np.ptp(sent[-1], axis=0).max() < 1e-10
        total += sent[-1].mean(axis=0)
    assert periodic_agreed_weights(silos, states) == pytest.approx(total / total.sum(), abs=1e-9)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([pair(0, 1, lag=2), pair(1, 2)], [0.375, 0.375, 0.25]),
        ([pair(0, 1), pair(1, 2)], [1 / 3] * 3),
        # Models at a period's start: the last silo takes over the first one's, which has both by halves.
        ([state_of([1], [0], [0.5]), state_of([0], [1], [1.0])], [0.75, 0.25]),
    ],
)
def test_trainings_by_small_steps_end_at_the_optimum_that_it_weighs(states, expected):
    silos, step, longest = len(expected), 1e-3, 2
    weights = periodic_agreed_weights(silos, states)
    assert weights == pytest.approx(expected, abs=1e-12)

    # (x - c)^2 / 2 of one silo, 0 of the others: a column for each silo whose c is 1.
    models = np.zeros((silos, silos))
    sent = [models] * longest
    for k in range(8000):
        sent = [*sent[1:], models - step * (models - np.eye(silos))]
        models = mixed(states[k % len(states)], sent)
    assert models.mean(axis=0) == pytest.approx(weights, abs=5 * step)


def test_without_lags_it_is_not_the_mean_of_models_at_the_start_of_a_period():
    states = [state_of([1], [0], [0.5]), state_of([0], [1], [1.0])]
    product = states[1].consensus(2) @ states[0].consensus(2)

    assert product[0] == pytest.approx([0.5, 0.5])  # both agree on it
    assert periodic_agreed_weights(2, states) == pytest.approx([0.75, 0.25], abs=1e-12)


def test_one_state_without_lags_has_the_weights_of_its_matrix():
    rng = np.random.default_rng(3)
    matrix = rng.random((6, 6)) * (rng.random((6, 6)) < 0.6) + np.roll(np.eye(6), 1, axis=0) + np.eye(6)
    matrix /= matrix.sum(axis=1, keepdims=True)
    target, source = np.nonzero(matrix - np.diag(np.diag(matrix)))
    state = state_of(source, target, matrix[target, source])

    assert periodic_agreed_weights(6, [state]) == pytest.approx(agreed_weights(matrix), abs=1e-12)
    assert periodic_agreed_weights(6, [state] * 3) == pytest.approx(agreed_weights(matrix), abs=1e-12)


def test_a_state_in_which_nobody_computes_weighs_nothing():
    silent = state_of([0, 1], [1, 0], [1.0, 0.0], computes=False)

    # In the round of the first state all compute, and only the first silo's model goes on.
    assert periodic_agreed_weights(2, [state_of([], [], []), silent]) == pytest.approx([1.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("lag", [1, 2])
def test_silos_that_never_agree_have_none(lag):
    split = state_of([0, 1, 2, 3], [1, 0, 3, 2], [0.5] * 4, [lag] * 4)

    assert periodic_agreed_weights(4, [split]) is None
    assert periodic_agreed_weights(1, [state_of([], [], [])]).tolist() == [1.0]

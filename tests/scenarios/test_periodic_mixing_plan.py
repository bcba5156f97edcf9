"""The mixing plan of a periodic overlay: the models whose messages are simulated, with the weights of its states."""

import re
from dataclasses import replace

import numpy as np
import pytest

from scenarios.studies.run import mixing_plan
from simulator import overlay_job
from topologies import InputError, build_periodic, design, state_of


def two_states(graph, work, lag):
    """A ring with lags, then some arcs against it without."""
    ring = design("ring", graph, work)
    half = np.arange(0, ring.arcs, 2)
    states = [
        state_of(ring.source, ring.target, np.full(ring.arcs, 0.5), np.broadcast_to(lag, ring.arcs)),
        state_of(ring.target[half], ring.source[half], np.full(len(half), 0.25)),
    ]
    return build_periodic("two states", graph, work, states)


@pytest.mark.parametrize("lag", [1, np.arange(11) % 4 + 1], ids=["no lags", "lags"])
def test_silos_mix_the_models_whose_messages_are_simulated(graph, work, lag):
    overlay = two_states(graph, work, lag)
    plan, job = mixing_plan(overlay, 12, 7), overlay_job(overlay, 12)

    assert plan.rounds == 12
    assert (plan.lags is not None) == (overlay.longest_lag > 1)
    for k in range(12):
        simulated = {
            (job.arcs[arc].target, job.arcs[arc].source, n)
            for arc, n in zip(job.plan.active(k).tolist(), job.plan.lags(k).tolist(), strict=True)
            if k + 1 - n >= 0
        }
        matrix, lags = plan.round_weights(k)
        assert {(i, j, int(lags[i, j])) for i, j in np.argwhere(matrix).tolist() if i != j} == simulated
        np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-15)
        if k + 1 >= overlay.longest_lag:
            assert np.array_equal(matrix, overlay.consensus(k))


def test_few_rounds_hold_the_states_that_they_meet(graph, work):
    assert len(mixing_plan(two_states(graph, work, 1), 1, 7).matrices) == 1
    assert len(mixing_plan(two_states(graph, work, 3), 1, 7).matrices) == 2


def test_a_lag_beyond_all_rounds_is_refused_before_memory_is_taken(graph, work):
    ring = design("ring", graph, work)
    half, far = np.full(ring.arcs, 0.5), np.full(ring.arcs, 2**30)
    overlay = build_periodic("far", graph, work, [state_of(ring.source, ring.target, half, far)])
    rule = "rounds(=12) and the longest lag(=1073741824) of far must be <= 134217728 in all."
    with pytest.raises(InputError, match=f"^{re.escape(rule)}$"):
        mixing_plan(overlay, 12, 7)


def test_states_whose_matrices_would_fill_the_memory_are_refused(graph, work, monkeypatch):
    overlay = two_states(graph, work, 2)
    monkeypatch.setattr("scenarios.studies.run._MOST_ENTRIES", 2 * 2 * 11**2)
    assert mixing_plan(overlay, 10, 7).longest_lag == 2
    monkeypatch.setattr("scenarios.studies.run._MOST_ENTRIES", 2 * 2 * 11**2 - 1)
    rule = "rounds(=10) of two states have 2 different states of 11 silos; their matrices and lags must have <= 483"
    with pytest.raises(InputError, match=f"^{re.escape(rule)} entries in all.$"):
        mixing_plan(overlay, 10, 7)


@pytest.mark.parametrize("lag", [1, 3])
def test_equal_states_are_kept_once(graph, work, monkeypatch, lag):
    one, other = two_states(graph, work, lag).states
    order = [one, replace(other, computes=False), one, one, other, replace(other, computes=False)]
    plan = mixing_plan(build_periodic("six", graph, work, order), 20, 7)

    assert len(plan.matrices) == 3
    assert plan.index[:6].tolist() == [0, 1, 0, 0, 2, 1]
    for k in range(lag - 1, 20):
        state = order[k % 6]
        matrix, lags = plan.round_weights(k)
        assert matrix.tobytes() == state.consensus(11).tobytes()
        assert lags[state.target, state.source].tolist() == state.lag.tolist()
        assert plan.is_computing(k) == state.computes
    entries = 3 * 11**2 * (1 if lag == 1 else 2)
    monkeypatch.setattr("scenarios.studies.run._MOST_ENTRIES", entries)
    assert mixing_plan(build_periodic("six", graph, work, order), 20, 7).rounds == 20

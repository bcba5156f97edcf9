"""Cycle time of given and of simulated round starts."""

import math

import numpy as np
import pytest

from simulator import FlowArc, Timeline, simulate_flows


def timeline(round_start_s):
    starts = np.array(round_start_s, dtype=float)
    return Timeline(
        round_start_s=starts.reshape(len(starts), -1),
        arrival_s=np.zeros((len(starts) - 1, 0)),
        link_bits=np.zeros(0),
    )


def test_steady_growth_after_a_transient():
    starts = np.concatenate(([0.0, 9.0, 9.5], 9.5 + 0.25 * np.arange(1, 18)))
    assert timeline(starts).cycle_time_s == 0.25


def test_growth_with_a_period_of_three_rounds():
    growth = np.tile([1.0, 2.0, 4.0], 20)
    starts = np.concatenate(([0.0], np.cumsum(growth)))
    assert timeline(np.stack((starts, starts + 0.5), axis=1)).cycle_time_s == pytest.approx(7 / 3, rel=1e-12)


def test_all_silos_must_grow_alike():
    # Silo 0 repeats after 1 round, silo 1 after 2: the period is 2.
    rounds = np.arange(41)
    starts = np.stack((3.0 * rounds, 3.0 * rounds + rounds % 2), axis=1)
    assert timeline(starts).cycle_time_s == 3.0


def test_without_a_period_it_is_the_mean_slope_of_the_last_half():
    rounds = np.arange(41)
    starts = 2.0 * rounds + np.sqrt(rounds)
    expected = (starts[40] - starts[20]) / 20
    assert timeline(starts).cycle_time_s == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("starts", "cycle_time_s"), [([0.0, 2.0], 2.0), ([0.0, 2.0, 5.0], 3.0), ([0.0, 0.0], 0.0)]
)
def test_a_few_rounds_give_the_last_slope(starts, cycle_time_s):
    assert timeline(starts).cycle_time_s == cycle_time_s


def ring_with_a_shared_link(rounds):
    """Silos in a ring whose messages all cross one link, so that silos that are ahead slow down the others."""
    capacity_bps = [1.0, 2.0, 0.7, 5.0, 1.3, 9.0]
    return simulate_flows(
        [
            FlowArc(source=silo, target=(silo + 1) % 5, latency_s=0.1 * silo, links=(silo, 5))
            for silo in range(5)
        ],
        link_capacity_bps=capacity_bps,
        message_bits=3.0,
        compute_s=[0.3, 0.1, 0.4, 0.1, 0.5],
        rounds=rounds,
    )


def test_the_end_of_the_job_changes_no_round_before_it():
    short, long = ring_with_a_shared_link(50).round_start_s, ring_with_a_shared_link(100).round_start_s
    undisturbed = short.max(axis=1) <= short[-1].min()
    assert undisturbed.sum() > 40
    np.testing.assert_allclose(short[undisturbed], long[: len(short)][undisturbed], rtol=1e-12)


def test_the_last_rounds_do_not_count_when_silos_end_the_job_early():
    starts = np.stack((2.0 * np.arange(41) - 6.0, 2.0 * np.arange(41)), axis=1)
    starts[0] = 0.0
    starts[-2:, 1] -= [0.5, 1.0]  # faster once the other silo has ended
    assert timeline(starts).cycle_time_s == 2.0


def test_a_slow_drift_is_no_period():
    rounds = np.arange(401)
    starts = rounds + 1e-7 * rounds * math.sqrt(2) * (rounds % 7)
    assert timeline(starts).cycle_time_s != 1.0
    assert timeline(starts).cycle_time_s == pytest.approx(1.0, rel=1e-5)

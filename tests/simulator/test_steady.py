"""Steady state of given and of simulated round starts."""

import math

import numpy as np
import pytest

from simulator import FlowArc, simulate, simulate_flows
from simulator.steady import observed_steady_state
from topologies import (
    AccessLinks,
    Workload,
    connectivity,
    design,
    load_underlay,
    shipped_underlays,
)


def observed(round_start_s):
    starts = np.array(round_start_s, dtype=float)
    return observed_steady_state(starts.reshape(len(starts), -1))


def test_steady_growth_after_a_transient():
    starts = np.concatenate(([0.0, 9.0, 9.5], 9.5 + 0.25 * np.arange(1, 18)))
    assert observed(starts) == (0.25, True)


def test_growth_with_a_period_of_three_rounds():
    growth = np.tile([1.0, 2.0, 4.0], 20)
    starts = np.concatenate(([0.0], np.cumsum(growth)))
    steady = observed(np.stack((starts, starts + 0.5), axis=1))
    assert steady.cycle_time_s == pytest.approx(7 / 3, rel=1e-12)
    assert steady.is_exact


def test_all_silos_must_grow_alike():
    # Silo 0 repeats after 1 round, silo 1 after 2: the period is 2.
    rounds = np.arange(41)
    starts = np.stack((3.0 * rounds, 3.0 * rounds + rounds % 2), axis=1)
    assert observed(starts) == (3.0, True)


def test_without_a_period_it_is_the_mean_slope_of_the_last_half():
    rounds = np.arange(41)
    starts = 2.0 * rounds + np.sqrt(rounds)
    expected = (starts[40] - starts[20]) / 20
    assert observed(starts) == (pytest.approx(expected, rel=1e-12), False)


@pytest.mark.parametrize(
    ("starts", "cycle_time_s"), [([0.0, 2.0], 2.0), ([0.0, 2.0, 5.0], 3.0), ([0.0, 0.0], 0.0)]
)
def test_a_few_rounds_give_the_last_slope(starts, cycle_time_s):
    assert observed(starts) == (cycle_time_s, False)


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
    assert observed(starts) == (2.0, True)


def test_a_slow_drift_is_no_period():
    rounds = np.arange(401)
    starts = rounds + 1e-7 * rounds * math.sqrt(2) * (rounds % 7)
    assert observed(starts) == (pytest.approx(1.0, rel=1e-5), False)


def network_overlay(underlay, kind):
    graph = connectivity(load_underlay(underlay), access=AccessLinks(up_bps=1e10, down_bps=1e10))
    return design(kind, graph, Workload.preset("inaturalist"))


@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
@pytest.mark.parametrize("underlay", shipped_underlays())
def test_equal_simulations_of_200_rounds_have_the_cycle_times_of_the_closed_forms(underlay, kind):
    overlay = network_overlay(underlay, kind)
    overlapped = simulate(overlay, 200, sharing="equal", queueing="overlap")
    serialized = simulate(overlay, 200, sharing="equal", queueing="fifo")

    assert overlapped.cycle_time_s == pytest.approx(overlay.closed_forms.paper_s, rel=1e-9, abs=0)
    assert serialized.cycle_time_s == pytest.approx(overlay.closed_forms.serialized_s, rel=1e-9, abs=0)
    assert overlapped.cycle_time_is_exact
    assert serialized.cycle_time_is_exact


@pytest.mark.parametrize("queueing", ["overlap", "fifo"])
@pytest.mark.parametrize("rounds", [1, 2, 50, 1000])
def test_however_few_rounds_are_simulated_the_cycle_time_is_that_of_many(rounds, queueing):
    overlay = network_overlay("exodus", "ring")
    timeline = simulate(overlay, rounds, sharing="equal", queueing=queueing)

    assert timeline.cycle_time_is_exact
    expected = {"overlap": overlay.closed_forms.paper_s, "fifo": overlay.closed_forms.serialized_s}
    assert timeline.cycle_time_s == pytest.approx(expected[queueing], rel=1e-9, abs=0)
    assert timeline.round_start_s.shape == (rounds + 1, 79)
    assert timeline.arrival_s.shape == (rounds, 79)


def coupled_rings(lengths):
    """Rings in which a single late message goes round, weakly coupled: each has a period of its own length."""
    arcs, first = [], 0
    for length in lengths:
        silos = range(first, first + length)
        arcs += [
            FlowArc(source=i, target=silos[i - first - 1], latency_s=length if i == first else 0.0, links=())
            for i in silos
        ]
        first += length
    starts = [sum(lengths[:ring]) for ring in range(len(lengths))]
    ends = [*starts[1:], starts[0]]
    return arcs + [
        FlowArc(source=i, target=j, latency_s=0.0, links=()) for i, j in zip(starts, ends, strict=True)
    ]


@pytest.mark.parametrize("queueing", ["overlap", "fifo"])
@pytest.mark.parametrize("rounds", [10, 4000])
def test_a_long_period(rounds, queueing):
    lengths = (9, 11, 13)
    timeline = simulate_flows(
        coupled_rings(lengths),
        link_capacity_bps=[],
        message_bits=0,
        compute_s=[0.5] * sum(lengths),
        rounds=rounds,
        sharing="equal",
        queueing=queueing,
    )
    assert timeline.cycle_time_is_exact
    assert timeline.cycle_time_s == 1.5  # every ring: 1/2 per silo, and as much latency as it has silos
    if rounds == 4000:
        growth_s = timeline.round_start_s[2000:] - timeline.round_start_s[2000 - 1287 : 4001 - 1287]
        assert (growth_s == 1287 * 1.5).all()
        shorter = [timeline.round_start_s[4000] - timeline.round_start_s[4000 - p] for p in range(1, 1287)]
        assert min(map(np.ptp, shorter)) > 0


@pytest.mark.parametrize("queueing", ["overlap", "fifo"])
def test_equal_sharing_that_never_repeats_is_an_estimate(queueing):
    # Silo 0 waits for nobody and runs ahead of the pair for ever.
    timeline = simulate_flows(
        [
            FlowArc(source=0, target=1, latency_s=0.0, links=()),
            FlowArc(source=1, target=2, latency_s=2.0, links=()),
            FlowArc(source=2, target=1, latency_s=2.0, links=()),
        ],
        link_capacity_bps=[],
        message_bits=0,
        compute_s=[1.0, 3.0, 3.0],
        rounds=20,
        sharing="equal",
        queueing=queueing,
    )
    assert not timeline.cycle_time_is_exact
    assert timeline.cycle_time_s == pytest.approx(5.0, rel=1e-12)


def test_max_min_sharing_that_does_not_repeat_is_an_estimate():
    assert not simulate(network_overlay("ebone", "ring"), 100).cycle_time_is_exact


def test_max_min_sharing_that_repeats_is_exact():
    repeating = simulate(network_overlay("geant", "ring"), 200)
    assert repeating.cycle_time_is_exact
    assert repeating.cycle_time_s == pytest.approx(
        simulate(network_overlay("geant", "ring"), 400).cycle_time_s, rel=1e-9, abs=0
    )

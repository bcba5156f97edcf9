"""Steady state of given and of simulated round starts."""

from dataclasses import replace

import numpy as np
import pytest

from simulator import FlowArc, SteadyState, simulate, simulate_flows
from simulator.compute_times import Constant
from simulator.job import make_job
from simulator.statistics.steady_state import (
    counted_rows,
    counts_disturbed,
    equal_steady_state,
    estimated_steady_state,
    has_period,
    max_plus_steady_state,
    repeating,
    steady_state,
    undisturbed_rows,
    within,
)
from topologies import (
    AccessLinks,
    InputError,
    Workload,
    connectivity,
    design,
    load_underlay,
    published_underlays,
)


def table(round_start_s):
    starts = np.array(round_start_s, dtype=float)
    return starts.reshape(len(starts), -1)


def exact(period_rounds, period_s, transient_rounds):
    return SteadyState(
        cycle_time_s=period_s / period_rounds,
        is_exact=True,
        period_rounds=period_rounds,
        period_s=period_s,
        transient_rounds=transient_rounds,
    )


def estimate(cycle_time_s):
    return SteadyState(cycle_time_s=cycle_time_s, is_exact=False)


def test_the_transient_ends_with_the_last_row_that_does_not_repeat():
    starts = np.concatenate(([0.0, 9.0, 9.5], 9.5 + 0.25 * np.arange(1, 18)))
    assert repeating(table(starts), 1, 0.25) == exact(1, 0.25, 2)


def test_a_period_of_three_rounds():
    growth = np.tile([1.0, 2.0, 4.0], 20)
    starts = np.concatenate(([0.0], np.cumsum(growth)))
    assert repeating(np.stack((starts, starts + 0.5), axis=1), 3, 7.0) == exact(3, 7.0, 0)


def test_all_silos_must_repeat():
    rounds = np.arange(41)
    starts = np.stack((3.0 * rounds, 3.0 * rounds + (rounds == 7)), axis=1)
    assert repeating(starts, 2, 6.0) == exact(2, 6.0, 8)


def test_an_estimate_is_the_mean_slope_of_the_last_half():
    rounds = np.arange(41)
    starts = 2.0 * rounds + np.sqrt(rounds)
    expected = (starts[40] - starts[20]) / 20
    assert estimated_steady_state(table(starts), (), (True,), 0) == estimate(
        pytest.approx(expected, rel=1e-12)
    )


@pytest.mark.parametrize(
    ("starts", "cycle_time_s"), [([0.0, 2.0], 2.0), ([0.0, 2.0, 5.0], 3.0), ([0.0, 0.0], 0.0)]
)
def test_a_few_rounds_give_the_last_slope(starts, cycle_time_s):
    assert estimated_steady_state(table(starts), (), (True,), 0) == estimate(cycle_time_s)


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


def ending_early():
    """Silo 0 is 3 rounds ahead, and silo 1 faster once the other has ended the job."""
    starts = np.stack((2.0 * np.arange(41) - 6.0, 2.0 * np.arange(41)), axis=1)
    starts[0] = 0.0
    starts[-2:, 1] -= [0.5, 1.0]
    return starts


def test_the_last_rounds_do_not_count_when_silos_end_the_job_early():
    last_s, end_s = ending_early().max(axis=1), ending_early()[-1].min()
    assert undisturbed_rows(last_s, end_s) == counted_rows(last_s, end_s) == 38
    assert not counts_disturbed(last_s, end_s)
    assert estimated_steady_state(ending_early(), (), (True,), 0) == estimate(2.0)


@pytest.mark.parametrize("rounds", [12, 30, 60])
def test_the_estimate_of_a_short_job_is_that_of_a_job_without_end(rounds):
    graph = connectivity(load_underlay("geant"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    tree = design("mst", graph, Workload.preset("inaturalist"))
    short, long_s = (simulate(tree, k, engine="compiled").round_start_s for k in (rounds, rounds + 100))
    rows = counted_rows(short.max(axis=1), short[-1].min())
    same_s = long_s[:rows].max(axis=1)
    half_s = same_s[(rows - 1) // 2 :]

    assert rounds // 2 < rows < rounds + 1
    assert estimated_steady_state(short, (), (True,), 0) == estimate(
        pytest.approx((half_s[-1] - half_s[0]) / (len(half_s) - 1), rel=1e-12)
    )
    # Some of the dates behind them are earlier than without an end.
    assert (short[rows:] < long_s[rows : rounds + 1] - 1e-3).any()


@pytest.mark.parametrize(
    ("last_s", "end_s", "kept"),
    [([0.0], 0.0, 1), ([0.0, 1.0], 0.5, 2), ([0.0, 1.0, 2.0], 1.0, 2), ([0.0, 1.0, 2.0, 3.0], 1.0, 4)],
)
def test_all_rounds_count_where_half_of_them_or_more_are_disturbed(last_s, end_s, kept):
    assert counted_rows(np.array(last_s), end_s) == kept
    assert counts_disturbed(np.array(last_s), end_s) == (kept > 1 + np.sum(np.array(last_s[1:]) <= end_s))


def test_rounds_that_hold_no_undisturbed_period_show_the_cycle_time_only():
    assert within(exact(1, 2.0, 30), ending_early(), longest_lag=1) == exact(1, 2.0, 1)
    assert within(exact(1, 2.0, 37), ending_early(), longest_lag=1) == exact(1, 2.0, 1)
    assert within(exact(1, 2.0, 38), ending_early(), longest_lag=1) == SteadyState(
        cycle_time_s=2.0, is_exact=True
    )


def network_overlay(underlay, kind):
    graph = connectivity(load_underlay(underlay), access=AccessLinks(up_bps=1e10, down_bps=1e10))
    return design(kind, graph, Workload.preset("inaturalist"))


@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
@pytest.mark.parametrize("underlay", published_underlays())
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


def test_a_transient_beyond_all_rounds_looked_at_gives_an_estimate():
    # Silo 0 sets the pace of 1 s, but silo 1, with a start of 50 s, needs millions of rounds to feel it.
    silos = 62
    timeline = simulate_flows(
        [
            FlowArc(source=silo, target=(silo + 1) % silos, latency_s=50.0 * (silo == silos - 1), links=())
            for silo in range(silos)
        ],
        link_capacity_bps=[],
        message_bits=0,
        compute_s=[1.0, *[0.1] * (silos - 2), 1.0 - 1e-6],
        rounds=20,
        sharing="equal",
        queueing="overlap",
    )
    assert timeline.steady == estimate(pytest.approx(1.0, rel=1e-9))
    with pytest.raises(
        InputError, match=r"round\(=21\) must be <= 20, the simulated rounds: they hold no period"
    ):
        timeline.start_s(21)


def test_a_recurrence_that_does_not_repeat_has_an_estimate_and_no_dates():
    arcs = [
        FlowArc(source=silo, target=(silo + 1) % 62, latency_s=50.0 * (silo == 61), links=())
        for silo in range(62)
    ]
    compute = Constant(compute_s=np.array([1.0, *[0.1] * 60, 1.0 - 1e-6]))
    job = make_job(
        arcs,
        link_capacity_bps=[],
        message_bits=0,
        compute=compute,
        rounds=20,
        sharing="equal",
        queueing="overlap",
    )
    steady, start_s = equal_steady_state(job)

    assert steady == estimate(pytest.approx(1.0, rel=1e-9))
    assert start_s.shape == (0, 62)


def slow_silo_in_a_ring(sharing):
    """A job of three silos, whose messages take no time."""
    arcs = [FlowArc(source=silo, target=(silo + 1) % 3, latency_s=0.0, links=()) for silo in range(3)]
    compute = Constant(compute_s=np.array([1.0, 2.0, 3.0]))
    return make_job(arcs, link_capacity_bps=[], message_bits=0, compute=compute, rounds=10, sharing=sharing)


@pytest.mark.parametrize(("rounds", "is_taken"), [(6, False), (7, True), (8, True)])
def test_with_constant_rates_a_proof_within_the_rounds_is_taken_and_else_the_recurrence(rounds, is_taken):
    proof = exact(2, 9.0, 5)
    steady, start_s = max_plus_steady_state(slow_silo_in_a_ring("equal"), proof, rounds)

    if is_taken:
        assert steady == proof
        assert start_s.shape == (0, 3)
    else:
        # Silo 2 computes for 3 s in every round, and the others wait for it.
        assert steady == exact(1, 3.0, steady.transient_rounds)
        np.testing.assert_array_equal(start_s[0], [0.0, 0.0, 0.0])
        np.testing.assert_array_equal(start_s[-1] - start_s[-2], [3.0, 3.0, 3.0])


def test_shared_links_have_no_recurrence():
    assert max_plus_steady_state(slow_silo_in_a_ring("maxmin"), exact(1, 1.0, 0), 10) is None


def test_the_starts_behind_the_simulated_ones_are_those_of_the_recurrence():
    job = slow_silo_in_a_ring("equal")
    everything = equal_steady_state(job)[1]
    steady, further_s = steady_state(job, None, everything[:3])

    assert steady.is_exact
    np.testing.assert_array_equal(further_s, everything[3:])


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_max_min_sharing_whose_period_is_longer_than_the_run_is_an_estimate(engine):
    assert not simulate(network_overlay("ebone", "ring"), 80, engine=engine).cycle_time_is_exact


def test_both_engines_find_the_same_period_and_transient():
    for underlay, kind in (("geant", "ring"), ("ebone", "mst"), ("gaia", "star")):
        overlay = network_overlay(underlay, kind)
        events, compiled = (simulate(overlay, 150, engine=engine).steady for engine in ("simpy", "compiled"))
        assert events.is_exact
        assert (events.period_rounds, events.transient_rounds) == (
            compiled.period_rounds,
            compiled.transient_rounds,
        )
        assert events.period_s == pytest.approx(compiled.period_s, rel=1e-9)


def test_max_min_sharing_that_repeats_is_exact():
    repeated = simulate(network_overlay("geant", "ring"), 200)
    longer = simulate(network_overlay("geant", "ring"), 400, engine="compiled")
    assert repeated.cycle_time_is_exact
    assert repeated.cycle_time_s == pytest.approx(longer.cycle_time_s, rel=1e-9, abs=0)


@pytest.mark.parametrize(("rounds", "holds"), [(39, False), (40, True), (41, True)])
def test_a_period_must_be_whole_after_the_transient(rounds, holds):
    assert has_period(exact(2, 3.0, 38), rounds) == holds


@pytest.mark.parametrize(
    "missing",
    [{"period_rounds": None, "period_s": None}, {"transient_rounds": None}, {"period_rounds": None}],
)
def test_an_exact_cycle_time_without_its_period_or_transient_shows_no_period(missing):
    steady = replace(exact(2, 3.0, 0), **missing)

    assert not has_period(steady, 10**6)
    assert within(steady, table(np.arange(10.0)), longest_lag=1) == SteadyState(
        cycle_time_s=1.5, is_exact=True
    )

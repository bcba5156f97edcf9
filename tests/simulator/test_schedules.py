"""Overlays that change each round, against recurrences and bounds of their own."""

import numpy as np
import pytest

from simulator import FlowArc, Lognormal, RoundPlan, simulate, simulate_flows
from simulator.rounds import PeriodicRounds, ScheduledRounds
from topologies import (
    AccessLinks,
    InputError,
    Workload,
    connectivity,
    design,
    design_periodic,
    design_random,
    load_underlay,
    make_schedule,
)
from topologies.random_cycle_time import random_cycle_time

ROUNDS, SEED = 60, 11
WORK = Workload.preset("inaturalist")


@pytest.fixture(scope="module", params=["matcha", "matcha_plus", "random_ring"])
def overlay(request):
    rng = np.random.default_rng(5)
    up, down = 10 ** rng.uniform(7, 10, (2, 11))
    return design_random(
        request.param, connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=up, down_bps=down)), WORK
    )


def recurrence(schedule, compute_s, *, fifo):
    """t_i(k) of Eq. 4 with the delays of Eq. 3 and each round's own degrees; compute_s: a row per round."""
    graph = schedule.overlay.graph
    t = np.zeros((len(compute_s) + 1, graph.silos))
    free_s = {}
    for k, computing_s in enumerate(compute_s):
        source, target = schedule.arcs(k)
        t[k + 1] = t[k] + computing_s
        for i, j in zip(source.tolist(), target.tolist(), strict=True):
            rate_bps = min(
                graph.up_bps[i] / (source == i).sum(),
                graph.down_bps[j] / (target == j).sum(),
                graph.available_bps[i, j],
            )
            start_s = t[k, i] + computing_s[i]
            if fifo:
                start_s = max(start_s, free_s.get((i, j), 0.0))
            free_s[i, j] = start_s + WORK.model_bits / rate_bps
            t[k + 1, j] = max(t[k + 1, j], free_s[i, j] + graph.latency_s[i, j])
    return t


@pytest.mark.parametrize("queueing", ["overlap", "fifo"])
def test_equal_rates_are_the_recurrence_with_each_rounds_own_degrees(overlay, queueing):
    schedule = make_schedule(overlay, SEED, ROUNDS)
    compute_s = np.tile(WORK.round_compute_s(11), (ROUNDS, 1))
    timeline = simulate(schedule, ROUNDS, sharing="equal", queueing=queueing)
    expected = recurrence(schedule, compute_s, fifo=queueing == "fifo")
    np.testing.assert_allclose(timeline.round_start_s, expected, rtol=1e-12)


def test_the_cycle_time_is_that_of_the_random_max_plus_products(overlay):
    rounds, batches = 400, 20
    estimate = random_cycle_time(overlay, rounds, SEED, batches=batches)
    timeline = simulate(overlay, rounds, sharing="equal", queueing="overlap", seed=SEED)
    last_s = timeline.round_start_s.max(axis=1)
    counted = batches * (rounds // (batches + 1))
    assert (last_s[-1] - last_s[-1 - counted]) / counted == pytest.approx(estimate.max_plus.mean, rel=1e-12)
    assert not timeline.cycle_time_is_exact


def test_random_computing_times_come_round_by_round(overlay):
    compute = Lognormal(mean_s=np.full(11, 0.3), cv=0.8, seed=2)
    schedule = make_schedule(overlay, SEED, ROUNDS)
    timeline = simulate(schedule, ROUNDS, sharing="equal", queueing="overlap", compute=compute)
    np.testing.assert_allclose(
        timeline.round_start_s, recurrence(schedule, compute.rows(0, ROUNDS), fifo=False), rtol=1e-12
    )


@pytest.mark.parametrize("queueing", ["overlap", "fifo"])
def test_max_min_sharing_is_no_faster_than_the_links(overlay, queueing):
    schedule = make_schedule(overlay, SEED, ROUNDS)
    timeline = simulate(schedule, ROUNDS, queueing=queueing, messages=True, engine="compiled")
    graph, bits, messages = overlay.graph, WORK.model_bits, timeline.messages
    bits_by_link = np.zeros(len(graph.link_capacity_bps))
    for k in range(ROUNDS):
        source, target = schedule.arcs(k)
        load_bits = np.zeros_like(bits_by_link)
        for i, j in zip(source.tolist(), target.tolist(), strict=True):
            load_bits[list(graph.route(i, j))] += bits
        bits_by_link += load_bits
        # All models of round k cross the busiest link after the first of them starts.
        busiest_s = (load_bits / graph.link_capacity_bps).max()
        present = ~np.isnan(messages.arrival_s[k])
        assert present.sum() == len(source)
        first_s, last_s = messages.start_s[k, present].min(), messages.last_bit_s[k, present].max()
        assert last_s - first_s >= busiest_s * (1 - 1e-9)
        # A silo waits for its own computing and for the in-arcs of the round only.
        own_s = timeline.round_start_s[k] + WORK.round_compute_s(11)
        assert (timeline.round_start_s[k + 1] >= own_s * (1 - 1e-12)).all()
        idle = np.setdiff1d(np.arange(11), target)
        np.testing.assert_allclose(timeline.round_start_s[k + 1, idle], own_s[idle], rtol=1e-12)
    np.testing.assert_allclose(timeline.link_bits, bits_by_link, rtol=1e-12)
    crossed_s = (bits_by_link / graph.link_capacity_bps).max()
    assert timeline.round_start_s[-1].max() >= crossed_s * (1 - 1e-9)


def test_a_schedule_is_that_of_its_seed(overlay):
    drawn = simulate(overlay, 20, seed=SEED, engine="compiled")
    given = simulate(make_schedule(overlay, SEED, 33), 20, engine="compiled")
    other = simulate(overlay, 20, seed=SEED + 1, engine="compiled")
    assert np.array_equal(drawn.round_start_s, given.round_start_s)
    assert not np.array_equal(drawn.round_start_s, other.round_start_s)


class EveryOther(RoundPlan):
    """Two silos that hear each other in even rounds only."""

    rounds = 6

    def active(self, round_):
        return np.arange(2 if round_ % 2 == 0 else 0)

    def sending_s(self, round_):
        return np.full(2 if round_ % 2 == 0 else 0, 4.0)


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_a_silo_without_in_arcs_goes_on(sharing):
    pair = [FlowArc(source=i, target=1 - i, latency_s=0.5, links=(i,), rate_bps=9.0) for i in range(2)]
    timeline = simulate_flows(
        pair,
        link_capacity_bps=[1.0, 1.0],
        message_bits=4.0,
        compute_s=[1.0, 2.0],
        rounds=6,
        plan=EveryOther(),
        sharing=sharing,
        messages=True,
    )
    # Round 0 ends at 2 + 4 + 0.5 and 1 + 4 + 0.5, and so on; the odd rounds cost the own computing only.
    expected = [[0.0, 0.0], [6.5, 5.5], [7.5, 7.5], [14.0, 13.0], [15.0, 15.0], [21.5, 20.5], [22.5, 22.5]]
    assert timeline.round_start_s.tolist() == expected
    assert np.isnan(timeline.arrival_s[1::2]).all()
    assert not np.isnan(timeline.arrival_s[::2]).any()
    assert (timeline.messages.bound_link[1::2] == -1).all()
    assert timeline.link_bits.tolist() == [12.0, 12.0]


def test_a_connection_sends_its_next_message_after_the_last_one():
    class Skipping(RoundPlan):
        """Silo 0 sends in rounds 0 and 2, hears nobody, and silo 1 waits for it."""

        rounds = 3

        def active(self, round_):
            return np.arange(0 if round_ == 1 else 1)

        def sending_s(self, round_):
            return np.full(0 if round_ == 1 else 1, 10.0)

    for sharing in ("maxmin", "equal"):
        timeline = simulate_flows(
            [FlowArc(source=0, target=1, latency_s=0.0, links=(0,), rate_bps=1.0)],
            link_capacity_bps=[1.0],
            message_bits=10.0,
            compute_s=[1.0, 1.0],
            rounds=3,
            plan=Skipping(),
            sharing=sharing,
            messages=True,
        )
        np.testing.assert_array_equal(timeline.messages.start_s[:, 0], [1.0, np.nan, 11.0])
        np.testing.assert_array_equal(timeline.messages.last_bit_s[:, 0], [11.0, np.nan, 21.0])
        assert timeline.round_start_s[:, 1].tolist() == [0.0, 11.0, 12.0, 21.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rounds": 5}, "seed must be given: random_ring is a randomized overlay."),
        ({"rounds": 0, "seed": 1}, "rounds(=0) must be >= 1."),
        ({"rounds": 5, "seed": -1}, "seed(=-1) must be >= 0."),
    ],
)
def test_a_random_overlay_needs_a_seed(arguments, message):
    ring = design_random(
        "random_ring", connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9)), WORK
    )
    with pytest.raises(InputError) as caught:
        simulate(ring, **arguments)
    assert str(caught.value) == message


def test_a_schedule_must_be_long_enough_and_needs_no_seed():
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    schedule = make_schedule(design_random("random_ring", graph, WORK), 0, 5)
    with pytest.raises(InputError, match=r"rounds\(=6\) must be <= 5, the rounds of the schedule\."):
        simulate(schedule, 6)
    for overlay in (schedule, design("ring", graph, WORK)):
        with pytest.raises(
            InputError, match=r"seed\(=3\) must be left out: only a randomized overlay takes one"
        ):
            simulate(overlay, 5, seed=3)
    with pytest.raises(InputError, match=r"rounds\(=9\) must be <= 6, the rounds of the plan\."):
        simulate_flows(
            [], link_capacity_bps=[], message_bits=0, compute_s=[1.0, 1.0], rounds=9, plan=EveryOther()
        )


def test_plans_are_one_line():
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    schedule = make_schedule(design_random("random_ring", graph, WORK), SEED, 5)
    plan = ScheduledRounds(schedule, 2)
    assert repr(plan) == f"ScheduledRounds(2 rounds, {len(plan.arcs.source)} arcs)"
    assert 11 < len(plan.arcs.source) <= 22
    overlay = design_periodic("one_peer_exponential", graph, WORK)
    assert repr(PeriodicRounds(overlay, 9)) == f"PeriodicRounds(9 rounds, {overlay.period} states)"

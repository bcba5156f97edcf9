"""Rounds far beyond the simulated ones."""

import numpy as np
import pytest

from simulator import Exponential, FlowArc, SteadyState, simulate, simulate_flows
from topologies import (
    AccessLinks,
    InputError,
    Workload,
    connectivity,
    design,
    load_underlay,
    recurrence,
)
from topologies.closed_forms import before_any, serialized_event_graph


def overlay(underlay, kind):
    graph = connectivity(load_underlay(underlay), access=AccessLinks(up_bps=1e10, down_bps=1e10))
    return design(kind, graph, Workload.preset("inaturalist"))


@pytest.mark.parametrize("rounds", [1, 30, 400])
@pytest.mark.parametrize("queueing", ["overlap", "fifo"])
@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
def test_equal_rounds_beyond_are_those_of_the_recurrence(kind, queueing, rounds):
    designed = overlay("geant", kind)
    timeline = simulate(designed, rounds, sharing="equal", queueing=queueing)
    beyond = 5000
    graph = designed.event_graph
    if queueing == "fifo":
        computing_s = designed.tokens * designed.compute_s[designed.source]
        graph = serialized_event_graph(
            graph, computing_s, designed.latency_s, designed.transmission_s, direct=False
        )
    expected = recurrence(graph, beyond, before_any(40, graph.nodes))[:, :40]
    for k in (0, 1, rounds, rounds + 1, 39, 600, 1234, beyond):
        np.testing.assert_allclose(timeline.start_s(k), expected[k], rtol=1e-9, atol=0)
    steady = timeline.steady
    first, period = steady.transient_rounds, steady.period_rounds
    growth_s = expected[first + period :] - expected[first:-period]
    np.testing.assert_allclose(growth_s, steady.period_s, rtol=1e-8)
    if first:
        before_s = expected[first - 1 + period] - expected[first - 1]
        assert np.abs(before_s - steady.period_s).max() > 1e-9 * steady.period_s
    assert steady.cycle_time_s == steady.period_s / period


def test_a_year_of_rounds_costs_nothing():
    timeline = simulate(overlay("geant", "ring"), 10, sharing="equal")
    year = timeline.start_s(10**12)
    np.testing.assert_allclose(year, 10**12 * timeline.cycle_time_s, rtol=1e-9)


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_max_min_rounds_that_repeat_are_those_of_a_longer_run(engine):
    ring = overlay("geant", "ring")
    short, long = (simulate(ring, rounds, engine=engine) for rounds in (200, 900))
    assert short.cycle_time_is_exact
    for k in (201, 317, 700, 850):
        np.testing.assert_allclose(short.start_s(k), long.round_start_s[k], rtol=1e-9, atol=0)


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_no_repeat_is_seen_where_there_is_none(engine, queueing):
    rng, repeats = np.random.default_rng(6), 0
    for _ in range(30):
        silos = int(rng.integers(2, 6))
        pairs = {(i, (i + 1) % silos) for i in range(silos)} | set(
            zip(rng.integers(0, silos, 3).tolist(), rng.integers(0, silos, 3).tolist(), strict=True)
        )
        arcs = [
            FlowArc(source=i, target=j, latency_s=float(rng.choice([0.0, 0.5, 3.0])), links=(i, silos + j))
            for i, j in sorted(pairs)
            if i != j
        ]
        job = {
            "link_capacity_bps": rng.choice([0.5, 1.0, 3.0], 2 * silos),
            "message_bits": rng.choice([1.0, 2.0, 5.0], len(arcs)),
            "compute_s": rng.choice([0.25, 1.0, 4.0], silos),
        }
        short, long = (
            simulate_flows(arcs, **job, rounds=rounds, engine=engine, queueing=queueing)
            for rounds in (40, 140)
        )
        if short.steady.period_rounds is not None:
            repeats += 1
            for k in (41, 66, 120):
                np.testing.assert_allclose(short.start_s(k), long.round_start_s[k], rtol=1e-9, atol=0)
    assert repeats > 15


def test_what_is_drawn_is_not_extrapolated():
    timeline = simulate_flows(
        [], link_capacity_bps=[], message_bits=0, compute=Exponential(mean_s=[1.0], seed=0), rounds=5
    )
    assert np.array_equal(timeline.start_s(5), timeline.round_start_s[5])
    with pytest.raises(InputError) as caught:
        timeline.start_s(6)
    assert str(caught.value) == "round(=6) must be <= 5, the simulated rounds: they hold no period."
    with pytest.raises(InputError, match=r"round\(=-1\) must be >= 0\."):
        timeline.start_s(-1)


def test_a_period_by_hand():
    # The message goes there and back in 0.5 + 2.0 s and there is one per round: two rounds take 2.5 + 2 * 1 s.
    timeline = simulate_flows(
        [
            FlowArc(source=0, target=1, latency_s=0.5, links=()),
            FlowArc(source=1, target=0, latency_s=2.0, links=()),
        ],
        link_capacity_bps=[],
        message_bits=0,
        compute_s=[1.0, 1.0],
        rounds=3,
        sharing="equal",
    )
    assert timeline.steady == SteadyState(
        cycle_time_s=2.25, is_exact=True, period_rounds=2, period_s=4.5, transient_rounds=0
    )
    assert timeline.start_s(4).tolist() == [9.0, 9.0]
    assert timeline.start_s(1001).tolist() == [2250 + 3.0, 2250 + 1.5]


@pytest.mark.parametrize(
    ("steady", "text"),
    [
        (
            SteadyState(
                cycle_time_s=0.8046 / 7, is_exact=True, period_rounds=7, period_s=0.8046, transient_rounds=2
            ),
            "804.6 ms / 7 rounds",
        ),
        (
            SteadyState(cycle_time_s=2.0, is_exact=True, period_rounds=1, period_s=2.0, transient_rounds=0),
            "2000 ms / round",
        ),
        (SteadyState(cycle_time_s=0.125, is_exact=False), "about 125 ms / round"),
    ],
)
def test_a_steady_state_is_printed_with_its_period(steady, text):
    assert str(steady) == text

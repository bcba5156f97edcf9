"""The recurrence behind exact cycle times with constant rates: its rounds, how many are looked at, its estimates."""

from dataclasses import replace

import numpy as np
import pytest
from periodic_cases import starts
from small_networks import network

from simulator import FlowArc, overlay_job, simulate_flows
from simulator.compute_times import Constant
from simulator.computing_rounds import in_states
from simulator.job import make_job
from simulator.statistics import steady_state
from simulator.statistics.steady_state import (
    SteadyState,
    _common,
    _pieces,
    _round_starts,
    equal_steady_state,
    estimated_steady_state,
    has_period,
    repeating,
)
from topologies import Workload, build_periodic, state_of

QUEUEINGS = pytest.mark.parametrize("queueing", ["fifo", "overlap"])


@pytest.mark.parametrize(
    ("rounds", "first", "largest", "pieces"),
    [
        (100, 10, 32, [10, 20, 32, 32]),  # 6 are left
        (30, 10, 100, [10, 20]),
        (29, 10, 100, [10]),
        (5, 10, 100, [5]),
        (7, 10, 3, [3, 3]),
        (1, 10, 100, [1]),
    ],
)
def test_pieces_double_up_to_the_largest_and_none_is_short(rounds, first, largest, pieces):
    assert list(_pieces(rounds, first=first, largest=largest)) == pieces


def test_a_period_ends_with_the_round_that_begins_with_state_0():
    # Two silos, three states and a node of a connection: state 0 of a period is that of the round after its others.
    states_s = np.array([[30.0, 31, 10, 11, 20, 21, -1], [60, 61, 40, 41, 50, 51, -1]])
    rounds_s = _round_starts(states_s, 3, 2)
    assert rounds_s.tolist() == [[10, 11], [20, 21], [30, 31], [40, 41], [50, 51], [60, 61]]


@pytest.mark.parametrize(
    ("after_s", "growth_s"),
    [([1e9, 1e9 - 1], 1e9 - 0.5), ([1e9, 1e9 - 2], None), ([4.0, 4.0], 4.0)],
)
def test_growths_within_a_billionth_are_one(after_s, growth_s):
    assert _common(np.zeros(2), np.array(after_s)) == growth_s
    assert _common(np.array([0.0, -np.inf]), np.array(after_s)) is None


@pytest.mark.parametrize(("late_s", "transient"), [(1.0, 0), (2.0, 1)])
def test_rounds_repeat_within_a_billionth_of_the_period(late_s, transient):
    starts_s = np.array([0.0, 1e9 + late_s, 2e9 + late_s])[:, np.newaxis]
    assert repeating(starts_s, 1, 1e9).transient_rounds == transient


def test_a_period_without_its_time_is_not_shown():
    whole = SteadyState(cycle_time_s=1.5, is_exact=True, period_rounds=2, period_s=3.0, transient_rounds=0)
    assert str(whole) == "3000 ms / 2 rounds"
    assert [str(replace(whole, **{name: None})) for name in ("period_s", "period_rounds")] == [
        "1500 ms / round"
    ] * 2
    assert has_period(replace(whole, period_rounds=None), 99) is False


@QUEUEINGS
@pytest.mark.parametrize("overlap", [0.0, 0.75])
@pytest.mark.parametrize("computes", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("lag", [1, 2, 3])
def test_the_starts_are_those_of_the_recurrence_by_its_definition(queueing, overlap, computes, lag):
    graph = network([(0, 1), (1, 2), (0, 2)], [500.0, 10.0, 900.0], [2.0, 5.0, 3.0])
    ring = np.arange(3)
    states = [
        state_of(ring, np.roll(ring, -1), np.full(3, 0.5), np.array([lag, 1, 1]), computes=computes[0]),
        state_of(ring, np.roll(ring, 1), np.full(3, 0.5), computes=computes[1]),
    ]
    work = Workload(model_bits=4.0, compute_s=[0.25, 0.5, 0.75], overlap=overlap)
    overlay = build_periodic("test", graph, work, states)
    steady, start_s = equal_steady_state(overlay_job(overlay, 3, sharing="equal", queueing=queueing))

    expected_s = starts(overlay, len(start_s) - 1, fifo=queueing == "fifo")
    np.testing.assert_allclose(start_s, expected_s, rtol=1e-12, atol=1e-12)
    period, end = steady.period_rounds, steady.transient_rounds + steady.period_rounds
    assert steady.is_exact
    assert steady.computing_rounds == sum(computes) * period // 2
    assert steady.cycle_time_s == pytest.approx(steady.period_s / steady.computing_rounds, rel=1e-12)
    np.testing.assert_allclose(
        expected_s[end:] - expected_s[steady.transient_rounds : len(start_s) - period],
        steady.period_s,
        rtol=1e-9,
    )


def test_lags_reach_back_over_several_pieces_of_the_recurrence():
    # A model goes round in six rounds, 5 + 1, of which the first piece holds nine: no whole period after the transient.
    graph = network([(0, 1)], [100.0], [2.0])
    state = state_of([0, 1], [1, 0], [0.5, 0.5], [5, 1])
    overlay = build_periodic("test", graph, Workload(model_bits=20.0, compute_s=[0.25, 0.5]), [state])
    steady, start_s = equal_steady_state(overlay_job(overlay, 3, sharing="equal", queueing="overlap"))

    expected_s = starts(overlay, 2 * len(start_s))
    np.testing.assert_allclose(start_s, expected_s[: len(start_s)], rtol=1e-12, atol=1e-12)
    assert len(start_s) > 10
    assert steady.period_s == pytest.approx(steady.period_rounds * steady.cycle_time_s, rel=1e-12)
    later_s = expected_s[steady.transient_rounds :]
    np.testing.assert_allclose(
        later_s[steady.period_rounds :] - later_s[: -steady.period_rounds], steady.period_s, rtol=1e-9
    )


@QUEUEINGS
def test_slow_start_of_every_message_is_in_the_recurrence(queueing):
    arcs = [
        FlowArc(
            source=i,
            target=1 - i,
            latency_s=0.25 + i,
            links=(),
            rate_bps=2.0,
            slow_start_s=3.0 * i,
            slow_start_after_s=-np.inf,
        )
        for i in range(2)
    ]
    how = {"link_capacity_bps": [], "message_bits": 4.0, "sharing": "equal", "queueing": queueing}
    compute = Constant(compute_s=np.array([1.0, 2.0]))
    _, start_s = equal_steady_state(make_job(arcs, compute=compute, rounds=1, **how))
    simulated = simulate_flows(arcs, compute=compute, rounds=len(start_s) - 1, engine="simpy", **how)

    np.testing.assert_allclose(start_s, simulated.round_start_s, rtol=1e-12)


def ring(compute_s, head_start_s):
    """A ring whose last silo's messages take this long, and no other time is but that of computing."""
    silos = len(compute_s)
    return {
        "arcs": [
            FlowArc(source=i, target=(i + 1) % silos, latency_s=head_start_s * (i == silos - 1), links=())
            for i in range(silos)
        ],
        "link_capacity_bps": [],
        "message_bits": 0,
        "sharing": "equal",
        "queueing": "overlap",
    }


@pytest.fixture
def pieces_of(monkeypatch):
    """How many steps of the event graph each piece has."""
    found, whole = [], steady_state.recurrence
    monkeypatch.setattr(
        steady_state,
        "recurrence",
        lambda graph, rounds, *states: found.append(rounds) or whole(graph, rounds, *states),
    )
    return found


@pytest.mark.parametrize(
    ("limit", "table", "pieces"),
    [
        (375.0, 1 << 24, [125, 250]),  # twice the silos and one round, then twice as many
        (374.9, 1 << 24, [125]),
        (375.0, 62 * 100, [100, 100, 100]),
        (124.0, 1 << 24, [124]),
        (0.0, 1 << 24, [50]),
        (70.0, 1, [1] * 70),
    ],
)
def test_the_rounds_that_are_looked_at(monkeypatch, pieces_of, limit, table, pieces):
    monkeypatch.setattr(steady_state, "_WORK", int(limit * (1000 + 62 + 62)))
    monkeypatch.setattr(steady_state, "_TABLE", table)
    # Silo 61 needs millions of rounds to feel that silo 0 takes longer.
    compute_s = np.array([1.0, *[0.1] * 60, 1.0 - 1e-6])
    compute = Constant(compute_s=compute_s)
    steady, start_s = equal_steady_state(make_job(**ring(compute_s, 50.0), compute=compute, rounds=50))

    assert pieces_of == pieces
    assert not steady.is_exact
    assert start_s.shape == (0, 62)


@pytest.mark.parametrize(
    ("computes", "rounds", "half"),
    [((True,), 40, 21), ((True,), 41, 21), ((True, False), 82, 42), ((True, False, True), 72, 36)],
)
def test_an_estimate_is_the_mean_slope_of_the_last_half_of_the_rounds_looked_at(
    monkeypatch, computes, rounds, half
):
    monkeypatch.setattr(steady_state, "_WORK", 0)
    # Silo 0 leads at 0.9 s a round, until silo 30 has caught up with it, at 1 s a round.
    compute_s = np.array([0.9, *[0.8] * 29, 1.0, *[0.8] * 31])
    flows = ring(compute_s, 3.0)
    compute = in_states(Constant(compute_s=compute_s), computes)
    steady, _ = equal_steady_state(make_job(**flows, compute=compute, rounds=rounds, computes=computes))
    last_s = simulate_flows(**flows, compute=compute, rounds=rounds, engine="simpy").round_start_s.max(axis=1)

    assert not steady.is_exact
    per_round_s = (last_s[-1] - last_s[-1 - half]) / half
    assert steady.cycle_time_s == pytest.approx(len(computes) / sum(computes) * per_round_s, rel=1e-12)
    assert 0.91 < steady.cycle_time_s < 0.99


def test_an_estimate_with_an_absence_of_the_last_round_counts_that_round():
    growth_s = np.append(np.ones(99), 51.0)
    start_s = np.stack([np.append(0.0, np.cumsum(growth_s))] * 3, axis=1)
    start_s[100, 2] = start_s[99, 2]

    # 49 rounds of 1 s and one of 51 s; silo 2, which is away in this one, has not ended the job.
    assert estimated_steady_state(start_s, [(2, 99, 100)], (True,), 0).cycle_time_s == pytest.approx(2.0)


def test_the_silo_that_is_last_tells_which_rounds_end_before_the_job_does():
    # Silo 0 is three rounds ahead, and silo 1 faster once it has ended the job; an early absence, which is over.
    starts_s = np.stack((2.0 * np.arange(41) - 6.0, 2.0 * np.arange(41)), axis=1)
    starts_s[0] = 0.0
    starts_s[-2:, 1] -= [0.5, 1.0]

    assert estimated_steady_state(starts_s, [(0, 1, 2)], (True,), 0).cycle_time_s == 2.0

"""What holds in the compiled engine after every instant, and what its loop over events needs."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_networks import untied_values
from test_compiled import assert_same, jobs, run
from test_compiled_plan import assert_like_simpy
from test_job_properties import Repeating

from simulator import CapacityChange, Constant, FlowArc, make_job
from simulator.compiled import max_min_run
from simulator.compiled.events import PAUSED
from simulator.compiled.heap import size
from simulator.compiled.state import BACKWARD, COMPUTING, GATED, WAITING

ONE_EVENT = 15
"""A budget of work that the first event of an instant goes beyond."""


def paused(monkeypatch, budget, then=None, *, most=100_000):
    """Let the loop over events pause, and call `then` with what it is given; the list of why it returned."""
    loop, reasons = max_min_run.run, []

    def run_and_look(*state):
        reasons.append(loop(*state[:-1], budget))
        assert len(reasons) < most
        if then is not None and reasons[-1] == PAUSED:
            then(*state[:-2])
        return reasons[-1]

    monkeypatch.setattr(max_min_run, "run", run_and_look)
    return reasons


def check_instant(network, silos, _queue, window, *, job, seen):
    """Nothing is due any more, and the tables say of each silo and arc what it does."""
    clock, inbox, events = network.clock[0], window.inbox, silos.events
    base, now_s = clock["base"], clock["now_s"]
    in_arcs = np.bincount([arc.target for arc in job.arcs], minlength=job.silos)
    for number, silo in enumerate(silos.table):
        here, is_in = inbox[silo["round"] - base, number], events["place"][number] >= 0
        phase, due_s = silo["phase"], events["key"][number]
        seen.add(int(phase))
        assert here["round_start_s"] <= now_s
        if silo["round"] == job.rounds:
            assert not is_in
            continue
        assert is_in == (phase != WAITING)
        if phase in (COMPUTING, BACKWARD):
            share = 1.0 if phase == BACKWARD else 1.0 - job.backward_share
            assert due_s == here["round_start_s"] + share * here["compute_s"] > now_s
        elif phase == GATED:
            assert here["missing"] == 0
            assert due_s == here["latest_s"] > now_s
        else:
            assert here["missing"] > 0
    delivered = np.flatnonzero((inbox["missing"] < in_arcs).any(axis=1))
    if len(delivered):
        assert clock["latest"] == base + delivered[-1]
    assert clock["reference"] < 0
    assert clock["open"] == 0
    assert size(network.shares) == size(network.levels) == 0
    busy = network.arcs[network.arcs["count"] > 0]
    assert (busy["end_s"] > now_s).all()
    left_bits = busy["left_bits"] - busy["rate_bps"] * (now_s - busy["since_s"])
    assert (left_bits > 0).all()
    np.testing.assert_allclose(busy["end_s"], now_s + left_bits / busy["rate_bps"], rtol=1e-12)
    held = network.arcs["held"] > 0
    assert np.array_equal(events["place"][job.silos : -1] >= 0, held[: len(events) - 1 - job.silos])
    assert not held[len(events) - 1 - job.silos :].any()
    if clock["fifo"]:
        assert (network.arcs["count"] + held <= 1).all()
        assert (
            held[network.arcs["queued"] > 0] | (network.arcs["count"] > 0)[network.arcs["queued"] > 0]
        ).all()


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize(("backward_share", "slow_s"), [(0.0, 0.0), (0.5, 0.0), (0.0, 1.0)])
def test_after_each_instant_silos_and_arcs_do_what_the_tables_say(
    monkeypatch, queueing, backward_share, slow_s
):
    rng = np.random.default_rng(4)
    values = untied_values(rng)
    values["arcs"] = [
        replace(arc, slow_start_s=slow_s * (n % 2), slow_start_after_s=0.5)
        for n, arc in enumerate(values["arcs"])
    ]
    job = make_job(
        **values,
        compute=Constant(compute_s=rng.uniform(0.1, 1.0, 8)),
        rounds=6,
        queueing=queueing,
        backward_share=backward_share,
    )
    expected, _, _ = run(job)
    seen = set()
    reasons = paused(monkeypatch, ONE_EVENT, lambda *state: check_instant(*state, job=job, seen=seen))
    found, _, _ = run(job, block_rounds=2)
    assert_same(found, expected, rtol=0)
    # Each silo begins and ends computing, and each arc's message leaves, at a date of its own.
    assert reasons.count(PAUSED) > 6 * (8 + len(job.arcs))
    assert seen == {COMPUTING, WAITING, GATED} | ({BACKWARD} if backward_share else set())


def ring(rounds, *, links=(0,), **how):
    """Three silos that do all at once: a period of one round, 2.5 s or, with a link for each, 3.5 s."""
    arcs = [
        FlowArc(source=i, target=(i + 1) % 3, latency_s=1.5, links=tuple(i for _ in links), rate_bps=1.0)
        for i in range(3)
    ]
    return make_job(
        arcs,
        link_capacity_bps=[1.0] * 3,
        message_bits=1.0,
        compute=Constant(compute_s=[1.0] * 3),
        rounds=rounds,
        **how,
    )


def test_the_loop_returns_after_some_events_even_where_no_message_takes_a_link(monkeypatch):
    reasons = paused(monkeypatch, 1000, most=300)
    tables, _, _ = run(ring(400, links=()), fast_forward=False)
    # Three silos compute and start in each round, so that 400 rounds have 2400 events of work 10 or more.
    assert 24 <= reasons.count(PAUSED) <= 240
    assert tables["round_start_s"][:, 0].tolist() == [2.5 * k for k in range(401)]


def test_a_job_whose_silos_stay_together_needs_no_longer_window(monkeypatch):
    rows = []
    paused(monkeypatch, ONE_EVENT, lambda *state: rows.append(len(state[-1].inbox)))
    tables, _, _ = run(ring(200), block_rounds=4, fast_forward=False)
    assert set(rows) == {8}
    assert tables["round_start_s"][:, 0].tolist() == [3.5 * k for k in range(201)]


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@pytest.mark.parametrize(
    ("lag", "period", "repeat"),
    [
        # The first start is saved from which on no message is missing, of round 1 or 2, and the next is its repeat.
        (1, 1, 2),
        (2, 1, 2),
        (3, 1, 3),
        (1, 2, 4),  # saved at 1 and 2, as the next start is not of the same arcs
        (1, 3, 7),  # saved at 1, 2 and 4
    ],
)
def test_a_repeat_counts_if_no_silo_may_leave_out_messages_yet(sharing, queueing, lag, period, repeat):
    # Constant rates do not depend on messages that are left out at the end.
    fewest = repeat + lag if sharing == "maxmin" else repeat
    for rounds in range(1, 12):
        plan = Repeating(rounds, period=period, longest_lag=lag)
        plan.active = lambda _: np.arange(3)
        plan.sending_s = lambda _: np.ones(3)
        _, _, engine = run(ring(rounds, sharing=sharing, queueing=queueing, plan=plan), block_rounds=2)
        assert (engine.steady is not None) == (rounds >= fewest), rounds
        if rounds >= fewest:
            assert (engine.steady.period_rounds, engine.steady.period_s) == (period, 3.5 * period)
            assert engine.steady.transient_rounds == 0


@st.composite
def capacity_changes(draw, links):
    """Of links that are finite, at any dates: some at once, some that change nothing."""
    dates = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.5, 3.0]) | st.floats(0.0, 20.0)
    capacity = st.sampled_from([0.5, 1.0, 3.0]) | st.floats(0.1, 30.0)
    changes = draw(
        st.lists(
            st.builds(CapacityChange, date_s=dates, link=st.sampled_from(links), capacity_bps=capacity),
            max_size=12,
        )
    )
    return sorted(changes, key=lambda change: change.date_s)


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@given(values=jobs(), data=st.data(), rounds=st.integers(1, 12), block_rounds=st.sampled_from([1, 2, 3, 64]))
def test_capacities_that_change_have_the_dates_of_simpy(values, data, rounds, block_rounds, queueing):
    finite = [n for n, capacity_bps in enumerate(values["link_capacity_bps"]) if capacity_bps < math.inf]
    changes = data.draw(capacity_changes(finite)) if finite else []
    job = make_job(
        **values, rounds=rounds, queueing=queueing, positive_capacities=True, changes=lambda: iter(changes)
    )
    assert_like_simpy(job, block_rounds=block_rounds)

"""Simulations of random strong digraphs against independent calculations of the same rules."""

import math
from heapq import heappop, heappush

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_networks import silos_of, strong_digraphs

from simulator import Observer, max_min_rates, simulate_flows

ROUNDS = 8


@st.composite
def jobs(draw):
    """Keywords of simulate_flows."""
    job = draw(strong_digraphs(st.sampled_from([0.5, 1.0, 3.0, math.inf]) | st.floats(0.2, 5.0)))
    seconds = st.sampled_from([0.5, 1.0]) | st.floats(0.01, 2.0)
    silos = silos_of(job)
    return job | {"compute_s": draw(st.lists(seconds, min_size=silos, max_size=silos)), "rounds": ROUNDS}


def recurrence(job, *, fifo):
    """t_i(k) of the max-plus recurrence; with fifo a message also waits for the previous one of its arc."""
    arcs, compute_s = job["arcs"], job["compute_s"]
    bits = np.broadcast_to(job["message_bits"], len(arcs))
    sending_s = [size / arc.rate_bps for size, arc in zip(bits, arcs, strict=True)]
    t = np.zeros((job["rounds"] + 1, len(compute_s)))
    free_s = [0.0] * len(arcs)
    for k in range(job["rounds"]):
        t[k + 1] = t[k] + compute_s
        for _ in compute_s:  # 0-token arcs chain within a round, over fewer arcs than silos
            left_s = [
                max(
                    free if fifo else 0.0,
                    t[k + 1 - arc.tokens, arc.source] + arc.tokens * compute_s[arc.source],
                )
                + duration
                for arc, free, duration in zip(arcs, free_s, sending_s, strict=True)
            ]
            for arc, last_bit_s in zip(arcs, left_s, strict=True):
                t[k + 1, arc.target] = max(t[k + 1, arc.target], last_bit_s + arc.latency_s)
        free_s = left_s
    return t


def full_solve(job, *, fifo):
    """t_i(k) of a plain fluid simulation that shares all links anew at every event."""
    arcs, compute_s, rounds = job["arcs"], job["compute_s"], job["rounds"]
    bits = np.broadcast_to(job["message_bits"], len(arcs))
    t = np.zeros((rounds + 1, len(compute_s)))
    in_arcs = np.bincount([arc.target for arc in arcs], minlength=len(compute_s))
    missing = np.tile(1 + in_arcs, (rounds, 1))  # own computing is awaited like a message
    agenda = sorted((seconds, silo, 0, "computed") for silo, seconds in enumerate(compute_s))
    flows, waiting = [], []  # [arc, round, bits left]

    def ready(silo, k, tokens):
        waiting.extend(
            [n, k, bits[n]] for n, arc in enumerate(arcs) if arc.source == silo and arc.tokens == tokens
        )

    def one_in(silo, k, now):
        missing[k, silo] -= 1
        if not missing[k, silo]:
            t[k + 1, silo] = now
            ready(silo, k, 0)
            if k + 1 < rounds:
                heappush(agenda, (now + compute_s[silo], silo, k + 1, "computed"))

    now = 0.0
    while agenda or flows or waiting:
        for flow in list(waiting):
            if not fifo or not any(flow[0] == other[0] for other in flows):
                waiting.remove(flow)
                flows.append(flow)
        rates = max_min_rates([arcs[flow[0]].links for flow in flows], job["link_capacity_bps"])
        ends = [now + (left / rate if left else 0.0) for (_, _, left), rate in zip(flows, rates, strict=True)]
        then = min([*ends, *(event[0] for event in agenda[:1])])
        for flow, rate, end in zip(list(flows), rates, ends, strict=True):
            if end <= then:
                flows.remove(flow)
                heappush(agenda, (then + arcs[flow[0]].latency_s, arcs[flow[0]].target, flow[1], "arrived"))
            else:
                flow[2] -= rate * (then - now)
        now = then
        while agenda and agenda[0][0] <= now:
            _, silo, k, what = heappop(agenda)
            if what == "computed":
                ready(silo, k, 1)
            one_in(silo, k, now)
    return t


@given(jobs())
def test_equal_rates_with_overlap_are_the_max_plus_recurrence(job):
    timeline = simulate_flows(**job, sharing="equal", queueing="overlap")
    np.testing.assert_allclose(timeline.round_start_s, recurrence(job, fifo=False), rtol=1e-9)


@given(jobs())
def test_equal_rates_with_fifo_are_the_serialized_recurrence(job):
    timeline = simulate_flows(**job, sharing="equal", queueing="fifo")
    np.testing.assert_allclose(timeline.round_start_s, recurrence(job, fifo=True), rtol=1e-9)


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@given(job=jobs())
def test_max_min_rates_are_those_of_a_full_solve_at_every_event(job, queueing):
    timeline = simulate_flows(**job, sharing="maxmin", queueing=queueing)
    np.testing.assert_allclose(timeline.round_start_s, full_solve(job, fifo=queueing == "fifo"), rtol=1e-9)


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@given(job=jobs())
def test_bits_are_conserved_and_rates_are_max_min_fair_at_all_times(job, queueing):
    arcs, capacity = job["arcs"], job["link_capacity_bps"]
    bits = np.broadcast_to(job["message_bits"], len(arcs))
    reports = []
    watch = Observer(on_rates=lambda *report: reports.append(report))
    timeline = simulate_flows(**job, queueing=queueing, observer=watch)

    for _, active, rates in reports:
        np.testing.assert_allclose(
            rates, max_min_rates([arcs[arc].links for arc in active], capacity), rtol=1e-9
        )
        for link, limit in enumerate(capacity):
            load = sum(rate for arc, rate in zip(active, rates, strict=True) if link in arcs[arc].links)
            assert load <= limit * (1 + 1e-9)

    dates = [date for date, _, _ in reports]
    assert dates == sorted(set(dates))  # one instant, one report
    sent = np.zeros(len(arcs))
    for (start, active, rates), end in zip(reports, dates[1:], strict=False):
        np.add.at(sent, active, np.array(rates) * (end - start))
    limited = [any(map(math.isfinite, (capacity[link] for link in arc.links))) for arc in arcs]
    np.testing.assert_allclose(sent, ROUNDS * bits * limited, rtol=1e-9)
    if reports:
        assert reports[-1][1:] == ([], [])

    # What crossed a link is its rates, added up over time; messages on no finite link have no rate to add.
    carried = np.zeros(len(capacity))
    for (start, active, rates), end in zip(reports, dates[1:], strict=False):
        for arc, rate in zip(active, rates, strict=True):
            carried[list(arcs[arc].links)] += rate * (end - start)
    finite = np.isfinite(capacity)
    np.testing.assert_allclose(timeline.link_bits[finite], carried[finite], rtol=1e-9)

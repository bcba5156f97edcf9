"""Rates on links that follow from the dates of messages, against those that the simulation had."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_networks import strong_digraphs

from simulator import FlowArc, Observer, simulate_flows
from simulator.activity import Sent
from simulator.link_rates import link_rates

CAPACITIES = st.sampled_from([0.5, 1.0, 8.0])


def all_sent(timeline):
    return Sent.between(timeline.messages, 0, -1.0, np.inf)


def test_two_messages_that_share_a_link_by_hand():
    """One starts at 1 s with 6 bits, the other at 3 s: 1 bit/s on a link of 1, then a half each on it."""
    arcs = [
        FlowArc(source=0, target=2, latency_s=0.0, links=(0,)),
        FlowArc(source=1, target=2, latency_s=0.0, links=(0, 1)),
        *(FlowArc(source=2, target=i, latency_s=0.0, links=()) for i in (0, 1)),
    ]
    timeline = simulate_flows(
        arcs, link_capacity_bps=[1.0, 5.0], message_bits=[6.0, 6.0, 0.0, 0.0], compute_s=[1.0, 3.0, 0.0], rounds=1,
        messages=True,
    )  # fmt: skip
    rates = link_rates(
        all_sent(timeline), [arc.links for arc in arcs], np.array([1.0, 5.0]), 6.0, sharing="maxmin",
        begin_s=0.0, end_s=13.0,
    )  # fmt: skip

    # 2 bits of the first are gone at 3 s; 4 more take 8 s, in which the second sends 4 and is alone for 2 s.
    np.testing.assert_array_equal(rates.date_s, [0.0, 1.0, 3.0, 11.0, 13.0])
    np.testing.assert_allclose(rates.rate_bps, [[0, 0], [1, 0], [1, 0.5], [1, 1]], rtol=1e-12)
    np.testing.assert_allclose(rates.bits, [12.0, 6.0], rtol=1e-12)


@given(strong_digraphs(CAPACITIES), st.booleans())
def test_max_min_rates_are_those_of_the_simulation(job, fifo):
    arcs, seen = job["arcs"], []
    routes = [arc.links for arc in arcs]
    links = len(job["link_capacity_bps"])

    def on_rates(now_s, numbers, rates_bps):
        total = np.zeros(links)
        for number, bps in zip(numbers, rates_bps, strict=True):
            total[list(routes[number])] += bps
        seen.append((now_s, total))

    silos = 1 + max(max(arc.source, arc.target) for arc in arcs)
    timeline = simulate_flows(
        **job | {"message_bits": 3.0}, compute_s=np.linspace(1.0, 2.0, silos), rounds=4, messages=True,
        queueing="fifo" if fifo else "overlap", observer=Observer(on_rates=on_rates),
    )  # fmt: skip
    sent, end_s = all_sent(timeline), float(timeline.round_start_s[-1].max())
    rates = link_rates(
        sent, routes, np.array(job["link_capacity_bps"]), 3.0, sharing="maxmin", begin_s=0.0, end_s=end_s
    )

    np.testing.assert_allclose(rates.bits, timeline.link_bits, rtol=1e-9, atol=1e-9)
    dates = np.array([date for date, _ in seen])
    for begin, end, found in zip(rates.date_s[:-1], rates.date_s[1:], rates.rate_bps, strict=True):
        if end - begin > 1e-9:
            before = np.flatnonzero(dates <= (begin + end) / 2)
            expected = seen[before[-1]][1] if len(before) else np.zeros(links)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert (rates.rate_bps <= np.array(job["link_capacity_bps"]) * (1 + 1e-9)).all()
    # A window has the rates of the whole, also where it begins after messages have left that are still to arrive.
    for place in range(1, len(rates.date_s) - 1):
        later = link_rates(
            sent, routes, np.array(job["link_capacity_bps"]), 3.0, sharing="maxmin",
            begin_s=float(rates.date_s[place]), end_s=end_s,
        )  # fmt: skip
        np.testing.assert_array_equal(later.date_s, rates.date_s[place:])
        np.testing.assert_allclose(later.rate_bps, rates.rate_bps[place:], rtol=1e-9, atol=1e-12)


def test_constant_rates_are_those_of_the_arcs():
    arcs = [
        FlowArc(source=i, target=1 - i, latency_s=0.5, links=(0, i + 1), rate_bps=2.0 + i) for i in (0, 1)
    ]
    timeline = simulate_flows(
        arcs, link_capacity_bps=[9.0] * 3, message_bits=6.0, compute_s=[1.0, 1.0], rounds=2, sharing="equal",
        messages=True,
    )  # fmt: skip
    rates = link_rates(
        all_sent(timeline), [arc.links for arc in arcs], np.full(3, 9.0), 6.0, sharing="constant",
        begin_s=1.5, end_s=4.25,
    )  # fmt: skip

    # 6 bits at 2 and at 3 bit/s, from 1 s on: until 4 s and until 3 s.
    np.testing.assert_array_equal(rates.date_s, [1.5, 3.0, 4.0, 4.25])
    np.testing.assert_allclose(rates.rate_bps, [[5, 2, 3], [2, 2, 0], [0, 0, 0]], atol=1e-12)


def test_too_many_messages_have_no_max_min_rates(monkeypatch):
    arcs = [FlowArc(source=i, target=1 - i, latency_s=0.5, links=(i,)) for i in (0, 1)]
    timeline = simulate_flows(
        arcs, link_capacity_bps=[1.0, 1.0], message_bits=6.0, compute_s=[1.0, 2.0], rounds=2, messages=True
    )
    monkeypatch.setattr("simulator.link_rates.MOST_STEPS", 3)
    found = link_rates(
        all_sent(timeline), [(0,), (1,)], np.ones(2), 6.0, sharing="maxmin", begin_s=0.0, end_s=9.0
    )
    assert found is None


def two_messages():
    """On arc 0 from 1 to 4 s, on arc 1 from 2 to 6 s; one that takes no time, and one that has left at 0 s."""
    start_s, last_bit_s = np.array([1.0, 2.0, 3.0, -2.0]), np.array([4.0, 6.0, 3.0, 0.0])
    return Sent(
        round=np.zeros(4, dtype=np.int64),
        arc=np.array([0, 1, 1, 0]),
        lag=np.ones(4, dtype=np.int64),
        start_s=start_s,
        last_bit_s=last_bit_s,
        arrival_s=last_bit_s + 9,
        first_arrival_s=start_s + 9,
        bound_link=np.zeros(4, dtype=np.int32),
    )


@pytest.mark.parametrize(
    ("sharing", "usage", "rates_bps"),
    [
        # 6 bits in 3 s and in 4 s.
        ("constant", None, [[0, 0], [2, 2], [3.5, 2], [1.5, 0]]),
        ("constant", [{1: 0.5}, {0: 2.0}], [[0, 0], [2, 1], [5, 1], [3, 0]]),
        # 4 bit/s on link 0, and no limit on link 1.
        ("maxmin", None, [[0, 0], [4, 4], [4, 2], [4, 0]]),
        ("maxmin", [{1: 0.5}, {0: 3.0}], [[0, 0], [4, 2], [4, 0.5], [4, 0]]),
    ],
)
def test_bits_on_links_count_as_often_as_they_cross_them(sharing, usage, rates_bps):
    rates = link_rates(
        two_messages(),
        [(0, 1), (0,)],
        np.array([4.0, np.inf]),
        6.0,
        sharing=sharing,
        begin_s=0.0,
        end_s=5.0,
        usage=usage,
    )
    assert rates.date_s.tolist() == [0.0, 1.0, 2.0, 4.0, 5.0]
    np.testing.assert_allclose(rates.rate_bps, rates_bps, atol=1e-12)
    np.testing.assert_allclose(rates.bits, np.array([1.0, 1.0, 2.0, 1.0]) @ np.array(rates_bps), atol=1e-12)


@pytest.mark.parametrize(("most", "is_found"), [(4, False), (5, True)])
def test_steps_are_the_finite_links_of_messages_under_way_at_all_dates(monkeypatch, most, is_found):
    # Two of the first message and three of the second, which goes on after the last date.
    monkeypatch.setattr("simulator.link_rates.MOST_STEPS", most)
    how = {"sharing": "maxmin", "begin_s": 0.0, "end_s": 5.0}
    found = link_rates(two_messages(), [(0, 1), (0,)], np.array([4.0, np.inf]), 6.0, **how)
    assert (found is not None) == is_found

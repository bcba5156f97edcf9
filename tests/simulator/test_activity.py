"""What silos do in some rounds, against dates by hand and against the rounds that engines simulate."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_networks import strong_digraphs

from simulator import FlowArc, Lognormal, simulate_flows
from simulator.activity import Sent, activity, busy_s, lanes, start_error
from simulator.block import Messages
from simulator.world.counted_silos import away

FINITE = st.sampled_from([0.5, 1.0, 8.0])


def ring_of_three():
    """Silos compute 1, 2 and 3 s and send 4 bits over links of their own of 1 bit/s; a latency is 0.5 s."""
    arcs = [FlowArc(source=i, target=(i + 1) % 3, latency_s=0.5, links=(i,), rate_bps=1.0) for i in range(3)]
    return arcs, simulate_flows(
        arcs,
        link_capacity_bps=[1.0] * 3,
        message_bits=4.0,
        compute_s=[1.0, 2.0, 3.0],
        rounds=4,
        messages=True,
    )


def of_timeline(timeline, arcs, compute_s, first=0, rounds=None):
    starts = timeline.round_start_s
    stop = len(starts) - 1 if rounds is None else first + rounds
    table = np.broadcast_to(compute_s, (stop - first, starts.shape[1]))
    return activity(
        first,
        starts[first : stop + 1],
        np.array(table, dtype=float),
        timeline.arrival_s[first:stop],
        np.array([arc.target for arc in arcs]),
        timeline.absences,
    )


def test_a_ring_of_three_by_hand():
    arcs, timeline = ring_of_three()
    found = of_timeline(timeline, arcs, [1.0, 2.0, 3.0], rounds=2)

    # Round 0: computing ends at 1, 2, 3; models arrive 4.5 s later at silos 1, 2, 0. So round 1 starts at 7.5, 5.5
    # and 6.5, and its computing ends at 8.5, 7.5, 9.5, after each arc has sent its first model.
    np.testing.assert_array_equal(found.start_s, [[0, 0, 0], [7.5, 5.5, 6.5]])
    np.testing.assert_array_equal(found.next_start_s, [[7.5, 5.5, 6.5], [14.0, 13.0, 12.0]])
    np.testing.assert_array_equal(found.waiting_s, [[6.5, 3.5, 3.5], [5.5, 5.5, 2.5]])
    assert found.last_arc.tolist() == [[2, 0, 1], [2, 0, 1]]
    assert not found.away_s.any()
    assert found.error == 0
    assert repr(found) == "Activity(rounds 0 to 1, 3 silos)"

    sent = Sent.between(timeline.messages, 0, 7.0, 8.0)
    # Silo 2's first message has left at 7 and is in the air; silo 1's second one starts at 7.5.
    assert (sent.round.tolist(), sent.arc.tolist()) == ([0, 1], [2, 1])
    np.testing.assert_array_equal(sent.first_arrival_s, [3.5, 8.0])
    assert busy_s(timeline.messages.start_s[:2, 0], timeline.messages.last_bit_s[:2, 0], 0.0, 14.0) == 8.0


@given(
    job=strong_digraphs(FINITE | st.just(math.inf)),
    fifo=st.booleans(),
    sharing=st.sampled_from(["maxmin", "equal"]),
    cv=st.sampled_from([0.0, 1.0]),
)
def test_start_computing_and_waiting_end_with_the_last_arrival(job, fifo, sharing, cv):
    silos = 1 + max(max(arc.source, arc.target) for arc in job["arcs"])
    compute = Lognormal(mean_s=np.linspace(0.5, 2.0, silos), cv=cv, seed=3)
    timeline = simulate_flows(
        **job,
        compute=compute,
        rounds=6,
        sharing=sharing,
        queueing="fifo" if fifo else "overlap",
        messages=True,
    )
    table_s = compute.rows(1, 4)
    found = of_timeline(timeline, job["arcs"], table_s, first=1, rounds=4)

    np.testing.assert_allclose(
        found.start_s + found.compute_s + found.waiting_s, timeline.round_start_s[2:6], rtol=1e-12
    )
    source, tokens = np.array([(arc.source, arc.tokens) for arc in job["arcs"]]).T
    assert start_error(found, source, tokens, timeline.messages, 0, fifo=fifo, backward_share=0.0) < 1e-12
    for row, silo in zip(*np.nonzero(found.last_arc >= 0), strict=True):
        own = [n for n, arc in enumerate(job["arcs"]) if arc.target == silo]
        arrivals = timeline.arrival_s[1 + row, own]
        last = found.last_arc[row, silo]
        assert last in own
        assert timeline.arrival_s[1 + row, last] == pytest.approx(arrivals.max(), rel=1e-12)
        assert timeline.arrival_s[1 + row, last] == pytest.approx(found.next_start_s[row, silo], rel=1e-12)
    assert (found.waiting_s[found.last_arc < 0] == 0).all()


def test_messages_one_after_the_other_on_an_arc_arrive_so_to_the_last_bit():
    arcs = [FlowArc(source=i, target=1 - i, latency_s=0.1, links=(i,)) for i in range(2)]
    timeline = simulate_flows(
        arcs, link_capacity_bps=[3.0, 7.0], message_bits=1.0, compute_s=[0.01, 0.02], rounds=40, messages=True
    )
    sent = Sent.between(timeline.messages, 0, 0.0, np.inf)
    first_s = sent.first_arrival_s
    np.testing.assert_allclose(first_s, sent.start_s + 0.1, rtol=1e-12)
    for arc in range(2):
        its = sent.arc == arc
        follows = sent.start_s[its][1:] == sent.last_bit_s[its][:-1]
        np.testing.assert_array_equal(first_s[its][1:][follows], sent.arrival_s[its][:-1][follows])
        assert lanes(first_s[its], sent.arrival_s[its]).max() == 0


def test_of_models_that_arrive_together_the_first_arc_counts():
    arcs = np.array([2, 2, 2])
    found = activity(
        0, np.array([[0.0, 0, 0], [5.0, 5, 5]]), np.ones((1, 3)), np.array([[np.nan, 5.0, 5.0]]), arcs
    )
    assert found.last_arc.tolist() == [[-1, -1, 1]]


def test_a_silo_that_is_away_neither_computes_nor_waits():
    starts = np.array([[0.0, 0], [3, 3], [6, 3], [9, 8]])
    compute_s = np.array([[1.0, 1], [1, 0], [1, 0]])
    arrival_s = np.array([[3.0, 3], [6.0, np.nan], [9.0, 8.0]])
    found = activity(0, starts, compute_s, arrival_s, np.array([0, 1]), [(1, 1, 3)])

    assert found.is_away.tolist() == [[False, False], [False, True], [False, True]]
    assert found.waiting_s.tolist() == [[2, 2], [2, 0], [2, 0]]
    assert found.away_s.tolist() == [[0, 0], [0, 0], [0, 5]]
    np.testing.assert_array_equal(
        found.start_s + found.compute_s + found.waiting_s + found.away_s, found.next_start_s
    )
    assert away([(1, 1, 3)], range(2, 4), 2).tolist() == [[False, True], [False, False]]


def test_the_end_of_a_round_that_no_later_start_tells_follows_from_arrivals():
    arcs, timeline = ring_of_three()
    starts = timeline.round_start_s[1:3].copy()
    starts[1] = np.nan
    found = activity(
        1,
        starts,
        np.array([[1.0, 2.0, 3.0]]),
        timeline.arrival_s[1:2],
        np.array([arc.target for arc in arcs]),
    )
    np.testing.assert_array_equal(found.next_start_s, [[14.0, 13.0, 12.0]])
    assert repr(found) == "Activity(rounds 1 to 1, 3 silos)"


def test_dates_of_another_simulation_are_an_error():
    arcs, timeline = ring_of_three()
    assert of_timeline(timeline, arcs, [1.0, 2.0, 7.0]).error > 0.1


INTERVALS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8)), max_size=12)


@given(INTERVALS, st.integers(0, 15), st.integers(15, 40))
def test_busy_time_counts_every_moment_once(intervals, low, high):
    begin = [start for start, _ in intervals]
    end = [start + length for start, length in intervals]
    moments = {at for a, b in zip(begin, end, strict=True) for at in range(a, b) if low <= at < high}
    assert busy_s(begin, end, low, high) == len(moments)


@given(INTERVALS)
def test_lanes_are_as_many_as_intervals_overlap(intervals):
    begin = np.array([start for start, _ in intervals])
    end = np.array([start + 1 + length for start, length in intervals])
    lane = lanes(begin, end)
    for number in set(lane.tolist()):
        its = np.flatnonzero(lane == number)
        order = its[np.argsort(begin[its], kind="stable")]
        assert (end[order[:-1]] <= begin[order[1:]]).all()
    most = max((int(((begin <= at) & (end > at)).sum()) for at in begin), default=0)
    assert len(set(lane.tolist())) == most


@pytest.mark.parametrize(
    ("arrivals_s", "last_arc"),
    [
        ([5.0, 5.0 * (1 + 9e-13)], 0),  # one date
        ([5.0, 5.0 * (1 + 1.1e-12)], 1),
        ([5.0 * (1 + 1.1e-12), 5.0], 0),
        ([np.nan, 4.0 * (1 + 9e-13)], -1),  # as soon as it has computed
        ([np.nan, 4.0 * (1 + 1.1e-12)], 1),
        ([np.nan, 3.0], -1),
        ([np.nan, np.nan], -1),
    ],
)
def test_dates_that_differ_by_a_billionth_of_a_thousandth_are_one(arrivals_s, last_arc):
    starts = np.array([[1.0], [np.nan]])
    found = activity(0, starts, np.array([[3.0]]), np.array([arrivals_s]), np.array([0, 0]))
    latest_s = max([4.0, *(at for at in arrivals_s if at == at)])

    assert found.last_arc.tolist() == [[last_arc]]
    assert found.next_start_s.tolist() == [[latest_s]]
    assert found.waiting_s.tolist() == [[0.0 if last_arc < 0 else latest_s - 4.0]]
    assert found.is_isolated.tolist() == [[bool(np.isnan(arrivals_s).all())]]
    assert found.error == 0


def test_messages_under_way_begin_before_the_end_and_arrive_after_the_begin():
    """One after 2 s, for 3 s, and a latency of 1 s: under way in ]2, 6[."""
    messages = Messages(
        start_s=np.array([[2.0, np.nan]]),
        last_bit_s=np.array([[5.0, np.nan]]),
        arrival_s=np.array([[6.0, np.nan]]),
        bound_link=np.zeros((1, 2), dtype=np.int32),
    )
    found = {
        span: len(Sent.between(messages, 0, *span)) for span in ((0, 2), (0, 2.5), (5.5, 9), (6, 9), (3, 4))
    }
    assert found == {(0, 2): 0, (0, 2.5): 1, (5.5, 9): 1, (6, 9): 0, (3, 4): 1}
    sent = Sent.between(messages, 7, 0.0, 9.0)
    assert [each.tolist() for each in (sent.round, sent.arc, sent.lag, sent.first_arrival_s)] == [
        [7],
        [0],
        [1],
        [3.0],
    ]

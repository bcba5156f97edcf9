"""Small networks whose dates are calculated by hand."""

import math

import pytest

from simulator import FlowArc, Observer, simulate_flows


def arc(source, target, *links, latency_s=0.0, tokens=1, rate_bps=math.inf):
    return FlowArc(
        source=source, target=target, links=links, latency_s=latency_s, tokens=tokens, rate_bps=rate_bps
    )


def ring(silos, *, latency_s=0.0):
    """A directed ring in which the message of silo i crosses link i."""
    return [arc(silo, (silo + 1) % silos, silo, latency_s=latency_s) for silo in range(silos)]


def back(*pairs):
    """Arcs that close circuits: their messages, of 0 bits, take no time."""
    return [arc(source, target) for source, target in pairs]


def test_a_flow_arrives_while_another_is_half_done():
    timeline = simulate_flows(
        [arc(0, 2, 0, latency_s=0.25), arc(1, 2, 0, latency_s=0.5), *back((2, 0), (2, 1))],
        link_capacity_bps=[10.0],
        message_bits=[10.0, 10.0, 0.0, 0.0],
        compute_s=[1.0, 1.5, 0.0],
        rounds=1,
    )
    # The first has sent 5 bits by 1.5 s, then both get 5 bit/s; it leaves at 2.5 s, and the other's 5 bits by 3 s.
    assert timeline.arrival_s.tolist() == [[2.75, 3.5, 0.0, 0.0]]
    assert timeline.round_start_s.tolist() == [[0.0, 0.0, 0.0], [1.0, 1.5, 3.5]]
    assert timeline.link_bits.tolist() == [20.0]


def test_a_flow_takes_what_a_slower_one_leaves():
    timeline = simulate_flows(
        [arc(0, 2, 0), arc(1, 2, 0, 1), *back((2, 0), (2, 1))],
        link_capacity_bps=[10.0, 2.0],
        message_bits=[16.0, 16.0, 0.0, 0.0],
        compute_s=[1.0, 1.0, 0.0],
        rounds=1,
    )
    assert timeline.arrival_s.tolist() == [[1.0 + 16 / 8, 1.0 + 16 / 2, 0.0, 0.0]]


def test_messages_of_different_sizes():
    timeline = simulate_flows(
        [arc(0, 2, 0), arc(1, 2, 0), *back((2, 0), (2, 1))],
        link_capacity_bps=[4.0],
        message_bits=[4.0, 12.0, 0.0, 0.0],
        compute_s=[0.0, 0.0, 0.0],
        rounds=1,
    )
    # 2 bit/s each until 2 s, then the last 8 bits at 4 bit/s.
    assert timeline.arrival_s.tolist() == [[2.0, 4.0, 0.0, 0.0]]
    assert timeline.link_bits.tolist() == [16.0]


@pytest.mark.parametrize("flows", [1, 2, 7, 60])
def test_equal_flows_on_one_link_end_together(flows):
    timeline = simulate_flows(
        [arc(silo, flows, 0) for silo in range(flows)] + back(*((flows, silo) for silo in range(flows))),
        link_capacity_bps=[1e9],
        message_bits=[3e8] * flows + [0.0] * flows,
        compute_s=[0.5] * (flows + 1),
        rounds=1,
    )
    assert timeline.arrival_s[0, :flows].tolist() == pytest.approx([0.5 + flows * 0.3] * flows, rel=1e-14)
    assert len(set(timeline.arrival_s[0, :flows])) == 1


@pytest.mark.parametrize(
    ("sharing", "queueing", "arrival_s"),
    [
        ("maxmin", "fifo", [4.0, 7.0, 10.0]),
        # Shares of 1, then 1/2 from 2 s, 1/3 from 3 s, 1/2 from 7.5 s, and 1 from 9.5 s on.
        ("maxmin", "overlap", [7.5, 9.5, 10.0]),
        ("equal", "fifo", [4.0, 7.0, 10.0]),
        ("equal", "overlap", [4.0, 5.0, 6.0]),
    ],
)
def test_queueings_differ_where_messages_come_faster_than_they_leave(sharing, queueing, arrival_s):
    timeline = simulate_flows(
        # Around the ring, silo 1 is late for silo 0's round 4 only.
        [arc(0, 1, 0, rate_bps=1.0), *back((1, 2), (2, 3), (3, 0))],
        link_capacity_bps=[1.0],
        message_bits=[3.0, 0.0, 0.0, 0.0],
        compute_s=[1.0, 1.0, 1.0, 1.0],
        rounds=3,
        sharing=sharing,
        queueing=queueing,
    )
    assert timeline.arrival_s[:, 0] == pytest.approx(arrival_s, rel=1e-14)
    assert timeline.round_start_s[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_ring_settles_at_the_time_that_its_slow_link_needs():
    timeline = simulate_flows(
        ring(3, latency_s=0.01),
        link_capacity_bps=[1e10, 1e7, 1e10],
        message_bits=4.5e7,
        compute_s=[0.025] * 3,
        rounds=40,
    )
    assert timeline.cycle_time_s == pytest.approx(4.5, rel=1e-12)


def test_messages_of_zero_bits_take_their_latency():
    reports = []
    timeline = simulate_flows(
        ring(2, latency_s=0.5),
        link_capacity_bps=[1.0, 1.0],
        message_bits=0,
        compute_s=[0.0, 0.0],
        rounds=3,
        observer=Observer(on_rates=lambda *report: reports.append(report)),
    )
    assert timeline.round_start_s.tolist() == [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0], [1.5, 1.5]]
    assert reports == []


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_infinite_capacities_leave_computing_and_latency(sharing):
    timeline = simulate_flows(
        ring(3, latency_s=0.25),
        link_capacity_bps=[math.inf] * 3,
        message_bits=1e12,
        compute_s=[1.0, 2.0, 0.5],
        rounds=60,
        sharing=sharing,
    )
    assert timeline.round_start_s[1].tolist() == [1.0, 2.0, 2.25]
    assert timeline.cycle_time_s == 2.0
    assert timeline.link_bits.tolist() == [60e12] * 3


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_a_star_takes_up_and_down_in_one_round(sharing):
    up = [arc(silo, 0, latency_s=0.5) for silo in (1, 2)]
    down = [arc(0, silo, latency_s=0.25, tokens=0) for silo in (1, 2)]
    timeline = simulate_flows(
        up + down,
        link_capacity_bps=[],
        message_bits=1.0,
        compute_s=[0.0, 1.0, 1.0],
        rounds=2,
        sharing=sharing,
    )
    assert timeline.round_start_s.tolist() == [[0.0, 0.0, 0.0], [1.5, 1.75, 1.75], [3.25, 3.5, 3.5]]
    assert timeline.arrival_s.tolist() == [[1.5, 1.5, 1.75, 1.75], [3.25, 3.25, 3.5, 3.5]]


def test_one_silo_only_computes():
    timeline = simulate_flows([], link_capacity_bps=[], message_bits=1.0, compute_s=[2.0], rounds=3)
    assert timeline.round_start_s.tolist() == [[0.0], [2.0], [4.0], [6.0]]
    assert timeline.arrival_s.shape == (3, 0)
    assert timeline.cycle_time_s == 2.0


def test_what_happens_at_one_instant_is_one_change():
    # Without computing and latency every end is also the start of all messages of the next round.
    silos, dates = 5, []
    timeline = simulate_flows(
        [arc(i, j, i, silos + j) for i in range(silos) for j in range(silos) if i != j],
        link_capacity_bps=[3.0] * (2 * silos),
        message_bits=0.7,
        compute_s=[0.0] * silos,
        rounds=20,
        observer=Observer(on_rates=lambda now_s, _arcs, _rates: dates.append(now_s)),
    )
    assert dates == timeline.round_start_s[:, 0].tolist()
    assert (timeline.round_start_s == timeline.round_start_s[:, :1]).all()
    assert timeline.cycle_time_s == pytest.approx(4 * 0.7 / 3.0, rel=1e-12)


def test_ends_that_differ_by_rounding_are_one_end():
    dates = []
    timeline = simulate_flows(
        [arc(0, 2, 0), arc(1, 2, 1), *back((2, 0), (2, 1))],
        link_capacity_bps=[1.0, 1.0],
        message_bits=[0.125, 0.125, 0.0, 0.0],
        compute_s=[0.1 + 0.2, 0.3, 0.0],  # one unit in the last place apart
        rounds=1,
        observer=Observer(on_rates=lambda now_s, _arcs, _rates: dates.append(now_s)),
    )
    assert dates == [0.3, 0.1 + 0.2, 0.425]
    assert timeline.arrival_s.tolist() == [[0.425, 0.425, 0.0, 0.0]]
    assert 0.1 + 0.2 + 0.125 > 0.425


def test_a_start_and_an_end_that_differ_by_rounding_are_one_change():
    dates = []
    timeline = simulate_flows(
        [arc(0, 2, 0), arc(1, 2, 0), *back((2, 0), (2, 1))],
        link_capacity_bps=[1.0],
        message_bits=[0.2, 0.2, 0.0, 0.0],
        compute_s=[0.1, 0.3, 0.0],  # the first message ends at 0.1 + 0.2 > 0.3
        rounds=1,
        observer=Observer(on_rates=lambda now_s, _arcs, _rates: dates.append(now_s)),
    )
    assert dates == [0.1, 0.3, 0.5]
    assert timeline.arrival_s.tolist() == [[0.3, 0.5, 0.0, 0.0]]


def test_ends_that_differ_by_more_stay_apart():
    timeline = simulate_flows(
        [arc(0, 2, 0), arc(1, 2, 1), *back((2, 0), (2, 1))],
        link_capacity_bps=[1.0, 1.0],
        message_bits=[1.0, 1.0, 0.0, 0.0],
        compute_s=[0.3 + 1e-12, 0.3, 0.0],
        rounds=1,
    )
    assert timeline.arrival_s[0, 0] - timeline.arrival_s[0, 1] == pytest.approx(1e-12, rel=1e-3, abs=0)


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_an_observer_is_told_every_round_when_the_last_silo_starts_it(engine):
    told = []
    timeline = simulate_flows(
        ring(3, latency_s=0.1),
        link_capacity_bps=[1.0, 2.0, 3.0],
        message_bits=1.0,
        compute_s=[0.1, 0.2, 0.3],
        rounds=12,
        engine=engine,
        observer=Observer(on_round=lambda k, now_s: told.append((k, now_s))),
    )
    assert told == list(enumerate(timeline.round_start_s.max(axis=1).tolist()))

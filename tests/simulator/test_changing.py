"""Capacities and routes that change while messages are on their way."""

import math

import numpy as np
import pytest

from simulator import CapacityChange, Constant, FlowArc, RouteChange, make_job
from simulator.compiled.engine import CompiledEngine
from simulator.simpy_engine.engine import SimpyEngine
from simulator.simpy_engine.rtt_weighted import rtt_weighted
from topologies import InputError

BOTH = pytest.mark.parametrize("engine", [SimpyEngine, CompiledEngine])


def run(changes, *, queueing="fifo", rounds=1, bits=12.0, engine=SimpyEngine):
    """Silos 0 and 1 send to silo 2 over link 0 (4 bit/s); changes: a list of them."""
    job = make_job(
        [
            FlowArc(source=0, target=2, latency_s=0.25, links=(0, 1)),
            FlowArc(source=1, target=2, latency_s=0.0, links=(0,)),
            FlowArc(source=2, target=0, latency_s=0.0, links=()),
            FlowArc(source=2, target=1, latency_s=0.0, links=()),
        ],
        link_capacity_bps=[4.0, 4.0, 1.0, math.inf],
        message_bits=[bits, bits, 0.0, 0.0],
        compute=Constant(compute_s=[0.0, 0.0, 0.0]),
        rounds=rounds,
        queueing=queueing,
        changes=lambda: iter(sorted(changes, key=lambda change: change.date_s)),
        positive_capacities=engine is CompiledEngine,
    )
    running = engine(job, block_rounds=rounds)
    block = running.advance()
    assert running.advance() is None
    return block


def test_without_changes():
    block = run([])
    assert block.messages.last_bit_s[0, :2].tolist() == [6.0, 6.0]
    assert block.link_bits.tolist() == [24.0, 12.0, 0.0, 0.0]


@BOTH
@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
def test_a_capacity_changes_the_rates_from_then_on(queueing, engine):
    changes = [CapacityChange(date_s=3.0, link=1, capacity_bps=1.0)]
    block = run(changes, queueing=queueing, engine=engine)
    # 6 bits each by 3 s, then 1 and 3 bit/s: the second ends at 5 s, the first at 9 s.
    assert block.messages.last_bit_s[0, :2].tolist() == [9.0, 5.0]
    assert block.messages.bound_link[0, :2].tolist() == [1, 0]
    assert block.link_bits.tolist() == [24.0, 12.0, 0.0, 0.0]


@BOTH
def test_a_message_that_is_alone_feels_a_change_as_well(engine):
    block = run(
        [
            CapacityChange(date_s=5.5, link=1, capacity_bps=1.0),
            CapacityChange(date_s=3.0, link=0, capacity_bps=8.0),
        ],
        engine=engine,
    )
    # 6 bits each by 3 s, 4 bit/s each from then on until 4.5 s: done before the last change.
    assert block.messages.last_bit_s[0, :2].tolist() == [4.5, 4.5]
    block = run(
        [
            CapacityChange(date_s=1.0, link=1, capacity_bps=1.0),
            CapacityChange(date_s=6.0, link=1, capacity_bps=3.0),
        ],
        engine=engine,
    )
    # 2 each by 1 s; 1 and 3 bit/s until the second ends at 1 + 10 / 3; the first has 5 left at 6 s: 3 bit/s.
    np.testing.assert_allclose(block.messages.last_bit_s[0, :2], [6.0 + 5 / 3, 1.0 + 10 / 3], rtol=1e-14)


@BOTH
@pytest.mark.parametrize(
    ("link", "capacity_bps", "rate_bps", "bound"),
    [(1, 2.0, 2.0, 1), (1, 4.0, 4.0, 0), (0, 16.0, 8.0, 1), (0, 8.0, 8.0, 0), (0, 2.0, 2.0, 0)],
)
def test_the_slowest_link_after_a_change_bounds_a_message_and_of_equal_ones_the_first(
    engine, link, capacity_bps, rate_bps, bound
):
    # Alone on links of 4 and 8 bit/s, which all of its bits cross, or half of them.
    for usage, factor in (((1.0, 1.0), 1.0), ((0.5, 0.5), 2.0)):
        job = make_job(
            [
                FlowArc(source=0, target=1, latency_s=0.0, links=(0, 1), usage=usage),
                FlowArc(source=1, target=0, latency_s=0.0, links=()),
            ],
            link_capacity_bps=[4.0, 8.0],
            message_bits=[8.0, 0.0],
            compute=Constant(compute_s=[1.0, 1.0]),
            rounds=1,
            changes=lambda: iter([CapacityChange(date_s=0.5, link=link, capacity_bps=capacity_bps)]),
            positive_capacities=engine is CompiledEngine,
        )
        messages = engine(job, block_rounds=1).advance().messages
        assert messages.last_bit_s[0, 0] == 1.0 + 8.0 / (rate_bps * factor)
        assert messages.bound_link[0, 0] == bound


def test_a_link_without_capacity_holds_messages_up():
    block = run(
        [
            CapacityChange(date_s=3.0, link=0, capacity_bps=0.0),
            CapacityChange(date_s=10.0, link=0, capacity_bps=4.0),
        ]
    )
    assert block.messages.last_bit_s[0, :2].tolist() == [13.0, 13.0]


def test_a_link_that_never_comes_back_ends_in_an_error():
    with pytest.raises(InputError, match=r"round 0 never ends: its messages are on links of capacity 0\."):
        run([CapacityChange(date_s=3.0, link=0, capacity_bps=0.0)])


def test_a_rerouted_message_keeps_the_bits_that_it_sent():
    block = run([RouteChange(date_s=3.0, arc=0, links=(0, 2, 3), latency_s=0.5)])
    # 6 bits by 3 s over link 1; the other 6 over links 2 and 3 at 1 bit/s, while the second has 3 bit/s.
    assert block.messages.last_bit_s[0, :2].tolist() == [9.0, 5.0]
    assert block.messages.arrival_s[0, 0] == 9.5
    assert block.messages.bound_link[0].tolist() == [2, 0, -1, -1]
    assert block.link_bits.tolist() == [24.0, 6.0, 6.0, 6.0]


def test_a_message_may_be_moved_twice_and_others_follow():
    changes = [
        RouteChange(date_s=2.0, arc=0, links=(2,), latency_s=0.0),
        RouteChange(date_s=5.0, arc=0, links=(0, 1), latency_s=0.0),
    ]
    block = run(changes, rounds=2)
    # 4 bits by 2 s, 3 by 5 s over link 2; the others have link 0 alone meanwhile: the first leaves at 4 s and the
    # next, which waits since 0 s, has 8 left at 5 s. Then 2 bit/s each until 7.5 s and, with the other sender's next,
    # until 9 s; 9 bits are left of that one.
    assert block.messages.last_bit_s[:, :2].tolist() == [[7.5, 4.0], [11.25, 9.0]]
    assert block.messages.start_s[:, :2].tolist() == [[0.0, 0.0], [7.5, 4.0]]
    assert block.link_bits.tolist() == [45.0, 21.0, 3.0, 0.0]


def test_onto_links_without_limit_the_rest_leaves_at_once():
    block = run([RouteChange(date_s=3.0, arc=0, links=(3,), latency_s=0.0)], rounds=1)
    # The second has link 0 for its last 6 bits: 1.5 s.
    assert block.messages.last_bit_s[0, :2].tolist() == [3.0, 4.5]
    assert block.link_bits.tolist() == [18.0, 6.0, 0.0, 6.0]
    later = run([RouteChange(date_s=3.0, arc=0, links=(3,), latency_s=0.0)], rounds=3)
    assert later.link_bits.tolist() == [6.0 + 36.0, 6.0, 0.0, 30.0]


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
def test_a_route_without_limit_for_no_time_sends_nothing(queueing):
    changes = [
        RouteChange(date_s=3.0, arc=0, links=(), latency_s=0.0),
        RouteChange(date_s=3.0, arc=0, links=(3,), latency_s=0.5),
        RouteChange(date_s=3.0, arc=0, links=(0, 1), latency_s=0.25),
    ]
    block, plain = run(changes, queueing=queueing, rounds=2), run([], queueing=queueing, rounds=2)
    np.testing.assert_array_equal(block.messages.last_bit_s, plain.messages.last_bit_s)
    np.testing.assert_array_equal(block.messages.arrival_s, plain.messages.arrival_s)
    np.testing.assert_array_equal(block.messages.bound_link, plain.messages.bound_link)
    np.testing.assert_array_equal(block.link_bits, plain.link_bits)


def test_a_message_that_comes_back_to_a_link_without_capacity_waits():
    changes = [
        CapacityChange(date_s=3.0, link=0, capacity_bps=0.0),
        RouteChange(date_s=3.0, arc=0, links=(), latency_s=0.0),
        RouteChange(date_s=3.0, arc=0, links=(0, 1), latency_s=0.25),
        CapacityChange(date_s=10.0, link=0, capacity_bps=4.0),
    ]
    assert run(changes).messages.last_bit_s[0, :2].tolist() == [13.0, 13.0]


def test_a_new_route_may_carry_a_part_of_the_bits_on_some_of_its_links():
    # From 3 s on half of the bits of silo 0 cross link 2, which so lets 2 bit/s pass; the rest has link 0.
    block = run([RouteChange(date_s=3.0, arc=0, links=(0, 2), latency_s=0.0, usage={2: 0.5})])
    assert block.messages.last_bit_s[0, :2].tolist() == [6.0, 6.0]
    assert block.link_bits.tolist() == [24.0, 6.0, 3.0, 0.0]
    # Twice the bits: half a bit per second, while the others take 3.5.
    block = run([RouteChange(date_s=3.0, arc=0, links=(0, 2), latency_s=0.0, usage={2: 2.0})])
    assert block.messages.last_bit_s[0, :2] == pytest.approx([3.0 + 6 / 0.5, 3.0 + 6 / 3.5], rel=1e-14)
    assert block.messages.bound_link[0, :2].tolist() == [2, 0]
    assert block.link_bits.tolist() == [24.0, 6.0, 12.0, 0.0]


def test_a_message_that_comes_back_to_a_link_of_one_bit_per_second():
    changes = [
        RouteChange(date_s=3.0, arc=0, links=(), latency_s=0.0),
        RouteChange(date_s=3.0, arc=0, links=(2,), latency_s=0.25),
    ]
    assert run(changes).messages.last_bit_s[0, :2].tolist() == [9.0, 4.5]


@pytest.mark.parametrize(("hops", "second_s"), [(1, 6.0), (2, 5.25), (None, 5.25)])
def test_links_that_are_no_part_of_a_new_route_do_not_count_in_its_round_trip_time(hops, second_s):
    # Each link has 4 bit/s and takes a second. Alike on one link, both have sent 6 of 12 bits by 3 s. With a second
    # link on its route a message has 4/3 bit/s, and the other one 8/3, until this has left.
    job = make_job(
        [
            FlowArc(source=0, target=1, latency_s=0.0, links=(0,)),
            FlowArc(source=1, target=0, latency_s=0.0, links=(0,)),
        ],
        link_capacity_bps=[4.0, 4.0],
        message_bits=12.0,
        compute=Constant(compute_s=[0.0, 0.0]),
        rounds=1,
        sharing=rtt_weighted("test", 4.0),
        changes=lambda: iter([RouteChange(date_s=3.0, arc=0, links=(0, 1), latency_s=0.0, hops=hops)]),
    )
    block = SimpyEngine(job, block_rounds=1).advance()
    assert block.messages.last_bit_s[0] == pytest.approx([6.0, second_s], rel=1e-14)


def test_nothing_bounds_a_message_that_starts_on_links_without_limit():
    block = run([RouteChange(date_s=0.0, arc=0, links=(3,), latency_s=0.0)])
    assert block.messages.last_bit_s[0, :2].tolist() == [0.0, 3.0]
    assert block.messages.bound_link[0, :2].tolist() == [-1, 0]
    assert block.link_bits.tolist() == [12.0, 0.0, 0.0, 12.0]

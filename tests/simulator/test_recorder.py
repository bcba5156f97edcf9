"""Blocks of complete rounds out of starts and messages in any order, and repeats of made-up states."""

import math

import numpy as np
import pytest

from simulator import Constant, FlowArc, make_job
from simulator.simpy_engine.recorder import Recorder
from simulator.simpy_engine.repeat import RepeatWatch, State

NAN = math.nan


def recorder(*, rounds, block_rounds, on_round=None):
    """Of two silos that send 3 bits over link 0 and 5 bits over link 1."""
    arcs = [FlowArc(source=i, target=1 - i, latency_s=1.0, links=(i,)) for i in range(2)]
    job = make_job(
        arcs,
        link_capacity_bps=[1.0, 1.0, 1.0],
        message_bits=[3.0, 5.0],
        compute=Constant(compute_s=[1.0, 1.0]),
        rounds=rounds,
    )
    return Recorder(job, block_rounds=block_rounds, on_round=on_round)


def note(recorder, silo, rounds):
    """Starts of rounds by a silo, and the messages of these rounds that it sends: on the arc with its number."""
    for k in rounds:
        recorder.started(silo, k, 10.0 * k + silo)
        recorder.message(silo, k, 10.0 * k + 2 + silo, 10.0 * k + 4 + silo, 10.0 * k + 5 + silo, silo)


def check(block, first, rounds, *, last=False):
    number = np.arange(first, first + rounds)[:, np.newaxis]
    starts = np.arange(first, first + rounds + last)[:, np.newaxis]
    assert (block.first_round, block.rounds) == (first, rounds)
    assert block.round_start_s.tolist() == (10.0 * starts + [0, 1]).tolist()
    assert block.messages.start_s.tolist() == (10.0 * number + [2, 3]).tolist()
    assert block.messages.last_bit_s.tolist() == (10.0 * number + [4, 5]).tolist()
    assert block.messages.arrival_s.tolist() == (10.0 * number + [5, 6]).tolist()
    assert block.messages.bound_link.tolist() == [[0, 1]] * rounds
    assert block.link_bits.tolist() == [3.0 * (first + rounds), 5.0 * (first + rounds), 0.0]
    assert block.now_s == 10.0 * (first + rounds) + 1


def test_a_block_is_full_when_the_last_silo_has_started_the_round_after_it():
    seen = []
    found = recorder(rounds=5, block_rounds=2, on_round=lambda k, now_s: seen.append((k, now_s)))
    note(found, 0, range(4))
    note(found, 1, range(2))
    assert (found.is_full, found.complete) == (False, 1)
    note(found, 1, range(2, 3))
    assert (found.is_full, found.complete) == (True, 2)
    check(found.take(), 0, 2)
    assert not found.is_full
    note(found, 0, range(4, 5))
    note(found, 1, range(3, 5))
    check(found.take(), 2, 2)
    # The last block is shorter, and has the ends of the job.
    for silo in (0, 1):
        assert not found.is_full
        found.started(silo, 5, 50.0 + silo)
    check(found.take(), 4, 1, last=True)
    assert seen == [(k, 10.0 * k + 1) for k in range(6)]


@pytest.mark.parametrize("ahead", [9, 10, 11, 21, 60])
def test_a_silo_may_be_ahead_by_any_number_of_rounds(ahead):
    found = recorder(rounds=99, block_rounds=2)
    note(found, 0, range(ahead + 1))
    found.started(1, 0, 1.0)
    for k in range(ahead - 1):
        assert not found.is_full
        found.message(1, k, 10.0 * k + 3, 10.0 * k + 5, 10.0 * k + 6, 1)
        found.started(1, k + 1, 10.0 * k + 11)
        if k % 2:
            check(found.take(), k - 1, 2)


def test_a_message_may_be_noted_before_its_round_has_rows():
    found = recorder(rounds=99, block_rounds=1)
    found.message(1, 30, 1.0, 2.0, 3.0, 7)
    for k in range(31):
        for silo in (0, 1):
            found.started(silo, k, float(k))
        if k:
            block = found.take()
            assert np.isnan(block.messages.start_s).all()
            assert (block.messages.bound_link == -1).all()
            assert not block.link_bits.any()
    for silo in (0, 1):
        found.started(silo, 31, 31.0)
    block = found.take()
    np.testing.assert_array_equal(block.messages.start_s, [[NAN, 1.0]])
    np.testing.assert_array_equal(block.messages.last_bit_s, [[NAN, 2.0]])
    np.testing.assert_array_equal(block.messages.arrival_s, [[NAN, 3.0]])
    assert block.messages.bound_link.tolist() == [[-1, 7]]
    assert block.link_bits.tolist() == [0.0, 5.0, 0.0]


def test_bits_that_went_another_way_count_there_in_the_block_of_their_round():
    found = recorder(rounds=4, block_rounds=2)
    found.crossed_otherwise(0, 1, {0: 1.0, 2: 2.0})
    found.crossed_otherwise(1, 2, {2: 5.0})
    note(found, 0, range(3))
    note(found, 1, range(3))
    # Of arc 0 the message of round 0, and a third of that of round 1.
    assert found.take().link_bits.tolist() == [4.0, 10.0, 2.0]
    note(found, 0, range(3, 4))
    note(found, 1, range(3, 4))
    for silo in (0, 1):
        found.started(silo, 4, 40.0)
    assert found.take().link_bits.tolist() == [10.0, 15.0, 7.0]


def watch(numbers=lambda _: [0], times_s=lambda _: [0.0], shares=lambda _: [0.0], **how):
    """States by round, of one part."""
    how = {"period": 1, "first": 0, "ahead": lambda _: 0} | how
    ahead = how.pop("ahead")
    return RepeatWatch([lambda k, _: State(numbers(k), times_s(k), shares(k))], ahead, **how)


def found_at(repeats, rounds, round_s=2.0):
    """The first round at which a repeat is seen."""
    for k in range(rounds):
        repeats.look(k, round_s * k)
        if repeats.steady is not None:
            return k
    return None


def test_the_state_is_saved_each_time_the_rounds_have_doubled():
    # It repeats every three rounds from round 5 on; that of round 8 is saved, and comes again in round 11.
    repeats = watch(numbers=lambda k: [k] if k < 5 else [100 + k % 3], ahead=lambda k: k // 4)
    assert found_at(repeats, 40) == 11
    steady = repeats.steady
    assert (steady.period_rounds, steady.computing_rounds, steady.transient_rounds) == (3, 3, 8 + 2 + 1)
    assert (steady.period_s, steady.cycle_time_s, steady.is_exact) == (6.0, 2.0, True)


@pytest.mark.parametrize(
    ("how", "rounds"),
    [
        ({}, 2),  # that of round 1 is saved
        ({"first": 5}, 6),
        ({"period": 4}, 8),  # saved in rounds 1, 2 and 4
        ({"first": 3, "period": 2}, 5),
        ({"period": 3}, 7),
    ],
)
def test_states_differ_where_rounds_are_not_a_multiple_of_the_period_apart(how, rounds):
    repeats = watch(**how)
    assert found_at(repeats, 20) == rounds
    assert repeats.steady.period_rounds == how.get("period", 1)


def test_a_cycle_time_is_per_round_in_which_silos_compute():
    repeats = watch(period=4, computes=(True, False, False, True))
    assert found_at(repeats, 20) == 8
    steady = repeats.steady
    assert (steady.period_rounds, steady.computing_rounds, steady.cycle_time_s) == (4, 2, 4.0)


@pytest.mark.parametrize(
    ("off", "is_one"), [(0.0, True), (0.9, True), (1.1, False), (-0.9, True), (-1.1, False)]
)
@pytest.mark.parametrize("part", ["times_s", "shares"])
def test_states_are_one_up_to_rounding(part, off, is_one):
    # A round takes 2 s: times may differ by 2e-12 s and 2e-15 of the date, 4 s, shares by half of that.
    tolerance = (2e-12 + 2e-15 * 4.0) / (1.0 if part == "times_s" else 2.0)
    repeats = watch(**{part: lambda k: [0.5, 0.25 + off * tolerance * (k == 2)]})
    repeats.look(1, 2.0)
    repeats.look(2, 4.0)
    assert (repeats.steady is not None) is is_one


def test_all_parts_of_the_state_must_repeat():
    parts = [lambda k, _: State([k % 2], [], []), lambda k, _: State([k % 3], [], [])]
    repeats = RepeatWatch(parts, lambda _: 0, period=1, first=0)
    # Saved in rounds 1, 2, 4, 8: six rounds after the last one.
    assert found_at(repeats, 40) == 14
    assert repeats.steady.period_rounds == 6

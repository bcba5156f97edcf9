"""When messages start, by hand: after computing, in a backward pass, one after the other, and slowly."""

import math

import numpy as np
import pytest

from simulator import FlowArc
from simulator.activity import Activity, Sent, activity, start_error
from simulator.block import Messages

ENDED = {
    "last_arc": np.full((2, 2), -1),
    "is_away": np.zeros((2, 2), bool),
    "is_isolated": np.ones((2, 2), bool),
}


def rounds_2_and_3():
    """Silos 0 and 1 compute from 10 to 11 and 12 s, and from 20 to 23 and 24 s."""
    start_s = np.array([[10.0, 10.0], [20.0, 20.0]])
    compute_s = np.array([[1.0, 2.0], [3.0, 4.0]])
    return Activity(
        first_round=2, start_s=start_s, compute_s=compute_s, next_start_s=start_s + 10, error=0.0, **ENDED
    )


def messages(start_s, last_bit_s=None):
    start_s = np.array(start_s, dtype=float)
    last_bit_s = start_s if last_bit_s is None else np.array(last_bit_s, dtype=float)
    bound_link = np.zeros(start_s.shape, dtype=np.int32)
    return Messages(start_s=start_s, last_bit_s=last_bit_s, arrival_s=last_bit_s + 1, bound_link=bound_link)


def errors(start_s, last_bit_s=None, *, tokens=(1, 1, 0), **how):
    """That of the dates of rounds 1 to 3, and those where each of them is 5/4 of that, which is wrong by a fifth."""
    source, how = np.array([0, 1, 0]), {"fifo": False, "backward_share": 0.0} | how

    def error(dates_s):
        found = messages(dates_s, last_bit_s)
        return start_error(rounds_2_and_3(), source, np.array(tokens), found, 1, **how)

    table = np.array(start_s, dtype=float)
    moved = np.zeros_like(table)
    for place in np.ndindex(*table.shape):
        later_s = table.copy()
        later_s[place] *= 1.25
        moved[place] = error(later_s)
    return error(table), moved.round(12).tolist()


def test_messages_start_when_the_computing_of_their_round_has_ended():
    # Messages of earlier rounds and of the arc without a token are passed over.
    assert errors([[5, 5, 5], [11, 12, 99], [23, 24, 77]]) == (
        0.0,
        [[0, 0, 0], [0.2, 0.2, 0], [0.2, 0.2, 0]],
    )


def test_a_message_that_starts_at_0_before_its_silo_has_computed_is_wrong_without_end():
    # What is divided by 0 is no rounding error.
    assert errors([[5, 5, 5], [0, 12, 99], [23, 24, 77]])[0] == math.inf


def test_messages_of_longer_lags_start_after_the_computing_of_an_earlier_round():
    # Two of them were sent before round 2.
    lags = np.array([[2, 1, 1], [2, 3, 1]])
    assert errors([[5, 5, 5], [7, 12, 99], [11, 8, 77]], lags=lags) == (
        0.0,
        [[0, 0, 0], [0, 0.2, 0], [0.2, 0, 0]],
    )


def test_messages_start_with_the_backward_pass():
    assert errors([[5, 5, 5], [10.5, 11, 99], [21.5, 22, 77]], backward_share=0.5) == (
        0.0,
        [[0, 0, 0], [0.2, 0.2, 0], [0.2, 0.2, 0]],
    )


def test_messages_start_when_the_one_before_on_their_arc_has_left():
    # On arc 0 the message of round 1 leaves at 15 s and that of round 2 at 26 s; arc 1 is idle by then, or has none.
    last_bit_s = [[15, 6, 5], [26, math.nan, 99], [30, 30, 77]]
    assert errors([[5, 5, 5], [15, math.nan, 99], [26, 24, 77]], last_bit_s, fifo=True) == (
        0.0,
        [[0, 0, 0], [0.2, 0, 0], [0.2, 0.2, 0]],
    )
    last_bit_s[0][1] = 25
    assert errors([[5, 5, 5], [15, math.nan, 99], [26, 25, 77]], last_bit_s, fifo=True)[0] == 0


@pytest.mark.parametrize(
    ("start_s", "error"), [(10.8, 0.0), (10.5, 0.0), (11.0, 0.0), (11.5, 0.5 / 11.5), (10.0, 0.05)]
)
def test_of_two_messages_in_a_backward_pass_the_second_starts_before_the_first_one_has_left(start_s, error):
    # Both are sent in round 2, of which silo 0 computes until 11 s, with the backward pass from 10.5 s on.
    lags = np.array([[1, 1, 1], [2, 1, 1]])
    last_bit_s = [[5, 5, 5], [11, 12, 99], [13, 25, 77]]
    starts_s = [[5, 5, 5], [10.5, 11, 99], [start_s, 22, 77]]
    found, _ = errors(starts_s, last_bit_s, lags=lags, backward_share=0.5, fifo=True)
    assert found == pytest.approx(error, abs=1e-15)


def slow_error(start_s, last_bit_s=(), *, sent_s=10.0, slow_start_s=3.0, after_s=5.0, first_round=0):
    """Of the last message of an arc, which is sent at 10 s; earlier ones of it start and leave at these dates."""
    one = {name: table[:1, :1] for name, table in ENDED.items()}
    found = Activity(
        first_round=first_round + len(start_s) - 1,
        start_s=np.array([[sent_s]]),
        compute_s=np.zeros((1, 1)),
        next_start_s=np.array([[sent_s + 9]]),
        error=0.0,
        **one,
    )
    arc = FlowArc(
        source=0, target=1, latency_s=1.0, links=(), slow_start_s=slow_start_s, slow_start_after_s=after_s
    )
    sent = messages(np.array(start_s)[:, np.newaxis], np.array([*last_bit_s, 99.0])[:, np.newaxis])
    source, tokens = np.array([0]), np.array([1])
    return start_error(
        found, source, tokens, sent, first_round, fifo=False, slow_arcs=[arc], backward_share=0.0
    )


@pytest.mark.parametrize(
    ("before", "how", "start_s"),
    [
        ([], {}, 13.0),  # the first message
        ([], {"after_s": math.inf}, 13.0),
        ([], {"slow_start_s": 0.0}, 10.0),
        ([], {"slow_start_s": 0.5}, 10.5),
        ([], {"after_s": -math.inf, "first_round": 1}, 13.0),
        ([(3.0, 4.0)], {}, 13.0),  # idle for 6 s, longer than 5 s
        ([(3.0, 4.0)], {"after_s": 7.0}, 10.0),
        ([(3.0, 4.0)], {"after_s": math.inf}, 10.0),
        ([(3.0, 4.0)], {"after_s": -math.inf}, 13.0),
        ([(3.0, 4.0), (math.nan, math.nan)], {"after_s": 7.0}, 10.0),
        ([(12.5, 20.0)], {}, 12.5),  # the one before has started slowly
        ([(14.0, 14.5)], {"after_s": -math.inf}, 14.0),
    ],
)
def test_a_message_takes_its_links_at_once_or_later(before, how, start_s):
    starts_s, last_bits_s = [one for one, _ in before], [one for _, one in before]
    wrong_s = 23.0 - start_s  # at once instead of later, or the other way round
    assert slow_error([*starts_s, start_s], last_bits_s, **how) == 0
    assert slow_error([*starts_s, wrong_s], last_bits_s, **how) == pytest.approx(
        abs(wrong_s - start_s) / wrong_s
    )


@pytest.mark.parametrize(
    ("before", "how"),
    [
        ([], {"first_round": 1}),  # what left in round 0 is not known
        ([], {"first_round": 1, "after_s": 0.0}),
        ([], {"first_round": 1, "after_s": 0.5}),
        ([(3.0, 4.0)], {"after_s": 6.0}),  # idle for just as long
        ([(3.0, 4.0)], {"after_s": 6.0 * (1 + 1e-13)}),
    ],
)
@pytest.mark.parametrize(("start_s", "error"), [(10.0, 0), (13.0, 0), (11.0, 1 / 11), (12.0, 1 / 12)])
def test_where_it_is_not_known_whether_a_message_starts_slowly_the_nearer_date_counts(
    before, how, start_s, error
):
    starts_s, last_bits_s = [one for one, _ in before], [one for _, one in before]
    assert slow_error([*starts_s, start_s], last_bits_s, **how) == pytest.approx(error)


def test_how_long_an_arc_was_idle_is_known_to_a_part_of_the_date():
    # Half a second of 1e12 s is rounding; two seconds are not.
    for left_s, errs in ((1e12 - 6.5, False), (1e12 - 8.0, True)):
        error = slow_error([1.0, 1e12], [left_s], sent_s=1e12, slow_start_s=1e6, after_s=6.0)
        assert (error > 5e-7) == errs


def test_the_error_of_a_round_is_a_part_of_its_date():
    # It is over when the model is in, at 8 s, but the next one starts at 10 s.
    found = activity(0, np.array([[0.0], [10.0]]), np.array([[1.0]]), np.array([[8.0]]), np.array([0]))
    assert found.error == pytest.approx(0.2)


def test_dates_that_differ_by_just_that_part_are_one():
    starts_s, compute_s = np.array([[0.0], [np.nan]]), np.array([[1e12]])
    arcs = np.zeros(2, dtype=np.int64)
    at_once = activity(0, starts_s, compute_s, np.array([[1e12 + 1, np.nan]]), arcs)
    assert (at_once.last_arc.item(), at_once.waiting_s.item()) == (-1, 0.0)
    late = activity(0, starts_s, compute_s / 2, np.array([[1e12 - 1, 1e12]]), arcs)
    assert late.last_arc.item() == 0


def test_a_message_with_another_latency_than_the_one_before_arrives_by_its_own():
    # The second one leaves when the first has left, but is two seconds longer under way.
    found = messages([[1.0], [3.0]], [[3.0], [5.0]])
    found.arrival_s[:, 0] = [4.0, 8.0]
    sent = Sent.between(found, 0, 0.0, 9.0)
    assert sent.first_arrival_s.tolist() == [2.0, 6.0]

"""What a message under way counts: bits that are left, the link that bounded it for longest, bits on each link."""

import math

import pytest

from simulator.simpy_engine.flow import Flow


def flow(bits=10.0, now_s=2.0):
    return Flow(3, 7, (4, 5), bits, now_s)


def test_a_new_message_has_all_bits_left_and_no_rate():
    new = flow()
    assert (new.arc, new.k, new.links, new.left_bits) == (3, 7, (4, 5), 10.0)
    assert (new.start_s, new.since_s, new.rate_bps, new.end_s, new.bottleneck) == (
        2.0,
        2.0,
        0.0,
        math.inf,
        -1,
    )
    assert new.longest_bound(9.0) == -1


@pytest.mark.parametrize(
    ("rate_bps", "now_s", "left_bits"),
    [(2.0, 2.0, 10.0), (2.0, 4.0, 6.0), (2.0, 7.0, 0.0), (2.0, 8.0, 0.0), (math.inf, 2.0, 10.0)],
)
def test_bits_leave_at_its_rate_from_when_they_were_counted_last(rate_bps, now_s, left_bits):
    sent = flow()
    sent.rate_bps = rate_bps
    sent.advance(now_s)
    assert (sent.left_bits, sent.since_s) == (left_bits, now_s)
    sent.rate_bps = 1.0
    sent.advance(now_s + 1)
    assert sent.left_bits == max(0.0, left_bits - 1)


@pytest.mark.parametrize(
    ("bounds", "end_s", "longest"),
    [
        ([(4, 2.0)], 3.0, 4),
        ([(4, 2.0), (5, 3.0)], 4.5, 5),
        ([(4, 2.0), (5, 4.0)], 5.0, 4),
        ([(5, 2.0), (4, 3.0)], 4.0, 4),  # as long: the smaller number
        ([(5, 2.0), (4, 3.0), (5, 4.0)], 4.5, 5),  # both times together
        ([(4, 2.0), (5, 2.0)], 3.0, 5),  # for no time
        ([(4, 2.0), (-1, 3.0)], 9.0, 4),  # nothing bounds it, which is no link
        ([(0, 2.0), (1, 3.0)], 3.5, 0),
    ],
)
def test_the_link_that_bounded_it_for_the_longest_time(bounds, end_s, longest):
    sent = flow()
    for link, date_s in bounds:
        sent.bind(link, date_s)
    assert sent.longest_bound(end_s) == longest


def test_bits_count_on_the_links_that_they_crossed():
    sent = flow()
    sent.left_bits = 7.0
    assert sent.cross((0, 1), {1: 0.5}) == {0: 3.0, 1: 1.5}
    sent.left_bits = 6.0
    assert sent.cross((1, 2), {}) == {0: 3.0, 1: 2.5, 2: 1.0}
    assert sent.cross((0, 1, 2), {}) == {0: 3.0, 1: 2.5, 2: 1.0}


def test_the_next_message_of_an_arc_has_the_rate_and_bound_of_the_one_before_and_its_own_counts():
    sent = flow()
    sent.rate_bps = 2.0
    sent.bind(5, 2.0)
    sent.bind(4, 6.0)
    sent.left_bits = 1.0
    sent.cross((0,), {})
    sent.restart(8, 20.0, 7.0)

    assert (sent.k, sent.left_bits, sent.start_s, sent.since_s, sent.rate_bps) == (8, 20.0, 7.0, 7.0, 2.0)
    assert sent.longest_bound(8.0) == 4
    sent.left_bits = 15.0
    assert sent.cross((2,), {}) == {2: 5.0}

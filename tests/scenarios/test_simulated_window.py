"""Which blocks of a simulation are kept for some rounds, and when these are known, on dates by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.simulation import simulated_window as module
from scenarios.simulation.simulated_window import simulated_window
from simulator import Block
from simulator.block import Messages


@pytest.fixture
def windows(monkeypatch):
    """Simulate blocks of four rounds of two silos, which take 1 and 2 s; what the window is cut of."""
    cut, taken = [], []

    def make(rounds, *, arrival_s=0.5, longest_lag=1, absences=(), blocks=6):
        cut.clear()
        taken.clear()

        def simulate_blocks(_job, take, *, title, block_messages, engine):
            assert (title, block_messages, engine) == ("ring", 7, "simpy")
            for first in range(0, 4 * blocks, 4):
                is_last = first == 4 * (blocks - 1)
                starts_s = np.arange(first, first + 4 + is_last)[:, None] * np.array([1.0, 2.0])
                rows = starts_s[:4]
                messages = Messages(
                    start_s=rows,
                    last_bit_s=rows,
                    arrival_s=rows + arrival_s,
                    bound_link=np.zeros(rows.shape, dtype=np.int32),
                )
                block = Block(
                    first_round=first,
                    round_start_s=starts_s,
                    messages=messages,
                    link_bits=np.empty(0),
                    now_s=0.0,
                )
                taken.append(first)
                if take(SimpleNamespace(block=block, rounds=first + 4)):
                    return

        def cut_window(rounds, known, starts, messages, absences, *, earliest, longest_lag):
            cut.append((rounds, known, earliest, longest_lag, absences))
            begin, stop = max(earliest, rounds.start - 1), min(rounds.stop + 1, known)
            return starts(begin, stop), messages(begin, stop).arrival_s

        monkeypatch.setattr(module, "simulate_blocks", simulate_blocks)
        monkeypatch.setattr(module, "block_messages", lambda _: 7)
        monkeypatch.setattr(module, "RoundWindow", SimpleNamespace(cut=cut_window))
        job = SimpleNamespace(longest_lag=longest_lag, absences=absences, silos=2)
        (starts_s, arrived_s), is_before_end = simulated_window(job, rounds, engine="simpy", title="ring")
        (found,) = cut
        begin = max(found[2], rounds.start - 1)
        expected_s = np.arange(begin, min(rounds.stop + 1, found[1]))[:, None] * np.array([1.0, 2.0])
        assert starts_s.tolist() == expected_s.tolist()
        assert arrived_s.tolist() == (expected_s + arrival_s).tolist()
        assert (found[0], found[3], found[4]) == (rounds, longest_lag, absences)
        return SimpleNamespace(known=found[1], earliest=found[2], is_before_end=is_before_end, last=taken[-1])

    return make


def test_a_window_ends_when_no_silo_can_still_send_in_it(windows):
    # Silo 1 starts round 7 after 14 s, which silo 0 does in the block of rounds 12 to 15.
    found = windows(range(5, 7))
    assert (found.last, found.known, found.is_before_end) == (12, 16, True)
    # Silo 1 starts round 8 after 16 s, as silo 0 starts round 16.
    found = windows(range(5, 8))
    assert (found.last, found.is_before_end) == (16, True)
    # Round 4 after 8 s: the last round of the block of rounds 8 to 11 begins later.
    assert windows(range(3, 4)).last == 8


def test_a_message_of_a_lag_may_have_been_sent_rounds_before(windows):
    # Of the last two rounds the first one must begin after 14 s: rounds 14 and 15.
    assert windows(range(5, 7), longest_lag=2).last == 12
    # Of the last three rounds 13 begins too early.
    assert windows(range(5, 7), longest_lag=3).last == 16
    # There must be as many rounds.
    assert windows(range(1), longest_lag=7).last == 8


def test_rounds_at_the_end_of_the_job_are_those_of_this_job_only(windows):
    found = windows(range(5, 7), blocks=3)
    assert (found.last, found.known, found.is_before_end) == (8, 12, False)
    # The row after the last round is there.
    assert windows(range(10, 12), blocks=3).known == 12


@pytest.mark.parametrize(
    ("rounds", "arrival_s", "earliest"),
    [
        # Silo 0 starts round 9 after 9 s; messages of rounds 0 to 3 have come by 6 s and so.
        (range(9, 10), 0.5, 4),
        (range(9, 10), 3.0, 4),
        (range(9, 10), 3.5, 0),
        # Those of rounds 4 to 7 by 14 s and so.
        (range(14, 15), 0.0, 8),
        (range(15, 16), 1.0, 8),
        (range(15, 16), 1.5, 4),
        (range(2), 0.5, 0),
        (range(7, 8), 0.5, 4),
        (range(8, 9), 1.0, 4),
        (range(8, 9), 1.5, 4),
        (range(8, 9), 2.5, 0),
    ],
)
def test_blocks_are_kept_as_long_as_their_messages_are_under_way(windows, rounds, arrival_s, earliest):
    assert windows(rounds, arrival_s=arrival_s, blocks=9).earliest == earliest


def test_a_silo_that_is_away_sends_nothing(windows):
    # Silo 0 is away from round 13 on, so that silo 1 alone may send: it starts round 15 after 30 s.
    assert windows(range(5, 7), absences=((0, 13, 99),)).last == 12
    # Without silo 0 the first start of round 11 is that of silo 1, after 22 s.
    assert windows(range(5, 7), absences=((0, 9, 99),)).last == 8

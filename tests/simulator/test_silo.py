"""What a silo's state holds, by which a job is found to repeat."""

import pytest

from simulator.simpy_engine.clock import Clock
from simulator.simpy_engine.silo import Silo


class TwoArcs:
    """Two arcs enter the silo in every round."""

    def in_arcs(self, _silo, _k):
        return 2

    def after_computing(self, _silo, _k):
        return ()


@pytest.mark.parametrize(
    ("now_s", "times_s"),
    [
        (3.0, [2.0, 6.0]),
        # A date that has passed takes no time any more, and one that lies ahead counts.
        (7.0, [0.0, 2.0]),
    ],
)
def test_messages_that_lie_ahead_count_with_the_time_that_they_still_take(now_s, times_s):
    silo = Silo(Clock(), 0, compute_s=iter([]), wiring=TwoArcs(), backward_share=0.0)
    silo.receive(0, 5.0)
    silo.receive(1, 9.0)
    silo.receive(1, 8.0)
    state = silo.state(0, now_s)

    # Round 0 still lacks one message, round 1 none; the latest of several dates counts.
    assert state.numbers[2:] == [0, 1, 1, 0]
    assert state.times_s[1:] == times_s
    assert silo.state(1, now_s).numbers[2:] == [-1, 1, 0, 0]


def test_computing_and_waiting_for_messages_known_or_missing_are_three_phases():
    silo = Silo(Clock(), 0, compute_s=iter([4.0]), wiring=TwoArcs(), backward_share=0.0)
    phases = silo.run(1, lambda _arc, _k: None, lambda _silo, _k, _now_s: None)

    next(phases)
    computing = silo.state(0, 1.0)
    next(phases)
    missing = silo.state(0, 1.0)
    silo.receive(0, 5.0)
    silo.receive(0, 7.0)
    known = silo.state(0, 1.0)

    assert len({state.numbers[1] for state in (computing, missing, known)}) == 3
    assert [state.times_s[0] for state in (computing, missing, known)] == [3.0, 0.0, 6.0]

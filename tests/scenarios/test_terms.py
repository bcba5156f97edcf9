"""The terms of arcs by hand: two silos, an arc with a token from the first and one without from the second."""

from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.validation.terms import Terms
from topologies import InputError

STARTS_S = np.array([[0.0, 0.0], [3.0, 1.0], [9.0, 7.0], [16.0, 13.0]])
COMPUTE_S = np.array([[0.5, 0.25], [1.0, 1.5], [1.25, 1.75]])
MESSAGES = SimpleNamespace(
    start_s=np.array([[0.75, 1.0], [4.5, 7.5], [10.25, 13.5]]),
    last_bit_s=np.array([[4.25, 3.0], [5.5, 8.0], [11.75, 14.5]]),
    arrival_s=np.array([[4.5, 3.0], [6.0, 8.5], [12.5, 16.0]]),
    bound_link=np.array([[5, 8], [5, 7], [6, 7]]),
)


def terms(
    first_round=1,
    rounds=2,
    *,
    slow_start=None,
    fifo=True,
    messages=MESSAGES,
    share=0.0,
    dates_s=STARTS_S,
    times_s=COMPUTE_S,
):
    overlay = SimpleNamespace(
        source=np.array([0, 1]),
        target=np.array([1, 0]),
        tokens=np.array([1, 0]),
        arcs=2,
        compute_s=np.array([0.875, 2.0]),
        latency_s=np.array([0.5, 0.25]),
        transmission_s=np.array([0.75, 0.5]),
        slow_start_s=np.array([0.0625, 0.25]) if slow_start else np.zeros(2),
        work=SimpleNamespace(backward_share=share),
        graph=SimpleNamespace(silos=2, slow_start=slow_start),
    )
    timeline = SimpleNamespace(messages=messages, round_start_s=dates_s)
    compute = SimpleNamespace(rows=lambda first, rounds: times_s[first : first + rounds])
    return Terms.of(overlay, timeline, compute, first_round, rounds, fifo=fifo)


def test_terms_are_means_over_the_rounds():
    found = terms()
    # Models are ready at 4 and 10.25 s, and at 7 and 13 s.
    assert found.queue_s.tolist() == [(0.5 + 0.0) / 2, (0.5 + 0.5) / 2, 0, 0]
    assert found.slow_s.tolist() == [0, 0, 0, 0]
    # Under way for 1.5 and 2.25 s, and for 1 and 2.5 s.
    assert found.under_way_s.tolist() == [1.875, 1.75, 0, 0]
    assert found.rate_s.tolist() == [1.875 - 0.5 - 0.75, 1.75 - 0.25 - 0.5, 0, 0]
    # Silo 1 starts at 7 and 13 s, silo 0 at 9 and 16 s; they have computed at 2.5 and 8.75 s, and at 4 and 10.25 s.
    assert found.wait_s.tolist() == [(1 + 0.5) / 2, (0.5 + 0) / 2, (5 + 5.75) / 2, (4.5 + 4.25) / 2]
    assert found.computing_s.tolist() == [0.25, 0, 0.25, -0.375]
    assert found.sending_s.tolist() == [(1 + 1.5) / 2, (0.5 + 1) / 2, 0, 0]
    assert found.detour_s.tolist() == [0.625 - 0.5, 1.0 - 0.25, 0, 0]
    assert found.link.tolist() == [6, 7, -1, -1]
    assert found.gated.tolist() == [0, 0.5, 0, 0]


def test_with_slow_start_a_model_queues_until_the_one_before_it_has_left():
    found = terms(slow_start=object())
    # The arc's model before leaves at 4.25 s, a quarter of a second after the first one is ready.
    held = (0.25 + 0.0) / 2
    assert found.queue_s.tolist() == [0.25 - held, 0, 0, 0]
    assert found.slow_s.tolist() == [held - 0.0625, 0.5 - 0.25, 0, 0]


def test_where_models_overlap_none_waits_for_the_one_before():
    found = terms(slow_start=object(), fifo=False)
    assert found.queue_s.tolist() == [0, 0, 0, 0]
    assert found.slow_s.tolist() == [0.25 - 0.0625, 0.5 - 0.25, 0, 0]


def test_the_first_round_has_no_model_before_it():
    found = terms(0, 2, slow_start=object())
    # Ready at 0.5 and 4 s; the second one also waits for 4.25 s.
    assert found.slow_s[0] == (0.25 + 0.25) / 2 - 0.0625
    assert found.queue_s[0] == (0.25 + 0.5) / 2 - 0.25
    assert terms(0, 1, slow_start=object()).queue_s[0] == 0


def test_a_later_round_has_the_model_of_the_one_before_it():
    # The model of round 1 has left at 5.5 s, long before that of round 2 is ready.
    found = terms(2, 1, slow_start=object())
    assert (found.queue_s[0], found.slow_s[0]) == (0.0, -0.0625)
    assert (found.queue_s[1], found.slow_s[1]) == (0.0, 0.5 - 0.25)


def test_the_link_is_that_of_the_longest_sending_and_not_of_the_latest():
    last_bit_s = MESSAGES.last_bit_s.copy()
    last_bit_s[1, 0] = 7.5
    found = terms(messages=SimpleNamespace(**vars(MESSAGES) | {"last_bit_s": last_bit_s}))
    assert found.link.tolist() == [5, 7, -1, -1]


def test_in_rounds_that_take_no_time_every_arrival_gates():
    at_once = {name: np.zeros((3, 2)) for name in ("start_s", "last_bit_s", "arrival_s")}
    messages = SimpleNamespace(**vars(MESSAGES) | at_once)
    found = terms(messages=messages, dates_s=np.zeros((4, 2)), times_s=np.zeros((3, 2)))
    assert found.gated.tolist() == [1, 1, 1, 1]


def test_models_that_leave_during_the_backward_pass_are_ready_earlier():
    found = terms(share=0.5)
    # By half of the computing time: 0.5 and 0.625 s.
    assert found.queue_s.tolist() == [0.25 + (0.5 + 0.625) / 2, 0.5, 0, 0]
    assert found.computing_s.tolist() == [0.125, 0, 0.25, -0.375]


@pytest.mark.parametrize(("early_s", "gated"), [(0.0, 0.5), (6e-9, 0.5), (6.5e-9, 0.0)])
def test_an_arrival_gates_a_round_that_starts_within_rounding(early_s, gated):
    # Of rounds of 6.25 s in the mean.
    arrival_s = MESSAGES.arrival_s.copy()
    arrival_s[2, 1] -= early_s
    found = terms(messages=SimpleNamespace(**vars(MESSAGES) | {"arrival_s": arrival_s}))
    assert found.gated.tolist() == [0, gated, 0, 0]


def test_a_simulation_without_messages_has_no_terms():
    with pytest.raises(InputError, match=r"timeline\.messages must not be None: simulate with messages=True"):
        terms(messages=None)

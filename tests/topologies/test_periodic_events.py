"""Events of a period by hand: where rounds begin, which message comes before which, and what rounds mix."""

import numpy as np
import pytest

from topologies.lagged_models import longest_lag, mixing_matrix
from topologies.periodic_events import fifo_event_graph, periodic_event_graph, state_of_sending, turn_order
from topologies.state import State, computing_times, different_states, state_of


def test_a_round_starts_after_the_round_in_which_its_model_was_sent():
    # Of three states: 0 -> 1 in state 0 with lags of 1 and 5, 1 -> 0 in state 2 with a lag of 4.
    state, source, target, lag = np.array([[0, 0, 1, 1], [0, 0, 1, 5], [2, 1, 0, 4]]).T
    compute_s = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]])
    graph = periodic_event_graph(3, state, source, target, lag, np.array([5.0, 6.0, 7.0]), compute_s)

    assert graph.nodes == 6
    # Node 2 s + i. Rounds 3 and -1 of silo 0 come before round 4 of silo 1, and round -1 of silo 1 before round 3.
    assert graph.source.tolist() == [0, 4, 5, 0, 1, 2, 3, 4, 5]
    assert graph.target.tolist() == [3, 3, 0, 2, 3, 4, 5, 0, 1]
    assert graph.delay_s.tolist() == [5.0, 6.0, 7.0, 1.0, 2.0, 0.0, 0.0, 1.0, 2.0]
    # Rounds 1 to 3 are one period, 0 and -1 are of the one before.
    assert graph.tokens.tolist() == [1, 2, 1, 1, 1, 0, 0, 0, 0]
    assert state_of_sending(3, state, lag).tolist() == [0, 2, 2]


def test_one_state_of_lags_1_is_a_round_of_a_static_overlay():
    one, two = np.array([0, 1]), np.array([1, 0])
    graph = periodic_event_graph(
        1, np.zeros(2, dtype=int), one, two, np.ones(2, dtype=int), np.ones(2), np.ones((1, 2))
    )

    assert graph.source.tolist() == [0, 1, 0, 1]
    assert graph.target.tolist() == [1, 0, 0, 1]
    assert graph.tokens.tolist() == [1, 1, 1, 1]
    assert state_of_sending(1, np.zeros(2, dtype=int), np.array([1, 2])).tolist() == [0, 0]


def test_messages_of_one_connection_come_in_the_order_of_states_around_the_period():
    # Connection 7 in states 3, 0 and 1, connection 2 in state 2 alone.
    state, number = np.array([3, 2, 0, 1]), np.array([7, 2, 7, 7])
    behind, turns, rounds = turn_order(5, state, number)

    assert behind.tolist() == [3, 1, 0, 2]
    assert turns.tolist() == [0, 1, 1, 0]
    assert rounds.tolist() == [2, 5, 2, 1]
    nothing = np.empty(0, dtype=int)
    assert [part.tolist() for part in turn_order(5, nothing, nothing)] == [[], [], []]


def test_models_of_a_connection_leave_in_turn_whatever_their_state():
    state, source, target = np.array([0, 1]), np.array([0, 0]), np.array([1, 1])
    lag = np.ones(2, dtype=int)
    graph = periodic_event_graph(2, state, source, target, lag, np.array([4.0, 6.0]), np.ones((2, 2)))
    queued = fifo_event_graph(
        graph, 2, state, np.array([0, 0]), np.array([1.0, 1.0]), np.array([0.5, 0.25]), np.array([2.5, 4.75])
    )

    assert queued.nodes == 6
    # After computing; the second after the first of its period, the first after the second of the one before.
    assert queued.source[2:4].tolist() == [5, 4]
    assert queued.target[2:4].tolist() == [4, 5]
    assert queued.tokens[2:4].tolist() == [1, 0]
    assert queued.delay_s[2:6].tolist() == [4.75, 2.5, 3.0, 5.0]
    direct = fifo_event_graph(
        graph, 2, state, np.array([0, 0]), np.ones(2), np.ones(2), np.ones(2), direct=True
    )
    assert len(direct.source) == len(queued.source) + 2


def test_what_a_round_does_to_the_models_of_the_last_ones():
    # 1 mixes a quarter of silo 0's model of two rounds before, 0 a half of the last one of silo 1.
    state = state_of([0, 1, 0], [1, 0, 2], [0.25, 0.5, 0.0], [2, 1, 3])

    assert longest_lag([state]) == 2
    assert longest_lag([state_of([], [], [])]) == 1
    assert longest_lag([state, state_of([0], [1], [0.5], [4])]) == 4
    assert mixing_matrix(3, 2, state).toarray().tolist() == [
        [0.5, 0.5, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.75, 0.0, 0.25, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    ]
    plain = state_of([0, 1], [1, 0], [0.25, 0.5])
    assert mixing_matrix(2, 1, plain).toarray().tolist() == plain.consensus(2).tolist()
    assert plain.consensus(2).tolist() == [[0.5, 0.5], [0.25, 0.75]]


def test_a_state_is_sorted_by_source_then_target_with_all_that_is_of_its_arcs():
    state = state_of([2, 0, 0], [0, 2, 1], [0.1, 0.2, 0.3], [4, 5, 6], computes=False)

    assert state.source.tolist() == [0, 0, 2]
    assert state.target.tolist() == [1, 2, 0]
    assert state.weight.tolist() == [0.3, 0.2, 0.1]
    assert state.lag.tolist() == [6, 5, 4]
    assert not state.computes
    plain = state_of([1], [0], [0.5])
    assert (plain.lag.tolist(), plain.computes) == ([1], True)
    assert computing_times([plain, state], np.array([0.5, 0.25])).tolist() == [[0.5, 0.25], [0.0, 0.0]]


@pytest.mark.parametrize(
    "other",
    [
        state_of([1], [0], [0.5]),
        state_of([0], [2], [0.5]),
        state_of([0], [1], [0.5], [2]),
        state_of([0], [1], [np.nextafter(0.5, 1)]),
        state_of([0], [1], [0.5], computes=False),
        state_of([], [], []),
    ],
)
def test_states_differ_by_all_that_they_hold(other):
    first, same = state_of([0], [1], [0.5]), state_of([0], [1], [0.5], [1])
    found, number = different_states([first, other, same, other])

    assert [each is expected for each, expected in zip(found, (first, other), strict=True)] == [True, True]
    assert number.tolist() == [0, 1, 0, 1]
    assert different_states([])[0] == []


def test_silos_compute_in_a_state_unless_it_says_otherwise():
    ends = {"source": np.array([0]), "target": np.array([1]), "lag": np.array([1]), "weight": np.array([0.5])}
    states = [State(**ends), state_of([0], [1], [0.5]), State(**ends, computes=False)]

    assert computing_times(states, np.array([0.5, 0.25])).tolist() == [[0.5, 0.25]] * 2 + [[0.0, 0.0]]
    assert different_states(states)[1].tolist() == [0, 0, 1]

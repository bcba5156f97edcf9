"""Changes of the states of periodic overlays that the search on simulated cycle times tries."""

import itertools

import numpy as np
import pytest

from simulator.designers import periodic_moves as moves
from simulator.designers.search_moves import NearSilos


def circle(*tour):
    """Arcs of a ring."""
    return frozenset(itertools.pairwise([*tour, tour[0]]))


def pairs(*edges):
    """Both arcs of each edge."""
    return frozenset(arc for i, j in edges for arc in ((i, j), (j, i)))


RING, NOTHING = circle(0, 1, 2, 3, 4, 5), frozenset()


@pytest.mark.parametrize(
    ("move", "arc", "other", "after"),
    [
        (moves.leave, (0, 1), 4, circle(0, 2, 3, 4, 5)),
        (moves.leave_both, (0, 1), 4, circle(2, 3, 4, 5)),
        (moves.pair, (0, 1), 4, RING | pairs((0, 4))),
        # Two circuits of one.
        (moves.cross, (0, 1), 4, circle(0, 4, 5) | circle(1, 2, 3)),
    ],
)
def test_on_a_ring(move, arc, other, after):
    assert move(RING, arc, other) == after


def test_cross_makes_one_circuit_of_two():
    assert moves.cross(circle(0, 4, 5) | circle(1, 2, 3), (0, 4), 1) == RING


def test_a_silo_that_leaves_a_pair_leaves_nothing_and_of_a_star_its_neighbours_go_on():
    assert moves.leave(pairs((0, 1)), (0, 1), 0) == NOTHING
    assert moves.without(pairs((0, 1), (0, 2), (0, 3)), 0) == pairs((1, 2), (1, 3))


def test_a_silo_changes_turns():
    states = (RING, circle(0, 3))

    assert moves.change_turns(states, (0, 0, 1), 1, 3) == (circle(0, 2, 3, 4, 5), circle(0, 3, 1))
    # Beside a silo that is alone there it makes a pair.
    assert moves.change_turns(states, (0, 0, 1), 1, 5) == (
        circle(0, 2, 3, 4, 5),
        circle(0, 3) | pairs((1, 5)),
    )
    # It takes part there already.
    assert moves.change_turns(states, (0, 2, 3), 1, 5) == states


def test_components_move():
    states = (circle(0, 1, 2) | pairs((3, 4)), pairs((0, 5)))

    assert moves.component(states[0], 1) == circle(0, 1, 2)
    assert moves.move_component(states, (0, 3, 4), 1, 0) == (circle(0, 1, 2), pairs((0, 5), (3, 4)))
    assert moves.exchange_components(states, (0, 0, 1), 1, 5) == (pairs((3, 4), (0, 5)), circle(0, 1, 2))


def test_all_changes_are_drawn_and_keep_the_other_states():
    delay_s = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    near, rng = NearSilos(delay_s), np.random.default_rng(0)
    states = (RING, pairs((0, 1), (2, 3)), NOTHING)
    found = {moves.changed_states(states, (0, 0, 1), near, rng) for _ in range(400)}

    assert len(found) > 30
    assert all(len(each) == 3 for each in found)
    # No change is of the third and not of the first state, whose arc is changed.
    assert not [each for each in found if each[0] == RING and each != states]


@pytest.mark.parametrize(
    ("arcs", "arc", "other", "after"),
    [
        (RING, (0, 1), 1, RING),  # none but the source sends to it
        (RING, (0, 1), 2, circle(0, 2, 3, 4, 5)),  # silo 1 sends to itself
        (RING, (1, 2), 1, circle(0, 2, 3, 4, 5)),
        (RING | {(2, 5)}, (0, 1), 5, (RING - {(0, 1)}) | {(0, 5), (2, 1)}),  # of silos 2 and 4 the first
        (RING | {(0, 5)}, (0, 1), 5, (RING - {(0, 1), (4, 5)}) | {(0, 5), (4, 1)}),
    ],
)
def test_cross_takes_the_first_other_silo_that_sends_there(arcs, arc, other, after):
    assert moves.cross(arcs, arc, other) == after


@pytest.mark.parametrize(
    ("arcs", "after"),
    [
        ({(2, 0), (1, 0), (0, 4), (0, 3), (5, 6)}, {(1, 3), (1, 4), (2, 3), (5, 6)}),
        ({(1, 0), (0, 1), (0, 2)}, {(1, 2)}),
        ({(1, 0), (2, 0), (0, 1)}, {(2, 1)}),
        ({(1, 0), (2, 0), (2, 1)}, {(2, 1)}),  # it sends to nobody
        ({(0, 1), (0, 2), (2, 1)}, {(2, 1)}),  # nobody sends to it
        ({(1, 2)}, {(1, 2)}),
    ],
)
def test_without_a_silo_those_before_it_send_to_those_behind_it(arcs, after):
    assert moves.without(frozenset(arcs), 0) == after


def test_a_silo_that_changes_turns_comes_before_the_first_that_the_other_sends_to():
    states = (RING, frozenset({(0, 4), (0, 3), (3, 0), (4, 0)}))
    changed = moves.change_turns(states, (0, 0, 1), 1, 0)

    assert changed == (circle(0, 2, 3, 4, 5), {(0, 1), (1, 3), (0, 4), (3, 0), (4, 0)})
    # Not beside itself.
    assert moves.change_turns(states, (0, 0, 1), 1, 1) == states
    # It takes part there already, by an arc from it or to it.
    for arc in ((1, 2), (2, 1)):
        busy = (RING, frozenset({arc}))
        assert moves.change_turns(busy, (0, 0, 1), 1, 0) == busy


def test_a_component_is_what_arcs_join_in_either_direction():
    arcs = frozenset({(1, 0), (1, 2), (3, 2), (4, 5)})
    assert moves.component(arcs, 0) == {(1, 0), (1, 2), (3, 2)}
    assert moves.component(arcs, 5) == {(4, 5)}
    assert moves.component(arcs, 6) == NOTHING


def test_a_single_state_changes_by_itself():
    delay_s = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    near, rng = NearSilos(delay_s), np.random.default_rng(0)
    found = {moves.changed_states((RING,), (0, 0, 1), near, rng) for _ in range(200)}
    assert len(found) > 20
    assert all(len(each) == 1 for each in found)
    # Both ends of the arc are what another silo is drawn near.
    near_ends = NearSilos(np.full((6, 6), np.inf))
    near_ends._near = [[silo] for silo in range(6)]
    drawn = {moves.changed_states((RING,), (0, 0, 1), near_ends, rng) for _ in range(200)}
    assert (circle(1, 0, 2, 3, 4, 5),) in drawn

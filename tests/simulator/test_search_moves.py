"""Changes of digraphs that the search on simulated cycle times tries."""

import itertools

import numpy as np
import pytest

from simulator.designers import search_moves as moves
from simulator.designers.search_moves import MOVES, NearSilos


def circle(*tour):
    """Arcs of a ring."""
    return frozenset(itertools.pairwise([*tour, tour[0]]))


RING = circle(0, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("move", "arc", "other", "after"),
    [
        (moves.swap, (0, 1), 4, circle(0, 4, 2, 3, 1, 5)),
        (moves.relocate, (0, 1), 3, circle(0, 3, 1, 2, 4, 5)),
        (moves.reverse_path, (0, 1), 3, circle(0, 3, 2, 1, 4, 5)),
        (moves.drop, (0, 1), 3, RING - {(0, 1)}),
        (moves.turn_head, (0, 1), 3, RING - {(0, 1)} | {(0, 3)}),
        (moves.turn_tail, (0, 1), 3, RING - {(0, 1)} | {(3, 1)}),
        (moves.detour, (0, 1), 3, RING - {(0, 1)} | {(0, 3), (3, 1)}),
    ],
)
def test_on_a_ring(move, arc, other, after):
    assert move(RING, arc, other) == after


def test_bypass_makes_one_circuit_of_two():
    star = frozenset({(0, 1), (1, 0), (1, 2), (2, 1)})

    assert moves.bypass(star, (0, 1), 0) == circle(0, 2, 1)


@pytest.mark.parametrize(
    ("move", "other"),
    [(moves.relocate, 1), (moves.reverse_path, 0), (moves.reverse_path, 1)],
)
def test_what_does_not_fit_changes_nothing(move, other):
    # Silo 1 lies at the arc itself; the way to 0 passes the arc's source; a path of one silo has no other direction.
    assert move(RING, (0, 1), other) == RING


def test_a_branching_way_is_not_reversed():
    arcs = RING | {(2, 5)}

    assert moves.reverse_path(arcs, (0, 1), 3) == arcs


@pytest.mark.parametrize("move", MOVES)
def test_moves_are_pure(move):
    before = set(RING)
    move(RING, (0, 1), 4)

    assert before == RING


def test_near_silos_are_drawn_more_often_and_never_the_silo_itself_among_them():
    delay_s = np.abs(np.subtract.outer(np.arange(40.0), np.arange(40.0)))
    rng = np.random.default_rng(0)
    drawn = [NearSilos(delay_s).draw(0, rng) for _ in range(1000)]

    # Of the 12 nearest with probability 0.8, and of any else.
    assert sum(1 <= silo <= 12 for silo in drawn) == pytest.approx(1000 * (0.8 + 0.2 * 12 / 40), abs=60)


@pytest.mark.parametrize(("other", "next_one"), [(0, 2), (1, 3), (2, 2), (5, 3)])
def test_bypass_goes_on_to_one_of_those_behind_the_target_but_not_back(other, next_one):
    arcs = frozenset({(0, 1), (1, 0), (1, 3), (1, 2), (2, 0), (3, 0)})
    assert moves.bypass(arcs, (0, 1), other) == (arcs - {(0, 1), (1, next_one)}) | {(0, next_one)}


def test_bypass_of_a_target_that_only_sends_back_changes_nothing():
    arcs = frozenset({(0, 1), (1, 0), (0, 2), (2, 0)})
    assert moves.bypass(arcs, (0, 1), 2) == arcs


@pytest.mark.parametrize(
    ("arcs", "other", "after"),
    [
        # 5 hangs at silo 2 by a pair, which leaves no arc from 2 to itself.
        (circle(0, 1, 2) | {(2, 5), (5, 2)}, 5, circle(0, 5, 1, 2)),
        (circle(0, 1, 2, 3) | {(1, 3)}, 3, None),  # two send to it
        (circle(0, 1, 2, 3) | {(3, 1)}, 3, None),  # it sends to two
        (circle(0, 1, 2, 3), 0, None),
    ],
)
def test_a_silo_between_one_and_one_other_is_relocated(arcs, other, after):
    assert moves.relocate(arcs, (0, 1), other) == (arcs if after is None else after)


@pytest.mark.parametrize(
    ("arcs", "other", "after"),
    [
        (RING, 5, circle(0, 5, 4, 3, 2, 1)),
        (RING, 2, circle(0, 2, 1, 3, 4, 5)),
        (RING | {(4, 2)}, 3, circle(0, 3, 2, 1, 4, 5) | {(4, 2)}),
        (RING | {(3, 5)}, 3, None),  # it branches at the end
        (frozenset({(0, 1), (1, 2), (2, 1), (3, 0)}), 3, None),  # it goes round
        (frozenset({(0, 1), (1, 0), (0, 2), (2, 0)}), 2, None),  # it comes back to the source
    ],
)
def test_a_way_that_does_not_branch_is_reversed(arcs, other, after):
    assert moves.reverse_path(arcs, (0, 1), other) == (arcs if after is None else after)


def test_the_ends_of_an_arc_are_swapped():
    assert moves.swap(RING, (0, 1), 0) == circle(1, 0, 2, 3, 4, 5)
    assert moves.swap(RING, (0, 1), 1) == RING

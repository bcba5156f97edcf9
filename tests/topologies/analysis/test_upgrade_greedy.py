"""Greedy steps on hand-made terms: what a step takes, what it may cost, and when there is none."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from topologies.analysis.upgrade_greedy import greedy_steps, limiting_groups
from topologies.analysis.upgrade_terms import Circuit


@dataclass(frozen=True)
class Terms:
    """One circuit whose items gain so much each, once all links of their group are raised."""

    gains_s: tuple[float, ...]
    groups: tuple[tuple[int, ...], ...]
    links: tuple[None, ...]

    def critical(self, raised):
        done = [all(raised[list(group)]) for group in self.groups]
        value = 100.0 - sum(gain for gain, is_done in zip(self.gains_s, done, strict=True) if is_done)
        return value, Circuit(1, 0.0, tuple(range(len(self.groups))))

    def binding(self, item, raised):
        return tuple(link for link in self.groups[item] if not raised[link])


def terms(*items):
    """Of pairs of a gain and a group."""
    count = 1 + max(link for _, group in items for link in group)
    return Terms(tuple(gain for gain, _ in items), tuple(group for _, group in items), (None,) * count)


def order(terms, prices, budget=np.inf):
    """Links of each step, price and cycle time after it."""
    steps = greedy_steps(terms, np.array(prices, dtype=float), budget)
    found = []
    for before, after in itertools.pairwise(steps):
        links = np.flatnonzero(after.raised & ~before.raised).tolist()
        found.append((links, after.price, after.cycle_time_s))
    assert not steps[0].raised.any()
    assert (steps[0].price, steps[0].cycle_time_s) == (0.0, 100.0)
    return found


def test_the_largest_gain_for_its_price_comes_first():
    # 2, 3 and 1 s for one unit of money.
    assert order(terms((8, (0,)), (6, (1,)), (5, (2,))), [4, 2, 5]) == [
        ([1], 2, 94),
        ([0], 6, 86),
        ([2], 11, 81),
    ]


def test_of_a_step_only_its_own_price_counts():
    # After the first one for 10: 2 s for each unit of money, or 1.5.
    assert order(terms((90, (0,)), (2, (1,)), (3, (2,))), [10, 1, 2]) == [
        ([0], 10, 10),
        ([1], 11, 8),
        ([2], 13, 5),
    ]


def test_what_costs_nothing_comes_before_and_of_several_the_larger_gain():
    assert order(terms((1, (0,)), (2, (1,)), (90, (2,))), [0, 0, 1]) == [
        ([1], 0, 98),
        ([0], 0, 97),
        ([2], 1, 7),
    ]


def test_of_equal_gains_for_the_price_the_larger_one_comes_first_and_of_equal_gains_the_first():
    assert order(terms((2, (0,)), (4, (1,))), [1, 2])[0] == ([1], 2, 96)
    assert order(terms((2, (0,)), (2, (1,))), [1, 1])[0] == ([0], 1, 98)


def test_links_that_limit_an_item_together_are_bought_together():
    assert order(terms((9, (0, 2)), (1, (1,))), [1, 1, 1]) == [([0, 2], 2, 91), ([1], 3, 90)]


@pytest.mark.parametrize(("budget", "bought"), [(2.9, [[1]]), (3.0, [[1], [0]]), (0.0, [])])
def test_a_budget_may_be_spent_to_the_last(budget, bought):
    assert [links for links, _, _ in order(terms((4, (0,)), (3, (1,))), [2, 1], budget)] == bought


def test_where_another_circuit_is_as_slow_the_cheapest_links_of_it_are_taken_in():
    @dataclass(frozen=True)
    class Two:
        """Links 0 and 1 or 2 are needed: two circuits are as slow, the second one limited by two items."""

        links: tuple[None, ...] = (None,) * 3

        def critical(self, raised):
            if not raised[0]:
                return 100.0, Circuit(1, 0.0, (0,))
            if not (raised[1] or raised[2]):
                return 100.0, Circuit(1, 0.0, (1, 2))
            return 60.0, Circuit(1, 0.0, ())

        def binding(self, item, raised):
            return () if raised[item] else (item,)

    assert order(Two(), [1, 5, 2]) == [([0, 2], 3, 60)]
    assert order(Two(), [1, 2, 5]) == [([0, 1], 3, 60)]
    # Half of it is no help.
    assert order(Two(), [1, 5, 2], budget=2.5) == []


def test_groups_are_named_once_in_the_order_of_links():
    some = terms((1, (2,)), (1, (0, 1)), (1, (2,)), (1, (3,)))

    assert limiting_groups(some, Circuit(1, 0.0, (0, 1, 2, 3)), np.zeros(4, dtype=bool)) == [
        (0, 1),
        (2,),
        (3,),
    ]
    raised = np.array([False, True, False, True])
    assert limiting_groups(some, Circuit(1, 0.0, (0, 1, 2, 3)), raised) == [(0,), (2,)]

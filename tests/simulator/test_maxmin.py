"""Each test states the system, the rates expected, and the assertion, in this order."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import max_min_rates
from simulator.reduction import limiting_links
from topologies.errors import InputError


@st.composite
def systems(draw):
    """Routes and capacities, with ties, infinite links, unused links and flows that cross nothing."""
    links = draw(st.integers(1, 6))
    capacity = st.sampled_from([0.5, 1.0, 2.0, 3.0, 1e9, math.inf]) | st.floats(0.1, 10.0)
    routes = st.lists(st.integers(0, links - 1), unique=True, max_size=links)
    return (
        draw(st.lists(routes, max_size=10)),
        draw(st.lists(capacity, min_size=links, max_size=links)),
    )


@st.composite
def weighted_systems(draw):
    """Such systems with a weight of each flow, of which some are equal and some differ by factors of thousands."""
    routes, capacity = draw(systems())
    weights = st.sampled_from([1.0, 2.0, 3.0, 5e3]) | st.floats(0.01, 100.0)
    return routes, capacity, draw(st.lists(weights, min_size=len(routes), max_size=len(routes)))


def test_one_flow_gets_the_smallest_capacity_of_its_route():
    routes, capacity = [[0, 1, 2]], [3.0, 1.0, 2.0]
    expected = [1.0]
    assert max_min_rates(routes, capacity).tolist() == expected


def test_flows_on_one_link_share_it_equally():
    routes, capacity = [[0]] * 7, [1.0]
    expected = [1 / 7] * 7
    assert max_min_rates(routes, capacity).tolist() == expected


def test_what_a_flow_cannot_use_goes_to_the_others():
    # Bertsekas and Gallager's linear network: one flow over all links, and one more on each.
    routes, capacity = [[0, 1, 2], [0], [1], [2]], [1.0, 2.0, 4.0]
    expected = [0.5, 0.5, 1.5, 3.5]
    assert max_min_rates(routes, capacity).tolist() == expected


def test_three_levels():
    # Link 0 freezes flows 0 and 1 at 1, then link 1 freezes flow 2 at 10 - 1 = 9, and flow 3 gets 100 - 1 - 9.
    routes, capacity = [[0, 1], [0, 2], [1, 2], [2]], [2.0, 10.0, 100.0]
    expected = [1.0, 1.0, 9.0, 90.0]
    assert max_min_rates(routes, capacity).tolist() == expected


def test_ties_between_links_give_one_and_the_same_number():
    # Every link allows a third of 1, but computed along different subtractions.
    routes, capacity = [[0, 3], [0, 4], [0, 5], [1, 3], [1, 4], [1, 5], [2, 3], [2, 4], [2, 5]], [1.0] * 6
    expected = {1 / 3}
    assert set(max_min_rates(routes, capacity).tolist()) == expected


def test_shares_that_differ_by_rounding_are_one_number():
    # 0.3 / 3 is 0.09999999999999999.
    routes, capacity = [[0], [0], [0], [1]], [0.3, 0.1]
    expected = {0.3 / 3}
    assert set(max_min_rates(routes, capacity).tolist()) == expected


def test_a_flow_without_a_limiting_link_has_an_infinite_rate():
    routes, capacity = [[], [0], [0, 1], [1]], [math.inf, 2.0]
    expected = [math.inf, math.inf, 1.0, 1.0]
    assert max_min_rates(routes, capacity).tolist() == expected


def test_no_flows():
    routes, capacity = [], [1.0]
    expected = (0,)
    assert max_min_rates(routes, capacity).shape == expected


def test_huge_and_tiny_capacities_side_by_side():
    routes, capacity = [[0], [0, 1]], [1e15, 1e-3]
    expected = [1e15 - 1e-3, 1e-3]
    assert max_min_rates(routes, capacity) == pytest.approx(expected, rel=1e-15)


def test_weights_share_a_link_in_proportion():
    routes, capacity, weight = [[0], [0]], [8.0], [1.0, 3.0]
    expected = [2.0, 6.0]
    assert max_min_rates(routes, capacity, weight).tolist() == expected


def test_what_a_heavy_flow_cannot_use_goes_to_the_others_by_weight():
    # Flow 0 weighs most, but link 1 holds it at 1; flows 1 and 2 share the 9 that are left as 1 to 2.
    routes, capacity, weight = [[0, 1], [0], [0]], [10.0, 1.0], [10.0, 1.0, 2.0]
    expected = [1.0, 3.0, 6.0]
    assert max_min_rates(routes, capacity, weight).tolist() == expected


def test_a_flow_over_several_links_with_weights():
    # Level 1 fills link 0: flow 0 of weight 2 gets 2, flow 1 gets 1. Then link 1 has 10 left for flow 2, link 2 18.
    routes, capacity, weight = [[0, 1, 2], [0], [1], [2]], [3.0, 12.0, 20.0], [2.0, 1.0, 4.0, 0.5]
    expected = [2.0, 1.0, 10.0, 18.0]
    assert max_min_rates(routes, capacity, weight).tolist() == expected


@pytest.mark.parametrize(
    ("weight", "error"),
    [
        ([1.0], r"^weight\(of 1 numbers\) must hold 2\.$"),
        ([1.0, 0.0], r"^weight\[1\]\(=0\.0\) must be finite and > 0\.$"),
        ([1.0, math.inf], r"^weight\[1\]\(=inf\) must be finite and > 0\.$"),
    ],
)
def test_weights_are_finite_and_positive(weight, error):
    with pytest.raises(InputError, match=error):
        max_min_rates([[0], [0]], [1.0], weight)


@given(systems(), st.sampled_from([1.0, 0.25, 1024.0]))
def test_equal_weights_are_none_at_all(system, weight):
    """To the last bit: rates do not change with powers of two."""
    routes, capacity = system
    assert (
        max_min_rates(routes, capacity, [weight] * len(routes)).tolist()
        == max_min_rates(routes, capacity).tolist()
    )


@given(systems().map(lambda system: (*system, None)) | weighted_systems())
def test_rates_fit_and_every_flow_has_a_bottleneck(system):
    routes, capacity, weight = system
    rates = max_min_rates(routes, capacity, weight)
    levels = rates / (np.ones(len(routes)) if weight is None else weight)
    on_link = [[flow for flow, route in enumerate(routes) if link in route] for link in range(len(capacity))]
    load = [sum(rates[flows]) for flows in on_link]
    for link, total in enumerate(load):
        assert total <= capacity[link] * (1 + 1e-9)
    for flow, route in enumerate(routes):
        if all(math.isinf(capacity[link]) for link in route):
            assert math.isinf(rates[flow])
            continue
        assert any(
            load[link] >= capacity[link] * (1 - 1e-9)
            and levels[flow] >= max(levels[on_link[link]]) * (1 - 1e-9)
            for link in route
            if not math.isinf(capacity[link])
        )


@given(systems(), st.randoms(use_true_random=False))
def test_the_order_of_the_flows_does_not_matter(system, random):
    routes, capacity = system
    order = list(range(len(routes)))
    random.shuffle(order)
    shuffled = max_min_rates([routes[flow] for flow in order], capacity)
    assert shuffled.tolist() == max_min_rates(routes, capacity)[order].tolist()


@given(systems(), st.data())
def test_links_that_cannot_limit_change_no_rate(system, data):
    """However many messages each arc has on the network."""
    routes, capacity = system
    reduced = limiting_links(routes, capacity)
    messages = data.draw(st.lists(st.integers(0, 3), min_size=len(routes), max_size=len(routes)))
    active = [arc for arc, number in enumerate(messages) for _ in range(number)]
    full = max_min_rates([routes[arc] for arc in active], capacity)
    np.testing.assert_allclose(max_min_rates([reduced[arc] for arc in active], capacity), full, rtol=1e-9)


def test_links_behind_slower_ones_cannot_limit():
    # Two uplinks of 1 behind a core link of 2, which both arcs cross, and downlinks of 5.
    routes, capacity = [(0, 2, 3), (1, 2, 4)], [1.0, 1.0, 2.0, 5.0, 5.0]
    expected = [(0,), (1,)]
    assert limiting_links(routes, capacity) == expected


def test_of_equal_links_one_stays():
    routes, capacity = [(0, 1, 2), (0, 1, 2)], [1.0, 1.0, 1.0]
    expected = [(2,), (2,)]
    assert limiting_links(routes, capacity) == expected


@pytest.mark.parametrize("capacity", [0.0, -1.0, math.nan])
def test_a_capacity_must_be_positive(capacity):
    with pytest.raises(InputError, match=r"link_capacity_bps\[1\]\(=.*\) must be > 0\."):
        max_min_rates([[0]], [1.0, capacity])


@pytest.mark.parametrize("route", [[2], [-1], [0, 0], [0.5]])
def test_a_route_must_cross_existing_links_once(route):
    with pytest.raises(InputError, match="links of route 1"):
        max_min_rates([[0], route], [1.0, 1.0])

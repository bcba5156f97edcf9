"""Capacities of core links, available bandwidth of routes, and faster links that no route takes."""

from dataclasses import replace

import numpy as np
import pytest

from topologies import InputError
from topologies.capacities import available_bandwidth, core_capacity, idle_faster_links
from topologies.routing import shortest_routes


@pytest.fixture
def line(make_underlay):
    """0 - 1 - 2 - 3, where the middle link states no capacity."""
    underlay = make_underlay(4, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)])
    return replace(underlay, capacity_bps=np.array([3e9, np.nan, 2e9]))


@pytest.mark.parametrize("core", [None, "stated"])
def test_stated_capacities_and_1_gbps_on_links_that_state_none(line, core):
    core_bps, assumed = core_capacity(line, core)

    assert core_bps.tolist() == [3e9, 1e9, 2e9]
    assert assumed.tolist() == [False, True, False]


def test_one_capacity_of_all_links_is_the_user_s(line):
    for core in (5e9, 5_000_000_000, np.float64(5e9), np.inf):
        core_bps, assumed = core_capacity(line, core)
        assert core_bps.tolist() == [float(core)] * 3
        assert assumed.tolist() == [False] * 3


def test_where_no_link_states_a_capacity_all_are_assumed_and_none_is_stated(make_underlay):
    underlay = make_underlay(2, [(0, 1, 1.0)])
    core_bps, assumed = core_capacity(underlay, None)

    assert (core_bps.tolist(), assumed.tolist()) == ([1e9], [True])
    with pytest.raises(InputError, match=r"^core\(='stated'\) needs capacities, but no link of test states"):
        core_capacity(underlay, "stated")


@pytest.mark.parametrize(
    ("core", "message"),
    [
        ("fast", "core(='fast') must be 'stated' or a number in bit/s."),
        (True, "core(=True) must be 'stated' or a number in bit/s."),
        ([1e9], "core(=[1000000000.0]) must be 'stated' or a number in bit/s."),
        (0.0, "core(=0) must be > 0."),
        (-1, "core(=-1) must be > 0."),
    ],
)
def test_what_is_no_capacity_is_named(line, core, message):
    with pytest.raises(InputError) as caught:
        core_capacity(line, core)
    assert str(caught.value) == message


def available(line, rule, router=(0, 1, 3, 3), blocked=()):
    core_bps = core_capacity(line, None)[0]
    return available_bandwidth(shortest_routes(line, core_bps), core_bps, rule, np.array(router), blocked)


def test_the_smallest_capacity_of_a_route_whole_or_shared_by_its_links(line):
    inf = np.inf

    assert available(line, "bottleneck").tolist() == [
        [inf, 3e9, 1e9, 1e9],
        [3e9, inf, 1e9, 1e9],
        [1e9, 1e9, inf, inf],
        [1e9, 1e9, inf, inf],
    ]
    assert available(line, "hop_share").tolist() == [
        [inf, 3e9, 1e9 / 3, 1e9 / 3],
        [3e9, inf, 0.5e9, 0.5e9],
        [1e9 / 3, 0.5e9, inf, inf],
        [1e9 / 3, 0.5e9, inf, inf],
    ]


def test_blocked_pairs_have_nothing_in_their_direction(line):
    found = available(line, "bottleneck", blocked=[(0, 1), (3, 2), (3, 0)])

    assert np.argwhere(found == 0).tolist() == [[0, 1], [3, 0], [3, 2]]
    assert found[1, 0] == 3e9


@pytest.mark.parametrize("pair", [(0, 4), (4, 0), (-1, 0), (0, -1), (2, 2)])
def test_a_blocked_pair_joins_two_silos(line, pair):
    with pytest.raises(InputError) as caught:
        available(line, "bottleneck", blocked=[pair])
    assert str(caught.value) == f"blocked(={pair}) must join two different silos of 0..3."


def test_a_measured_matrix_is_taken_as_it_is_but_for_its_diagonal(line):
    measured = np.arange(16.0).reshape(4, 4)
    found = available(line, measured, blocked=[(2, 0)])

    assert np.isinf(found.diagonal()).all()
    assert found[0].tolist() == [np.inf, 1.0, 2.0, 3.0]
    assert found[2].tolist() == [0.0, 9.0, np.inf, 11.0]
    assert measured[0, 0] == 0.0
    measured[0, 1], measured[1, 0] = 0.5, 0.0
    assert available(line, measured)[[0, 1], [1, 0]].tolist() == [0.5, 0.0]
    measured[1, 3] = -1.0
    measured[0, 0] = np.nan
    with pytest.raises(
        InputError, match=r"^bandwidth\[1, 3\]\(=-1\.0\) must be a rate in bit/s: entries >= 0"
    ):
        available(line, measured)


def test_faster_links_beside_a_slower_one_that_carries_the_routes(make_underlay):
    # Between 0 and 1 the first is the shortest; between 1 and 2 nothing is faster than what is used.
    underlay = make_underlay(
        4,
        [
            (0, 1, 1.0),
            (0, 1, 2.0),
            (1, 0, 3.0),
            (0, 1, 4.0),
            (1, 2, 1.0),
            (2, 1, 2.0),
            (2, 3, 1.0),
            (0, 3, 9.0),
        ],
    )
    core_bps = np.array([2e9, 3e9, 5e9, 2e9, 4e9, 4e9, 1e9, 9e9])
    routes = shortest_routes(underlay, core_bps)

    assert np.flatnonzero(routes.used_links()).tolist() == [0, 4, 6]
    # The link 0 - 3 is not used either, but no link beside it is.
    assert idle_faster_links(underlay, routes, core_bps) == [1, 2]

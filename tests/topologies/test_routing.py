"""Routes: shortest, unique, symmetric."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import InputError, load_underlay, published_underlays, routing
from topologies.compiled_designs import many_designs
from topologies.explicit_routes import explicit_routes
from topologies.routing import TIE, shortest_routes


def test_a_line(make_underlay):
    routes = shortest_routes(make_underlay(3, [(0, 1, 5.0), (2, 1, 7.0)]))

    assert routes.distance_km[0, 2] == routes.distance_km[2, 0] == 12.0
    assert routes.links(0, 2) == (0, 3)  # forwards on link 0, backwards on link 1
    assert routes.links(2, 0) == (2, 1)
    assert routes.nodes(2, 0) == (2, 1, 0)
    assert routes.links(1, 1) == ()
    assert routes.hops.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_equal_lengths_take_the_fewest_links(make_underlay):
    routes = shortest_routes(make_underlay(4, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (0, 3, 3.0)]))

    assert routes.nodes(0, 3) == (0, 3)


def test_equal_lengths_and_links_take_the_first_path_in_lexicographic_order(make_underlay):
    square = [(0, 2, 1.0), (2, 3, 1.0), (3, 1, 1.0), (1, 0, 1.0)]
    routes = shortest_routes(make_underlay(4, square))

    assert routes.nodes(0, 3) == (0, 1, 3)
    assert routes.nodes(3, 0) == (3, 1, 0)
    assert routes.nodes(1, 2) == (1, 0, 2)


def test_the_order_is_read_from_the_lower_numbered_end(make_underlay):
    # 0-1-4-5 and 0-2-3-5 are tied: from 0 the first wins, from 5 it would be the second (5, 3 before 5, 4).
    links = [(0, 1, 1.0), (1, 4, 1.0), (4, 5, 1.0), (0, 2, 1.0), (2, 3, 1.0), (3, 5, 1.0)]
    routes = shortest_routes(make_underlay(6, links))

    assert routes.nodes(0, 5) == (0, 1, 4, 5)
    assert routes.nodes(5, 0) == (5, 4, 1, 0)


def test_ties_hold_to_a_relative_1e_9(make_underlay):
    within = shortest_routes(make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 2.0 * (1 + 5e-10))]))
    beyond = shortest_routes(make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 2.0 * (1 + 5e-9))]))

    assert within.nodes(0, 2) == (0, 2)
    assert beyond.nodes(0, 2) == (0, 1, 2)


def test_parallel_links_the_shortest_carries_the_route(make_underlay):
    routes = shortest_routes(make_underlay(2, [(0, 1, 9.0), (1, 0, 4.0), (0, 1, 4.0)]))

    assert routes.distance_km[0, 1] == 4.0
    assert routes.links(0, 1) == (3,)  # link 1, against its direction; the first of the two equal ones


def test_zero_length_links(make_underlay):
    routes = shortest_routes(make_underlay(4, [(0, 1, 0.0), (1, 2, 0.0), (2, 0, 0.0), (2, 3, 1.0)]))

    assert routes.nodes(0, 3) == (0, 2, 3)
    assert routes.distance_km[0, 2] == 0.0
    assert routes.hops[0, 1] == 1


def lexicographic_route(
    routers: int, links: list[tuple[int, int, float]], low: int, high: int
) -> tuple[int, ...]:
    """The rule, applied to every simple path."""
    length = {}
    for a, b, km in links:
        for pair in ((a, b), (b, a)):
            length[pair] = min(km, length.get(pair, np.inf))
    inner = [node for node in range(routers) if node not in (low, high)]
    paths = [
        (low, *middle, high)
        for count in range(routers - 1)
        for middle in itertools.permutations(inner, count)
        if all(pair in length for pair in itertools.pairwise((low, *middle, high)))
    ]
    total = {path: sum(length[pair] for pair in itertools.pairwise(path)) for path in paths}
    shortest = min(total.values())
    return min(
        (path for path in paths if total[path] <= shortest * (1 + TIE)), key=lambda path: (len(path), path)
    )


@given(data=st.data(), routers=st.integers(2, 6))
def test_routes_follow_the_rule_on_random_underlays_full_of_ties(make_underlay, data, routers):
    chain = [(i, i + 1) for i in range(routers - 1)]
    pairs = data.draw(st.lists(st.sampled_from(list(itertools.combinations(range(routers), 2))), max_size=8))
    links = [(a, b, float(data.draw(st.integers(0, 3)))) for a, b in chain + pairs]
    routes = shortest_routes(make_underlay(routers, links))

    for low, high in itertools.combinations(range(routers), 2):
        expected = lexicographic_route(routers, links, low, high)
        assert routes.nodes(low, high) == expected
        assert routes.nodes(high, low) == expected[::-1]
        assert routes.hops[low, high] == routes.hops[high, low] == len(expected) - 1


@pytest.mark.parametrize("name", published_underlays())
def test_routes_of_the_shipped_underlays_are_whole_and_add_up(name):
    underlay = load_underlay(name)
    routes = shortest_routes(underlay)

    for source, target in itertools.permutations(range(underlay.routers), 2):
        directions = routes.links(source, target)
        ends = [underlay.ends[d // 2][:: -1 if d % 2 else 1].tolist() for d in directions]
        assert [ends[0][0], *(head for _, head in ends)] == list(routes.nodes(source, target))
        assert sum(underlay.length_km[d // 2] for d in directions) == pytest.approx(
            routes.distance_km[source, target], rel=1e-12
        )


def test_routes_do_not_depend_on_how_many_sources_are_searched_together(monkeypatch):
    underlay = load_underlay("geant")
    together = shortest_routes(underlay)
    monkeypatch.setattr(routing, "BLOCK_ARCS", 1_000)
    apart = shortest_routes(underlay)

    assert np.array_equal(together.distance_km, apart.distance_km)
    assert np.array_equal(together.hops, apart.hops)
    assert np.array_equal(together.parent, apart.parent)
    assert np.array_equal(together.parent_link, apart.parent_link)


@pytest.mark.parametrize("seed", range(10))
def test_compiled_routes_are_those_of_the_plain_code_to_the_last_bit(make_underlay, seed):
    # Few lengths, some 0, parallel links, labels in another order than routers: ties of every kind.
    draw = np.random.default_rng(seed)
    routers = int(draw.integers(2, 40))
    tree = [(int(draw.integers(node)), node) for node in range(1, routers)]
    more = [
        tuple(draw.choice(routers, 2, replace=False).tolist()) for _ in range(int(draw.integers(3 * routers)))
    ]
    links = [(a, b, float(draw.choice([0.0, 0.1, 0.2, 0.3, 100.0]))) for a, b in tree + more]
    underlay = make_underlay(routers, links)
    labels = [f"r{number:02}" for number in draw.permutation(routers)]
    underlay = replace(underlay, labels=tuple(labels))
    core_bps = draw.choice([0.0, 1e9, 2e9, 3e9], len(links))

    plain = shortest_routes(underlay, core_bps)
    with many_designs():
        compiled = shortest_routes(underlay, core_bps)
        smallest_bps = compiled.bottleneck_bps(core_bps)

    for name in ("distance_km", "hops", "parent", "parent_link"):
        assert np.array_equal(getattr(plain, name), getattr(compiled, name)), name
    assert np.array_equal(plain.bottleneck_bps(core_bps), smallest_bps)
    assert set(plain.rank.tolist()) == set(range(routers))
    for source, target in itertools.permutations(range(routers), 2):
        crossed = [core_bps[direction // 2] for direction in compiled.links(source, target)]
        assert smallest_bps[source, target] == min(crossed)


def test_a_long_thin_network(make_underlay):
    routers = 1_000
    routes = shortest_routes(make_underlay(routers, [(i, i + 1, 1.0) for i in range(routers - 1)]))
    index = np.arange(routers)
    apart = np.abs(np.subtract.outer(index, index))

    assert np.array_equal(routes.hops, apart)
    assert np.array_equal(routes.distance_km, apart)
    assert routes.links(0, routers - 1) == tuple(range(0, 2 * routers - 2, 2))


def test_explicit_routes_know_their_links_and_the_slowest_of_each_as_shortest_ones_do(make_underlay):
    underlay = load_underlay("geant")
    routers = range(underlay.routers)
    core_bps = 1e9 * (1 + np.arange(underlay.links) % 7)
    shortest = shortest_routes(underlay, core_bps)
    pairs = [(a, b) for a in routers for b in routers if a != b]
    routes = explicit_routes(underlay, [(a, b, shortest.links(a, b)) for a, b in pairs])

    np.testing.assert_array_equal(routes.bottleneck_bps(core_bps), shortest.bottleneck_bps(core_bps))
    np.testing.assert_array_equal(routes.used_links(), shortest.used_links())
    np.testing.assert_array_equal(routes.hops, shortest.hops)
    np.testing.assert_allclose(routes.distance_km, shortest.distance_km, rtol=1e-12)
    assert all(routes.links(a, a) == () for a in routers)
    # Routes of one link each leave all other links unused.
    triangle = make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)])
    number = {frozenset(ends): link for link, ends in enumerate(triangle.ends.tolist())}

    def way(a, b):
        link = number[frozenset((a, b))]
        return 2 * link + (triangle.ends[link, 0] != a)

    ways = [(0, 1, [way(0, 1)]), (1, 0, [way(1, 0)]), (1, 2, [way(1, 2)]), (2, 1, [way(2, 1)])]
    around = [(0, 2, [way(0, 1), way(1, 2)]), (2, 0, [way(2, 1), way(1, 0)])]
    direct = explicit_routes(triangle, [*ways, *around])
    capacity = np.zeros(3)
    capacity[[number[frozenset(pair)] for pair in ((0, 1), (1, 2), (0, 2))]] = 5, 3, 9
    assert direct.used_links()[number[frozenset((0, 2))]] == np.False_
    assert direct.used_links().sum() == 2
    inf = np.inf
    assert direct.bottleneck_bps(capacity).tolist() == [[inf, 5, 3], [5, inf, 3], [3, 3, inf]]


@pytest.mark.parametrize("lengths", [(1.0, 2.0, 9.0), (0.0, 0.0, 0.0), (1e6, 1e6, 1.0)])
def test_a_link_that_is_down_is_crossed_only_where_there_is_no_other_route(make_underlay, lengths):
    triangle = make_underlay(
        3, [(a, b, km) for (a, b), km in zip([(0, 1), (1, 2), (0, 2)], lengths, strict=True)]
    )
    for down, (a, b) in enumerate(triangle.ends.tolist()):
        capacity = np.where(np.arange(3) == down, 0.0, 1e9)
        (around,) = {0, 1, 2} - {a, b}
        routes = shortest_routes(triangle, capacity)
        assert routes.nodes(a, b) == (a, around, b)
        # Lengths are those of the links, whatever they cost.
        assert routes.distance_km[a, b] == sum(lengths) - lengths[down]
    line = make_underlay(3, [(0, 1, 5.0), (1, 2, 7.0)])
    routes = shortest_routes(line, np.array([0.0, 1e9]))
    assert routes.nodes(0, 2) == (0, 1, 2)
    assert routes.distance_km[0, 2] == 12.0


def test_routes_of_the_least_weight_keep_their_lengths(make_underlay):
    triangle = make_underlay(3, [(0, 1, 1.0), (1, 2, 2.0), (0, 2, 9.0)])
    routes = shortest_routes(triangle, weight=[3, 3, 0])
    assert routes.nodes(0, 2) == (0, 2)
    assert routes.distance_km.tolist() == [[0.0, 1.0, 9.0], [1.0, 0.0, 2.0], [9.0, 2.0, 0.0]]
    assert shortest_routes(triangle, weight=[0, 0, 1]).nodes(0, 2) == (0, 1, 2)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, 2.0], r"weight\(of shape \(2,\)\) must have shape \(3,\): one per link"),
        ([[1.0, 2.0, 3.0]], r"weight\(of shape \(1, 3\)\) must have shape \(3,\)"),
        ([1.0, -0.5, 2.0], r"weight\[1\]\(=-0.5\) must be finite and >= 0"),
        ([1.0, 2.0, np.inf], r"weight\[2\]\(=inf\) must be finite and >= 0"),
        ([np.nan, 2.0, np.inf], r"weight\[0\]\(=nan\) must be finite and >= 0"),
    ],
)
def test_a_weight_that_is_none_is_named(make_underlay, weight, message):
    triangle = make_underlay(3, [(0, 1, 1.0), (1, 2, 2.0), (0, 2, 9.0)])
    with pytest.raises(InputError, match=message):
        shortest_routes(triangle, weight=weight)


def test_shortest_routes_take_flows_whole_and_say_what_they_use(make_underlay):
    routes = shortest_routes(make_underlay(3, [(0, 1, 1.0), (1, 2, 2.0), (0, 2, 9.0)]))
    assert (routes.splits, routes.shares(0, 2)) == (False, ())
    assert routes.used_links().tolist() == [True, True, False]
    assert repr(routes) == "<ShortestRoutes between 3 routers>"
    # Kept routes are those that were followed.
    assert routes.links(0, 2) is routes.links(0, 2)
    inf = np.inf
    assert routes.bottleneck_bps(np.array([5.0, 3.0, 1.0])).tolist() == [
        [inf, 5, 3],
        [5, inf, 3],
        [3, 3, inf],
    ]


def test_a_copy_with_other_links_does_not_keep_the_routes_that_were_followed(make_underlay):
    routes = shortest_routes(make_underlay(3, [(0, 1, 1.0), (1, 2, 2.0)]))

    assert routes.links(0, 2) == (0, 2)
    assert replace(routes, parent_link=routes.parent_link + 4).links(0, 2) == (4, 6)

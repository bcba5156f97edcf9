"""Equal-cost multipath: always a cheapest route, all of them used, whatever the numbering; and routings by name."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Underlay, connectivity, load_underlay
from topologies.multipath import _hashed, multipath_routes
from topologies.routing import shortest_routes
from topologies.routings import COSTS, named_routing, routing_text

ACCESS = AccessLinks(up_bps=1e9, down_bps=1e9)


def underlay_of(routers, links, length_km):
    return Underlay(
        name="test",
        variant="corrected",
        labels=tuple(f"r{i:02}" for i in range(routers)),
        latitude_deg=np.full(routers, np.nan),
        longitude_deg=np.full(routers, np.nan),
        ends=np.array(links),
        length_km=np.array(length_km, dtype=float),
        capacity_bps=np.full(len(links), np.nan),
    )


def random_underlay(seed):
    """A tree with links more, some parallel, of lengths among 0, 1 and 2 km."""
    rng = np.random.default_rng(seed)
    routers = int(rng.integers(2, 9))
    links = [(int(rng.integers(0, i)), i) for i in range(1, routers)]
    for _ in range(int(rng.integers(0, 10))):
        a, b = rng.choice(routers, 2, replace=False).tolist()
        links.append((a, b))
    return underlay_of(routers, links, rng.integers(0, 3, len(links)))


def ends_of(underlay, direction):
    a, b = underlay.ends[direction // 2].tolist()
    return (a, b) if direction % 2 == 0 else (b, a)


@pytest.mark.parametrize("seed", [0, 7, -1, 2**64 + 7])
def test_flows_are_spread_by_a_hash_that_stays_the_same(seed):
    # The finalizer of SplitMix64 (Steele, Lea, Flood 2014) after each of source, target and router, by whole numbers.
    mixed = []
    for source, router in ((0, 0), (1, 5), (19_999, 3)):
        value = seed % 2**64
        for part in (source, 4, router):
            value = (value * 0xBF58476D1CE4E5B9 + part + 0x9E3779B97F4A7C15) % 2**64
            value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
            value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
            value ^= value >> 31
        mixed.append(value)

    assert _hashed(seed, np.array([0, 1, 19_999]), 4, np.array([0, 5, 3])).tolist() == mixed


@given(st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_each_route_leads_to_its_target_as_cheaply_as_any(seed, own):
    underlay = random_underlay(seed)
    routes = named_routing("distance", own)(underlay, np.ones(underlay.links))
    shortest = shortest_routes(underlay)
    for i in range(underlay.routers):
        assert routes.links(i, i) == ()
        for j in range(underlay.routers):
            hops = [ends_of(underlay, direction) for direction in routes.links(i, j)]
            assert [i, *(b for _, b in hops)] == [*(a for a, _ in hops), j]
            assert len({a for a, _ in hops}) == len(hops), "no router twice"
    np.testing.assert_allclose(routes.distance_km, shortest.distance_km, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(
        routes.hops,
        [[len(routes.links(i, j)) for j in range(underlay.routers)] for i in range(underlay.routers)],
    )


@given(st.integers(0, 2**32 - 1))
def test_capacities_and_use_are_those_of_the_links_passed(seed):
    underlay = random_underlay(seed)
    routes = named_routing("distance", 1)(underlay, np.ones(underlay.links))
    bps = np.random.default_rng(seed).uniform(1, 9, underlay.links)
    passed = set()
    for i in range(underlay.routers):
        for j in range(underlay.routers):
            links = [direction // 2 for direction in routes.links(i, j)]
            passed |= set(links)
            assert routes.bottleneck_bps(bps)[i, j] == min((bps[link] for link in links), default=np.inf)
    assert np.flatnonzero(routes.used_links()).tolist() == sorted(passed)


def test_flows_spread_evenly_over_equal_routes():
    """Of 400 flows between two stars of 20 sites, joined by four parallel ways, each way takes about 100."""
    left, right = range(20), range(20, 40)
    middle = range(42, 46)
    links = [
        *((40, i) for i in left),
        *((41, i) for i in right),
        *((40, m) for m in middle),
        *((m, 41) for m in middle),
    ]
    underlay = underlay_of(46, links, np.ones(len(links)))
    routes = multipath_routes(underlay, underlay.length_km, 0)
    taken = [ends_of(underlay, routes.links(i, j)[1])[1] for i in left for j in right]
    counts = np.bincount(taken)[42:]

    assert counts.sum() == 400
    # Four standard deviations of a binomial with 400 draws of 1/4.
    assert np.abs(counts - 100).max() <= 4 * np.sqrt(400 * 0.25 * 0.75)


def test_parallel_links_share_flows_and_another_seed_spreads_them_otherwise():
    links = [(0, i) for i in range(2, 14)] + [(0, 1), (0, 1)]
    underlay = underlay_of(14, links, np.ones(14))
    taken = [
        [multipath_routes(underlay, underlay.length_km, seed).links(i, 1)[1] for i in range(2, 14)]
        for seed in (0, 1)
    ]

    assert set(taken[0]) == {24, 26}
    assert taken[0] != taken[1]


@given(st.integers(0, 2**32 - 1))
def test_the_numbering_of_routers_makes_no_difference(seed):
    underlay = random_underlay(seed)
    number = np.random.default_rng(seed).permutation(underlay.routers)
    back = np.argsort(number)
    other = replace(
        underlay, labels=tuple(underlay.labels[i] for i in back.tolist()), ends=number[underlay.ends]
    )
    here, there = (named_routing("distance", 5)(each, np.ones(each.links)) for each in (underlay, other))
    for i in range(underlay.routers):
        for j in range(underlay.routers):
            assert here.links(i, j) == there.links(int(number[i]), int(number[j]))


@pytest.mark.parametrize("name", COSTS)
def test_a_named_routing_minimises_its_cost(name):
    """Against Dijkstra's algorithm of networkx on GEANT, whose links differ in length and capacity."""
    underlay = load_underlay("geant")
    core_bps = np.where(np.isfinite(underlay.capacity_bps), underlay.capacity_bps, 1e9)
    cost = COSTS[name](underlay, core_bps)
    graph = nx.MultiGraph()
    graph.add_weighted_edges_from(
        [(a, b, c) for (a, b), c in zip(underlay.ends.tolist(), cost.tolist(), strict=True)]
    )
    length = dict(nx.all_pairs_dijkstra_path_length(graph))
    for routing in (named_routing(name), named_routing(name, 0)):
        routes = routing(underlay, core_bps)
        for i in range(0, underlay.routers, 3):
            for j in range(underlay.routers):
                links = np.array(routes.links(i, j), dtype=int) // 2
                assert cost[links].sum() == pytest.approx(length[i][j], rel=1e-9)


def test_links_that_are_down_are_avoided():
    underlay = underlay_of(3, [(0, 1), (1, 2), (0, 2)], [1, 1, 1])
    routes = named_routing("hops", 0)(underlay, np.array([1e9, 1e9, 0.0]))

    assert routes.links(0, 2) == (0, 2)


def test_silos_take_the_routes():
    graph = connectivity(load_underlay("gaia"), access=ACCESS, routing=named_routing("hops", 3))
    by_hops = connectivity(load_underlay("gaia"), access=ACCESS, routing=named_routing("hops"))

    assert graph.routes.hops.tolist() == by_hops.routes.hops.tolist()
    for i, j in pairwise(range(graph.silos)):
        assert graph.route(i, j)[1:-1] == graph.routes.links(i, j)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("shortest",), "routing(='shortest') must be one of"),
        (("hops", -1), "multipath_seed(=-1) must be >= 0."),
    ],
)
def test_unknown_names_and_seeds_are_refused(arguments, said):
    with pytest.raises(InputError) as raised:
        named_routing(*arguments)
    assert said in str(raised.value)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan])
def test_a_link_that_costs_nothing_is_refused(bad):
    with pytest.raises(InputError, match="finite and > 0"):
        multipath_routes(underlay_of(2, [(0, 1)], [1.0]), np.array([bad]), 0)


def test_costs_of_links_by_name():
    underlay = load_underlay("gaia")
    links = underlay.links
    core_bps = np.resize([0.0, 0.5, 1e9, np.inf], links)
    km = underlay.length_km
    np.testing.assert_array_equal(COSTS["distance"](underlay, core_bps), km)
    np.testing.assert_array_equal(COSTS["hops"](underlay, core_bps), np.ones(links))
    np.testing.assert_allclose(COSTS["latency"](underlay, core_bps), 0.0085e-3 * km + 0.004, rtol=1e-15)
    # A link of 1 Gbps costs 1, one without a limit nothing, and one of no capacity does not count.
    costs = COSTS["inverse_capacity"](underlay, core_bps)
    np.testing.assert_array_equal(costs, np.resize([0.0, 2e9, 1.0, 0.0], links))


@pytest.mark.parametrize(
    ("routing", "words"),
    [
        (named_routing(), ""),
        (shortest_routes, ""),
        (partial(shortest_routes, weight=np.ones(1)), ""),
        (named_routing("hops"), "routes by hops"),
        (named_routing("distance", 0), "routes by distance, multipath seed 0"),
        (named_routing("latency", 7), "routes by latency, multipath seed 7"),
        (named_routing("inverse_capacity", split_flows=True), "routes by inverse_capacity, flows split"),
        (named_routing("distance", split_flows=True), "routes by distance, flows split"),
    ],
)
def test_a_routing_in_words(routing, words):
    assert routing_text(routing) == words


def test_flows_are_not_both_split_and_spread():
    with pytest.raises(
        InputError, match=r"^split_flows\(=True\) must not be given beside multipath_seed\(=0\)\.$"
    ):
        named_routing("hops", 0, split_flows=True)

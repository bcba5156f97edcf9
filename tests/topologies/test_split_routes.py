"""Flows split over all cheapest routes: shares by path, conservation, the longest route, closed forms by hand."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Underlay, Workload, build_overlay, connectivity, design
from topologies.analysis import Resources, explain, sensitivities
from topologies.analysis.explanation_text import explanation_lines, explanation_rows
from topologies.analysis.upgrade_links import raised_graph, upgrade_links
from topologies.analysis.upgrade_terms import UpgradeTerms
from topologies.designers.best import best
from topologies.designers.best_costs import Crossings
from topologies.designers.enrich import enrich
from topologies.equal_cost import leading_on
from topologies.explicit_routes import with_stated
from topologies.latency_rule import S_PER_KM, S_PER_PATH
from topologies.link_rules import LinkRules
from topologies.networks.traffic_matrices import TrafficMatrices
from topologies.routing import shortest_routes
from topologies.routings import COSTS, named_routing
from topologies.split_routes import split_routes
from topologies.stated_routes import StatedRoutes
from topologies.traffic_loads import link_loads
from topologies.windows import with_windows

seeds = st.integers(0, 2**32 - 1)
SQUARE = [(0, 1), (1, 3), (0, 2), (2, 3)]
"""A - B - D and A - C - D, whose link directions from A to D are 0, 2, 4 and 6."""


def underlay_of(routers, links, length_km, capacity_bps=10.0):
    return Underlay(
        name="test",
        variant="corrected",
        labels=tuple("ABCDEFGHIJKL"[:routers]),
        latitude_deg=np.full(routers, np.nan),
        longitude_deg=np.full(routers, np.nan),
        ends=np.array(links),
        length_km=np.broadcast_to(np.asarray(length_km, dtype=float), len(links)),
        capacity_bps=np.broadcast_to(np.asarray(capacity_bps, dtype=float), len(links)),
    )


def square(*, length_km=0.0, rules=None, access_bps=99.0, routing="hops", split=True, **how):
    """Silos at A and D of the square, whose links have 10 bit/s."""
    how = {"bandwidth": "bottleneck"} | how
    graph = connectivity(
        underlay_of(4, SQUARE, length_km),
        access=AccessLinks(up_bps=access_bps, down_bps=access_bps),
        routers=[0, 3],
        routing=named_routing(routing, split_flows=split),
        **how,
    )
    return graph if rules is None else replace(graph, rules=rules)


def random_underlay(seed):
    """A tree with links more, some parallel, of lengths among 1, 2 and 3 km."""
    rng = np.random.default_rng(seed)
    routers = int(rng.integers(2, 9))
    links = [(int(rng.integers(0, i)), i) for i in range(1, routers)]
    for _ in range(int(rng.integers(0, 10))):
        links.append(tuple(rng.choice(routers, 2, replace=False).tolist()))
    return underlay_of(routers, links, rng.integers(1, 4, len(links)), rng.integers(1, 9, len(links)))


def ends_of(underlay, direction):
    a, b = underlay.ends[direction // 2].tolist()
    return (a, b) if direction % 2 == 0 else (b, a)


def cheapest_paths(underlay, cost, source, target):
    """All cheapest routes as link directions, by a search of all simple paths."""
    leaving = defaultdict(list)
    for direction in range(2 * underlay.links):
        leaving[ends_of(underlay, direction)[0]].append(direction)
    found, least = [], shortest_routes(underlay, weight=cost)
    bound = sum(cost[direction // 2] for direction in least.links(source, target)) * (1 + 1e-9)

    def follow(path, node, seen, spent):
        if node == target:
            found.append(tuple(path))
            return
        for direction in leaving[node]:
            head = ends_of(underlay, direction)[1]
            if head not in seen and spent + cost[direction // 2] <= bound:
                follow([*path, direction], head, seen | {head}, spent + cost[direction // 2])

    follow([], source, {source}, 0.0)
    return found


def shares_by_path(underlay, paths):
    """Share of each link, as the sum over paths of the product of what their routers pass on."""
    onward = defaultdict(set)
    for path in paths:
        for direction in path:
            onward[ends_of(underlay, direction)[0]].add(direction)
    share = defaultdict(float)
    for path in paths:
        parts = [1 / len(onward[ends_of(underlay, direction)[0]]) for direction in path]
        for direction in path:
            share[direction] += np.prod(parts)
    return dict(share)


@given(seeds, st.sampled_from(["distance", "hops", "latency", "inverse_capacity"]))
@settings(max_examples=settings().max_examples // 6)
def test_shares_lengths_and_bottlenecks_are_those_of_all_cheapest_paths(seed, name):
    underlay = random_underlay(seed)
    core_bps = underlay.capacity_bps
    cost = COSTS[name](underlay, core_bps)
    routes = named_routing(name, split_flows=True)(underlay, core_bps)
    used = set()
    for i in range(underlay.routers):
        assert routes.links(i, i) == routes.shares(i, i) == ()
        assert routes.bottleneck_bps(core_bps)[i, i] == np.inf
        for j in set(range(underlay.routers)) - {i}:
            paths = cheapest_paths(underlay, cost, i, j)
            share = dict(zip(routes.links(i, j), routes.shares(i, j), strict=True))
            assert share == pytest.approx(shares_by_path(underlay, paths), rel=1e-12)
            used |= {direction // 2 for direction in share}
            smallest = min(core_bps[direction // 2] / part for direction, part in share.items())
            assert routes.bottleneck_bps(core_bps)[i, j] == pytest.approx(smallest, rel=1e-12)
            km = [sum(underlay.length_km[direction // 2] for direction in path) for path in paths]
            longest = max(
                S_PER_KM * own + S_PER_PATH * len(path) for own, path in zip(km, paths, strict=True)
            )
            found_s = S_PER_KM * routes.distance_km[i, j] + S_PER_PATH * routes.hops[i, j]
            assert found_s == pytest.approx(longest, rel=1e-8)
            assert (routes.hops[i, j], pytest.approx(routes.distance_km[i, j])) in [
                (len(path), own) for own, path in zip(km, paths, strict=True)
            ]
    assert set(np.flatnonzero(routes.used_links()).tolist()) == used


@given(seeds)
def test_what_comes_to_a_router_goes_on_from_it(seed):
    underlay = random_underlay(seed)
    routes = split_routes(underlay, underlay.length_km)
    for i in range(underlay.routers):
        for j in set(range(underlay.routers)) - {i}:
            balance = np.zeros(underlay.routers)
            come = {i: 1.0}
            for direction, share in zip(routes.links(i, j), routes.shares(i, j), strict=True):
                tail, head = ends_of(underlay, direction)
                assert tail in come, "no link before one that leads to it"
                come[head] = come.get(head, 0.0) + share
                balance[tail] -= share
                balance[head] += share
            np.testing.assert_allclose(
                balance, np.eye(underlay.routers)[j] - np.eye(underlay.routers)[i], atol=1e-12
            )
            assert come[j] == pytest.approx(1.0, rel=1e-12)


@given(seeds)
def test_the_numbering_of_routers_makes_no_difference(seed):
    underlay = random_underlay(seed)
    number = np.random.default_rng(seed).permutation(underlay.routers)
    back = np.argsort(number)
    other = replace(
        underlay, labels=tuple(underlay.labels[i] for i in back.tolist()), ends=number[underlay.ends]
    )
    here, there = (split_routes(each, each.length_km) for each in (underlay, other))
    for i in range(underlay.routers):
        for j in range(underlay.routers):
            pair = int(number[i]), int(number[j])
            assert dict(zip(here.links(i, j), here.shares(i, j), strict=True)) == pytest.approx(
                dict(zip(there.links(*pair), there.shares(*pair), strict=True)), rel=1e-12
            )


@given(seeds)
def test_where_no_routes_are_equally_cheap_nothing_is_split(seed):
    underlay = random_underlay(seed)
    underlay = replace(
        underlay, length_km=np.random.default_rng(seed).uniform(1.0, 2.0, underlay.links) * underlay.length_km
    )
    routes, shortest = split_routes(underlay, underlay.length_km), shortest_routes(underlay)
    assert not routes.splits
    np.testing.assert_array_equal(routes.hops, shortest.hops)
    np.testing.assert_allclose(routes.distance_km, shortest.distance_km, rtol=1e-12)
    for i in range(underlay.routers):
        for j in range(underlay.routers):
            assert routes.links(i, j) == shortest.links(i, j)


def test_parallel_links_have_equal_shares():
    pair = underlay_of(2, [(0, 1), (0, 1), (0, 1)], [1.0, 1.0, 2.0])
    routes = split_routes(pair, pair.length_km)
    assert routes.links(0, 1) == (0, 2)
    assert routes.shares(0, 1) == (0.5, 0.5)


def test_links_that_are_down_are_avoided():
    routes = named_routing("hops", split_flows=True)(
        underlay_of(4, SQUARE, 1.0), np.array([10.0, 10.0, 0.0, 10.0])
    )
    assert routes.links(0, 3) == (0, 2)
    assert routes.shares(0, 3) == (1.0, 1.0)


def test_two_routes_of_a_square_carry_twice_as_much():
    """100 bits at 10 bit/s: 10 s over one route, 5 s over both; hop_share divides by the two links of one."""
    work = Workload(model_bits=100.0, compute_s=1.0)
    for bandwidth, paper_s in (("bottleneck", 1.004 + 5.0), ("hop_share", 1.004 + 10.0)):
        forms = build_overlay("pair", square(bandwidth=bandwidth), work, [(0, 1), (1, 0)]).closed_forms
        assert forms.paper_s == pytest.approx(paper_s, rel=1e-12)
        assert forms.load_bound_s == pytest.approx(5.0, rel=1e-12)
    whole = build_overlay("pair", square(split=False), work, [(0, 1), (1, 0)]).closed_forms
    assert whole.load_bound_s == pytest.approx(10.0, rel=1e-12)


def test_usage_goes_with_rules_of_links():
    """Half of a model on each link; half of its 20 % of acknowledgements back on each."""
    rules = LinkRules(half_duplex_core=(0,), ack_share=0.2)
    (occupied,) = square(rules=rules).occupied([(0, 1)])
    graph = square(rules=rules)
    bits = dict(zip(occupied.links, occupied.usage, strict=True))
    back = dict.fromkeys((1, 3, 5, 7), 0.1) | {graph.uplink(1): 0.2, graph.downlink(0): 0.2}
    there = dict.fromkeys((0, 2, 4, 6), 0.5) | {graph.uplink(0): 1.0, graph.downlink(1): 1.0}
    assert bits == pytest.approx(there | back | {graph.first_shared: 0.6})
    assert occupied.hops == 6


def test_each_flow_has_all_its_fat_pipes():
    graph = square(rules=LinkRules(fat_pipes=(0, 1, 2, 3)))
    assert graph.link_capacity_bps[graph.first_window : graph.first_shared].tolist() == [20.0, 20.0]


@pytest.mark.parametrize("rule", ["per_path", "per_link"])
def test_the_last_bit_arrives_on_the_longest_route(rule):
    """By hops A - B - D of 200 km and A - C - D of 2000 km cost the same."""
    graph = square(length_km=[100.0, 100.0, 1000.0, 1000.0], latency=rule)
    constants = 1 if rule == "per_path" else 2
    assert graph.latency_s[0, 1] == pytest.approx(S_PER_KM * 2000.0 + constants * S_PER_PATH, rel=1e-12)


def test_stated_routes_are_not_split_and_others_are():
    underlay = underlay_of(4, SQUARE, 1.0)
    routes = split_routes(underlay, underlay.length_km)
    stated = with_stated(
        replace(underlay, stated_routes=StatedRoutes(routers=np.array([0, 1, 3]), first=np.array([0, 3]))),
        underlay.capacity_bps,
        routes,
    )
    assert stated.splits
    assert (stated.links(0, 3), stated.shares(0, 3)) == ((0, 2), ())
    assert stated.links(3, 0) == routes.links(3, 0)
    assert stated.shares(3, 0) == (0.5,) * 4
    assert stated.bottleneck_bps(underlay.capacity_bps)[[0, 3], [3, 0]].tolist() == [10.0, 20.0]


def test_demands_are_split_as_models_are():
    graph = square()
    matrices = TrafficMatrices(
        labels=("A", "D"),
        places=("A", "D"),
        date_s=np.zeros(1),
        source=np.array([0]),
        target=np.array([1]),
        demand_bps=np.array([[6.0]]),
    )
    assert link_loads(matrices, graph).tolist() == [[3.0, 0.0, 3.0, 0.0, 3.0, 0.0, 3.0, 0.0]]


def split_network(seed, core_bps=None, bandwidth="hop_share"):
    """Silos on all routers of a random network by hops, where core links limit."""
    underlay = random_underlay(seed)
    rng = np.random.default_rng([seed, 1])
    drawn_bps = rng.uniform(5.0, 9.0, underlay.links)
    graph = connectivity(
        replace(underlay, capacity_bps=drawn_bps if core_bps is None else core_bps),
        access=AccessLinks(up_bps=rng.uniform(5.0, 99.0), down_bps=99.0),
        bandwidth=bandwidth,
        routing=named_routing("hops", split_flows=True),
    )
    return graph, Workload(model_bits=100.0, compute_s=rng.uniform(0.1, 1.0, graph.silos))


@given(seeds, st.sampled_from(["hop_share", "bottleneck"]))
@settings(max_examples=settings().max_examples // 10)
def test_gains_of_core_links_are_finite_differences(seed, bandwidth):
    graph, work = split_network(seed, bandwidth=bandwidth)
    overlay = design("mst", graph, work)
    arcs = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    assert Resources.of(overlay).cycle_time().cycle_time_s == pytest.approx(
        overlay.closed_forms.paper_s, rel=1e-12
    )
    derivative = sensitivities(overlay).core_s_per_bps
    for link in range(graph.underlay.links):
        taus = []
        for factor in (1 + 1e-5, 1 - 1e-5):
            core_bps = graph.core_bps.copy()
            core_bps[link] *= factor
            changed, _ = split_network(seed, core_bps, bandwidth)
            taus.append(build_overlay("mst", changed, work, arcs).closed_forms.paper_s)
        numeric = (taus[0] - taus[1]) / 2e-5
        assert graph.core_bps[link] * derivative[link] == pytest.approx(
            numeric, rel=1e-5, abs=1e-8 * overlay.closed_forms.paper_s
        )


@given(seeds, st.sampled_from(["paper", "serialized", "load"]))
@settings(max_examples=settings().max_examples // 4)
def test_upgrades_come_to_the_cycle_times_of_rebuilt_networks(seed, form):
    graph, work = split_network(seed)
    overlay = design("mst", graph, work)
    arcs = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    terms = UpgradeTerms.of(overlay, upgrade_links(overlay), form)
    for number, link in enumerate(terms.links):
        raised = np.arange(len(terms.links)) == number
        forms = build_overlay("mst", raised_graph(graph, [link]), work, arcs).closed_forms
        expected = {
            "paper": forms.paper_s,
            "serialized": forms.serialized_s,
            "load": max(forms.paper_s, forms.load_bound_s),
        }
        assert terms.cycle_time_s(raised) == pytest.approx(expected[form], rel=1e-12)


def test_best_and_enrich_count_the_bits_on_each_link():
    """Two routes let a silo of a ring on the square get another arc within the same load; `best` sees their parts."""
    graph = connectivity(
        underlay_of(4, SQUARE, 1.0),
        access=AccessLinks(up_bps=99.0, down_bps=99.0),
        routing=named_routing("hops", split_flows=True),
        bandwidth="bottleneck",
    )
    work = Workload(model_bits=100.0, compute_s=1.0)
    crossings = Crossings(graph, work)
    source, target = np.nonzero(graph.may_send)
    loads = np.zeros(graph.first_uplink)
    for arc in zip(source.tolist(), target.tolist(), strict=True):
        loads[list(crossings.links(*arc))] += crossings.shares(*arc)
    np.testing.assert_allclose(loads, graph.crossings(source, target)[: graph.first_uplink], rtol=1e-12)
    ring = build_overlay("ring", graph, work, [(0, 1), (1, 3), (3, 2), (2, 0)])
    richer = enrich(ring).overlay
    # A and D send to each other: half of a model on each link, within what a model on one takes.
    assert richer.arcs > ring.arcs
    assert richer.closed_forms.load_bound_s <= ring.closed_forms.load_bound_s * (1 + 1e-9)
    found = best(graph, work, criterion="all", iterations=50, seed=0).closed_forms
    assert found.load_bound_s <= ring.closed_forms.load_bound_s * (1 + 1e-9)


def test_explain_names_the_links_with_their_shares():
    overlay = build_overlay("pair", square(), Workload(model_bits=100.0, compute_s=1.0), [(0, 1), (1, 0)])
    explanation = explain(overlay)
    arc = next(arc for arc in explanation.arcs if arc.source == "A")
    assert arc.route == ("A -> B", "A -> C", "B -> D", "C -> D")
    assert arc.route_shares == (0.5,) * 4
    assert set(arc.resources) == {f"core link {name}" for name in arc.route}
    assert any("A -> B (50 %), A -> C (50 %)" in line for line in explanation_lines(explanation))
    assert explanation_rows(explanation)[0]["route_shares"] == [0.5] * 4


def test_a_flow_is_split_or_takes_one_route_but_not_both():
    with pytest.raises(
        InputError, match=r"^split_flows\(=True\) must not be given beside multipath_seed\(=0\)\.$"
    ):
        named_routing("hops", 0, split_flows=True)


def test_all_links_that_flows_are_split_over_are_used():
    # D - E costs too much for every flow; E hangs on A.
    underlay = underlay_of(5, [*SQUARE, (3, 4), (4, 0)], 1.0)
    routes = split_routes(underlay, np.array([1.0, 1.0, 1.0, 1.0, 9.0, 1.0]))

    assert routes.used_links().tolist() == [True, True, True, True, False, True]
    assert routes.bottleneck_bps(np.array([1.0, 9.0, 9.0, 9.0, 9.0, 9.0]))[0].tolist() == [
        np.inf,
        1.0,
        9.0,
        2.0,
        9.0,
    ]
    assert routes.bottleneck_bps(np.full(6, 4.0))[4].tolist() == [4.0, 4.0, 4.0, 4.0, np.inf]


def test_links_that_lead_on_come_by_the_rank_of_their_ends():
    # The square with a second link of B and D, and a loop way over E that costs more; labels run against numbers.
    underlay = replace(underlay_of(5, [*SQUARE, (3, 1), (0, 4), (4, 3)], 1.0), labels=tuple("EDCBA"))
    cost = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.5])
    found = list(leading_on(underlay, cost))

    assert len(found) == 5
    on = found[3]
    assert on.left.tolist() == [2.0, 1.0, 1.0, 0.0, 1.5]
    # From 4, which is called A, then 2, 1 and 0; of 1 both links, of 0 first the one to 2.
    assert on.tail.tolist() == [4, 2, 1, 1, 0, 0]
    assert on.head.tolist() == [3, 3, 3, 3, 2, 1]
    assert on.direction.tolist() == [12, 6, 2, 9, 4, 0]
    # Within a billionth costs are equal; nothing leads on from where a flow ends.
    near = next(iter(leading_on(underlay, cost * (1 + np.array([0, 0, 0, 5e-10, 0, 0, 0])))))
    assert sorted(near.direction[near.tail == 3].tolist()) == [3, 7, 8]
    far = next(iter(leading_on(underlay, cost * (1 + np.array([0, 0, 0, 5e-9, 0, 0, 0])))))
    assert sorted(far.direction[far.tail == 3].tolist()) == [3, 8]
    assert 0 not in far.tail.tolist()


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan])
def test_costs_of_split_flows_are_finite_and_above_0(bad):
    with pytest.raises(InputError, match=r"^cost of every link must be finite and > 0\.$"):
        split_routes(underlay_of(4, SQUARE, 1.0), np.array([1.0, 1.0, bad, 1.0]))


def test_a_detour_keeps_the_ends_and_the_window_of_a_way_and_takes_other_links_between():
    graph = with_windows(square(split=False), 0.01)
    around = named_routing("hops", split_flows=True)(graph.underlay, graph.core_bps)
    lower = shortest_routes(graph.underlay, np.array([0.0, 0.0, 10.0, 10.0]))

    # Uplinks 8 and 9, downlinks 10 and 11, windows 12 and 13.
    assert graph.way(0, 1) == dict.fromkeys((8, 0, 2, 11, 12), 1.0)
    assert graph.detour(lower, 0, 1) == dict.fromkeys((8, 4, 6, 11, 12), 1.0)
    assert graph.detour(lower, 1, 0) == dict.fromkeys((9, 7, 5, 10, 13), 1.0)
    assert graph.detour(around, 0, 1) == dict.fromkeys((8, 11, 12), 1.0) | dict.fromkeys((0, 2, 4, 6), 0.5)
    plain = square(split=False)
    assert plain.detour(lower, 0, 1) == dict.fromkeys((8, 4, 6, 11), 1.0)

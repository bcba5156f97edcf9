"""Changes that events make, without any simulation."""

from dataclasses import replace
from itertools import islice, pairwise, takewhile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_networks import network, triangle_network

from simulator.world.background import ConstantShare, OnOffFlow, on_off_changes
from simulator.world.capacities import CapacityTrace
from simulator.world.changes import CapacityChange, FlowChange, RouteChange
from simulator.world.checks import check_events
from simulator.world.dynamic_network import dynamic_network
from simulator.world.effects import Effects, effects_of
from simulator.world.failures import LinkFailure, down_times, links_down
from simulator.world.rerouting import detours, route_changes
from topologies import AccessLinks, InputError, connectivity, load_underlay
from topologies.explicit_routes import explicit_routes
from topologies.link_rules import LinkRules
from topologies.routing import shortest_routes
from topologies.windows import with_windows


@pytest.fixture
def triangle():
    return triangle_network()


def steps(trace, count, stated_bps=9.0):
    return list(islice(trace.steps(stated_bps), count))


def test_a_trace_by_date_of_the_job():
    trace = {"link": 0, "date_s": [2.0, 5.0], "capacity_bps": [1.0, 2.0]}
    assert steps(CapacityTrace(**trace), 9) == [(0.0, 9.0), (2.0, 1.0), (5.0, 2.0)]
    assert steps(CapacityTrace(**trace, job_start_s=2.0), 9) == [(0.0, 1.0), (3.0, 2.0)]
    assert steps(CapacityTrace(**trace, job_start_s=7.0), 9) == [(0.0, 2.0)]


def test_a_trace_with_a_period_goes_round_the_clock():
    day = {"link": 0, "date_s": [2.0, 5.0], "capacity_bps": [1.0, 2.0], "period_s": 10.0}
    # Before 2 o'clock, the capacity is that of the evening before.
    expected = [(0.0, 2.0), (2.0, 1.0), (5.0, 2.0), (12.0, 1.0), (15.0, 2.0), (22.0, 1.0)]
    assert steps(CapacityTrace(**day), 6) == expected
    started_at_3 = [(0.0, 1.0), (2.0, 2.0), (9.0, 1.0), (12.0, 2.0)]
    assert steps(CapacityTrace(**day, job_start_s=3.0), 4) == started_at_3
    assert steps(CapacityTrace(**day, job_start_s=33.0), 4) == started_at_3
    assert steps(CapacityTrace(**day, job_start_s=6.0), 3) == [(0.0, 2.0), (6.0, 1.0), (9.0, 2.0)]


@given(
    dates=st.lists(st.integers(0, 99), min_size=1, max_size=8, unique=True).map(sorted),
    start=st.integers(0, 300),
    now=st.integers(0, 500),
)
def test_a_trace_at_any_date(dates, start, now):
    trace = CapacityTrace(
        link=0, date_s=dates, capacity_bps=np.arange(1.0, len(dates) + 1), period_s=100.0, job_start_s=start
    )
    past = list(takewhile(lambda step: step[0] <= now, trace.steps(0.0)))
    assert [date_s for date_s, _ in past] == sorted({date_s for date_s, _ in past} | {0.0})[-len(past) :]
    assert past[-1][1] == (np.searchsorted(dates, (start + now) % 100, side="right") - 1) % len(dates) + 1


def test_on_off_flows_alternate_and_draw_per_link():
    flow = OnOffFlow(peak_bps=3.0, mean_on_s=2.0, mean_off_s=6.0, seed=5)
    first, again, other = (list(islice(on_off_changes(flow, link), 1000)) for link in (7, 7, 8))
    assert first == again
    assert [c.date_s for c in first] != [c.date_s for c in other]
    assert {(c.flow, c.links) for c in first} == {(7, (7,))}
    peaks = [c.peak_bps for c in first]
    assert set(peaks) == {0.0, 3.0}
    assert all(a != b for a, b in pairwise(peaks))
    durations_s = np.diff([c.date_s for c in first])
    on_s = durations_s[np.array(peaks[:-1]) > 0]
    off_s = durations_s[np.array(peaks[:-1]) == 0]
    # Four standard deviations of an exponential mean.
    assert abs(on_s.mean() - 2.0) < 4 * 2.0 / np.sqrt(len(on_s))
    assert abs(off_s.mean() - 6.0) < 4 * 6.0 / np.sqrt(len(off_s))


def test_flows_are_on_at_the_start_as_often_as_later():
    flow = OnOffFlow(peak_bps=3.0, mean_on_s=2.0, mean_off_s=6.0, seed=5)
    on = sum(next(on_off_changes(flow, link)).date_s == 0.0 for link in range(1000))
    assert abs(on - 250) < 4 * np.sqrt(1000 * 0.25 * 0.75)


def test_links_that_are_down_at_the_same_time():
    downs = down_times(
        [
            Effects(outages={1: (4.0, 6.0)}),
            Effects(outages={0: (2.0, 6.0)}),
            Effects(outages={1: (1.0, 2.0)}),
        ]
    )
    assert downs == {1: ((1.0, 2.0), (4.0, 6.0)), 0: ((2.0, 6.0),)}
    assert links_down(downs) == [(1.0, {1}), (2.0, {0}), (4.0, {0, 1}), (6.0, set())]


def test_routes_change_for_those_arcs_alone_that_cross_the_link(triangle):
    downs = down_times([Effects(outages={0: (2.0, 6.0)})])
    arcs = [(0, 1), (1, 2), (1, 0)]
    assert triangle.route(0, 1) == (6, 0, 10)
    changes = list(route_changes(triangle, arcs, downs)())
    there, back = 0.0085e-3 * 250.0 + 0.004, 0.0085e-3 * 100.0 + 0.004
    assert changes == [
        RouteChange(date_s=2.0, arc=0, links=(6, 4, 3, 10), latency_s=there, hops=4),
        RouteChange(date_s=2.0, arc=2, links=(7, 2, 5, 9), latency_s=there, hops=4),
        RouteChange(date_s=6.0, arc=0, links=(6, 0, 10), latency_s=back, hops=3),
        RouteChange(date_s=6.0, arc=2, links=(7, 1, 9), latency_s=back, hops=3),
    ]


def test_latency_per_link_counts_the_links_of_the_new_route():
    graph = network([(0, 1), (1, 2), (0, 2)], [100.0, 100.0, 150.0], [10.0] * 3, latency="per_link")
    route = detours(graph, frozenset({0})).of(0, 1)
    assert route is not None
    assert (route[0].links, route[1]) == ((6, 4, 3, 10), 0.0085e-3 * 250.0 + 2 * 0.004)


def test_an_arc_without_a_route_keeps_its_own_until_the_link_is_back(triangle):
    downs = down_times(
        [
            Effects(outages={0: (2.0, 6.0)}),
            Effects(outages={2: (3.0, 5.0)}),
        ]
    )
    changes = list(route_changes(triangle, [(0, 1)], downs)())
    assert [(c.date_s, c.links) for c in changes] == [
        (2.0, (6, 4, 3, 10)),
        (3.0, (6, 0, 10)),
        (5.0, (6, 4, 3, 10)),
        (6.0, (6, 0, 10)),
    ]


def test_parallel_links_take_over():
    graph = network([(0, 1), (1, 0), (0, 1)], [0.0, 0.0, 7.0], [10.0] * 3)
    assert graph.route(0, 1)[1:-1] == (0,)
    assert detours(graph, frozenset({0})).of(0, 1)[0].links[1:-1] == (3,)
    assert detours(graph, frozenset({0, 1})).of(0, 1)[0].links[1:-1] == (4,)
    assert detours(graph, frozenset({0, 1, 2})).of(0, 1) is None


def test_on_a_real_network_detours_avoid_the_link_and_are_the_shortest():
    graph = connectivity(load_underlay("geant"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    for link in (0, 10, 20):
        around = detours(graph, frozenset({link}))
        kept = np.delete(np.arange(graph.underlay.links), link)
        for i, j in [(0, 5), (3, 30), (12, 7), *(tuple(graph.underlay.ends[link]),)]:
            found = around.of(int(i), int(j))
            if found is None:
                # The link is a bridge: one of its ends has no other.
                assert min(np.bincount(graph.underlay.ends.ravel())[graph.underlay.ends[link]]) == 1
                continue
            core = [direction // 2 for direction in found[0].links[1:-1]]
            assert set(core) <= set(kept.tolist())
            if link not in [direction // 2 for direction in graph.route(int(i), int(j))]:
                assert found == (graph.occupied([(int(i), int(j))])[0], graph.latency_s[i, j])
            else:
                length_km = graph.underlay.length_km[core].sum()
                assert found[1] == pytest.approx(0.004 + 0.0085e-3 * length_km, rel=1e-12)
                assert found[1] >= graph.latency_s[i, j]


def test_a_link_that_never_comes_back_must_leave_a_route(triangle):
    def fail(*links):
        failures = [LinkFailure(link=link, from_s=1.0) for link in links]
        return network_with(failures, triangle, [(1, 2), (0, 1)])

    assert [c.links for c in fail(0).changes() if isinstance(c, RouteChange)] == [(6, 4, 3, 10)]
    message = (
        r"^events\[0\]\.until_s must be a date: while A - B is down, no route is left between A and B\.$"
    )
    with pytest.raises(InputError, match=message):
        fail("A - B", "C - A")


def test_a_network_that_falls_apart_is_known_without_an_overlay(triangle):
    def check(*failures):
        check_events(failures, triangle, rounds=1)

    ab, ac = (LinkFailure(link=link, from_s=1.0) for link in ("A - B", "C - A"))
    check(ab)
    check(ac, replace(ab, until_s=2.0))
    with pytest.raises(InputError, match=r"^events\[1\]\.until_s must be a date: .* between A and B\.$"):
        check(ac, ab)


def test_a_network_of_one_silo_cannot_fall_apart():
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[3])
    failures = [LinkFailure(link=link, from_s=1.0) for link in range(graph.underlay.links)]
    check_events(failures, graph, rounds=1)


def around(graph, *events):
    return network_with(events, graph, [(0, 1), (1, 2), (2, 0)])


def network_with(events, graph, arcs):
    return dynamic_network(effects_of(events, graph), graph, arcs)


def test_infinite_capacities_cannot_change():
    graph = network([(0, 1), (1, 2)], [1.0, 1.0], [10.0, 10.0], core=np.inf)
    rule = r"must be on links of finite capacity, not on A -> B of unlimited capacity\.$"
    with pytest.raises(InputError, match=rf"^events\[0\] {rule}"):
        network_with([LinkFailure(link=0, from_s=1.0, until_s=2.0)], graph, [])
    late = CapacityTrace(link=0, date_s=[1.0], capacity_bps=[3.0])
    with pytest.raises(InputError, match=rf"^events\[0\] {rule}"):
        network_with([late], graph, [])
    from_the_start = CapacityTrace(link=0, date_s=[0.0], capacity_bps=[3.0])
    found = network_with([from_the_start], graph, [])
    assert found.link_capacity_bps[0] == 3.0


def test_shares_alone_change_nothing_later(triangle):
    found = around(triangle, ConstantShare(share=0.25, link="A - B"))
    assert found.changes is None
    assert found.link_capacity_bps.tolist() == [7.5, 7.5, 5.0, 5.0, 20.0, 20.0] + [1000.0] * 6
    assert around(triangle).link_capacity_bps.tolist() == triangle.link_capacity_bps.tolist()


def test_share_trace_and_failure_of_one_link(triangle):
    found = around(
        triangle,
        ConstantShare(share=0.5, link="A -> B"),
        CapacityTrace(link="A -> B", date_s=[1.0, 4.0], capacity_bps=[16.0, 8.0]),
        LinkFailure(link="B - A", from_s=3.0, until_s=5.0),
    )
    assert found.link_capacity_bps[:2].tolist() == [8.0, 10.0]
    changes = [c for c in found.changes() if isinstance(c, CapacityChange)]
    assert [(c.date_s, c.capacity_bps) for c in changes if c.link == 0] == [
        (0.0, 5.0),
        (1.0, 8.0),
        (3.0, 0.0),
        (4.0, 0.0),
        (5.0, 4.0),
    ]
    assert [(c.date_s, c.capacity_bps) for c in changes if c.link == 1] == [(3.0, 0.0), (5.0, 10.0)]


def test_changes_come_in_the_order_of_their_dates(triangle):
    found = around(
        triangle,
        OnOffFlow(peak_bps=1.0, mean_on_s=1.0, mean_off_s=1.0, seed=3),
        *[CapacityTrace(link=n, date_s=[1.0], capacity_bps=[n + 1.0], period_s=2.0) for n in range(6)],
        LinkFailure(link=0, from_s=3.0, until_s=5.0),
    )
    first, again = (list(islice(found.changes(), 200)) for _ in range(2))
    assert first == again
    dates_s = [c.date_s for c in first]
    assert dates_s == sorted(dates_s)
    assert {type(c) for c in first} == {CapacityChange, RouteChange, FlowChange}
    # Each link direction draws on its own.
    alone = around(triangle, OnOffFlow(peak_bps=1.0, mean_on_s=1.0, mean_off_s=1.0, seed=3, link=2))
    mine = [c for c in first if isinstance(c, FlowChange) and c.flow == 2]
    assert list(islice(alone.changes(), len(mine))) == mine


class Scaled:
    """An event that nothing in the simulator knows: factors of the capacity of a link."""

    def __init__(self, *steps, link="A -> B"):
        self.steps, self.link = steps, link

    def effects(self, names):
        return Effects(factors=dict.fromkeys(names.directions(self.link), self.steps))


def test_an_event_of_a_new_kind_scales_capacities_and_is_multiplied_with_others(triangle):
    found = around(
        triangle,
        ConstantShare(share=0.5, link="A -> B"),
        Scaled((1.0, 0.5), (4.0, 1.0)),
        Scaled((2.0, 0.25), (3.0, 0.75)),
        LinkFailure(link="A - B", from_s=5.0, until_s=6.0),
        Scaled((0.0, 0.5), link="C uplink"),
    )

    assert found.link_capacity_bps[:2].tolist() == [5.0, 10.0]
    changes = [c for c in found.changes() if isinstance(c, CapacityChange)]
    assert [(c.date_s, c.capacity_bps) for c in changes if c.link == 0] == [
        (1.0, 2.5),
        (2.0, 0.625),
        (3.0, 1.875),
        (4.0, 3.75),
        (5.0, 0.0),
        (6.0, 3.75),
    ]
    assert [(c.date_s, c.capacity_bps) for c in changes if c.link == 8] == [(0.0, 500.0)]


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (Scaled((1.0, 1.5)), r"^events\[1\]\.factor\(=1\.5\) must be >= 0 and <= 1\.$"),
        (
            Scaled((1.0, 0.5), (0.5, 1.0)),
            r"^events\[1\] must have factors in ascending order of dates, but 0\.5 s comes after 1\.0 s\.$",
        ),
        (Scaled((1.0, 0.5), link="A - X"), r"^events\[1\]\.link\(='A - X'\) must be one of "),
    ],
)
def test_effects_out_of_their_range(triangle, event, message):
    with pytest.raises(InputError, match=message):
        around(triangle, ConstantShare(share=0.5), event)


def test_without_traffic_the_capacities_are_those_of_the_links(triangle):
    events = [
        ConstantShare(share=0.5),
        OnOffFlow(peak_bps=1.0, mean_on_s=1.0, mean_off_s=1.0, seed=0),
        Scaled((1.0, 0.5)),
    ]
    found = dynamic_network(effects_of(events, triangle), triangle, [], traffic=False)

    assert found.link_capacity_bps.tolist() == triangle.link_capacity_bps.tolist()
    assert list(found.changes()) == [CapacityChange(date_s=1.0, link=0, capacity_bps=5.0)]


def test_a_window_follows_the_round_trip_of_both_ways_while_a_link_is_down():
    """A - B stated by way of C (2000 km), back direct (1000 km); windows of 30 bits."""
    stated = with_windows(
        network(
            [(0, 1), (0, 2), (2, 1)], [1000.0, 1000.0, 1000.0], [1e9] * 3, routing=way_there_by_c,
        ),
        30.0,
    )  # fmt: skip
    per_km, fixed_s = 0.0085e-3, 2 * 0.004
    usual_bps, direct_bps, long_bps = (30.0 / (fixed_s + per_km * km) for km in (3000.0, 2000.0, 4000.0))
    assert stated.window_bps[0, 1] == pytest.approx(usual_bps)
    for link, expected in ((1, direct_bps), (0, long_bps)):
        downs = down_times([Effects(outages={link: (2.0, 6.0)})])
        changes = [
            c for c in route_changes(stated, [(0, 1), (1, 0)], downs)() if isinstance(c, CapacityChange)
        ]
        assert [(c.date_s, stated.link_name(c.link)) for c in changes] == [
            (date_s, name) for date_s in (2.0, 6.0) for name in ("window A -> B", "window B -> A")
        ]
        assert [c.capacity_bps for c in changes] == [
            pytest.approx(bps) for bps in [expected] * 2 + [usual_bps] * 2
        ]


def way_there_by_c(underlay, core_bps):
    """From A to B by way of C while that is up, all others the shortest."""
    shortest = shortest_routes(underlay, core_bps)
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    way = {pair: shortest.links(*pair) for pair in pairs}
    if core_bps[1] and core_bps[2]:
        way[0, 1] = (2, 4)
    return explicit_routes(underlay, [(i, j, links) for (i, j), links in way.items()])


def test_failures_do_not_go_with_fat_pipes():
    graph = replace(
        network([(0, 1), (1, 2), (0, 2)], [1.0, 1.0, 1.0], [10.0] * 3), rules=LinkRules(fat_pipes=(1,))
    )
    with pytest.raises(InputError, match=r"^events\[0\] must not fail where core links are fat pipes"):
        dynamic_network([Effects(outages={0: (2.0, 6.0)})], graph, [(0, 1)])

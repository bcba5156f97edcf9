"""Latency, available bandwidth and the delays of Eq. 3, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, load_underlay
from topologies.connectivity import latencies, silo_labels, with_access, with_bottleneck
from topologies.link_rules import LinkRules
from topologies.windows import with_windows

FAST = AccessLinks(up_bps=1e10, down_bps=1e10)


@pytest.fixture
def line(make_underlay):
    return make_underlay(3, [(0, 1, 100.0), (1, 2, 200.0)])


def test_other_access_links_leave_the_core_as_it_is(line):
    slow = AccessLinks(up_bps=[1e6, 2e6, 3e6], down_bps=5e6)
    graph = connectivity(line, access=FAST)
    changed, anew = with_access(graph, slow), connectivity(line, access=slow)

    assert changed.routes is graph.routes
    assert changed.up_bps.tolist() == [1e6, 2e6, 3e6]
    assert np.array_equal(changed.link_capacity_bps, anew.link_capacity_bps)
    assert changed.route(0, 2) == anew.route(0, 2) == graph.route(0, 2)
    with pytest.raises(InputError, match=r"access up_bps\(=0\) must be > 0"):
        with_access(graph, AccessLinks(up_bps=0.0, down_bps=1e6))


def test_routes_of_many_arcs_are_those_of_each(line):
    measured = np.full((3, 3), 5e6)
    measured[2, 0] = 0.0
    arcs = [(0, 1), (0, 2), (1, 0), (2, 1)]
    for graph in (connectivity(line, access=FAST), connectivity(line, access=FAST, bandwidth=measured)):
        assert graph.routes_along(arcs) == tuple(graph.route(i, j) for i, j in arcs)
    with pytest.raises(InputError, match="r2 cannot send to r0"):
        graph.routes_along([*arcs, (2, 0)])


def test_latency_per_path_and_per_link(line):
    per_path = connectivity(line, access=FAST)
    per_link = connectivity(line, access=FAST, latency="per_link")

    assert per_path.latency_s[0, 2] == pytest.approx(0.0085e-3 * 300 + 4e-3, rel=1e-12)
    assert per_link.latency_s[0, 2] == pytest.approx(0.0085e-3 * 300 + 8e-3, rel=1e-12)
    assert np.all(np.diag(per_path.latency_s) == 0)
    assert np.array_equal(per_link.latency_s, per_link.latency_s.T)


def test_available_bandwidth_rules(line):
    measured = np.full((3, 3), 5e6)

    assert connectivity(line, access=FAST).available_bps[0].tolist() == [np.inf, 1e9, 0.5e9]
    assert connectivity(line, access=FAST, bandwidth="bottleneck").available_bps[0, 2] == 1e9
    assert connectivity(line, access=FAST, bandwidth=measured).available_bps[0, 2] == 5e6


def test_the_smallest_capacity_on_the_route_counts(make_underlay):
    underlay = make_underlay(4, [(0, 1, 1.0), (2, 1, 1.0), (2, 3, 1.0)])
    stated = type(underlay)(
        **{name: getattr(underlay, name) for name in underlay.__slots__ if name != "capacity_bps"},
        capacity_bps=np.array([3e9, np.nan, 2e9]),
    )

    graph = connectivity(stated, access=FAST)
    assert graph.core_bps.tolist() == [3e9, 1e9, 2e9]
    assert graph.available_bps[0, 3] == graph.available_bps[3, 0] == 1e9 / 3
    assert graph.available_bps[0, 1] == 3e9
    assert connectivity(stated, access=FAST, core=7e9).available_bps[0, 3] == 7e9 / 3


def test_stated_capacities_of_the_shipped_networks():
    geant = connectivity(load_underlay("geant"), access=FAST)
    published = connectivity(load_underlay("geant", variant="published"), access=FAST)

    assert np.count_nonzero(geant.core_bps != 1e9) > 0
    assert geant.core_bps.min() == 155e6
    assert np.all(published.core_bps == 1e9)


def test_core_stated_needs_a_statement(line):
    with pytest.raises(InputError, match=r"core\(='stated'\) needs capacities"):
        connectivity(line, access=FAST, core="stated")


def test_routes_take_access_links_too(line):
    graph = connectivity(line, access=AccessLinks(up_bps=[1.0, 2.0, 3.0], down_bps=[4.0, 5.0, 6.0]), core=9.0)
    names = [graph.link_name(direction) for direction in graph.route(2, 0)]

    assert names == ["r2 uplink", "r2 -> r1", "r1 -> r0", "r0 downlink"]
    assert graph.link_capacity_bps[list(graph.route(2, 0))].tolist() == [3.0, 9.0, 9.0, 4.0]


def test_delays_of_equation_3(line):
    access = AccessLinks(up_bps=[4e6, 8e6, 8e6], down_bps=[9e6, 8e6, 2e6])
    work = Workload(model_bits=8e6, compute_s=[0.1, 0.2, 0.3], local_steps=5)
    graph = connectivity(line, access=access)
    overlay = build_overlay("test", graph, work, [(0, 1), (0, 2), (1, 2), (2, 0)])

    # Silo 0 sends twice (4 Mbps / 2), silo 2 receives twice (2 Mbps / 2), 2 -> 0 has 8 Mbps.
    assert overlay.rate_bps.tolist() == [2e6, 1e6, 1e6, 8e6]
    expected = [
        0.5 + graph.latency_s[0, 1] + 4.0,
        0.5 + graph.latency_s[0, 2] + 8.0,
        1.0 + graph.latency_s[1, 2] + 8.0,
        1.5 + graph.latency_s[2, 0] + 1.0,
    ]
    assert overlay.delay_s == pytest.approx(expected, rel=1e-12)
    assert overlay.event_graph.delay_s[4:] == pytest.approx([0.5, 1.0, 1.5])
    assert overlay.max_degree == 2


def test_infinite_access_means_no_limit(line):
    graph = connectivity(line, access=AccessLinks(up_bps=np.inf, down_bps=np.inf))
    overlay = build_overlay("test", graph, Workload(model_bits=1e9, compute_s=0.0), [(0, 1), (1, 2), (2, 0)])

    assert overlay.rate_bps.tolist() == [1e9, 1e9, 0.5e9]


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, [1.0, 0.0, 1.0], "10 Gbps", [1.0, 2.0]])
def test_access_capacities_must_be_positive(line, value):
    with pytest.raises(InputError, match="access up_bps"):
        connectivity(line, access=AccessLinks(up_bps=value, down_bps=1e9))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"core": 0.0}, r"core\(=0\) must be > 0"),
        ({"core": "10 Gbps"}, "must be 'stated' or a number"),
        ({"bandwidth": "hopshare"}, r"did you mean 'hop_share'\?"),
        ({"bandwidth": np.ones((2, 2))}, r"shape \(3, 3\)"),
        ({"bandwidth": -np.ones((3, 3))}, "entries >= 0"),
        ({"bandwidth": np.full((3, 3), np.nan)}, "entries >= 0"),
        ({"routers": [0, 3, 1]}, r"routers must lie in 0\.\.2"),
        ({"routers": []}, "one or more silos"),
        ({"routers": [0.5, 1.0]}, "a router's index"),
        ({"blocked": [(0, 0)]}, r"blocked\(=\(0, 0\)\)"),
        ({"blocked": [(0, 3)]}, r"silos of 0\.\.2"),
        ({"latency": "per_hop"}, "latency"),
        ({"core": True}, r"core\(=True\)"),
        ({"core": np.ones(2)}, "must be 'stated' or a number"),
        ({"bandwidth": 5e6}, r"shape \(3, 3\)"),
        ({"bandwidth": [[1.0], [1.0, 2.0]]}, "a matrix of numbers"),
    ],
)
def test_wrong_options_are_named(line, option, message):
    with pytest.raises(InputError, match=message):
        connectivity(line, access=FAST, **option)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model_bits": -1.0, "compute_s": 0.0}, r"model_bits\(=-1\)"),
        ({"model_bits": np.nan, "compute_s": 0.0}, r"model_bits\(=nan\)"),
        ({"model_bits": 1.0, "compute_s": [0.1, -0.1]}, "of silo 1 must be finite and >= 0"),
        ({"model_bits": 1.0, "compute_s": np.inf}, r"compute_s\(=inf\)"),
        ({"model_bits": 1.0, "compute_s": 1.0, "local_steps": 0}, r"local_steps\(=0\)"),
        ({"model_bits": 1.0, "compute_s": 1.0, "local_steps": 1.5}, r"local_steps\(=1.5\)"),
    ],
)
def test_wrong_workloads_are_named(fields, message):
    with pytest.raises(InputError, match=message):
        Workload(**fields)


def test_workload_presets():
    published = Workload.preset("inaturalist", variant="published")
    corrected = Workload.preset("inaturalist", local_steps=5)

    assert published.model_bits == 44_961_717
    assert corrected.model_bits == 358_961_664
    assert corrected.round_compute_s(2).tolist() == pytest.approx([0.127, 0.127])
    with pytest.raises(InputError, match=r"did you mean 'inaturalist'\?"):
        Workload.preset("inaturalis")
    with pytest.raises(InputError, match="variant"):
        Workload.preset("inaturalist", variant="paper")


def test_several_silos_on_one_router_and_routers_without_a_silo(line):
    graph = connectivity(line, access=FAST, routers=[2, 0, 2])

    assert graph.labels == ("r2/1", "r0", "r2/2")
    assert graph.latency_s[0, 2] == 4e-3
    assert graph.latency_s[0, 1] == graph.latency_s[2, 1] == pytest.approx(0.0085e-3 * 300 + 4e-3, rel=1e-12)
    assert graph.available_bps[0, 2] == np.inf
    assert graph.available_bps[0, 1] == 0.5e9
    assert [graph.link_name(d) for d in graph.route(0, 2)] == ["r2/1 uplink", "r2/2 downlink"]
    assert [graph.link_name(d) for d in graph.route(1, 2)] == [
        "r0 uplink",
        "r0 -> r1",
        "r1 -> r2",
        "r2/2 downlink",
    ]
    assert connectivity(line, access=FAST, routers=[2, 0, 2], latency="per_link").latency_s[0, 2] == 0.0


def test_one_silo_alone(line):
    graph = connectivity(line, access=FAST, routers=[1])
    overlay = build_overlay("test", graph, Workload(model_bits=1e9, compute_s=0.5), [])

    assert graph.silos == 1
    assert overlay.closed_forms.paper_s == 0.5
    assert overlay.critical_circuit == (0,)
    assert overlay.consensus.tolist() == [[1.0]]


def test_a_pair_that_cannot_talk_has_no_arc(line):
    graph = connectivity(line, access=FAST, blocked=[(0, 2)])

    assert graph.may_send.tolist() == [[False, True, False], [True, False, True], [True, True, False]]
    with pytest.raises(InputError, match="test: r0 cannot send to r2"):
        build_overlay("test", graph, Workload(model_bits=1e9, compute_s=0.5), [(0, 2), (2, 1), (1, 0)])


def test_rules_that_nothing_knows_are_refused_outside_connectivity_too(line):
    graph = connectivity(line, access=FAST)

    with pytest.raises(
        InputError, match=r"bandwidth\(='fair'\) must be one of bottleneck, hop_share, measured"
    ):
        replace(graph, bandwidth="fair")
    with pytest.raises(InputError, match=r"latency\(='per_hop'\) must be one of per_link, per_path"):
        latencies(graph.routes, graph.router, "per_hop")


INF = np.inf


@pytest.fixture
def numbered(line):
    """Three silos with two windows, a half-duplex core link and a half-duplex silo."""
    windowed = with_windows(
        connectivity(line, access=AccessLinks(up_bps=2e9, down_bps=[1e9, 4e9, 2e9])),
        [[INF, 97.0, INF], [INF, INF, 114.0], [INF, INF, INF]],
    )
    return replace(windowed, rules=LinkRules(half_duplex=(1,), half_duplex_core=(0,)))


def test_links_are_numbered_from_the_core_to_what_is_shared(numbered):
    assert numbered.link_names == (
        *("r0 -> r1", "r1 -> r0", "r1 -> r2", "r2 -> r1"),
        *("r0 uplink", "r1 uplink", "r2 uplink", "r0 downlink", "r1 downlink", "r2 downlink"),
        *("window r0 -> r1", "window r1 -> r2", "half-duplex r0 - r1", "half-duplex r1"),
    )
    assert (numbered.first_uplink, numbered.first_window, numbered.first_shared) == (4, 10, 12)
    assert [numbered.uplink(silo) for silo in range(3)] == [4, 5, 6]
    assert [numbered.downlink(silo) for silo in range(3)] == [7, 8, 9]
    assert numbered.window_pairs.tolist() == [[0, 1], [1, 2]]
    assert [numbered.is_window(direction) for direction in range(14)] == [False] * 10 + [True] * 2 + [
        False
    ] * 2
    # A window of 97 bits in 2 (4 + 0.85) ms, and of 114 in 2 (4 + 1.7) ms.
    windows_bps = numbered.link_capacity_bps[10:12]
    assert windows_bps == pytest.approx([97 / 9.7e-3, 114 / 11.4e-3], rel=1e-12)
    assert np.delete(numbered.link_capacity_bps, [10, 11]).tolist() == [
        *[1e9] * 4,
        *[2e9] * 3,
        *[1e9, 4e9, 2e9],
        *[1e9, 4e9],
    ]
    assert not numbered.link_capacity_bps.flags.writeable


def test_what_a_model_occupies_is_its_way_and_what_that_shares(numbered):
    assert numbered.route(0, 1) == (4, 0, 8, 10)
    assert numbered.route(0, 2) == (4, 0, 2, 9)
    assert numbered.way(2, 0) == dict.fromkeys((6, 3, 1, 7), 1.0)
    assert numbered.ways_along([(0, 1), (1, 2)]) == [
        dict.fromkeys((4, 0, 8, 10), 1.0),
        dict.fromkeys((5, 2, 9, 11), 1.0),
    ]
    into, out, past = numbered.occupied([(0, 1), (1, 2), (0, 2)])
    # Of the 4 Gbit/s of silo 1's link, bits up count twice.
    assert dict(zip(into.links, into.usage, strict=True)) == dict.fromkeys((4, 0, 8, 10, 12, 13), 1.0)
    assert dict(zip(out.links, out.usage, strict=True)) == {5: 1.0, 2: 1.0, 9: 1.0, 11: 1.0, 13: 2.0}
    assert dict(zip(past.links, past.usage, strict=True)) == dict.fromkeys((4, 0, 2, 9, 12), 1.0)
    assert (into.hops, out.hops, past.hops) == (3, 3, 4)
    assert numbered.crossings(np.array([0, 1, 0]), np.array([1, 2, 2])).tolist() == [
        *[2.0, 0.0, 2.0, 0.0],
        *[2.0, 1.0, 0.0, 0.0, 1.0, 2.0],
        *[1.0, 1.0, 2.0, 3.0],
    ]
    nobody = np.empty(0, dtype=int)
    assert numbered.crossings(nobody, nobody).tolist() == [0.0] * 14


def test_without_rules_models_occupy_their_routes_alone(line):
    graph = with_windows(connectivity(line, access=FAST), [INF, 100.0, INF])
    (windowed, plain) = graph.occupied([(0, 1), (1, 2)])

    assert (windowed.links, windowed.usage, windowed.hops) == ((4, 0, 8, 10), (1.0,) * 4, 3)
    assert (plain.links, plain.usage, plain.hops) == ((5, 2, 9), (1.0,) * 3, 3)
    crossed = graph.crossings(np.array([0, 1]), np.array([1, 2]))
    assert np.flatnonzero(crossed).tolist() == [0, 2, 4, 5, 8, 9, 10]
    assert set(crossed.tolist()) == {0.0, 1.0}
    assert not graph.is_window(9)
    assert not connectivity(line, access=FAST).is_window(9)


def test_acknowledgements_go_back_and_take_no_window(line):
    graph = with_windows(connectivity(line, access=FAST), [INF, 100.0, INF])
    graph = replace(graph, rules=LinkRules(ack_share=0.25))
    (there,) = graph.occupied([(1, 0)])

    # The way back from 0 to 1 has a window, which acknowledgements do not take.
    assert dict(zip(there.links, there.usage, strict=True)) == {5: 1, 1: 1, 7: 1, 4: 0.25, 0: 0.25, 8: 0.25}
    assert there.hops == 3


@pytest.mark.parametrize("routers", [[0, 3], [-1, 0], [0, -1, 3]])
def test_a_silo_is_at_a_router_that_there_is(line, routers):
    with pytest.raises(InputError, match=r"^routers must lie in 0\.\.2\.$"):
        connectivity(line, access=FAST, routers=routers)


@pytest.mark.parametrize("routers", [[], [[0, 1]], [0.0, 1.0], ["r0"], [True, False], 1])
def test_each_silo_has_a_router_s_index(line, routers):
    with pytest.raises(
        InputError, match=r"^routers must hold a router's index for each of one or more silos\.$"
    ):
        connectivity(line, access=FAST, routers=routers)


def test_silos_of_one_router_are_numbered_in_their_order(line):
    assert silo_labels(line, [0, 2, 1, 2, 2, 1]) == ("r0", "r2/1", "r1/1", "r2/2", "r2/3", "r1/2")
    graph = connectivity(line, access=FAST, routers=np.array([2, 0], dtype=np.int8))
    assert (graph.router.tolist(), graph.router.dtype) == ([2, 0], np.int64)


def test_a_network_without_sharing_has_the_smallest_capacity_of_each_route(line):
    graph = connectivity(line, access=FAST, blocked=[(2, 0)])
    alone = with_bottleneck(graph)

    assert alone.available_bps.tolist() == [[INF, 1e9, 1e9], [1e9, INF, 1e9], [0.0, 1e9, INF]]
    assert alone.bandwidth == "bottleneck"
    assert not alone.available_bps.flags.writeable
    assert with_bottleneck(alone) is alone
    assert graph.available_bps[0, 2] == 0.5e9


def test_a_connectivity_says_what_it_follows(line):
    assert repr(connectivity(line, access=FAST, routers=[0, 1], latency="per_link")) == (
        "<Connectivity on test (corrected): 2 silos, bandwidth hop_share, latency per_link>"
    )
    assert repr(AccessLinks(up_bps=[1e9, 2e9], down_bps=INF)) == (
        "<AccessLinks: up 1e+09 to 2e+09, down inf bit/s>"
    )


def test_without_windows_and_rules_there_are_core_and_access_links_alone(line):
    graph = connectivity(line, access=FAST)

    assert graph.link_capacity_bps.tolist() == [*[1e9] * 4, *[1e10] * 6]
    assert (graph.window_pairs.shape, graph.measured_pairs.shape, graph.shared) == ((0, 2), (0, 2), ())
    assert (graph.first_window, graph.first_shared) == (10, 10)


def test_fat_pipes_are_limits_of_pairs_as_windows_are(line):
    # From 0 to 2 the smaller of both pipes; a window of 2 (4 + 0.85) ms limits 0 -> 1 to 1 Mbit/s.
    capacities = replace(line, capacity_bps=np.array([4e6, 3e6]))
    windowed = with_windows(
        connectivity(capacities, access=FAST, bandwidth="bottleneck"),
        [[INF, 9.7e3, INF], [INF, INF, INF], [INF, INF, INF]],
    )
    graph = replace(windowed, rules=LinkRules(fat_pipes=(0, 1)))

    assert graph.window_pairs.tolist() == [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]
    assert graph.link_capacity_bps[10:] == pytest.approx([1e6, 3e6, 4e6, 3e6, 3e6, 3e6], rel=1e-12)
    assert np.isinf(graph.link_capacity_bps[:4]).all()
    assert graph.link_names[10:] == ("window r0 -> r1", *(f"fat pipe {pair}" for pair in (
        "r0 -> r2", "r1 -> r0", "r1 -> r2", "r2 -> r0", "r2 -> r1"
    )))  # fmt: skip
    assert [graph.is_window(direction) for direction in range(10, 16)] == [True, *[False] * 5]
    # One pipe leaves the other link, and pairs that do not cross it, as they are.
    one = replace(connectivity(capacities, access=FAST), rules=LinkRules(fat_pipes=(1,)))
    assert one.window_pairs.tolist() == [[0, 2], [1, 2], [2, 0], [2, 1]]
    assert one.link_capacity_bps[:4].tolist() == [4e6, 4e6, INF, INF]
    assert one.link_capacity_bps[10:].tolist() == [3e6] * 4


def test_acknowledgements_of_a_pair_that_was_measured_in_one_direction_take_the_access_links(line):
    measured = np.full((3, 3), 5e6)
    measured[1, 0] = 0.0
    graph = connectivity(line, access=FAST, bandwidth=measured)
    graph = replace(graph, rules=LinkRules(ack_share=0.25))
    # Pairs 0 -> 1, 0 -> 2, 1 -> 2, 2 -> 0 and 2 -> 1, then three uplinks and three downlinks.
    alone, both = graph.occupied([(0, 1), (0, 2)])

    assert dict(zip(alone.links, alone.usage, strict=True)) == {5: 1.0, 0: 1.0, 9: 1.0, 6: 0.25, 8: 0.25}
    assert dict(zip(both.links, both.usage, strict=True)) == {5: 1, 1: 1, 10: 1, 7: 0.25, 3: 0.25, 8: 0.25}
    assert (alone.hops, both.hops) == (3, 3)
    assert graph.link_names[:5] == ("r0 -> r1", "r0 -> r2", "r1 -> r2", "r2 -> r0", "r2 -> r1")


def test_a_pair_of_any_rate_can_talk(line):
    rates = np.full((3, 3), 0.5)
    rates[0, 2] = 0.0
    assert connectivity(line, access=FAST, bandwidth=rates).may_send.tolist() == [
        [False, True, False],
        [True, False, True],
        [True, True, False],
    ]

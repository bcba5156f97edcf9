"""Where the bandwidth is measured, each pair that can talk is a link of its own, and no core link is crossed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, design
from topologies.analysis import access_curve, access_upgrades, explain, sensitivities
from topologies.bounds import lower_bound_s
from topologies.designers.enrich import enrich
from topologies.measured_pairs import UnroutedPairs
from topologies.sizes import MANY_SILOS

FAST = AccessLinks(up_bps=1e10, down_bps=1e10)
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]


@pytest.fixture
def line(make_underlay):
    return make_underlay(4, [(0, 1, 100.0), (1, 2, 200.0), (2, 3, 300.0)])


def names(graph, source, target):
    return [graph.link_name(link) for link in graph.route(source, target)]


def matrix(silos, bps, **pairs):
    """The same bandwidth for all pairs but some, as in ``_01=47e6``."""
    measured = np.full((silos, silos), float(bps))
    for name, value in pairs.items():
        measured[int(name[1]), int(name[2])] = value
    return measured


def test_pairs_are_links_between_the_access_links(line):
    graph = connectivity(line, access=FAST, bandwidth=matrix(4, 9e6, _01=5e6, _10=7e6, _20=0.0))

    assert graph.measured_pairs.tolist()[:4] == [[0, 1], [0, 2], [0, 3], [1, 0]]
    assert (graph.first_uplink, len(graph.link_capacity_bps)) == (11, 11 + 8)
    assert names(graph, 0, 1) == ["r0 uplink", "r0 -> r1", "r1 downlink"]
    assert names(graph, 3, 0) == ["r3 uplink", "r3 -> r0", "r0 downlink"]
    assert graph.link_capacity_bps[list(graph.route(0, 1))].tolist() == [1e10, 5e6, 1e10]
    assert graph.link_capacity_bps[list(graph.route(1, 0))].tolist() == [1e10, 7e6, 1e10]
    assert graph.core_route(0, 3) == ()
    assert not graph.link_capacity_bps.flags.writeable


def test_a_routed_core_is_as_it_was(line):
    graph = connectivity(line, access=FAST)

    assert graph.measured_pairs.shape == (0, 2)
    assert (graph.first_uplink, len(graph.link_capacity_bps)) == (6, 14)
    assert graph.core_route(0, 3) == graph.route(0, 3)[1:-1] == (0, 2, 4)


def test_a_pair_of_bandwidth_0_cannot_talk(line):
    graph = connectivity(line, access=FAST, bandwidth=matrix(4, 9e6, _20=0.0), blocked=[(1, 3)])
    work = Workload(model_bits=1e6, compute_s=0.0)

    assert [2, 0] not in graph.measured_pairs.tolist()
    assert [1, 3] not in graph.measured_pairs.tolist()
    for source, target in ((2, 0), (1, 3), (1, 1)):
        with pytest.raises(InputError, match=rf"^r{source} cannot send to r{target}\.$"):
            graph.route(source, target)
    with pytest.raises(InputError, match="test: r2 cannot send to r0"):
        build_overlay("test", graph, work, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 2)])


def test_an_infinite_pair_leaves_the_access_links_alone(line):
    graph = connectivity(line, access=FAST, bandwidth=matrix(4, np.inf, _01=1e9))
    ring = build_overlay("ring", graph, Workload(model_bits=1e9, compute_s=0.0), RING)

    assert ring.rate_bps.tolist() == [1e9, 1e10, 1e10, 1e10]
    assert ring.closed_forms.load_bound_s == 1.0
    assert graph.link_name(ring.closed_forms.busiest_link) == "r0 -> r1"


def test_two_silos_on_one_router_have_the_measured_link(line):
    measured = matrix(3, 5e6, _02=2e6)
    graph = connectivity(line, access=FAST, bandwidth=measured, routers=[2, 0, 2])

    assert names(graph, 0, 2) == ["r2/1 uplink", "r2/1 -> r2/2", "r2/2 downlink"]
    assert graph.available_bps[0, 2] == 2e6
    assert graph.link_capacity_bps[graph.route(0, 2)[1]] == 2e6


@pytest.mark.parametrize(
    ("pair", "value", "message"),
    [
        ((2, 3), np.nan, r"^bandwidth\[2, 3\]\(=nan\) must be a rate in bit/s: entries >= 0\.$"),
        ((3, 0), -1.0, r"^bandwidth\[3, 0\]\(=-1.0\) must be a rate in bit/s: entries >= 0\.$"),
    ],
)
def test_a_wrong_entry_is_named(line, pair, value, message):
    measured = matrix(4, 1e9)
    measured[pair] = value
    with pytest.raises(InputError, match=message):
        connectivity(line, access=FAST, bandwidth=measured)


@pytest.mark.parametrize("diagonal", [np.nan, 0.0, -1.0])
def test_the_diagonal_of_a_matrix_does_not_count(line, diagonal):
    measured = matrix(4, 1e9)
    np.fill_diagonal(measured, diagonal)
    graph = connectivity(line, access=FAST, bandwidth=measured)

    assert np.all(np.diag(graph.available_bps) == np.inf)
    assert len(graph.measured_pairs) == 12


def test_links_follow_a_replaced_matrix(line):
    graph = connectivity(line, access=FAST, bandwidth=matrix(4, 1e9))
    changed = replace(graph, available_bps=matrix(4, 2e9, _03=0.0))

    assert len(changed.measured_pairs) == 11
    assert changed.link_capacity_bps[0] == 2e9


def test_a_ring_needs_one_model_on_its_slowest_pair(line):
    # The ring of the report: models of 360 Mbit, 44 Mbps only on a pair that the ring does not use.
    graph = connectivity(line, access=FAST, bandwidth=matrix(4, 450e6, _12=47e6, _02=44e6))
    ring = build_overlay("ring", graph, Workload(model_bits=360e6, compute_s=0.0), RING)
    forms = ring.closed_forms

    assert forms.load_bound_s == forms.serialized_s == pytest.approx(360 / 47, rel=1e-12)
    assert graph.link_name(forms.busiest_link) == "r1 -> r2"


def test_a_shared_uplink_is_busier_than_fast_pairs(line):
    graph = connectivity(
        line, access=AccessLinks(up_bps=1e8, down_bps=1e10), bandwidth=matrix(4, 5e7, _01=4e7)
    )
    arcs = [(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)]
    star = build_overlay("star", graph, Workload(model_bits=1e8, compute_s=0.0), arcs)

    assert star.closed_forms.load_bound_s == 3.0
    assert graph.link_name(star.closed_forms.busiest_link) == "r0 uplink"
    assert star.closed_forms.serialized_s == pytest.approx(3.0)


def test_no_access_upgrade_lifts_a_pairs_own_link(line):
    graph = connectivity(line, access=FAST, bandwidth=matrix(4, 450e6))
    ring = build_overlay("ring", graph, Workload(model_bits=360e6, compute_s=0.0), RING)

    assert access_upgrades(ring) == ()
    assert {arc.binds for arc in explain(ring).arcs} == {"measured bandwidth"}
    assert explain(ring).arcs[0].resources == ("measured bandwidth r0 -> r1",)
    assert access_curve(ring, 1e9, np.inf).cycle_time_s.tolist() == pytest.approx(
        [ring.closed_forms.paper_s] * 2
    )


def test_the_derivative_by_measured_bandwidth(line):
    measured, work = matrix(4, 450e6, _12=47e6), Workload(model_bits=360e6, compute_s=0.0)
    ring = build_overlay("ring", connectivity(line, access=FAST, bandwidth=measured), work, RING)
    found = sensitivities(ring)

    # The mean over four arcs of M / A.
    assert found.measured_s_per_bps == pytest.approx(
        [-360e6 / rate**2 / 4 for rate in (450e6, 47e6, 450e6, 450e6)], rel=1e-12
    )
    assert not found.core_s_per_bps.any()
    assert not found.up_s_per_bps.any()
    nudged = measured.copy()
    nudged[1, 2] += 1.0
    faster = build_overlay("ring", connectivity(line, access=FAST, bandwidth=nudged), work, RING)
    assert faster.closed_forms.paper_s - ring.closed_forms.paper_s == pytest.approx(
        found.measured_s_per_bps[1], rel=1e-4
    )
    routed = build_overlay("ring", connectivity(line, access=FAST), work, RING)
    assert not sensitivities(routed).measured_s_per_bps.any()


@given(seed=st.integers(0, 2**32 - 1), silos=st.integers(2, 6))
@settings(max_examples=20)
def test_a_route_is_as_fast_as_equation_3_without_sharing(make_underlay, seed, silos):
    rng = np.random.default_rng(seed)
    measured = rng.choice([0.0, 1e6, 3e6, 1e8, np.inf], (silos, silos))
    graph = connectivity(
        make_underlay(silos, [(0, i, float(i)) for i in range(1, silos)]),
        access=AccessLinks(up_bps=rng.choice([2e6, 1e9], silos), down_bps=rng.choice([2e6, 1e9], silos)),
        bandwidth=measured,
    )

    crossed = set()
    for i, j in np.argwhere(graph.may_send).tolist():
        route = graph.route(i, j)
        crossed.add(route[1])
        assert graph.link_capacity_bps[list(route)].min() == min(
            graph.up_bps[i], graph.down_bps[j], measured[i, j]
        )
    assert crossed == set(range(graph.first_uplink))


@pytest.mark.parametrize("criterion", ["paper", "serialized", "all"])
def test_best_knows_no_core_where_pairs_are_measured(line, criterion):
    rng = np.random.default_rng(7)
    graph = connectivity(line, access=FAST, bandwidth=rng.uniform(44e6, 450e6, (4, 4)))
    work = Workload(model_bits=360e6, compute_s=0.01)
    best = design("best", graph, work, criterion=criterion, iterations=200)

    assert best.closed_forms.paper_s >= lower_bound_s(graph, work) * (1 - 1e-12)
    assert best.closed_forms.load_bound_s <= best.closed_forms.serialized_s * (1 + 1e-12)


def test_enrich_keeps_the_load_of_measured_pairs(line):
    graph = connectivity(line, access=FAST, bandwidth=matrix(4, 450e6, _12=47e6, _13=1e6))
    ring = build_overlay("ring", graph, Workload(model_bits=360e6, compute_s=0.0), RING)
    richer = enrich(ring, consensus="fdla")
    forms = richer.overlay.closed_forms

    assert richer.added
    assert (1, 3) not in richer.added
    assert max(forms.load_bound_s, forms.serialized_s) <= ring.closed_forms.serialized_s * (1 + 1e-9)


def test_many_pairs_are_numbered_without_a_search(make_underlay):
    silos = MANY_SILOS + 1
    graph = connectivity(
        make_underlay(silos, [(0, i, 1.0) for i in range(1, silos)]),
        access=FAST,
        bandwidth=np.full((silos, silos), 1e8),
    )

    assert len(graph.link_capacity_bps) == silos * (silos - 1) + 2 * silos
    assert [graph.route(i, j)[1] for i, j in graph.measured_pairs[::997].tolist()] == list(
        range(0, graph.first_uplink, 997)
    )


def test_unrouted_pairs_cross_nothing():
    routes = UnroutedPairs(sites=3)

    assert routes.links(0, 1) == ()
    assert np.isnan(routes.distance_km).tolist() == [[True] * 3] * 3
    assert routes.hops.tolist() == [[0] * 3] * 3
    assert routes.bottleneck_bps(np.empty(0)).tolist() == [[np.inf] * 3] * 3
    assert routes.used_links().tolist() == []
    assert repr(routes) == "<UnroutedPairs between 3 sites>"


def test_between_measured_pairs_no_route_has_a_link():
    routes = UnroutedPairs(sites=3)

    assert (routes.links(0, 2), routes.shares(0, 2), routes.splits) == ((), (), False)
    assert np.isnan(routes.distance_km).tolist() == [[True] * 3] * 3
    assert routes.hops.tolist() == [[0] * 3] * 3
    assert np.isinf(routes.bottleneck_bps(np.empty(0))).tolist() == [[True] * 3] * 3
    assert routes.used_links().tolist() == []

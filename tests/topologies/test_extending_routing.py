"""The documented examples of routings, on networks whose routes are known."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, load_underlay
from topologies.explicit_routes import explicit_routes
from topologies.routing import shortest_routes

EXAMPLE = Path(__file__).parents[2] / "docs" / "extending" / "routing.py"
FAST = AccessLinks(up_bps=1e12, down_bps=1e12)
SQUARE = [(0, 1, 10.0), (1, 3, 10.0), (0, 2, 10.0), (2, 3, 10.0)]


@pytest.fixture(scope="module")
def example():
    spec = spec_from_file_location("routing_example", EXAMPLE)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_capacities(underlay, capacity_bps):
    return type(underlay)(
        **{
            name: getattr(underlay, name)
            for name in ("name", "variant", "labels", "latitude_deg", "longitude_deg", "ends", "length_km")
        },
        capacity_bps=np.array(capacity_bps),
    )


def test_it_is_short():
    assert len(EXAMPLE.read_text("utf-8").splitlines()) < 40


def test_inverse_capacities_go_around_a_slow_link(example, make_underlay):
    # The direct link 0 - 2 is short and slow: 10 units; the way over 1 is longer and costs 1 + 1.
    triangle = with_capacities(
        make_underlay(3, [(0, 2, 10.0), (0, 1, 100.0), (1, 2, 100.0)]), [0.1e9, 1e9, 1e9]
    )
    by_length = connectivity(triangle, access=FAST)
    graph = connectivity(triangle, access=FAST, routing=example.inverse_capacity)

    assert by_length.core_route(0, 2) == (0,)
    assert graph.core_route(0, 2) == (2, 4)
    assert graph.core_route(2, 0) == (5, 3)
    assert graph.routes.distance_km[0, 2] == 200.0
    assert graph.latency_s[0, 2] == pytest.approx(0.0085e-3 * 200 + 4e-3, rel=1e-12)
    assert (by_length.available_bps[0, 2], graph.available_bps[0, 2]) == (0.1e9, 0.5e9)
    # Eq. 3 with M = 1 Gbit: 2 s instead of 10 s, beside 5.7 ms of latency, both ways.
    work = Workload(model_bits=1e9, compute_s=0.0)
    overlay = build_overlay("pair", graph, work, [(0, 2), (2, 0), (0, 1), (1, 0)])
    assert overlay.closed_forms.paper_s == pytest.approx(2.0 + 0.0057, rel=1e-12)


def test_with_equal_capacities_inverse_capacities_take_the_fewest_links(example):
    underlay = load_underlay("geant")
    graph = connectivity(underlay, access=FAST, core=1e9, routing=example.inverse_capacity)
    fewest = shortest_routes(underlay, weight=np.ones(underlay.links))

    assert np.array_equal(graph.routes.hops, fewest.hops)
    assert (fewest.hops <= shortest_routes(underlay).hops).all()
    assert (fewest.hops < shortest_routes(underlay).hops).any()


def test_multipath_spreads_pairs_over_both_sides_of_a_square(example, make_underlay):
    square = make_underlay(4, SQUARE)
    graph = connectivity(square, access=FAST, routing=example.equal_cost_multipath)
    shortest = connectivity(square, access=FAST)

    # 0 -> 3 and 1 -> 2: the second of the two paths, as 3 is odd.
    assert graph.core_route(0, 3) == (4, 6)
    assert graph.core_route(1, 2) == (2, 7)
    assert shortest.core_route(0, 3) == (0, 2)
    assert shortest.core_route(1, 2) == (1, 4)
    # A link direction carries one model a round where two shared 0 -> 1, and two 1 -> 3.
    work = Workload(model_bits=1e9, compute_s=0.0)
    arcs = [(0, 1), (0, 3), (1, 3), (3, 2), (2, 0)]
    loads = [build_overlay("loop", g, work, arcs).closed_forms.load_bound_s for g in (graph, shortest)]
    assert loads == [1.0, 2.0]


def test_all_links_of_a_square_are_used_by_multipath(example, make_underlay):
    square = make_underlay(4, SQUARE)
    routes = example.equal_cost_multipath(square, np.full(4, 1e9))

    assert routes.used_links().all()
    assert routes.bottleneck_bps(np.array([1e9, 2e9, 3e9, 4e9]))[0, 3] == 3e9
    assert routes.links(2, 2) == ()


@pytest.mark.parametrize("routing", ["inverse_capacity", "equal_cost_multipath"])
def test_a_link_that_is_down_is_left_out(example, make_underlay, routing):
    square = make_underlay(4, SQUARE)
    routes = getattr(example, routing)(square, np.array([0.0, 1e9, 1e9, 1e9]))
    cut = getattr(example, routing)(square, np.array([0.0, 1e9, 0.0, 1e9]))

    assert routes.links(0, 1) == (4, 6, 3)
    assert not routes.used_links()[0]
    assert cut.links(1, 3) == (2,)
    assert cut.links(0, 1) in {(0,), (4, 6, 3)}


def every_pair(routes):
    found = {(0, 1): [0], (1, 0): [1], (1, 2): [2], (2, 1): [3], (0, 2): [0, 2], (2, 0): [3, 1]} | routes
    return [(*pair, links) for pair, links in found.items() if links is not None]


def test_routes_that_are_given_one_by_one(make_underlay):
    line = make_underlay(3, [(0, 1, 5.0), (1, 2, 7.0)])
    routes, shortest = explicit_routes(line, every_pair({})), shortest_routes(line)

    for name in ("distance_km", "hops"):
        assert np.array_equal(getattr(routes, name), getattr(shortest, name))
    core_bps = np.array([1e9, 2e9])
    assert np.array_equal(routes.bottleneck_bps(core_bps), shortest.bottleneck_bps(core_bps))
    assert np.array_equal(routes.used_links(), shortest.used_links())
    assert all(routes.links(i, j) == shortest.links(i, j) for i in range(3) for j in range(3))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({(0, 2): None}, "the route r0 -> r2 is missing"),
        ({(0, 2): [0]}, "the route r0 -> r2 ends at r1"),
        ({(0, 2): [2]}, "the route r0 -> r2: link direction 2 does not leave r0"),
        ({(0, 2): [0, 9]}, r"the route r0 -> r2: link direction\(=9\) must be in 0..3"),
        ({(0, 3): [0]}, r"route\(=\(0, 3\)\) must join two different routers of 0..2"),
        ({(1, 1): [2, 3]}, r"route\(=\(1, 1\)\) must join two different routers"),
    ],
)
def test_a_bad_route_is_named(make_underlay, changed, message):
    line = make_underlay(3, [(0, 1, 5.0), (1, 2, 7.0)])

    with pytest.raises(InputError, match=message):
        explicit_routes(line, every_pair(changed))


def test_a_route_that_is_given_twice_is_named(make_underlay):
    line = make_underlay(3, [(0, 1, 5.0), (1, 2, 7.0)])

    with pytest.raises(InputError, match="the route r0 -> r1 is given twice"):
        explicit_routes(line, [*every_pair({}), (0, 1, [0])])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], r"weight\(of shape \(1,\)\) must have shape \(2,\)"),
        ([1.0, -1.0], r"weight\[1\]\(=-1.0\) must be finite and >= 0"),
        ([np.inf, 1.0], r"weight\[0\]\(=inf\) must be finite"),
        ([1.0, np.nan], r"weight\[1\]\(=nan\) must be finite"),
    ],
)
def test_bad_weights_are_named(make_underlay, weight, message):
    with pytest.raises(InputError, match=message):
        shortest_routes(make_underlay(3, [(0, 1, 5.0), (1, 2, 7.0)]), weight=weight)

"""Loads of demands on routes: hand computation, and the sum over all links."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Underlay, connectivity, load_underlay
from topologies.networks.traffic_matrices import TrafficMatrices
from topologies.routings import named_routing
from topologies.stated_routes import stated_routes
from topologies.traffic_loads import link_loads


def matrices(labels, pairs, demand_bps):
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return TrafficMatrices(
        labels=tuple(labels),
        places=tuple(f"tm.csv: row {row}" for row in range(2, 2 + len(labels))),
        date_s=np.arange(len(demand_bps), dtype=np.float64),
        source=ends[:, 0],
        target=ends[:, 1],
        demand_bps=np.array(demand_bps, dtype=np.float64),
    )


def network(name, **how):
    return connectivity(load_underlay(name), access=AccessLinks(up_bps=1e10, down_bps=1e10), **how)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), routing=st.sampled_from(["distance", "hops"]))
def test_loads_add_up_to_demands_times_hops(seed, routing):
    rng = np.random.default_rng(seed)
    graph = network("geant", routing=named_routing(routing, 1 if seed % 2 else None))
    labels = list(rng.permutation(graph.underlay.labels)[:6])
    pairs = [(i, j) for i in range(6) for j in range(6) if i != j]
    demand_bps = rng.random((3, len(pairs)))
    number = [graph.underlay.labels.index(label) for label in labels]
    hops = np.array([graph.routes.hops[number[i], number[j]] for i, j in pairs])

    loads_bps = link_loads(matrices(labels, pairs, demand_bps), graph)

    assert loads_bps.shape == (3, graph.first_uplink)
    np.testing.assert_allclose(loads_bps.sum(axis=1), demand_bps @ hops, rtol=1e-12)


def test_matrices_that_come_from_no_file_leave_out_nothing_and_name_no_dates():
    made = matrices(("PT", "PL"), [(0, 1)], [[2.0], [3.0]])

    assert (made.own, made.dates, made.period_s) == (0, (), 2.0)


def test_each_demand_is_on_its_route_in_its_direction():
    graph = network("geant")
    labels = ("PT", "PL")
    there, back = (graph.underlay.labels.index(label) for label in labels)
    loads_bps = link_loads(matrices(labels, [(0, 1), (1, 0)], [[2.0, 3.0]]), graph)[0]
    expected = np.zeros(graph.first_uplink)
    expected[list(graph.routes.links(there, back))] = 2.0
    expected[list(graph.routes.links(back, there))] = 3.0

    assert len(graph.routes.links(there, back)) > 1
    np.testing.assert_array_equal(loads_bps, expected)


def test_an_unknown_router_is_named_with_its_place():
    with pytest.raises(InputError, match=r"^tm.csv: row 3\(='Tokio'\) must be one of .*did you mean 'Tokyo'"):
        link_loads(matrices(("Seoul", "Tokio"), [(0, 1)], [[1.0]]), network("gaia"))


def test_measured_pairs_have_no_core():
    graph = connectivity(
        load_underlay("gaia"),
        access=AccessLinks(up_bps=1e10, down_bps=1e10),
        bandwidth=np.full((11, 11), 1e9),
    )
    with pytest.raises(InputError, match="the bandwidth of silo pairs is measured, so that there are none"):
        link_loads(matrices(("Seoul", "Tokyo"), [(0, 1)], [[1.0]]), graph)


def test_demands_on_stated_routes_stay_whole_where_others_are_split():
    underlay = Underlay(
        name="square",
        variant="corrected",
        labels=tuple("ABCD"),
        latitude_deg=np.full(4, np.nan),
        longitude_deg=np.full(4, np.nan),
        ends=np.array([(0, 1), (1, 3), (0, 2), (2, 3)]),
        length_km=np.ones(4),
        capacity_bps=np.full(4, 1e9),
        stated_routes=stated_routes([(0, 2, 3)]),
    )
    graph = connectivity(
        underlay,
        access=AccessLinks(up_bps=1e10, down_bps=1e10),
        routing=named_routing("hops", split_flows=True),
    )
    loads_bps = link_loads(
        matrices("ABCD", [(0, 3), (3, 0), (2, 3)], [[4.0, 6.0, 1.0], [0.0, 0.0, 2.0]]), graph
    )

    # A - C - D as stated; back half of it on each way; C - D.
    assert loads_bps.tolist() == [
        [0.0, 3.0, 0.0, 3.0, 4.0, 3.0, 5.0, 3.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0],
    ]

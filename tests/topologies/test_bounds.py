"""The lower bound: below every strong digraph of small networks, exact where theory knows it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, design
from topologies.bounds import lower_bound_s
from topologies.designers.ring import ring

INATURALIST = Workload.preset("inaturalist", variant="published")


@st.composite
def networks(draw, make_underlay, silos):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    links = [(i, j, float(rng.integers(0, 3000))) for i, j in itertools.combinations(range(silos), 2)]
    bps = (1e8, 1e9, 1e10)
    graph = connectivity(
        make_underlay(silos, links),
        access=AccessLinks(up_bps=rng.choice(bps, silos), down_bps=rng.choice(bps, silos)),
        blocked=[pair for pair in itertools.permutations(range(silos), 2) if rng.random() < 0.15],
    )
    work = Workload(model_bits=4.5e7, compute_s=rng.choice((0.0, 0.02, 0.3), silos))
    return graph, work


def smallest_cycle_time(graph, work):
    pairs = [tuple(pair) for pair in np.argwhere(graph.may_send).tolist()]
    best = np.inf
    for size in range(graph.silos, len(pairs) + 1):
        for arcs in itertools.combinations(pairs, size):
            if len({i for i, _ in arcs}) == len({j for _, j in arcs}) == graph.silos:
                try:
                    best = min(best, build_overlay("any", graph, work, arcs).closed_forms.paper_s)
                except InputError:
                    continue
    return best


@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_no_strong_digraph_of_three_silos_is_faster(make_underlay, data):
    graph, work = data.draw(networks(make_underlay, 3))
    optimum = smallest_cycle_time(graph, work)
    if optimum < np.inf:
        assert lower_bound_s(graph, work) <= optimum * (1 + 1e-12)


@given(data=st.data())
@settings(max_examples=3, deadline=None)
def test_no_strong_digraph_of_four_silos_is_faster(make_underlay, data):
    graph, work = data.draw(networks(make_underlay, 4))
    optimum = smallest_cycle_time(graph, work)
    if optimum < np.inf:
        assert lower_bound_s(graph, work) <= optimum * (1 + 1e-12)


def test_two_silos_have_one_overlay(make_underlay):
    graph = connectivity(make_underlay(2, [(0, 1, 500.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e8))

    assert lower_bound_s(graph, INATURALIST) == pytest.approx(ring(graph, INATURALIST).closed_forms.paper_s)


def test_one_silo_computes(make_underlay):
    graph = connectivity(
        make_underlay(2, [(0, 1, 1.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[0]
    )

    assert lower_bound_s(graph, INATURALIST) == INATURALIST.round_compute_s(1)[0]


def test_equal_delays_are_the_bound(make_underlay):
    links = [(i, j, 100.0) for i, j in itertools.combinations(range(6), 2)]
    graph = connectivity(make_underlay(6, links), access=AccessLinks(up_bps=1e9, down_bps=1e9))

    assert lower_bound_s(graph, INATURALIST) == pytest.approx(ring(graph, INATURALIST).closed_forms.paper_s)


def test_one_far_silo_is_averaged_with_the_near_ones(make_underlay):
    near, far = 0.0254 + 0.004, 0.0254 + 0.004 + 8.5e-6 * 10_000
    links = [(i, j, 0.0) for i, j in itertools.combinations(range(4), 2)]
    links += [(i, 4, 10_000.0) for i in range(4)]
    graph = connectivity(make_underlay(5, links), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    work = Workload(model_bits=0.0, compute_s=0.0254)

    assert lower_bound_s(graph, work) == pytest.approx((2 * far + 3 * near) / 5)
    assert ring(graph, work).closed_forms.paper_s == pytest.approx((2 * far + 3 * near) / 5)


@pytest.mark.parametrize("access_bps", [1e8, 1e10])
@pytest.mark.parametrize("name", ["gaia", "aws_na", "geant", "exodus", "ebone"])
def test_designers_on_published_networks(published_graph, name, access_bps):
    graph = published_graph(name, access_bps)
    bound = lower_bound_s(graph, INATURALIST)

    assert bound > INATURALIST.round_compute_s(1)[0]
    for kind in ("star", "mst", "ring"):
        assert bound <= design(kind, graph, INATURALIST).closed_forms.paper_s


@given(seed=st.integers(0, 2**32 - 1), silos=st.integers(2, 6))
@settings(max_examples=25, deadline=None)
def test_a_star_with_unequal_computing_is_no_faster(make_underlay, seed, silos):
    rng = np.random.default_rng(seed)
    graph = connectivity(
        make_underlay(silos, [(0, j, float(rng.integers(0, 100))) for j in range(1, silos)]),
        access=AccessLinks(up_bps=1e10, down_bps=1e10),
    )
    work = Workload(model_bits=1e6, compute_s=rng.choice((0.0, 1.0), silos))

    assert lower_bound_s(graph, work) <= design("star", graph, work).closed_forms.paper_s * (1 + 1e-12)


def test_a_silo_on_no_circuit_is_named(make_underlay):
    graph = connectivity(
        make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0)]),
        access=AccessLinks(up_bps=1e9, down_bps=1e9),
        blocked=[(2, 0), (2, 1)],
    )

    with pytest.raises(InputError, match="r2 lies on no circuit"):
        lower_bound_s(graph, INATURALIST)

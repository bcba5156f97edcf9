"""Tours and the RING: optima of small cases, published networks, ties, zeros and missing arcs."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Workload, connectivity
from topologies.delays import pair_delays
from topologies.designers import tour as tour_module
from topologies.designers.ring import ring
from topologies.designers.tour import christofides_tour, short_tour

INATURALIST = Workload.preset("inaturalist", variant="published")


def length(costs, tour):
    return sum(costs[i, j] for i, j in zip(tour, tour[1:] + tour[:1], strict=True))


def shortest(costs):
    nodes = len(costs)
    return min(length(costs, [0, *rest]) for rest in itertools.permutations(range(1, nodes)))


@st.composite
def cost_matrices(draw, least=2, most=7):
    nodes = draw(st.integers(least, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    costs = (
        rng.integers(0, 4, (nodes, nodes)).astype(float)
        if draw(st.booleans())
        else rng.random((nodes, nodes))
    )
    if draw(st.booleans()):
        costs = (costs + costs.T) / 2
    costs[rng.random((nodes, nodes)) < draw(st.sampled_from((0.0, 0.2, 0.6)))] = np.inf
    return costs


@given(costs=cost_matrices())
def test_small_tours_are_optimal(costs):
    tour = short_tour(costs)
    optimum = shortest(costs)

    if tour is None:
        assert optimum == np.inf
    else:
        assert sorted(tour) == list(range(len(costs)))
        assert length(costs, tour) == pytest.approx(optimum, rel=1e-12, abs=1e-12)


@given(costs=cost_matrices(least=5, most=6), seed=st.integers(0, 9))
def test_the_local_search_finds_the_optimum_of_small_cases(costs, seed):
    exact = tour_module.EXACT_NODES
    tour_module.EXACT_NODES = 4
    try:
        tour = short_tour(costs, seed=seed, restarts=100)
    finally:
        tour_module.EXACT_NODES = exact
    optimum = shortest(costs)

    if tour is not None:
        assert sorted(tour) == list(range(len(costs)))
        assert length(costs, tour) == pytest.approx(optimum, rel=1e-9, abs=1e-12)
    else:
        assert optimum == np.inf


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1), nodes=st.integers(10, 25), symmetric=st.booleans(), ties=st.booleans())
@settings(max_examples=20)
def test_larger_tours_visit_all_and_beat_christofides(seed, nodes, symmetric, ties):
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 5, (nodes, nodes)).astype(float) if ties else rng.random((nodes, nodes))
    if symmetric:
        costs = costs + costs.T
    tour = short_tour(costs, restarts=50)

    assert sorted(tour) == list(range(nodes))
    assert length(costs, tour) <= length(costs, christofides_tour((costs + costs.T) / 2).tolist()) + 1e-9
    assert tour == short_tour(costs, restarts=50)


def test_a_hidden_circuit_of_allowed_arcs_is_found():
    rng = np.random.default_rng(3)
    order = rng.permutation(20)
    costs = np.full((20, 20), np.inf)
    costs[order, np.roll(order, -1)] = 1.0
    extra = rng.random((20, 20)) < 0.1
    costs[extra] = 2.0
    tour = short_tour(costs, restarts=50)

    assert sorted(tour) == list(range(20))
    assert np.isfinite(length(costs, tour))


@pytest.mark.parametrize("nodes", [1, 2, 3, 12, 40])
def test_zeros_only(nodes):
    assert sorted(short_tour(np.zeros((nodes, nodes)))) == list(range(nodes))


@pytest.mark.parametrize(
    ("name", "optimum_ms"),
    [("gaia", 118.2), ("aws_na", 80.8), ("geant", 100.8), ("exodus", 91.6), ("ebone", 86.8)],
)
def test_published_networks(published_graph, name, optimum_ms):
    overlay = ring(published_graph(name, 1e10), INATURALIST)

    assert 1e3 * overlay.closed_forms.paper_s <= optimum_ms
    assert sorted(overlay.source) == sorted(overlay.target) == list(range(overlay.graph.silos))
    assert overlay.max_degree == 1


@pytest.mark.parametrize("silos", [1, 2, 3])
def test_few_silos(few_silos, silos):
    overlay = ring(few_silos(silos), INATURALIST)

    assert overlay.arcs == (0 if silos == 1 else silos)


def test_slow_computing_bounds_the_ring(make_underlay):
    graph = connectivity(make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    overlay = ring(graph, Workload(model_bits=0.0, compute_s=np.array([5.0, 0.0])))

    assert overlay.closed_forms.paper_s == 5.0


def test_asymmetric_access_links(make_underlay):
    silos = 10
    rng = np.random.default_rng(5)
    links = [(i, j, float(rng.integers(1, 2000))) for i, j in itertools.combinations(range(silos), 2)]
    access = AccessLinks(
        up_bps=rng.choice([1e8, 1e9, 1e10], silos), down_bps=rng.choice([1e8, 1e9, 1e10], silos)
    )
    graph = connectivity(make_underlay(silos, links), access=access)
    overlay = ring(graph, INATURALIST)
    delay = pair_delays(graph, INATURALIST)
    silo = list(range(silos))

    assert overlay.closed_forms.paper_s <= length(delay, silo) / silos
    assert overlay.closed_forms.paper_s == pytest.approx(overlay.delay_s.mean(), rel=1e-12)


def test_a_cut_is_named(make_underlay):
    underlay = make_underlay(4, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)])
    blocked = [(i, j) for i in (0, 1) for j in (2, 3)]
    graph = connectivity(underlay, access=AccessLinks(up_bps=1e9, down_bps=1e9), blocked=blocked)

    with pytest.raises(InputError, match=r"nothing that r0 sends can reach r2"):
        ring(graph, INATURALIST)


def test_no_circle_without_a_cut(make_underlay):
    underlay = make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0)])
    graph = connectivity(underlay, access=AccessLinks(up_bps=1e9, down_bps=1e9), blocked=[(0, 2), (2, 0)])

    with pytest.raises(InputError, match=r"pass r1 twice: without it neither of r0 and r2"):
        ring(graph, INATURALIST)

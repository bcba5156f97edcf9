"""The search over strong digraphs: published networks, never worse than a candidate, edges."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, design
from topologies.bounds import lower_bound_s
from topologies.consensus import check_consensus
from topologies.designers.best import best
from topologies.designers.best_detours import detour_search
from topologies.designers.registry import DESIGNERS

INATURALIST = Workload.preset("inaturalist", variant="published")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "at_most_ms", "iterations"),
    [("gaia", 117.4, 30_000), ("geant", 93.0, 20_000), ("ebone", 83.5, 45_000)],
)
def test_published_networks(published_graph, name, at_most_ms, iterations):
    graph = published_graph(name, 1e10)
    overlay = best(graph, INATURALIST, iterations=iterations, seed=0)

    assert overlay.kind == "best"
    assert 1e3 * overlay.closed_forms.paper_s <= at_most_ms
    assert overlay.closed_forms.paper_s >= lower_bound_s(graph, INATURALIST)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("criterion", "name", "at_most_ms", "iterations"),
    # 89.92 ms are two models on one core link.
    [
        ("serialized", "geant", 94.5, 10_000),
        ("all", "geant", 92.5, 20_000),
        ("all", "ebone", 89.93, 10_000),
    ],
)
def test_real_links(published_graph, criterion, name, at_most_ms, iterations):
    forms = best(
        published_graph(name, 1e10), INATURALIST, criterion=criterion, iterations=iterations, seed=0
    ).closed_forms

    assert 1e3 * value(forms, criterion) <= at_most_ms


def value(forms, criterion):
    """The closed form that a criterion minimises."""
    return {
        "paper": forms.paper_s,
        "serialized": forms.serialized_s,
        "all": max(forms.paper_s, forms.serialized_s, forms.load_bound_s),
    }[criterion]


CRITERIA = ("paper", "serialized", "all")


@st.composite
def networks(draw, make_underlay, sizes=(1, 9)):
    silos = draw(st.integers(*sizes))
    routers = max(2, silos)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    links = [(i, j, float(rng.integers(0, 3) * 1000)) for i, j in itertools.combinations(range(routers), 2)]
    bps = (1e8, 1e9, 1e10)
    graph = connectivity(
        make_underlay(routers, links),
        access=AccessLinks(up_bps=rng.choice(bps, silos), down_bps=rng.choice(bps, silos)),
        routers=range(silos),
        blocked=[pair for pair in itertools.permutations(range(silos), 2) if rng.random() < 0.1],
    )
    return graph, Workload(model_bits=rng.choice((0.0, 4.5e7)), compute_s=rng.choice((0.0, 0.02, 0.3), silos))


@given(data=st.data(), criterion=st.sampled_from(CRITERIA))
@settings(max_examples=8)
def test_never_worse_than_any_designer(make_underlay, data, criterion):
    graph, work = data.draw(networks(make_underlay))
    others = []
    for kind in sorted(set(DESIGNERS) - {"best", "stl_fw"}):
        try:
            others.append(design(kind, graph, work))
        except InputError:
            continue
    try:
        overlay = design("best", graph, work, criterion=criterion, iterations=60)
    except InputError:
        assert not others
        return
    for other in others:
        assert value(overlay.closed_forms, criterion) <= value(other.closed_forms, criterion)
    assert lower_bound_s(graph, work) <= overlay.closed_forms.paper_s * (1 + 1e-12)
    check_consensus(overlay.consensus, columns=True)
    assert overlay.consensus.min() >= 0


@pytest.mark.slow
@given(data=st.data(), criterion=st.sampled_from(CRITERIA))
@settings(max_examples=6)
def test_a_long_search_stays_between_the_bound_and_the_ring(make_underlay, data, criterion):
    graph, work = data.draw(networks(make_underlay, (8, 12)))
    try:
        overlay = best(graph, work, criterion=criterion, iterations=4_000, seed=data.draw(st.integers(0, 9)))
    except InputError:
        return
    again = build_overlay(
        "again", graph, work, zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)
    )

    # Rebuilt from its arcs alone, so that no cycle time that the search kept for itself counts.
    assert again.closed_forms.paper_s == pytest.approx(overlay.closed_forms.paper_s, rel=1e-12)
    assert again.closed_forms.paper_s >= lower_bound_s(graph, work) * (1 - 1e-9)
    try:
        ring = design("ring", graph, work)
    except InputError:
        return
    assert value(overlay.closed_forms, criterion) <= value(ring.closed_forms, criterion)


@given(data=st.data(), temperature=st.sampled_from((0.005, 0.15)), criterion=st.sampled_from(CRITERIA))
@settings(max_examples=10)
def test_detours_never_make_a_ring_worse(make_underlay, data, temperature, criterion):
    silos = data.draw(st.integers(4, 12))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    links = [(i, j, float(rng.integers(0, 5000))) for i, j in itertools.combinations(range(silos), 2)]
    bps = (1e9, 1e10, np.inf)
    access = AccessLinks(up_bps=rng.choice(bps, silos), down_bps=rng.choice(bps, silos))
    graph = connectivity(make_underlay(silos, links), access=access)
    tour = list(range(silos))
    ring = build_overlay("ring", graph, INATURALIST, zip(tour, tour[1:] + tour[:1], strict=True))
    arcs = detour_search(
        graph,
        INATURALIST,
        tour,
        steps=300,
        seed=int(rng.integers(9)),
        temperature=temperature,
        criterion=criterion,
    )
    overlay = build_overlay("detours", graph, INATURALIST, arcs)

    assert value(overlay.closed_forms, criterion) <= value(ring.closed_forms, criterion) * (1 + 1e-12)


def test_far_silos_become_detours_of_one_circle(make_underlay):
    near, far = 6, 2
    links = [(i, j, 0.0) for i, j in itertools.combinations(range(near), 2)]
    links += [(i, near + j, 10_000.0) for i in range(near) for j in range(far)]
    graph = connectivity(make_underlay(near + far, links), access=AccessLinks(up_bps=1e12, down_bps=1e12))
    work = Workload(model_bits=0.0, compute_s=0.0)
    short, long = 0.004, 0.004 + 8.5e-6 * 10_000

    # Each far silo on the whole circle of near ones: two long arcs among near + 1.
    optimum = (2 * long + (near - 1) * short) / (near + 1)
    assert lower_bound_s(graph, work) <= optimum * (1 + 1e-12)
    assert best(graph, work, iterations=2_000, seed=0).closed_forms.paper_s == pytest.approx(
        optimum, rel=1e-9
    )


@pytest.mark.slow
def test_same_seed_same_overlay(published_graph):
    graph = published_graph("geant", 1e10)
    one, two = (best(graph, INATURALIST, iterations=400, seed=3) for _ in range(2))

    assert np.array_equal(one.source, two.source)
    assert np.array_equal(one.target, two.target)


def test_without_any_ring_the_allowed_pairs_are_the_start(make_underlay):
    graph = connectivity(
        make_underlay(4, [(0, 1, 10.0), (0, 2, 20.0), (0, 3, 30.0)]),
        access=AccessLinks(up_bps=1e9, down_bps=1e9),
        blocked=[(i, j) for i, j in itertools.permutations((1, 2, 3), 2)],
    )

    assert best(graph, INATURALIST, iterations=100, seed=0).arcs == 6


@pytest.mark.slow
def test_the_silos_agree_on_the_plain_average(published_graph):
    overlay = best(published_graph("geant", 1e10), INATURALIST, iterations=2_000, seed=0)
    models = np.random.default_rng(0).normal(size=(40, 3))
    mixed = np.linalg.matrix_power(overlay.consensus, 20_000) @ models

    assert mixed == pytest.approx(np.tile(models.mean(axis=0), (40, 1)), abs=1e-8)


def test_unknown_criterion(published_graph):
    with pytest.raises(InputError, match="criterion"):
        best(published_graph("gaia", 1e10), INATURALIST, criterion="fastest", iterations=100, seed=0)


@pytest.mark.parametrize("silos", [1, 2, 3])
def test_few_silos(few_silos, silos):
    assert best(few_silos(silos), INATURALIST, iterations=100, seed=0).graph.silos == silos

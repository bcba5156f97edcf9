"""Designers of overlays that come without a network, and of the multigraph."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from topologies import (
    AccessLinks,
    InputError,
    PeriodicOverlay,
    Workload,
    connectivity,
    design,
    design_periodic,
    design_random,
    load_underlay,
    make_schedule,
)
from topologies.consensus import spectral_gap
from topologies.contraction import contraction
from topologies.designers.multigraph import multigraph_reading_s
from topologies.designers.node_order import node_order
from topologies.label_order import in_silo_order

pytestmark = pytest.mark.usefixtures("compiled_designs")

WORK = Workload.preset("inaturalist", variant="published")
ORDERED = ("exponential", "equi_static", "one_peer_exponential", "base", "equi_dyn")
DESIGN = {
    "exponential": design,
    "equi_static": design,
    "one_peer_exponential": design_periodic,
    "base": design_periodic,
    "multigraph": design_periodic,
    "hierarchical": design_periodic,
    "equi_dyn": design_random,
    "epidemic": design_random,
}


def network(name="gaia", variant="published", **options):
    links = AccessLinks(up_bps=10e9, down_bps=10e9)
    return connectivity(load_underlay(name, variant=variant), access=links, **options)


def shuffled(graph, seed=1):
    """The same network with other numbers of the silos."""
    order = np.random.default_rng(seed).permutation(graph.silos)
    pairs = np.ix_(order, order)
    return replace(
        graph,
        labels=tuple(graph.labels[silo] for silo in order),
        router=graph.router[order],
        up_bps=graph.up_bps[order],
        down_bps=graph.down_bps[order],
        latency_s=graph.latency_s[pairs],
        available_bps=graph.available_bps[pairs],
    )


def named_arcs(overlay):
    """Arcs of a few rounds by the silos' labels, with lags and weights."""
    labels = overlay.graph.labels
    if isinstance(overlay, PeriodicOverlay):
        return [
            sorted(
                (labels[i], labels[j], n, w)
                for i, j, n, w in zip(s.source, s.target, s.lag, s.weight, strict=True)
            )
            for s in overlay.states
        ]
    if hasattr(overlay, "draw"):
        schedule = make_schedule(overlay, 3, 5)
        rounds = [(*schedule.arcs(k), schedule.consensus(k)) for k in range(5)]
    else:
        rounds = [(overlay.source, overlay.target, overlay.consensus)]
    return [
        sorted((labels[i], labels[j], 1, w[j, i]) for i, j in zip(source, target, strict=True))
        for source, target, w in rounds
    ]


@pytest.mark.parametrize("kind", DESIGN)
def test_numbers_of_silos_do_not_count(kind):
    graph = network(variant="corrected")
    options = {"order": "tour"} if kind in ORDERED else {}

    one, other = (DESIGN[kind](kind, each, WORK, **options) for each in (graph, shuffled(graph)))

    assert named_arcs(one) == named_arcs(other)


@pytest.mark.parametrize("kind", ["exponential", "one_peer_exponential", "base"])
def test_a_searched_order_is_no_slower_than_a_tour_or_labels(kind):
    graph = network(variant="corrected")

    none, tour, searched = (
        DESIGN[kind](kind, graph, WORK, order=order).closed_forms.paper_s
        for order in ("none", "tour", "searched")
    )

    assert searched <= min(none, tour)


def test_gaps_are_those_of_the_papers():
    gaps = [spectral_gap(design("exponential", network(name), WORK).consensus) for name in ("gaia", "geant")]
    one_peer = design_periodic("one_peer_exponential", network(), WORK)

    assert gaps == pytest.approx([1 - 0.4896, 1 - 0.7143], abs=5e-5)
    assert contraction(11, one_peer.states) ** one_peer.period == pytest.approx(0.2196, abs=5e-5)


@pytest.mark.parametrize(("degree", "period"), [(1, 7), (2, 5), (3, 4), (4, 4)])
def test_base_averages_exactly_after_its_period(degree, period):
    overlay = design_periodic("base", network(), WORK, k=degree, order="tour")

    assert (overlay.period, overlay.max_degree) == (period, degree)
    assert contraction(11, overlay.states) == 0.0


@pytest.mark.parametrize(
    ("name", "reading_ms", "paper_ms"), [("gaia", 68.6, 68.8), ("aws_na", 81.3, 81.3), ("geant", 68.1, 68.2)]
)
def test_the_multigraph_and_its_published_reading(name, reading_ms, paper_ms):
    graph = network(name)

    assert multigraph_reading_s(graph, WORK) * 1e3 == pytest.approx(reading_ms, abs=0.1)
    overlay = design_periodic("multigraph", graph, WORK)
    assert overlay.closed_forms.paper_s * 1e3 == pytest.approx(paper_ms, abs=0.06)
    assert overlay.longest_lag <= 5


def test_a_multigraph_without_lags_is_the_ring_of_christofides():
    graph = network(variant="corrected")
    ring = design("christofides", graph, WORK)
    overlay = design_periodic("multigraph", graph, WORK, most_lag=1)

    (state,) = overlay.states
    assert (state.source.tolist(), state.target.tolist()) == (ring.source.tolist(), ring.target.tolist())
    assert overlay.closed_forms == ring.closed_forms


@pytest.mark.parametrize("name", ["gaia", "aws_na", "geant", "exodus", "ebone"])
@pytest.mark.parametrize("variant", ["published", "corrected"])
def test_of_one_region_hierarchical_is_the_star_around_the_most_central_silo(name, variant):
    graph = network(name, variant)
    forms = design("star", graph, WORK, hub="closeness").closed_forms

    overlay = design_periodic("hierarchical", graph, WORK, regions=1, cloud_every=1)

    assert overlay.computes == (True, False)
    found = overlay.closed_forms
    for form in ("paper_s", "serialized_s", "load_bound_s"):
        assert getattr(found, form) == pytest.approx(getattr(forms, form), rel=1e-12)


@pytest.mark.parametrize(("name", "regions"), [("gaia", 3), ("aws_na", 5), ("ebone", 9)])
def test_hierarchical_averages_exactly_after_its_rounds(name, regions):
    overlay = design_periodic("hierarchical", network(name), WORK)
    up, down = overlay.states[:2]

    assert overlay.graph.silos - len(up.source) == regions
    assert (up.computes, down.computes) == (True, False)
    assert np.flatnonzero(overlay.computes).tolist() == [0, 2, 4, 6]
    assert overlay.period == 10
    assert contraction(overlay.graph.silos, overlay.states) == 0.0
    product = np.linalg.multi_dot([overlay.consensus(k) for k in reversed(range(10))])
    assert product == pytest.approx(1 / overlay.graph.silos, abs=1e-14)


def test_regions_of_silos_that_must_talk():
    alone = [(0, silo) for silo in range(1, 11)] + [(silo, 0) for silo in range(1, 11)]

    kept = design_periodic("hierarchical", network(blocked=[(0, 1), (4, 7)]), WORK, regions=1)
    assert kept.closed_forms.paper_s > 0
    with pytest.raises(
        InputError, match=r"^hierarchical: with 3 regions \w+ must send to \w+, but cannot: [^\n]*$"
    ):
        design_periodic("hierarchical", network(variant="corrected", blocked=alone), WORK)


def test_rounds_of_equi_dyn_follow_its_places():
    graph = network(variant="corrected")
    overlay = design_random("equi_dyn", graph, WORK, order="tour")
    place = np.argsort(overlay.order)

    schedule = make_schedule(overlay, 0, 20)
    for k in range(20):
        source, target = schedule.arcs(k)
        assert len({(int(place[j]) - int(place[i])) % 11 for i, j in zip(source, target, strict=True)}) == 1
        assert schedule.consensus(k).sum(axis=0) == pytest.approx(1)
    assert np.sqrt(overlay.spectral_norm) == pytest.approx(0.674, abs=5e-4)


def test_silos_of_epidemic_send_to_as_many_as_asked():
    overlay = design_random("epidemic", network(), WORK, fanout=3)

    source, _ = make_schedule(overlay, 0, 1).arcs(0)
    assert np.bincount(source).tolist() == [3] * 11
    assert overlay.spectral_norm == pytest.approx(((1 - 0.7**11) / 0.3 - 1) / 10, rel=1e-12)


def test_stl_fw_pairs_silos_of_different_labels():
    graph = in_silo_order(network(), WORK)[0]
    labels = np.eye(11)

    overlay = design("stl_fw", graph, WORK, k=3, proportions=labels)

    assert overlay.max_degree <= 3
    assert overlay.consensus.sum(axis=0) == pytest.approx(1)


@pytest.mark.parametrize("kind", DESIGN)
def test_one_silo_sends_nothing(kind):
    assert not any(named_arcs(DESIGN[kind](kind, network(routers=[0], variant="corrected"), WORK)))


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("base", {"k": 0}, "k(=0) must be >= 1"),
        ("base", {"order": "random"}, "order(='random')"),
        ("hierarchical", {"regions": 12}, "regions(=12) must be <= 11, the number of silos."),
        ("hierarchical", {"regions": 0}, "regions(=0) must be >= 1"),
        ("hierarchical", {"cloud_every": 0}, "cloud_every(=0) must be >= 1 and <= 1000"),
        ("multigraph", {"most_lag": 0}, "most_lag(=0) must be >= 1"),
        ("epidemic", {"fanout": 11}, "fanout(=11) must be < silos(=11)"),
        ("equi_dyn", {"eta": 0.0}, "eta(=0.0) must be > 0"),
        ("equi_static", {"draws": 0}, "draws(=0) must be >= 1"),
    ],
)
def test_wrong_options(kind, options, message):
    with pytest.raises(InputError) as error:
        DESIGN[kind](kind, network(), WORK, **options)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (design, "base", "overlay kind(='base') is a periodic overlay: design_periodic designs it."),
        (design, "epidemic", "overlay kind(='epidemic') is a randomized overlay: design_random designs it."),
        (design_periodic, "ring", "overlay kind(='ring') is a static overlay: design designs it."),
        (design_random, "base", "overlay kind(='base') is a periodic overlay: design_periodic designs it."),
    ],
)
def test_each_function_names_the_one_of_another_kind(function, kind, message):
    with pytest.raises(InputError) as error:
        function(kind, network(), WORK)
    assert str(error.value) == message


def test_shifts_that_leave_silos_apart_are_refused():
    seed = next(seed for seed in range(100) if np.random.default_rng(seed).integers(1, 22) % 2 == 0)

    with pytest.raises(
        InputError, match=rf"equi_static: draws\(=1\) with seed {seed} draws the shifts \d+ of 22"
    ):
        design("equi_static", network("aws_na"), WORK, draws=1, seed=seed)


def test_stl_fw_needs_a_partition():
    with pytest.raises(InputError, match="stl_fw needs a partition of data"):
        design("stl_fw", network(), WORK)


@pytest.mark.parametrize("kind", DESIGN)
def test_pairs_that_cannot_talk(kind):
    blocked = [(0, silo) for silo in range(1, 9)]
    graph = network(variant="corrected", blocked=blocked)
    if kind in ("multigraph", "hierarchical"):
        for state in design_periodic(kind, graph, WORK).states:
            assert not {*zip(state.source.tolist(), state.target.tolist(), strict=True)} & {*blocked}
        return
    with pytest.raises(InputError, match=r"^[^\n]* cannot send to [^\n]*$"):
        DESIGN[kind](kind, graph, WORK)


@pytest.mark.parametrize("kind", ORDERED)
def test_an_order_is_searched_for_with_seed_0_unless_another_is_given(kind, monkeypatch):
    few = partial(node_order, evaluations=30)
    monkeypatch.setattr("topologies.designers.placed.EVALUATIONS", 30)
    monkeypatch.setattr("topologies.designers.equi_dyn.node_order", few)
    graph = network()
    first, second = (
        named_arcs(DESIGN[kind](kind, graph, WORK, order="searched", seed=seed)) for seed in (0, 1)
    )

    assert named_arcs(DESIGN[kind](kind, graph, WORK, order="searched")) == first != second

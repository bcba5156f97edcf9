"""The search on simulated cycle times: brute force, never worse than a kind, bounds, determinism, edges."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import random_network

from simulator import simulate
from simulator.designers.simulated_cost import SimulatedCost, arcs_of, ends
from simulator.designers.simulated_search import fastest_simulated
from simulator.statistics.confidence import rounds_for_interval
from topologies import (
    DESIGNERS,
    AccessLinks,
    InputError,
    Underlay,
    Workload,
    build_overlay,
    connectivity,
    design,
    load_underlay,
)
from topologies.bounds import simulated_bound_s
from topologies.consensus import check_consensus
from topologies.digraph import components
from topologies.label_order import in_silo_order

INATURALIST = Workload.preset("inaturalist", variant="published")
# stl_fw needs the labels of the silos.
STATIC = sorted(set(DESIGNERS) - {"best", "stl_fw"})
SHORT = {"iterations": 2_000, "evaluations": 30}
"""A search with a fiftieth of the moves and a tenth of the evaluations that it makes by default."""


def gaia(variant="published"):
    """Gaia with 10 Gbps access."""
    return connectivity(
        load_underlay("gaia", variant=variant), access=AccessLinks(up_bps=1e10, down_bps=1e10)
    )


def simulated_s(overlay):
    """Cycle time as tables have it."""
    timeline = simulate(overlay, rounds_for_interval(overlay.graph.silos), engine="compiled")
    interval = timeline.confidence_interval()
    return timeline.cycle_time_s if interval is None else interval.mean


def search(graph, work, **options):
    """A short search."""
    return fastest_simulated(graph, work, **{"iterations": 40, "evaluations": 20, **options})


@pytest.mark.parametrize("variant", ["published", "corrected"])
def test_never_worse_than_any_kind_on_gaia(variant):
    graph, work = gaia(variant), Workload.preset("inaturalist", variant=variant)
    found = search(graph, work)

    times_s = {kind: simulated_s(design(kind, graph, work)) for kind in STATIC}
    assert found.kind == "best"
    assert simulated_s(found) <= min(times_s.values()) * (1 + 1e-9)


@given(seed=st.integers(0, 2**32 - 1), silos=st.integers(1, 7))
@settings(max_examples=4, deadline=None)
def test_between_the_bound_and_every_kind(seed, silos):
    graph, work = random_network(seed, silos)
    found = search(graph, work, evaluations=10)

    found_s = simulated_s(found)
    for kind in STATIC:
        try:
            overlay = design(kind, graph, work)
        except InputError:
            continue
        assert found_s <= simulated_s(overlay) * (1 + 1e-9)
    assert found_s >= simulated_bound_s(graph, work) * (1 - 1e-9)
    check_consensus(found.consensus, columns=True)


@pytest.mark.parametrize("seed", range(3))
def test_never_worse_than_any_ring(seed):
    graph, work = random_network(seed, 5)
    tours = [(0, *rest) for rest in itertools.permutations(range(1, 5))]
    rings = [
        build_overlay("ring", graph, work, list(zip(tour, tour[1:] + tour[:1], strict=True)))
        for tour in tours
    ]

    assert len(rings) == math.factorial(4)
    assert simulated_s(search(graph, work)) <= min(map(simulated_s, rings)) * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_optimum_of_all_digraphs_of_four_silos(seed):
    graph, work = random_network(seed, 4)
    pairs = list(itertools.permutations(range(4), 2))
    digraphs = [
        arcs
        for size in range(4, 13)
        for arcs in map(frozenset, itertools.combinations(pairs, size))
        if components(4, *ends(arcs), strong=True)[0] == 1
    ]
    # The number of labelled strong digraphs on 4 nodes, OEIS A003030.
    assert len(digraphs) == 1606

    # In the order of their bounds only those before the first bound above the fastest are simulated.
    cost, best_s = SimulatedCost(graph, work), math.inf
    for bound_s, arcs in sorted((cost.bound(arcs).time_s, sorted(arcs)) for arcs in digraphs):
        if bound_s > best_s * (1 + 1e-9):
            break
        best_s = min(best_s, cost.simulated(cost.overlay(frozenset(arcs)), 500).time_s)
    assert simulated_s(search(graph, work, iterations=60, evaluations=40)) <= best_s * (1 + 1e-9)


@given(seed=st.integers(0, 2**32 - 1), silos=st.integers(2, 7))
@settings(max_examples=10, deadline=None)
def test_no_simulation_falls_below_the_bound_of_its_arcs(seed, silos):
    graph, work = random_network(seed, silos)
    rng = np.random.default_rng(seed)
    tour = rng.permutation(silos).tolist()
    arcs = set(itertools.pairwise([*tour, tour[0]]))
    arcs |= {pair for pair in itertools.permutations(range(silos), 2) if rng.random() < 0.3}
    overlay = build_overlay("digraph", graph, work, sorted(arcs))
    bound_s = SimulatedCost(graph, work).bound(arcs_of(overlay)).time_s

    for queueing in ("fifo", "overlap"):
        timeline = simulate(overlay, 300, queueing=queueing, engine="compiled")
        if timeline.cycle_time_is_exact:
            assert timeline.cycle_time_s >= bound_s * (1 - 1e-9)
    assert bound_s >= simulated_bound_s(graph, work) * (1 - 1e-9)


def test_models_that_never_meet_take_the_time_of_the_bound():
    ring = design("ring", gaia(), INATURALIST)
    cost = SimulatedCost(ring.graph, INATURALIST)
    simulated = cost.simulated(ring, 80)

    assert simulated.time_s == pytest.approx(cost.bound(arcs_of(ring)).time_s, rel=1e-9)
    assert simulated.arcs == ()


def test_the_slowed_arcs_are_those_that_meet():
    # Both silos of one side send to both of the other over one link of 1 kbit/s at the same time.
    underlay = Underlay(
        name="dumbbell",
        variant="corrected",
        labels=tuple("ABCDxy"),
        latitude_deg=np.zeros(6),
        longitude_deg=np.zeros(6),
        ends=np.array([(0, 4), (1, 4), (4, 5), (5, 2), (5, 3)]),
        length_km=np.zeros(5),
        capacity_bps=np.array([1e6, 1e6, 1e3, 1e6, 1e6]),
    )
    graph = connectivity(underlay, access=AccessLinks(up_bps=1e6, down_bps=1e6), routers=range(4))
    work = Workload(model_bits=1000.0, compute_s=0.5)
    cost = SimulatedCost(graph, work)
    crossing = [(0, 2), (1, 3)]
    overlay = build_overlay("crossing", graph, work, [*crossing, (2, 3), (3, 2), (2, 0), (0, 1), (1, 0)])

    assert set(cost.simulated(overlay, 80).arcs) == set(crossing)
    # One arc each way is enough, and the middle link then carries one model per round.
    assert search(graph, work).closed_forms.load_bound_s == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_overlay_and_the_order_of_silos_plays_no_part():
    graph, work = random_network(5, 6)
    order = [3, 0, 5, 1, 4, 2]
    moved = connectivity(
        graph.underlay,
        access=AccessLinks(up_bps=graph.up_bps[order], down_bps=graph.down_bps[order]),
        routers=graph.router[order],
    )
    its_work = Workload(model_bits=work.model_bits, compute_s=np.asarray(work.compute_s)[order])
    one, two, three = search(graph, work), search(graph, work), search(moved, its_work)

    def named(overlay):
        labels = overlay.graph.labels
        return {(labels[i], labels[j]) for i, j in arcs_of(overlay)}

    assert in_silo_order(moved, its_work)[0] is not moved
    assert named(one) == named(two) == named(three)


def test_progress_rises_to_the_end():
    shares = []
    search(*random_network(5, 6), progress=shares.append)

    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) > 10


@pytest.mark.parametrize("silos", [1, 2, 3])
def test_few_silos(silos):
    graph, work = random_network(1, silos)
    overlay = search(graph, work)

    assert simulated_s(overlay) >= simulated_bound_s(graph, work) * (1 - 1e-9)
    assert overlay.arcs == {1: 0, 2: 2}.get(silos, overlay.arcs)


def test_of_one_silo_the_cycle_time_is_its_computing_time():
    graph, _ = random_network(1, 1)
    work = Workload(model_bits=1e6, compute_s=0.25)

    assert simulated_bound_s(graph, work) == 0.25
    assert simulated_s(search(graph, work)) == pytest.approx(0.25)


def test_silos_that_cannot_be_joined_are_an_error():
    graph, work = random_network(1, 3)
    cut = connectivity(
        graph.underlay,
        access=AccessLinks(up_bps=1e9, down_bps=1e9),
        routers=range(3),
        blocked=[(0, 1), (0, 2)],
    )

    with pytest.raises(InputError, match="nothing that r0 sends can reach"):
        search(cut, work)


def test_time_that_cannot_advance_is_an_error():
    graph, _ = random_network(1, 2)
    still = replace(graph, latency_s=np.zeros((2, 2)))

    with pytest.raises(InputError, match="time could not advance"):
        search(still, Workload(model_bits=0.0, compute_s=0.0))


def test_evaluations_go_with_the_simulated_criterion():
    graph, work = random_network(1, 3)

    with pytest.raises(
        InputError,
        match=r"evaluations\(=5\) goes with the criterion simulated or time-to-accuracy, not with paper",
    ):
        design("best", graph, work, evaluations=5)
    with pytest.raises(InputError, match="evaluations"):
        design("best", graph, work, criterion="simulated", evaluations=-1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "ring_ms", "options"),
    [
        ("gaia", 118.1, {"iterations": 2_000}),
        ("aws_na", 80.7, SHORT),
        ("geant", 86.0, SHORT),
        ("exodus", 84.2, SHORT),
        ("ebone", 78.1, SHORT),
    ],
)
def test_below_the_rings_of_the_published_networks(name, ring_ms, options):
    graph = connectivity(
        load_underlay(name, variant="published"), access=AccessLinks(up_bps=1e10, down_bps=1e10)
    )
    overlay = design("best", graph, INATURALIST, criterion="simulated", **options)

    assert simulated_bound_s(graph, INATURALIST, circuits=False) <= simulated_s(overlay) < ring_ms / 1e3

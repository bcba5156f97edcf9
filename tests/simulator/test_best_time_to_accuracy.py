"""The search on seconds per e-fold: never worse than a kind, brute force, determinism, exact averages, edges."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import random_network

from simulator import simulate
from simulator.designers.mixing_moves import apart, best_matching, cross
from simulator.designers.mixing_search import _optimal, _weighed, fewest_seconds_per_efold
from simulator.designers.shift_digraphs import mixing_shifts
from simulator.designers.simulated_cost import SimulatedCost, ends
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
from topologies.consensus import check_consensus, weight_pattern
from topologies.contraction import round_contraction
from topologies.digraph import components
from topologies.optimal_consensus import fdla
from topologies.scaled_weights import scaled_weights
from topologies.time_to_accuracy import seconds_per_efold
from topologies.weights import metropolis

# stl_fw needs the labels of the silos.
STATIC = sorted(set(DESIGNERS) - {"best", "stl_fw"})


def optimal(overlay):
    """The overlay with FDLA's weights; a STAR as it is."""
    if overlay.hub is not None:
        return overlay
    weights = fdla(overlay.graph.silos, overlay.source, overlay.target)
    return replace(overlay, consensus=weights, negative_weights=True)


def simulated_s(overlay):
    """The cycle time that tables have."""
    timeline = simulate(overlay, rounds_for_interval(overlay.graph.silos), engine="compiled")
    interval = timeline.confidence_interval()
    return timeline.cycle_time_s if interval is None else interval.mean


def efold_s(overlay):
    """Seconds per e-fold by that cycle time."""
    return seconds_per_efold(simulated_s(overlay), round_contraction(overlay.consensus))


def search(graph, work, **options):
    """A short search."""
    return fewest_seconds_per_efold(graph, work, **{"iterations": 40, "evaluations": 20, **options})


@given(seed=st.integers(0, 2**32 - 1), silos=st.integers(1, 5))
@settings(max_examples=3, deadline=None)
def test_never_worse_than_any_kind_with_optimal_weights(seed, silos):
    graph, work = random_network(seed, silos)
    found = search(graph, work, evaluations=10)

    found_s = efold_s(found)
    assert found.kind == "best"
    for kind in STATIC:
        try:
            overlay = design(kind, graph, work)
        except InputError:
            continue
        assert found_s <= efold_s(optimal(overlay)) * (1 + 1e-6)
        assert found_s <= efold_s(overlay) * (1 + 1e-6)
    pattern = weight_pattern(silos, found.source, found.target, found.hub)
    check_consensus(found.consensus, columns=True, negative_weights=True, pattern=pattern)


@pytest.mark.slow
def test_near_the_optimum_of_all_digraphs_of_four_silos():
    # On this network few digraphs have shorter rounds than what is found.
    graph, work = random_network(4, 4)
    found_s = efold_s(search(graph, work, iterations=60, evaluations=40))
    pairs = list(itertools.permutations(range(4), 2))
    strong = [
        arcs
        for size in range(4, 13)
        for arcs in itertools.combinations(pairs, size)
        if components(4, *np.array(arcs).T, strong=True)[0] == 1
    ]
    # The number of labelled strong digraphs on 4 nodes, OEIS A003030.
    assert len(strong) == 1606
    # An e-fold takes a round at least: only what has shorter rounds could be better, with its optimal weights.
    cost = SimulatedCost(graph, work)
    near = [arcs for arcs in strong if cost.bound(frozenset(arcs)).time_s < found_s]
    digraphs = (build_overlay("digraph", graph, work, arcs) for arcs in near)
    # Weights take no time.
    times_s = ((each, simulated_s(each)) for each in digraphs)
    others_s = [
        seconds_per_efold(time_s, round_contraction(optimal(each).consensus))
        for each, time_s in times_s
        if time_s < found_s
    ]
    assert others_s
    assert found_s <= min(others_s) * (1 + 1e-6)


@pytest.mark.slow
def test_a_slow_uplink_leaves_dense_overlays_out_and_a_fast_network_does_not():
    # With 100 Mbps access all ten models of a silo leave one after the other; with 10 Gbps they cost little.
    work = Workload.preset("inaturalist")
    gaia = load_underlay("gaia", variant="published")

    def found(bps):
        graph = connectivity(gaia, access=AccessLinks(up_bps=bps, down_bps=bps))
        return search(graph, work, iterations=10, evaluations=4)

    slow, fast = found(1e8), found(1e10)
    assert slow.max_degree < fast.max_degree
    assert round_contraction(slow.consensus) > round_contraction(fast.consensus)
    assert efold_s(slow) < efold_s(design("ring", slow.graph, work)) / 4


def test_of_two_silos_the_exact_average_is_taken_and_a_round_is_what_it_takes():
    graph, work = random_network(3, 2)
    found = search(graph, work)

    assert found.consensus == pytest.approx(np.full((2, 2), 0.5))
    assert efold_s(found) == min(efold_s(design(kind, graph, work)) for kind in ("star", "complete"))


def test_of_one_silo_it_is_the_computing_time():
    graph, _ = random_network(1, 1)
    assert efold_s(search(graph, Workload(model_bits=1e6, compute_s=0.25))) == pytest.approx(0.25)


@pytest.mark.slow
def test_of_exact_averages_the_one_with_short_rounds_is_taken():
    # Nothing but the access links counts: the hub's 4 models take 8 times as long as each silo's one in the others.
    underlay = Underlay(
        name="hub",
        variant="corrected",
        labels=tuple("ABCDEx"),
        latitude_deg=np.zeros(6),
        longitude_deg=np.zeros(6),
        ends=np.array([(i, 5) for i in range(5)]),
        length_km=np.zeros(5),
        capacity_bps=np.full(5, 1e12),
    )
    graph = connectivity(underlay, access=AccessLinks(up_bps=1e6, down_bps=1e6), routers=range(5))
    found = search(graph, Workload(model_bits=1e6, compute_s=0.0))

    assert found.hub is None
    assert math.isfinite(efold_s(found))
    assert efold_s(found) < efold_s(design("star", graph, found.work)) / 1.5


@pytest.mark.slow
def test_the_same_seed_gives_the_same_overlay_and_the_order_of_silos_plays_no_part():
    graph, work = random_network(5, 6)
    order = [3, 0, 5, 1, 4, 2]
    moved = connectivity(
        graph.underlay,
        access=AccessLinks(up_bps=graph.up_bps[order], down_bps=graph.down_bps[order]),
        routers=graph.router[order],
    )
    its_work = Workload(model_bits=work.model_bits, compute_s=np.asarray(work.compute_s)[order])

    def weights(overlay):
        labels = overlay.graph.labels
        pairs = zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)
        return {(labels[i], labels[j]): overlay.consensus[j, i] for i, j in pairs}

    cases = ((graph, work), (graph, work), (moved, its_work))
    one, two, three = (search(*case, evaluations=8) for case in cases)
    assert weights(one) == weights(two) == weights(three)


def test_progress_rises_to_the_end():
    shares = []
    search(*random_network(5, 6), progress=shares.append)

    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) > 5


def test_silos_that_cannot_be_joined_are_an_error():
    graph, work = random_network(1, 3)
    access = AccessLinks(up_bps=1e9, down_bps=1e9)
    cut = connectivity(graph.underlay, access=access, routers=range(3), blocked=[(0, 1), (0, 2)])

    with pytest.raises(InputError, match="nothing that r0 sends can reach"):
        search(cut, work)


def test_time_that_cannot_advance_is_an_error():
    graph, _ = random_network(1, 2)
    still = replace(graph, latency_s=np.zeros((2, 2)))

    with pytest.raises(InputError, match="time could not advance"):
        search(still, Workload(model_bits=0.0, compute_s=0.0))


def test_an_unknown_criterion_names_them_all():
    graph, work = random_network(1, 3)
    with pytest.raises(InputError, match="time-to-accuracy"):
        design("best", graph, work, criterion="time")


def test_models_stay_farthest_apart_across_the_bridge():
    # Two triangles joined by one edge: their models mix within long before they mix across.
    pairs = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)]
    matrix = metropolis(6, *np.array([*pairs, *((j, i) for i, j in pairs)]).T)
    distance = apart(matrix)
    across = distance[:3, 3:].min()

    assert across > 3 * max(distance[:3, :3].max(), distance[3:, 3:].max())
    allowed = ~np.eye(6, dtype=bool)
    matching = best_matching(allowed, distance)
    assert len(matching) == 6
    assert all((i < 3) != (j < 3) for i, j in matching)


def test_crossing_keeps_degrees_and_refuses_arcs_that_are_there():
    ring = frozenset([(0, 1), (1, 2), (2, 3), (3, 0)])
    assert cross(ring, (0, 1), (2, 3)) == {(0, 3), (1, 2), (2, 1), (3, 0)}
    assert cross(ring | {(0, 3)}, (0, 1), (2, 3)) == ring | {(0, 3)}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaia", "geant"])
def test_better_than_the_other_kinds_of_the_published_networks(name):
    published = load_underlay(name, variant="published")
    graph = connectivity(published, access=AccessLinks(up_bps=1e10, down_bps=1e10))
    work = Workload.preset("inaturalist", variant="published")
    # A fraction of the moves and of the evaluations that a search makes by default is enough.
    short = {"iterations": 300, "evaluations": 10}
    found_s = efold_s(design("best", graph, work, criterion="time-to-accuracy", **short))

    for kind in set(STATIC) - {"complete"}:
        assert found_s < efold_s(optimal(design(kind, graph, work)))


def test_the_shifts_that_mix_best_are_found():
    # Of 8 silos, 21 pairs of shifts: all of them are drawn.
    rng = np.random.default_rng(0)
    shifts = mixing_shifts(8, 2, rng)

    def contraction(pair):
        weights = sum(np.roll(np.eye(8), shift, axis=1) for shift in (0, *pair)) / 3
        return np.linalg.norm(weights - 1 / 8, 2)

    best = min(contraction(pair) for pair in itertools.combinations(range(1, 8), 2))
    assert sorted(shifts) == shifts.tolist()
    assert contraction(shifts) == pytest.approx(best, rel=1e-9)


def test_models_that_are_averaged_at_once_are_nowhere_apart():
    assert not apart(np.full((4, 4), 0.25)).any()
    # Of two pairs that never meet, models of different pairs stay apart for ever.
    pairs = np.kron(np.eye(2), np.full((2, 2), 0.5))
    different = np.kron(1 - np.eye(2), np.ones((2, 2)))
    found = apart(pairs)
    assert found == pytest.approx(found.max() * different, abs=1e-12)
    assert found.max() > 0


def test_weights_that_average_unequally_are_replaced():
    # With equal rows three silos agree at once, but on a mean in which the first one has most.
    graph, work = random_network(1, 3)
    unequal = np.tile([0.8, 0.1, 0.1], (3, 1))
    arcs = [(i, j) for i in range(3) for j in range(3) if i != j]
    overlay = build_overlay("complete", graph, work, arcs, consensus=unequal)
    optimal = _optimal(SimulatedCost(graph, work), overlay)

    assert optimal.consensus.sum(axis=0) == pytest.approx(np.ones(3), abs=1e-9)
    equal = build_overlay("complete", graph, work, arcs, consensus=np.full((3, 3), 1 / 3))
    assert round_contraction(_optimal(SimulatedCost(graph, work), equal).consensus) < 1e-6


def test_an_overlay_is_weighed_by_scaled_weights_or_by_ones_that_are_optimal_to_a_hundredth():
    cost = SimulatedCost(*random_network(5, 6))
    arcs = frozenset((i, (i + 1) % 6) for i in range(6)) | {(0, 3), (3, 0), (1, 4), (5, 2)}
    plain, near = _weighed(cost, arcs), _weighed(cost, arcs, optimal=True)
    scaled, best = (round_contraction(weights(6, *ends(arcs))) for weights in (scaled_weights, fdla))

    assert plain.value_s == pytest.approx(seconds_per_efold(plain.simulated.time_s, scaled), rel=1e-12)
    contraction = np.exp(-near.simulated.time_s / near.value_s)
    assert best * (1 - 1e-9) <= contraction <= best + 1e-2 < scaled
    # What is estimated to be no better than a limit is not simulated.
    assert _weighed(cost, arcs, plain.estimate_s) is None
    assert _weighed(cost, arcs, plain.estimate_s * (1 + 1e-9)).value_s == plain.value_s

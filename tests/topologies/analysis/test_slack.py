"""Slack and free arcs against their definitions: change the delays, or the arcs, and compute again."""

import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import (
    AccessLinks,
    EventGraph,
    Workload,
    build_overlay,
    connectivity,
    cycle_time,
    design,
    load_underlay,
)
from topologies.analysis import arc_slack, event_slack, free_arcs
from topologies.delays import degrees
from topologies.slow_start import with_slow_start

INATURALIST = Workload.preset("inaturalist", variant="published")
seeds = st.integers(0, 2**32 - 1)


def raised(graph: EventGraph, arc: int, by_s: float) -> float:
    delay_s = graph.delay_s.copy()
    delay_s[arc] += by_s
    return cycle_time(replace(graph, delay_s=delay_s)).cycle_time_s


@st.composite
def event_graphs(draw) -> EventGraph:
    """Any digraph with a circuit: parallel arcs, several components, 0 to 3 tokens."""
    nodes = draw(st.integers(1, 5))
    node = st.integers(0, nodes - 1)
    delay = st.one_of(st.integers(0, 3).map(float), st.floats(0, 10, allow_subnormal=False))
    pairs = [(0, 0), *draw(st.lists(st.tuples(node, node), max_size=12))]
    return EventGraph(
        nodes=nodes,
        source=np.array([i for i, _ in pairs]),
        target=np.array([j for _, j in pairs]),
        delay_s=np.array([draw(delay) for _ in pairs]),
        tokens=np.array([draw(st.integers(0 if i < j else 1, 3)) for i, j in pairs]),
    )


def slack_by_enumeration(graph: EventGraph, tau: float) -> np.ndarray:
    """``tau * tokens - delays`` of the heaviest simple circuit through each arc."""
    network = nx.MultiDiGraph()
    for arc, (i, j) in enumerate(zip(graph.source.tolist(), graph.target.tolist(), strict=True)):
        network.add_edge(i, j, key=arc)
    slack = np.full(len(graph.source), np.inf)
    for nodes in nx.simple_cycles(nx.DiGraph(network)):
        pairs = zip(nodes, nodes[1:] + nodes[:1], strict=True)
        for circuit in itertools.product(*(list(network[i][j]) for i, j in pairs)):
            arcs = list(circuit)
            slack[arcs] = np.minimum(slack[arcs], tau * graph.tokens[arcs].sum() - graph.delay_s[arcs].sum())
    return slack


@given(graph=event_graphs())
def test_slack_is_what_the_heaviest_circuit_leaves(graph):
    proof = cycle_time(graph)

    slack = event_slack(graph, proof)

    assert np.all(slack[list(proof.circuit)] == 0)
    assert slack == pytest.approx(slack_by_enumeration(graph, proof.cycle_time_s), abs=1e-9)


@given(seed=seeds, ties=st.booleans())
def test_within_its_slack_a_delay_changes_nothing_and_beyond_it_everything(random_case, seed, ties):
    overlay = random_case(seed, ties=ties).build()
    tau = overlay.proof.cycle_time_s

    for arc, slack in enumerate(arc_slack(overlay).tolist()):
        assert raised(overlay.event_graph, arc, slack * (1 - 1e-9)) == pytest.approx(tau, rel=1e-12, abs=0)
        more = 1e-6 * slack + 1e-6
        assert raised(overlay.event_graph, arc, slack + more) >= tau + more / (2 * len(overlay.source) + 2)


def test_a_rings_arcs_have_no_slack(published_graph):
    assert np.all(arc_slack(design("ring", published_graph("geant", 1e10), INATURALIST)) == 0)


@pytest.mark.parametrize("name", ["geant", "ebone"])
def test_a_trees_slack_in_closed_form(published_graph, name):
    tree = design("mst", published_graph(name, 1e10), INATURALIST)
    delay = np.zeros((tree.graph.silos, tree.graph.silos))
    delay[tree.source, tree.target] = tree.delay_s

    pair = delay[tree.source, tree.target] + delay[tree.target, tree.source]
    assert arc_slack(tree) == pytest.approx(2 * tree.proof.cycle_time_s - pair, abs=1e-12)


def test_a_stars_slack_in_closed_form(published_graph):
    star = design("star", published_graph("gaia", 1e10), INATURALIST)
    trip = np.zeros(11)
    for silo, delay in zip(
        np.where(star.source == star.hub, star.target, star.source), star.delay_s, strict=True
    ):
        trip[silo] += delay

    other = np.where(star.source == star.hub, star.target, star.source)
    assert arc_slack(star) == pytest.approx(star.proof.cycle_time_s - trip[other], abs=1e-12)


def test_one_silo_has_no_arc(make_underlay):
    graph = connectivity(
        make_underlay(2, [(0, 1, 1.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[0]
    )
    overlay = build_overlay("one", graph, INATURALIST, [])

    assert arc_slack(overlay).shape == (0,)
    assert free_arcs(overlay) == []


def check_free_arcs(overlay, candidates) -> None:
    """Every candidate is free if and only if the overlay with it is as fast; the facts are those of that overlay."""
    tau, silos = overlay.proof.cycle_time_s, overlay.graph.silos
    arcs = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    free = {(arc.source, arc.target): arc for arc in free_arcs(overlay)}
    for pair in candidates:
        more = build_overlay("more", overlay.graph, overlay.work, [*arcs, pair], hub=overlay.hub)
        # Between the two limits rounding decides.
        if more.proof.cycle_time_s <= tau * (1 + 1e-13):
            assert pair in free
        if more.proof.cycle_time_s > tau * (1 + 1e-10):
            assert pair not in free
        if pair not in free:
            continue
        new = list(zip(more.source.tolist(), more.target.tolist(), strict=True)).index(pair)
        out, into = degrees(silos, more.source, more.target)
        old_delay = np.delete(more.delay_s, new)
        slowed = np.flatnonzero(old_delay > overlay.delay_s * (1 + 1e-12) + 1e-15).tolist()
        arc = free[pair]
        assert arc.delay_s == pytest.approx(more.delay_s[new], rel=1e-12)
        assert arc.slack_s == pytest.approx(arc_slack(more)[new], abs=1e-9)
        assert (arc.out_degree, arc.in_degree) == (out[pair[0]], into[pair[1]])
        assert list(arc.slowed) == slowed


@given(seed=seeds, ties=st.booleans())
def test_an_arc_is_free_if_the_overlay_with_it_is_as_fast(random_case, seed, ties):
    overlay = random_case(seed, ties=ties).build()
    outside = overlay.graph.may_send
    outside[overlay.source, overlay.target] = False

    candidates = [tuple(pair) for pair in np.argwhere(outside).tolist()]
    assert {(arc.source, arc.target) for arc in free_arcs(overlay)} <= set(candidates)
    check_free_arcs(overlay, candidates)


@pytest.mark.parametrize("access_bps", [1e8, 1e9, 1e10])
@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
def test_free_arcs_of_gaia(published_graph, kind, access_bps):
    overlay = design(kind, published_graph("gaia", access_bps), INATURALIST)
    outside = overlay.graph.may_send
    outside[overlay.source, overlay.target] = False

    check_free_arcs(overlay, [tuple(pair) for pair in np.argwhere(outside).tolist()])


@pytest.mark.parametrize("kind", ["ring", "mst"])
def test_some_free_arcs_of_ebone(published_graph, kind):
    overlay = design(kind, published_graph("ebone", 1e9), INATURALIST)
    outside = overlay.graph.may_send
    outside[overlay.source, overlay.target] = False

    pairs = np.random.default_rng(1).permutation(np.argwhere(outside))[:60]
    check_free_arcs(overlay, [tuple(pair) for pair in pairs.tolist()])


def test_a_free_arc_by_hand(make_underlay):
    # A line 0 - 1 - 2 of 1 Gbps; 0 and 1 are far apart, 1 and 2 are near; all access links are 0.1 Gbps.
    line = make_underlay(3, [(0, 1, 2e4), (1, 2, 0.0)])
    graph = connectivity(line, access=AccessLinks(up_bps=1e8, down_bps=1e8))
    tree = build_overlay(
        "line", graph, Workload(model_bits=1e7, compute_s=0.0), [(0, 1), (1, 0), (1, 2), (2, 1)]
    )

    # Silo 1's access link carries two models already; a model between 0 and 2 makes theirs carry two as well, which
    # slows no arc, since two models share silo 1's end of each anyway.
    assert [(arc.source, arc.target) for arc in free_arcs(tree)] == [(0, 2), (2, 0)]
    assert [arc.slowed for arc in free_arcs(tree)] == [(), ()]
    assert [arc.delay_s for arc in free_arcs(tree)] == pytest.approx([0.17 + 0.004 + 0.2] * 2)


def test_blocked_pairs_are_not_free():
    underlay = load_underlay("gaia")
    everybody = AccessLinks(up_bps=1e10, down_bps=1e10)
    ring = design("mst", connectivity(underlay, access=everybody), INATURALIST)
    free = [(arc.source, arc.target) for arc in free_arcs(ring)]
    blocked = connectivity(underlay, access=everybody, blocked=free[:1])
    arcs = list(zip(ring.source.tolist(), ring.target.tolist(), strict=True))

    assert [
        (arc.source, arc.target) for arc in free_arcs(build_overlay("mst", blocked, INATURALIST, arcs))
    ] == free[1:]


@pytest.mark.parametrize(("compute_s", "free"), [(0.185, False), (0.21, True)])
def test_two_slower_arcs_on_one_circuit_count_together(make_underlay, compute_s, free):
    # A ring 0 -> 1 -> 2 -> 3 -> 0 of 0.104 s per arc; silo 1's computing sets tau and leaves 3 * tau - 0.416 s to the
    # ring. 0 -> 3 makes 0 -> 1 and 2 -> 3 slower by 0.1 s each: either fits into 0.139 s, both do not.
    line = make_underlay(4, [(0, 1, 0.0), (1, 2, 0.0), (2, 3, 0.0)])
    graph = connectivity(line, access=AccessLinks(up_bps=1e8, down_bps=1e8))
    work = Workload(model_bits=1e7, compute_s=np.array([0.0, compute_s, 0.0, 0.0]))
    ring = build_overlay("ring", graph, work, [(0, 1), (1, 2), (2, 3), (3, 0)])

    assert ring.proof.cycle_time_s == compute_s
    assert arc_slack(ring) == pytest.approx(np.full(4, 3 * compute_s - 0.416))
    found = {(arc.source, arc.target): arc for arc in free_arcs(ring)}
    assert ((0, 3) in found) == free
    if free:
        assert found[0, 3].slowed == (0, 2)


def test_a_second_critical_circuit_has_no_slack_but_for_rounding():
    # 0.1 + 0.2 and 0.15 + 0.15 differ in their last digit; the fifth arc is 0.05 s faster than the first.
    graph = EventGraph(
        nodes=3,
        source=np.array([0, 1, 0, 2, 0]),
        target=np.array([1, 0, 2, 0, 1]),
        delay_s=np.array([0.15, 0.15, 0.1, 0.2, 0.1]),
        tokens=np.ones(5, dtype=np.int64),
    )
    slack = event_slack(graph, cycle_time(graph))

    assert slack[:4].tolist() == [0, 0, 0, 0]
    assert slack[4] == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_arcs_out_of_a_hub_that_does_not_reach_all_silos_at_once(make_underlay, seed):
    # The hub's models are of this round: an arc out of it has no token, and closes circuits with one less.
    rng = np.random.default_rng(seed)
    line = make_underlay(5, [(i, i + 1, float(rng.integers(1, 9000))) for i in range(4)])
    graph = connectivity(
        line, access=AccessLinks(up_bps=rng.choice((1e8, 1e9), 5), down_bps=rng.choice((1e8, 1e9), 5))
    )
    order = [0, *(1 + rng.permutation(4)).tolist()]
    arcs = {*zip(order, order[1:] + order[:1], strict=True), (order[2], 0), (order[1], 0)}
    work = Workload(model_bits=1e7, compute_s=rng.choice((0.01, 0.3, 0.5), 5))
    overlay = build_overlay("hub", graph, work, sorted(arcs), hub=0)
    outside = graph.may_send
    outside[overlay.source, overlay.target] = False
    candidates = [tuple(pair) for pair in np.argwhere(outside).tolist()]

    assert [pair for pair in candidates if pair[0] == 0] == sorted((0, silo) for silo in order[2:])
    assert {(arc.source, arc.target) for arc in free_arcs(overlay)} <= set(candidates)
    check_free_arcs(overlay, candidates)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("access_bps", "model_bits"), [(2e7, 1e7), (3e8, 1e7), (2e7, 1e6)])
def test_free_arcs_of_transfers_that_start_slowly(make_underlay, seed, access_bps, model_bits):
    # An arc more leaves each a smaller share of an access link, at which fewer round trips of slow start are lost.
    rng = np.random.default_rng(seed)
    line = make_underlay(5, [(i, i + 1, float(rng.integers(1, 4000))) for i in range(4)])
    access = AccessLinks(up_bps=access_bps * rng.choice((1.0, 4.0), 5), down_bps=access_bps)
    graph = with_slow_start(connectivity(line, access=access), "always")
    work = Workload(model_bits=model_bits, compute_s=rng.choice((0.01, 0.1), 5))
    order = rng.permutation(5).tolist()
    arcs = {*zip(order, order[1:] + order[:1], strict=True), (order[0], order[2])}
    overlay = build_overlay("ring", graph, work, sorted(arcs))
    outside = graph.may_send
    outside[overlay.source, overlay.target] = False

    assert overlay.slow_start_s.min() > 0
    check_free_arcs(overlay, [tuple(pair) for pair in np.argwhere(outside).tolist()])

"""A STAR along a tree in chunks: by hand, chunk by chunk as a job of its own, and limits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import FlowArc, simulate_flows
from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, design
from topologies.analysis import relayed_star_s
from topologies.slow_start import with_slow_start

MOST = 10**9


def tree_of(make_underlay, edges, *, up_bps, down_bps, bits=12.0, compute_s=1.0, km=0.0):
    silos = len(edges) + 1
    graph = connectivity(
        make_underlay(silos, [(i, j, km) for i, j in edges]),
        access=AccessLinks(up_bps=up_bps, down_bps=down_bps),
        core=1e12,
        bandwidth="bottleneck",
    )
    work = Workload(model_bits=bits, compute_s=compute_s)
    arcs = [*edges, *((j, i) for i, j in edges)]
    return build_overlay("tree", graph, work, arcs)


def as_chunk_job(tree, hub, chunks):
    """Every edge and chunk as silos of their own: when it may leave, and when it has left."""
    graph, bits = tree.graph, tree.work.model_bits / chunks
    beside = {i: [] for i in range(graph.silos)}
    for i, j in zip(tree.source.tolist(), tree.target.tolist(), strict=True):
        beside[i].append(j)
    parent, order = {hub: None}, [hub]
    for i in order:
        for j in beside[i]:
            if j not in parent:
                parent[j] = i
                order.append(j)
    kids = {i: len(beside[i]) - (i != hub) for i in order}
    names, arcs, capacity = {}, [], []

    def event(*name):
        return names.setdefault(name, len(names))

    def then(before, after, latency_s=0.0, links=(), tokens=0):
        arcs.append(FlowArc(source=before, target=after, latency_s=latency_s, links=links, tokens=tokens))

    def edge(way, i, j, rate_bps):
        capacity.append(rate_bps)
        for c in range(chunks):
            then(event("may", way, i, j, c), event("left", way, i, j, c), links=(len(capacity) - 1,))
            if c:
                then(event("left", way, i, j, c - 1), event("may", way, i, j, c))

    for j in order[1:]:
        i = parent[j]
        edge("down", i, j, min(graph.up_bps[i] / kids[i], graph.down_bps[j]))
        edge("up", j, i, min(graph.up_bps[j], graph.down_bps[i] / kids[i]))
    for c in range(chunks):
        for j in order[1:]:
            i = parent[j]
            there_s, back_s = graph.latency_s[i, j], graph.latency_s[j, i]
            then(event("left", "down", i, j, c), event("has", j, c), there_s)
            then(event("has", j, c), event("all", j))
            then(event("left", "up", j, i, c), event("sum", i, c), back_s)
            then(event("sum", j, c), event("may", "up", j, i, c))
            then(event("computed", j), event("sum", j, c))
            # The mean comes down at the start of a round.
            then(event("start") if i == hub else event("has", i, c), event("may", "down", i, j, c))
        then(event("sum", hub, c), event("end"))
    then(event("end"), event("start"), tokens=1)
    then(event("start"), event("all", hub))
    then(event("computed", hub), event("end"))
    for j in order:
        compute_s = float(tree.work.round_compute_s(graph.silos)[j])
        then(event("all", j), event("computed", j), compute_s)
    sizes = [bits if arc.links else 0.0 for arc in arcs]
    return simulate_flows(
        arcs,
        link_capacity_bps=capacity,
        message_bits=sizes,
        compute_s=np.zeros(len(names)),
        rounds=4,
        engine="simpy",
    )


def test_a_chain_by_hand(make_underlay):
    """Hub - A - B, 12 bits, computing 1 s, links of 4 bit/s into A and of 2 into B, uplinks of 6 for all."""
    chain = tree_of(make_underlay, [(0, 1), (1, 2)], up_bps=6.0, down_bps=np.array([3.0, 4.0, 2.0]))
    latency_s = 4e-3
    # Whole models: 3 s and 6 s down; up 12 / 4 = 3 s from B to A, and 12 / 3 = 4 s from A to the hub.
    assert relayed_star_s(chain, 0, 1) == pytest.approx(3 + 6 + 1 + 3 + 4 + 4 * latency_s, rel=1e-12)
    # In six chunks of 2 bits: 0.5 s, then six times 1 s; up 0.5 s, then six times 2/3 s.
    assert relayed_star_s(chain, 0, 6) == pytest.approx(0.5 + 6 + 1 + 0.5 + 4 + 4 * latency_s, rel=1e-12)
    assert relayed_star_s(chain, 0, MOST) == pytest.approx(6 + 1 + 4 + 4 * latency_s, rel=1e-6)


@given(data=st.data())
@settings(max_examples=10)
def test_it_is_the_simulation_of_all_chunks(make_underlay, data):
    silos, chunks = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 4))
    edges = [(data.draw(st.integers(0, i - 1)), i) for i in range(1, silos)]
    rates = st.lists(st.sampled_from([1.0, 2.0]) | st.floats(0.5, 9.0), min_size=silos, max_size=silos)
    times = data.draw(st.lists(st.floats(0.1, 9.0), min_size=silos, max_size=silos))
    tree = tree_of(
        make_underlay,
        edges,
        up_bps=np.array(data.draw(rates)),
        down_bps=np.array(data.draw(rates)),
        compute_s=np.array(times),
        km=500.0,
    )
    hub = data.draw(st.integers(0, silos - 1))

    found = as_chunk_job(tree, hub, chunks)
    assert found.cycle_time_s == pytest.approx(relayed_star_s(tree, hub, chunks), rel=1e-9)


def test_around_a_star_it_is_the_star(make_underlay):
    star = tree_of(make_underlay, [(0, 1), (0, 2), (0, 3)], up_bps=6.0, down_bps=6.0, km=200.0)
    direct = build_overlay(
        "star", star.graph, star.work, zip(star.source, star.target, strict=True), hub=0
    ).closed_forms.paper_s

    for chunks in (1, 5, MOST):
        assert relayed_star_s(star, 0, chunks) == pytest.approx(direct, rel=1e-9)


def test_more_chunks_are_never_slower(published_graph):
    mst = design("mst", published_graph("geant", 1e9), Workload.preset("inaturalist"))
    times_s = [relayed_star_s(mst, 3, chunks) for chunks in (1, 2, 16, MOST)]

    assert times_s == sorted(times_s, reverse=True)


def test_one_silo_only_computes(few_silos):
    alone = build_overlay("tree", few_silos(1), Workload(model_bits=1.0, compute_s=2.0), [])

    assert relayed_star_s(alone, 0, 3) == 2.0


def test_what_is_no_tree_or_no_hub_is_refused(published_graph):
    graph, work = published_graph("gaia", 1e9), Workload.preset("femnist")
    mst = design("mst", graph, work)

    with pytest.raises(InputError, match="ring: must be a tree"):
        relayed_star_s(design("ring", graph, work), 0, 1)
    with pytest.raises(InputError, match=r"hub\(=11\) must be a silo of 0..10"):
        relayed_star_s(mst, 11, 1)
    with pytest.raises(InputError, match=r"chunks\(=0\) must be >= 1"):
        relayed_star_s(mst, 0, 0)


def test_what_it_leaves_out_is_refused(published_graph):
    graph, work = published_graph("geant", 1e9), Workload(model_bits=1e7, compute_s=1.0)
    slow = design("mst", with_slow_start(graph, "always"), work)
    with pytest.raises(
        InputError, match=r"^slow_start\(='always'\) must be 'none' for a STAR along a tree\.$"
    ):
        relayed_star_s(slow, 0, 1)
    early = design("mst", graph, replace(work, overlap=0.5))
    with pytest.raises(InputError, match=r"^overlap\(=0\.5\) must be 0 for a STAR along a tree\.$"):
        relayed_star_s(early, 0, 1)

"""Sharing by round-trip time: weights, dates by hand, both engines, and networks that change."""

import math
from dataclasses import replace

import numpy as np
import pytest
from engine_agreement import DATES, check_both_engines_agree
from hypothesis import given
from hypothesis import strategies as st
from small_networks import silos_of, strong_digraphs, untied_values

from simulator import (
    CapacityChange,
    Constant,
    FlowArc,
    FlowChange,
    LinkFailure,
    OnOffFlow,
    RouteChange,
    Trace,
    make_job,
    overlay_job,
    simulate,
    simulate_flows,
)
from simulator.compiled.engine import CompiledEngine
from simulator.rtt_weights import REFERENCE_BITS, route_penalty_s, rtt_weight, rtt_weights
from simulator.sharing import sharing_model
from simulator.simpy_engine.rtt_weighted import rtt_weighted
from topologies import AccessLinks, Workload, connectivity, design, load_underlay
from topologies.windows import with_windows

CM02 = rtt_weighted("cm02", 0.0)
"""Weights of 1 / latency."""
ONE_BIT = rtt_weighted("one_bit", 1.0)
"""S of the size of small messages on slow links, so that latencies and capacities both count."""

ENGINES = pytest.mark.parametrize("engine", ["simpy", "compiled"])


def loop(first_s, second_s):
    """Two silos that send to each other over link 0."""
    return [
        FlowArc(source=0, target=1, latency_s=first_s, links=(0,)),
        FlowArc(source=1, target=0, latency_s=second_s, links=(0,)),
    ]


def job_of(arcs, capacity_bps, bits, sharing, *, changes=None, rounds=1, compute_s=0.0):
    return make_job(
        arcs,
        link_capacity_bps=capacity_bps,
        message_bits=bits,
        compute=Constant(compute_s=[compute_s] * (1 + max(arc.source for arc in arcs))),
        rounds=rounds,
        sharing=sharing,
        changes=None if changes is None else lambda: iter(changes),
    )


def network(name, kind, access_bps):
    graph = connectivity(load_underlay(name), access=AccessLinks(up_bps=access_bps, down_bps=access_bps))
    return design(kind, graph, Workload.preset("inaturalist"))


def test_the_weight_of_a_route():
    # 20 ms, and 20,537 bytes at 1 and 10 Mbit/s: 164.296 and 16.4296 ms.
    assert REFERENCE_BITS == 164_296
    capacity_bps = [1e6, 1e7, math.inf, 0.0]
    assert route_penalty_s(0.02, (0, 1), {}, capacity_bps) == pytest.approx(0.2007256, rel=1e-12)
    assert rtt_weight(0.2) == 5.0
    # A link without limit has only its latency, which is part of 20 ms; what stands on a link of capacity 0 stands.
    assert route_penalty_s(0.02, (1, 2, 3), {}, capacity_bps) == pytest.approx(0.0364296, rel=1e-12)
    assert route_penalty_s(0.02, (0, 1), {}, capacity_bps, 0.0) == 0.02
    assert route_penalty_s(0.02, (0,), {}, capacity_bps) == pytest.approx(0.184296, rel=1e-12)
    assert rtt_weight(route_penalty_s(0.0, (2,), {}, capacity_bps)) == 1.0
    assert rtt_weight(1e-300) == rtt_weight(1e-9) == pytest.approx(1e9)


@ENGINES
def test_two_messages_on_a_link_with_weights_of_1_and_3(engine):
    # 1 and 3 of 4 bit/s from 1 s on: the second leaves at 3 s; the first has 4 of 6 bits left, then alone, until 4 s.
    timeline = simulate_flows(
        loop(0.3, 0.1),
        link_capacity_bps=[4.0],
        message_bits=6.0,
        compute_s=[1.0, 1.0],
        rounds=1,
        sharing=CM02,
        engine=engine,
        messages=True,
    )
    np.testing.assert_allclose(timeline.messages.last_bit_s, [[4.0, 3.0]], rtol=1e-14)
    np.testing.assert_allclose(timeline.arrival_s, [[4.3, 3.1]], rtol=1e-14)


@ENGINES
def test_messages_over_several_links(engine):
    # Weights 2, 4 and 1. Level 1/2 fills link 0: 1 and 2 bit/s, which leaves 4 of link 1's 5 to the third.
    arcs = [
        FlowArc(source=0, target=1, latency_s=0.5, links=(0, 1)),
        FlowArc(source=1, target=2, latency_s=0.25, links=(0,)),
        FlowArc(source=2, target=0, latency_s=1.0, links=(1,)),
    ]
    timeline = simulate_flows(
        arcs,
        link_capacity_bps=[3.0, 5.0],
        message_bits=4.0,
        compute_s=[0.0] * 3,
        rounds=1,
        sharing=CM02,
        engine=engine,
        messages=True,
    )
    # The third leaves at 1 s, which helps nobody, the second at 2 s; then 2 bits at 3 bit/s.
    np.testing.assert_allclose(timeline.messages.last_bit_s, [[2 + 2 / 3, 2.0, 1.0]], rtol=1e-14)
    assert timeline.messages.bound_link.tolist() == [[0, 0, 1]]


@ENGINES
def test_slow_links_count_where_latencies_are_equal(engine):
    # 1/4 s of latency and 1 bit over 4 bit/s, or over 4 and 2: penalties of 1/2 and 1 s, so 8/3 and 4/3 bit/s.
    arcs = [
        FlowArc(source=0, target=1, latency_s=0.25, links=(0,)),
        FlowArc(source=1, target=0, latency_s=0.25, links=(0, 1)),
    ]
    job = job_of(arcs, [4.0, 2.0], 8.0, ONE_BIT)
    assert rtt_weights(job, 1.0) == [2.0, 1.0]
    timeline = simulate_flows(
        arcs,
        link_capacity_bps=[4.0, 2.0],
        message_bits=8.0,
        compute_s=[0.0, 0.0],
        rounds=1,
        sharing=ONE_BIT,
        engine=engine,
        messages=True,
    )
    # The first leaves at 3 s; the second, which has 4 bits left, at 2 bit/s.
    np.testing.assert_allclose(timeline.messages.last_bit_s, [[3.0, 5.0]], rtol=1e-14)


@st.composite
def jobs(draw):
    """Strong digraphs on slow links, where latencies of up to 2 s and capacities decide on the weights."""
    job = draw(strong_digraphs(st.sampled_from([0.5, 1.0, 3.0, 30.0, math.inf]) | st.floats(0.05, 50.0)))
    silos = silos_of(job)
    seconds = st.sampled_from([0.5, 1.0]) | st.floats(0.01, 2.0)
    return job | {"compute": Constant(compute_s=draw(st.lists(seconds, min_size=silos, max_size=silos)))}


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@given(values=jobs(), rounds=st.integers(1, 20), sharing=st.sampled_from([ONE_BIT, "rtt_weighted"]))
def test_both_engines_agree_on_random_jobs(values, rounds, sharing, queueing):
    check_both_engines_agree(**values, rounds=rounds, sharing=sharing, queueing=queueing)


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("seed", range(4))
def test_both_engines_name_the_link_that_bound_longest(seed, queueing):
    # Without ties: of links that are full at one level, either may be named.
    rng = np.random.default_rng(seed)
    values = untied_values(rng) | {
        "compute": Trace(table_s=rng.uniform(0.1, 1.0, (12, 8))),
        "rounds": 12,
        "queueing": queueing,
        "sharing": ONE_BIT,
    }
    slow, fast = check_both_engines_agree(**values)
    np.testing.assert_array_equal(fast.messages.bound_link, slow.messages.bound_link)


@pytest.mark.parametrize("access_bps", [1e8, 1e10])
@pytest.mark.parametrize(("name", "kind"), [("gaia", "star"), ("geant", "mst"), ("aws_na", "star")])
def test_both_engines_agree_on_shipped_networks(name, kind, access_bps):
    overlay = network(name, kind, access_bps)
    slow, fast = (simulate(overlay, 12, sharing="rtt_weighted", engine=e) for e in ("simpy", "compiled"))
    assert (slow.engine, fast.engine) == ("simpy", "compiled")
    np.testing.assert_allclose(fast.round_start_s, slow.round_start_s, rtol=1e-9)


@given(values=jobs(), engine=st.sampled_from(["simpy", "compiled"]))
def test_one_latency_for_all_is_max_min_fair(values, engine):
    arcs = [replace(arc, latency_s=0.25) for arc in values["arcs"]]
    values |= {"arcs": arcs, "rounds": 8, "engine": engine}
    shared, weighted = (simulate_flows(**values, sharing=sharing) for sharing in ("maxmin", CM02))
    np.testing.assert_allclose(weighted.round_start_s, shared.round_start_s, rtol=1e-9)


@pytest.mark.parametrize(("name", "kind", "access_bps"), [("gaia", "star", 1e8), ("aws_na", "mst", 1e8)])
def test_rounds_that_repeat_are_those_of_the_full_simulation(name, kind, access_bps):
    job = overlay_job(network(name, kind, access_bps), 500, sharing="rtt_weighted")
    tables = []
    for fast_forward in (False, True):
        engine = CompiledEngine(job, 64, fast_forward=fast_forward)
        blocks = []
        while (block := engine.advance()) is not None:
            blocks.append(block)
        tables.append(
            {name: np.concatenate([getattr(block.messages, name) for block in blocks]) for name in DATES}
            | {"bound_link": np.concatenate([block.messages.bound_link for block in blocks])}
        )
    for table, expected in tables[0].items():
        np.testing.assert_allclose(tables[1][table], expected, rtol=1e-9, err_msg=table)
    assert engine.steady.is_exact


@ENGINES
def test_a_proven_repeat_gives_later_rounds(engine):
    short, long = (
        simulate(network("gaia", "star", 1e8), rounds, sharing="rtt_weighted", engine=engine)
        for rounds in (40, 120)
    )
    assert short.cycle_time_is_exact
    np.testing.assert_allclose(short.start_s(110), long.round_start_s[110], rtol=1e-9)


def last_bits_s(arcs, capacity_bps, bits, sharing, changes):
    """When the messages of round 0 leave."""
    timeline = simulate_flows(
        arcs,
        link_capacity_bps=capacity_bps,
        message_bits=bits,
        compute_s=[0.0] * 2,
        rounds=1,
        sharing=sharing,
        changes=lambda: iter(changes),
        messages=True,
    )
    return timeline.messages.last_bit_s[0].tolist()


def test_a_capacity_changes_the_weights_of_what_crosses_it():
    # Penalties of 1/4 + 1/4 + 1/4 s and 1/4 s: 1 and 3 bit/s until 2 s. At 1 bit/s link 1 makes the first 1.5 s, and
    # the rates 4/7 and 24/7: the second has 6 of 12 bits left and leaves at 3.75 s, the first has 9 and 1 bit/s.
    arcs = [
        FlowArc(source=0, target=1, latency_s=0.25, links=(0, 1)),
        FlowArc(source=1, target=0, latency_s=0.0, links=(0,)),
    ]
    change = CapacityChange(date_s=2.0, link=1, capacity_bps=1.0)
    found = last_bits_s(arcs, [4.0, 4.0], 12.0, ONE_BIT, [change])
    np.testing.assert_allclose(found, [12.75, 3.75], rtol=1e-14)


def test_a_longer_route_changes_the_weights_of_messages_under_way():
    # 1 and 3 bit/s until 2 s, when the first message's route becomes as short as the second's: 2 bit/s each. The second
    # has 6 of 12 bits left and leaves at 5 s, the first 4 more then, at 4 bit/s.
    change = RouteChange(date_s=2.0, arc=0, links=(0,), latency_s=0.1)
    found = last_bits_s(loop(0.3, 0.1), [4.0], 12.0, CM02, [change])
    np.testing.assert_allclose(found, [6.0, 5.0], rtol=1e-14)


def test_background_traffic_weighs_as_the_mean_penalty():
    # Penalties of 0.3, 0.1 and their mean 0.2 s: 2, 6 and 3 of 11 bit/s. The second leaves at 2 s; the first has 8 of
    # 12 bits left, and 2/5 of the link.
    change = FlowChange(date_s=0.0, flow=0, links=(0,), peak_bps=100.0)
    found = last_bits_s(loop(0.3, 0.1), [11.0], 12.0, CM02, [change])
    np.testing.assert_allclose(found, [2.0 + 8 / 4.4, 2.0], rtol=1e-14)


def test_a_link_that_fails_holds_messages_up_and_gives_their_weights_back():
    # 1 and 3 bit/s for 2 s and again from 10 s on.
    changes = [
        CapacityChange(date_s=2.0, link=0, capacity_bps=0.0),
        CapacityChange(date_s=10.0, link=0, capacity_bps=4.0),
    ]
    arcs = [
        FlowArc(source=0, target=1, latency_s=0.5, links=(0,)),
        FlowArc(source=1, target=0, latency_s=0.0, links=(0,)),
    ]
    found = last_bits_s(arcs, [4.0], 12.0, ONE_BIT, changes)
    np.testing.assert_allclose(found, [14.0, 12.0], rtol=1e-14)


@given(values=jobs(), rounds=st.integers(1, 8))
def test_a_network_that_could_change_but_does_not(values, rounds):
    values |= {"rounds": rounds, "sharing": ONE_BIT}
    plain, changing = (
        simulate_flows(**values, changes=changes, engine="simpy") for changes in (None, lambda: iter(()))
    )
    np.testing.assert_allclose(changing.round_start_s, plain.round_start_s, rtol=1e-9)


def test_events_of_overlays():
    star = network("gaia", "star", 1e8)
    assert sharing_model("rtt_weighted").can_change
    plain, disturbed = (
        simulate(star, 4, sharing="rtt_weighted", events=events)
        for events in (
            (),
            (
                LinkFailure(link=0, from_s=1.0, until_s=100.0),
                OnOffFlow(peak_bps=5e8, mean_on_s=5.0, mean_off_s=5.0, seed=0),
            ),
        )
    )
    assert disturbed.engine == "simpy"
    assert (disturbed.round_start_s[-1] > plain.round_start_s[-1]).all()


def test_windows_bound_rates_and_leave_weights_alone():
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    windowed = with_windows(graph, 8 * 2.0**20)
    work = Workload.preset("inaturalist")
    weights = [rtt_weights(overlay_job(design("star", g, work), 1)) for g in (graph, windowed)]
    assert weights[0] == weights[1]
    wide = with_windows(graph, 1e15)
    plain, same = (
        simulate(design("star", g, work), 6, sharing="rtt_weighted", engine="compiled") for g in (graph, wide)
    )
    np.testing.assert_allclose(same.round_start_s, plain.round_start_s, rtol=1e-9)

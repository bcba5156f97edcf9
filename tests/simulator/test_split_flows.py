"""Models split over routes of equal cost: dates by hand and both engines."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import network, random_network

from simulator import LinkFailure, simulate
from topologies import AccessLinks, Workload, build_overlay, connectivity, design
from topologies.routings import named_routing

ENGINES = ("simpy", "compiled")
WORK = Workload(model_bits=100.0, compute_s=1.0)
SQUARE = ([(0, 1), (1, 3), (0, 2), (2, 3)], [0.0] * 4, [10.0] * 4)
"""A - B - D and A - C - D, of 10 bit/s."""


def pair_rounds(*, split, rounds=4, events=(), engine="simpy", **how):
    """Round starts of A, where A and D send to each other."""
    graph = network(*SQUARE, routers=[0, 3], routing=named_routing("hops", split_flows=split), **how)
    overlay = build_overlay("pair", graph, WORK, [(0, 1), (1, 0)])
    return simulate(overlay, rounds, engine=engine, events=events).round_start_s[:, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_two_routes_take_half_the_time_of_one_where_the_core_limits(engine):
    """1 s of computing, 4 ms of latency, and 100 bits at 10 or 20 bit/s."""
    for split, sending_s in ((False, 10.0), (True, 5.0)):
        starts = pair_rounds(split=split, engine=engine)
        np.testing.assert_allclose(np.diff(starts), 1.004 + sending_s, rtol=1e-9)
    # An uplink of 16 bit/s carries all of the model.
    np.testing.assert_allclose(
        np.diff(pair_rounds(split=True, engine=engine, up_bps=16.0)), 1.004 + 6.25, rtol=1e-9
    )


def test_while_a_link_is_down_the_whole_model_takes_the_other_route():
    """From 4 s on, when 60 of 100 bits are away, until the second round: 10 bit/s for the last 40."""
    starts = pair_rounds(split=True, events=[LinkFailure(link="A - B", from_s=4.0, until_s=8.5)])
    np.testing.assert_allclose(starts[:3], [0.0, 4.0 + 4.0 + 0.004, 8.004 + 1.004 + 5.0], rtol=1e-9)


def test_a_route_that_does_not_share_the_split_flow_keeps_what_is_left():
    """B sends to D over B - D, which carries half of what A sends: max-min fair rates of 20/3 on 10 bit/s."""
    graph = network(*SQUARE, routers=[0, 1, 3], routing=named_routing("hops", split_flows=True))
    overlay = build_overlay("three", graph, WORK, [(0, 2), (1, 2), (2, 0), (2, 1)])
    for engine in ENGINES:
        timeline = simulate(overlay, 1, engine=engine)
        # 1.5 r = 10: both leave after 15 s; the way back is as fast, by D - B.
        np.testing.assert_allclose(timeline.round_start_s[1], [1.004 + 15.0] * 3, rtol=1e-9)


@given(seed=st.integers(0, 2**32 - 1), silos=st.integers(2, 6), kind=st.sampled_from(["mst", "ring"]))
@settings(max_examples=settings().max_examples // 4)
def test_both_engines_agree_and_count_the_bits_of_each_link(seed, silos, kind):
    plain, work = random_network(seed, silos)
    underlay = replace(plain.underlay, capacity_bps=plain.underlay.capacity_bps / 10)
    graph = connectivity(
        underlay,
        access=AccessLinks(up_bps=plain.up_bps, down_bps=plain.down_bps),
        routers=range(silos),
        routing=named_routing("hops", split_flows=True),
    )
    overlay = design(kind, graph, work)
    slow, fast = (simulate(overlay, 5, engine=engine) for engine in ENGINES)
    np.testing.assert_allclose(fast.round_start_s, slow.round_start_s, rtol=1e-9)
    bits = 5 * work.model_bits * graph.crossings(overlay.source, overlay.target)
    np.testing.assert_allclose(slow.link_bits, bits, rtol=1e-12)
    np.testing.assert_allclose(fast.link_bits, bits, rtol=1e-12)

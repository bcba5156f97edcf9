"""Measured bandwidth in the simulation: every pair is a link, shared with nobody, behind shared access links."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import network

from simulator import (
    CapacityTrace,
    ConstantShare,
    LinkFailure,
    Observer,
    OnOffFlow,
    simulate,
)
from simulator.world.checks import check_events
from simulator.world.names import Names
from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, load_underlay

ENGINES = ("simpy", "compiled")
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]


def measured_network(measured, **access):
    """Silos A to D on a line of core links of 1 bit/s, which no model crosses."""
    return network([(0, 1), (1, 2), (2, 3)], [10.0] * 3, [1.0] * 3, bandwidth=measured, **access)


def star(measured, bits=120.0, **access):
    """Silo A sends to all, and all send to A."""
    graph = measured_network(measured, **access)
    arcs = [(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)]
    return build_overlay("star", graph, Workload(model_bits=bits, compute_s=0.0), arcs)


def ring(measured, bits=360e6, compute_s=0.0, **access):
    graph = measured_network(measured, **access)
    return build_overlay("ring", graph, Workload(model_bits=bits, compute_s=compute_s), RING)


def slow_pair(low=47e6, high=450e6):
    measured = np.full((4, 4), high)
    measured[1, 2], measured[0, 2] = low, 44e6
    return measured


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_a_ring_takes_one_model_on_its_slowest_pair(sharing, engine):
    overlay = ring(slow_pair(), up_bps=1e10, down_bps=1e10)
    found = simulate(overlay, 60, sharing=sharing, engine=engine)

    assert found.cycle_time_is_exact
    assert found.cycle_time_s == pytest.approx(360 / 47, rel=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_report_on_gaia(engine):
    underlay = load_underlay("gaia")
    measured = np.random.default_rng(0).uniform(47e6, 450e6, (4, 4))
    measured[0, 1] = 47e6
    graph = connectivity(
        underlay, access=AccessLinks(up_bps=1e10, down_bps=1e10), bandwidth=measured, routers=range(4)
    )
    overlay = build_overlay("ring", graph, Workload(model_bits=360e6, compute_s=0.0254), RING)
    shared, equal = (simulate(overlay, 100, sharing=how, engine=engine) for how in ("maxmin", "equal"))

    # Pairs share nothing but access links that are fast enough for all.
    assert shared.round_start_s == pytest.approx(equal.round_start_s, rel=1e-9)
    assert shared.cycle_time_s >= 7.659574468


@pytest.mark.parametrize("engine", ENGINES)
def test_arcs_share_the_uplink_in_front_of_their_pairs(engine):
    # Uplink 12: the pair A -> B takes 2 of it, the pair A -> C 4, and what is left is less than the pair A -> D.
    measured = np.full((4, 4), np.inf)
    measured[0, 1:] = 2.0, 4.0, 100.0
    overlay = star(measured, up_bps=[12.0, 1e3, 1e3, 1e3])
    graph = overlay.graph
    found = simulate(overlay, 1, engine=engine, messages=True)

    assert found.messages.last_bit_s[0, :3] == pytest.approx([60.0, 30.0, 20.0], rel=1e-12)
    bounds = [graph.link_name(link) for link in found.messages.bound_link[0, :3].tolist()]
    assert bounds == ["A -> B", "A -> C", "A uplink"]
    # Eq. 3 divides the uplink by three.
    equal = simulate(overlay, 1, engine=engine, sharing="equal", messages=True)
    assert equal.messages.last_bit_s[0, :3] == pytest.approx([60.0, 30.0, 30.0], rel=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_arcs_share_the_downlink_behind_their_pairs(engine):
    # Downlink 30: 5 through the pair B -> A, half of the other 25 through each of C -> A and D -> A; when these are
    # through, B goes on at the 5 of its pair.
    measured = np.full((4, 4), np.inf)
    measured[1:, 0] = 5.0, 20.0, 20.0
    overlay = star(measured, down_bps=[30.0, 1e3, 1e3, 1e3])
    found = simulate(overlay, 1, engine=engine, messages=True)

    assert found.messages.last_bit_s[0, 3:] == pytest.approx([24.0, 9.6, 9.6], rel=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_bits_are_counted_on_the_pairs(engine):
    overlay = star(np.full((4, 4), 8.0))
    graph = overlay.graph
    found = simulate(overlay, 3, engine=engine)
    by_name = {graph.link_name(link): bits for link, bits in enumerate(found.link_bits.tolist())}

    assert len(by_name) == len(found.link_bits) == 12 + 8
    assert by_name["A -> B"] == by_name["D -> A"] == by_name["B uplink"] == 360.0
    assert by_name["A uplink"] == by_name["A downlink"] == 1080.0
    assert by_name["B -> C"] == 0.0


def test_an_observer_sees_the_rates_of_pairs():
    measured = np.full((4, 4), np.inf)
    measured[0, 1:] = 2.0, 4.0, 100.0
    rates = []
    watch = Observer(
        on_rates=lambda now_s, arcs, bps: rates.append((now_s, dict(zip(arcs, bps, strict=True))))
    )
    simulate(star(measured, up_bps=[12.0, 1e3, 1e3, 1e3]), 1, observer=watch, engine="simpy")

    first = rates[0]
    assert first[0] == 0.0
    assert [first[1][arc] for arc in range(3)] == pytest.approx([2.0, 4.0, 6.0], rel=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_two_silos_on_one_router_send_over_their_measured_link(engine):
    measured = np.array([[np.inf, 5.0], [10.0, np.inf]])
    graph = network([(0, 1)], [10.0], [1.0], up_bps=1e3, down_bps=1e3, bandwidth=measured, routers=[1, 1])
    overlay = build_overlay("pair", graph, Workload(model_bits=100.0, compute_s=1.0), [(0, 1), (1, 0)])
    found = simulate(overlay, 2, engine=engine)

    # 1 s of computing, 20 s on A -> B and 10 s on B -> A, and 4 ms.
    assert found.arrival_s[0] == pytest.approx([21.004, 11.004], rel=1e-12)
    # A computes until 12.004 s and waits for B's second model, which B sends from 22.004 s on.
    assert found.round_start_s[1:] == pytest.approx(np.array([[11.004, 21.004], [32.008, 41.004]]), rel=1e-12)


@given(seed=st.integers(0, 2**32 - 1), queueing=st.sampled_from(["fifo", "overlap"]))
@settings(max_examples=10)
def test_both_engines_agree_and_stay_above_the_load(seed, queueing):
    rng = np.random.default_rng(seed)
    measured = rng.choice([1.0, 2.0, 3.0, 100.0, np.inf], (4, 4))
    graph = measured_network(measured, up_bps=rng.choice([2.0, 5.0], 4), down_bps=rng.choice([2.0, 5.0], 4))
    order = rng.permutation(4).tolist()
    arcs = {
        *pairwise((*order, order[0])),
        *(tuple(rng.choice(4, 2, replace=False).tolist()) for _ in range(3)),
    }
    work = Workload(model_bits=float(rng.integers(1, 5)), compute_s=rng.uniform(0.0, 2.0, 4))
    overlay = build_overlay("test", graph, work, arcs)
    events, fast = (simulate(overlay, 60, engine=engine, queueing=queueing) for engine in ENGINES)

    assert fast.round_start_s == pytest.approx(events.round_start_s, rel=1e-9)
    assert fast.link_bits == pytest.approx(events.link_bits)
    if fast.cycle_time_is_exact:
        assert fast.cycle_time_s >= overlay.closed_forms.load_bound_s * (1 - 1e-9)


def test_names_of_measured_pairs():
    measured = np.full((4, 4), 8.0)
    measured[2, 1] = 0.0
    graph = measured_network(measured)
    find = Names(graph).directions

    assert find("A -> B", "x") == (0,)
    assert find("A - B", "x") == find("B - A", "x") == (0, 3)
    assert find("B - C", "x") == find("B -> C", "x") == (4,)
    assert find("D downlink", "x") == (len(graph.link_capacity_bps) - 1,)
    for direction in range(len(graph.link_capacity_bps)):
        assert find(graph.link_name(direction), "x") == (direction,)
    with pytest.raises(InputError, match=r"x\(='C -> B'\) must be one of"):
        find("C -> B", "x")
    with pytest.raises(InputError, match=r"x\(=19\) must be >= 0 and < 19\."):
        find(19, "x")


@pytest.mark.parametrize(
    ("events", "message"),
    [
        (
            [LinkFailure(link="A - B", from_s=1.0, until_s=2.0)],
            "events[0].link(='A - B') must name a core link: the bandwidth of silo pairs is measured, so that there "
            "are no core links.",
        ),
        (
            [LinkFailure(link=0, from_s=1.0)],
            "events[0].link(=0) must name a core link: the bandwidth of silo pairs is measured, so that there are no "
            "core links.",
        ),
        (
            [ConstantShare(share=0.5, link="A -> B"), ConstantShare(share=0.5)],
            "events[1].link must be given: the bandwidth of silo pairs is measured, so that there are no core "
            "links.",
        ),
        (
            [OnOffFlow(peak_bps=1.0, mean_on_s=1.0, mean_off_s=1.0, seed=0)],
            "events[0].link must be given: the bandwidth of silo pairs is measured, so that there are no core "
            "links.",
        ),
    ],
)
def test_events_on_core_links_are_refused(events, message):
    overlay = ring(np.full((4, 4), 8.0), bits=120.0)
    for ask in (
        lambda: simulate(overlay, 3, events=events),
        lambda: check_events(events, overlay.graph, rounds=3),
    ):
        with pytest.raises(InputError) as caught:
            ask()
        assert str(caught.value) == message


def test_core_link_of_measured_pairs():
    with pytest.raises(InputError, match=r"link\(='A - B'\) must name a core link"):
        Names(measured_network(np.full((4, 4), 8.0))).core_link("A - B")


def test_events_may_leave_a_pair_out():
    measured = np.full((4, 4), 8.0)
    measured[0, 2] = 0.0
    graph = measured_network(measured)
    check_events([CapacityTrace(link="A -> B", date_s=[0], capacity_bps=[4.0])], graph, rounds=3)


@pytest.mark.parametrize(
    "events",
    [
        [CapacityTrace(link="B -> C", date_s=[0.0], capacity_bps=[2.0])],
        [ConstantShare(share=0.75, link="B - C")],
    ],
)
def test_what_happens_on_a_pairs_link(events):
    overlay = ring(np.full((4, 4), 8.0), bits=120.0)

    # Four arcs with 4 ms and, in the mean, 15 km.
    assert simulate(overlay, 30).cycle_time_s == pytest.approx(15.0 + 4e-3 + 15 * 0.0085e-3, rel=1e-9)
    found = simulate(overlay, 30, events=events)
    # 120 bits at 2 bit/s, one model after the other.
    assert np.diff(found.round_start_s[10:, 2]) == pytest.approx(60.0, rel=1e-6)

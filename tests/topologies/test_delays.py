"""Eq. 3 by hand, and its forms against each other."""

import numpy as np
import pytest

from topologies import AccessLinks, Workload, build_overlay, connectivity, design, load_underlay
from topologies.delays import (
    arc_delays,
    arc_rates,
    degrees,
    delays,
    leaving,
    pair_delays,
    pair_rates,
    transmissions,
    under_way,
)

pytestmark = pytest.mark.usefixtures("compiled_designs")

ACCESS = AccessLinks(up_bps=np.array([1e9, 2e9, 4e9]), down_bps=np.array([3e9, 1e9, 8e9]))
WORK = Workload(model_bits=1e8, compute_s=np.array([0.1, 0.2, 0.3]), local_steps=2)
SOURCE, TARGET = np.array([0, 0, 1, 2]), np.array([1, 2, 0, 1])


@pytest.fixture
def path(make_underlay):
    return make_underlay(3, [(0, 1, 0.0), (1, 2, 1000.0)])


def test_by_hand(path):
    graph = connectivity(path, access=ACCESS, core=1e10, bandwidth="bottleneck")
    out, into = degrees(3, SOURCE, TARGET)

    assert (out.tolist(), into.tolist()) == ([2, 1, 1], [1, 2, 1])
    # 0 -> 1: half of silo 0's uplink, or half of silo 1's downlink; 2 -> 1: the latter alone.
    assert arc_rates(graph, SOURCE, TARGET).tolist() == [5e8, 5e8, 2e9, 5e8]
    assert arc_delays(graph, WORK, SOURCE, TARGET) == pytest.approx(
        [0.2 + 0.004 + 0.2, 0.2 + 0.0125 + 0.2, 0.4 + 0.004 + 0.05, 0.6 + 0.0125 + 0.2]
    )
    assert arc_delays(graph, WORK, SOURCE, TARGET, hub=0) == pytest.approx([0.204, 0.2125, 0.454, 0.8125])


def test_pairs_by_hand(path):
    graph = connectivity(path, access=ACCESS, core=1e10, bandwidth="bottleneck", blocked=[(2, 0)])
    alone = pair_delays(graph, WORK)

    assert alone == pytest.approx(
        np.array([[0.2, 0.304, 0.3125], [0.404 + 0.1 / 2, 0.4, 0.4125 + 0.1 / 2], [np.inf, 0.7125, 0.6]])
    )
    assert pair_delays(graph, WORK, hub=1)[1] == pytest.approx([0.054, 0.4, 0.0625])
    # A degree of 0 shares with nobody.
    assert np.array_equal(pair_delays(graph, WORK, np.zeros(3, dtype=np.int64), 0), alone)
    assert pair_rates(graph, 4, np.array([1, 100, 1]))[0] == pytest.approx([2.5e8, 1e7, 2.5e8])


def test_no_rate_takes_for_ever_whatever_is_sent():
    assert transmissions(0.0, np.array([0.0, 1.0, np.inf])).tolist() == [np.inf, 0.0, 0.0]
    assert transmissions(8.0, np.array([0.0, 4.0, np.inf])).tolist() == [np.inf, 2.0, 0.0]


def test_no_arcs(path):
    graph = connectivity(path, access=ACCESS)
    none = np.empty(0, dtype=np.int64)

    assert len(arc_rates(graph, none, none)) == len(arc_delays(graph, WORK, none, none)) == 0


@pytest.mark.parametrize("kind", ["star", "ring", "mst", "complete"])
def test_pairs_of_an_overlays_degrees_are_its_arcs(kind):
    speed = np.random.default_rng(1).choice([1e7, 1e9, 1e10, np.inf], (2, 11))
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=speed[0], down_bps=speed[1]))
    work = Workload.preset("inaturalist")
    overlay = design(kind, graph, work)
    arcs = overlay.source, overlay.target
    pairs = pair_delays(graph, work, *degrees(graph.silos, *arcs), hub=overlay.hub)

    assert np.array_equal(pairs[arcs], arc_delays(graph, work, *arcs, hub=overlay.hub))
    assert np.array_equal(pairs[arcs], overlay.delay_s)
    assert np.array_equal(np.diag(pairs), overlay.compute_s)


def test_an_overlay_of_unlimited_links_waits_for_latency_alone(make_underlay):
    unlimited = AccessLinks(up_bps=np.inf, down_bps=np.inf)
    graph = connectivity(make_underlay(2, [(0, 1, 0.0)]), access=unlimited, routers=[0, 0])
    pair = build_overlay("pair", graph, Workload(model_bits=1e8, compute_s=0.0), [(0, 1), (1, 0)])

    assert pair.transmission_s.tolist() == [0.0, 0.0]
    assert pair.delay_s == pytest.approx([0.004, 0.004])


def test_the_sum_of_eq_3_with_and_without_a_backward_pass():
    compute_s, latency_s, rate_bps = (
        np.array([1.0, 1.0, 0.0]),
        np.array([0.25, 0.5, 0.125]),
        np.array([8.0, 2.0, 4.0]),
    )

    assert delays(compute_s, latency_s, 8.0, rate_bps, 0.0).tolist() == [2.25, 5.5, 2.125]
    # Half of the computing hides the sending: all of 0.5 s are needed, of 1 s the first half, of 4 s too.
    assert delays(compute_s, latency_s, 4.0, rate_bps, 0.5).tolist() == [1.25, 3.0, 1.125]
    assert delays(compute_s, latency_s, 2.0, rate_bps, 0.5).tolist() == [1.25, 2.0, 0.625]
    assert leaving(compute_s, 0.25).tolist() == [0.75, 0.75, 0.0]
    assert under_way(compute_s, np.array([0.125, 0.5, 0.25]), 0.25).tolist() == [0.25, 0.5, 0.25]
    assert under_way(compute_s, np.array([0.125, 0.5, 0.25]), 0.0).tolist() == [0.125, 0.5, 0.25]


@pytest.mark.parametrize("hub", [None, 0, 1])
def test_what_a_hub_sends_waits_for_no_computing(path, hub):
    graph = connectivity(path, access=ACCESS, core=1e10, bandwidth="bottleneck")
    plain, around = arc_delays(graph, WORK, SOURCE, TARGET), arc_delays(graph, WORK, SOURCE, TARGET, hub=hub)
    earlier_s = np.where(hub == SOURCE, 2 * WORK.compute_s[SOURCE], 0.0)
    assert around == pytest.approx(plain - earlier_s, rel=1e-12)
    pairs, by_hub = pair_delays(graph, WORK), pair_delays(graph, WORK, hub=hub)
    away = ~np.eye(3, dtype=bool)
    earlier_s = np.where(np.arange(3) == hub, 2 * WORK.compute_s, 0.0)[:, np.newaxis] * away
    assert by_hub == pytest.approx(pairs - earlier_s, rel=1e-12)
    assert by_hub.diagonal() == pytest.approx(2 * WORK.compute_s)
    # Degrees of 0 count as 1, which is the default.
    assert np.array_equal(pair_delays(graph, WORK, 0, np.array([1, 0, 1])), pairs)
    assert pair_rates(graph, np.array([2, 1, 1]), 4)[0].tolist()[1:] == [2.5e8, 5e8]

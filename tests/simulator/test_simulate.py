"""Overlays on shipped underlays, end to end."""

import numpy as np
import pytest

from simulator import FlowArc, simulate, simulate_flows
from topologies import AccessLinks, Workload, connectivity, design, load_underlay

WORK = Workload.preset("inaturalist", local_steps=1)


def overlay(kind, access_bps=1e9):
    return design(
        kind,
        connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=access_bps, down_bps=access_bps)),
        WORK,
    )


@pytest.mark.parametrize("kind", ["star", "mst", "ring"])
def test_constant_rates_give_the_closed_forms(kind):
    designed = overlay(kind)
    overlapped = simulate(designed, sharing="equal", queueing="overlap")
    serialized = simulate(designed, sharing="equal", queueing="fifo")
    assert overlapped.cycle_time_s == pytest.approx(designed.closed_forms.paper_s, rel=1e-9)
    assert serialized.cycle_time_s == pytest.approx(designed.closed_forms.serialized_s, rel=1e-9)


@pytest.mark.parametrize("kind", ["star", "mst", "ring"])
@pytest.mark.parametrize("access_bps", [1e8, 1e10])
def test_no_fair_sharing_is_faster_than_the_busiest_link(kind, access_bps):
    designed = overlay(kind, access_bps)
    assert simulate(designed, 60).cycle_time_s >= designed.closed_forms.load_bound_s * (1 - 1e-9)


def test_an_overlay_is_its_arcs():
    star = overlay("star")
    arcs = [
        FlowArc(
            source=int(star.source[number]),
            target=int(star.target[number]),
            latency_s=float(star.latency_s[number]),
            links=route,
            tokens=int(star.tokens[number]),
        )
        for number, route in enumerate(star.routes)
    ]
    expected = simulate_flows(
        arcs,
        link_capacity_bps=star.graph.link_capacity_bps,
        message_bits=WORK.model_bits,
        compute_s=star.compute_s,
        rounds=10,
    )
    timeline = simulate(star, 10)
    assert np.array_equal(timeline.round_start_s, expected.round_start_s)
    assert np.array_equal(timeline.arrival_s, expected.arrival_s)
    assert np.array_equal(timeline.link_bits, expected.link_bits)

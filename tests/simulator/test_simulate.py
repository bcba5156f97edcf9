"""Overlays on shipped underlays, end to end."""

import numpy as np
import pytest

from scenarios.config.simulation import SimulationConfig
from simulator import FlowArc, Trace, simulate, simulate_flows
from topologies import AccessLinks, InputError, Workload, connectivity, design, load_underlay

WORK = Workload.preset("inaturalist", local_steps=1)

PAIR = [FlowArc(source=i, target=1 - i, latency_s=0.5, links=(i,)) for i in range(2)]
LINKS = {"link_capacity_bps": [1.0, 1.0], "message_bits": 1}


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


def test_unless_told_otherwise_there_are_as_many_rounds_as_in_a_scenario_and_no_record_of_messages():
    timeline = simulate(overlay("star"))
    assert len(timeline.round_start_s) == SimulationConfig().rounds + 1
    assert timeline.messages is None
    flows = simulate_flows(PAIR, **LINKS, compute_s=[1.0, 2.0], rounds=1)
    assert flows.messages is None
    # Messages leave when all is computed, and take a second on their links and half a second on the way.
    assert flows.round_start_s.tolist() == [[0.0, 0.0], [3.5, 2.5]]


def test_measured_times_are_not_used_twice_unless_that_is_asked_for():
    measured_s = [[1.0, 2.0]]
    with pytest.raises(
        InputError, match=r"of round 1 are missing: the trace has 1 rounds and does not repeat\."
    ):
        simulate_flows(PAIR, **LINKS, compute=Trace(table_s=measured_s), rounds=2)
    repeated = simulate_flows(PAIR, **LINKS, compute=Trace(table_s=measured_s, repeat=True), rounds=2)
    assert repeated.round_start_s.tolist() == [[0.0, 0.0], [3.5, 2.5], [6.0, 6.0]]

"""The timelines that SimGrid's solver gives for the same silos, arcs and routes."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from simulator import FlowArc, simulate, simulate_flows
from simulator.rtt_weights import REFERENCE_BITS
from simulator.simpy_engine.rtt_weighted import rtt_weighted
from topologies import AccessLinks, Underlay, Workload, build_overlay, connectivity
from topologies.link_rules import LinkRules

CASES = json.loads((Path(__file__).parent / "data" / "simgrid_fluid.json").read_text())["cases"]
_WEIGHTED = json.loads((Path(__file__).parent / "data" / "simgrid_weights.json").read_text())["cases"]
RULED = json.loads((Path(__file__).parent / "data" / "simgrid_links.json").read_text())["cases"]
WEIGHTED = [case for case in _WEIGHTED if "window_bits" not in case]
WINDOWED = [case for case in _WEIGHTED if "window_bits" in case]


def run(case, order=None, **how):
    arcs = [
        FlowArc(source=source, target=target, latency_s=latency_s, links=tuple(links))
        for source, target, latency_s, links in case["arcs"]
    ]
    return simulate_flows(
        arcs if order is None else [arcs[number] for number in order],
        link_capacity_bps=case["link_capacity_bps"],
        message_bits=case["message_bits"],
        compute_s=case["compute_s"],
        rounds=len(case["round_start_s"]) - 1,
        **how,
    )


@cache
def timeline_of(label):
    """Of a case as it stands."""
    (found,) = (case for case in CASES if case["label"] == label)
    return run(found)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["label"])
def test_round_starts_are_those_of_simgrid(case):
    timeline = timeline_of(case["label"])
    np.testing.assert_allclose(timeline.round_start_s, case["round_start_s"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["label"])
def test_the_order_of_the_arcs_does_not_matter(case):
    order = np.random.default_rng(7).permutation(len(case["arcs"]))
    expected = timeline_of(case["label"]).round_start_s
    np.testing.assert_allclose(run(case, order).round_start_s, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["label"])
def test_a_second_run_gives_the_same_numbers(case):
    first, second = timeline_of(case["label"]), run(case)
    assert np.array_equal(first.round_start_s, second.round_start_s)
    assert np.array_equal(first.arrival_s, second.arrival_s)


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
@pytest.mark.parametrize("case", WEIGHTED, ids=lambda case: case["label"])
def test_round_starts_with_weights_are_those_of_simgrid(case, engine):
    """Messages wait for their latency before they take links in SimGrid: it got them that much earlier."""
    sharing = "rtt_weighted" if case["reference_bits"] else rtt_weighted("cm02", 0.0)
    assert case["reference_bits"] in (0.0, REFERENCE_BITS)
    timeline = run(case, sharing=sharing, queueing="overlap", engine=engine)
    np.testing.assert_allclose(timeline.round_start_s, case["round_start_s"], rtol=1e-9)
    shared = run(case, queueing="overlap", engine=engine)
    assert np.abs(shared.round_start_s - case["round_start_s"]).max() > 0.01


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
@pytest.mark.parametrize("case", WINDOWED, ids=lambda case: case["label"])
def test_round_starts_with_windows_are_those_of_simgrid(case, engine):
    """SimGrid's TCP-gamma, the window of every message, is a link of each arc here."""
    links, capacity_bps = len(case["link_capacity_bps"]), [*case["link_capacity_bps"]]
    capacity_bps += [case["window_bits"] / (2 * latency_s) for _, _, latency_s, _ in case["arcs"]]
    arcs = [
        FlowArc(
            source=source, target=target, latency_s=latency_s, links=(*route, links + number), hops=len(route)
        )
        for number, (source, target, latency_s, route) in enumerate(case["arcs"])
    ]
    timeline = simulate_flows(
        arcs,
        link_capacity_bps=capacity_bps,
        message_bits=case["message_bits"],
        compute_s=case["compute_s"],
        rounds=len(case["round_start_s"]) - 1,
        sharing="rtt_weighted",
        engine=engine,
    )
    np.testing.assert_allclose(timeline.round_start_s, case["round_start_s"], rtol=1e-9)
    without = run(case, sharing="rtt_weighted", engine=engine)
    assert np.abs(without.round_start_s - case["round_start_s"]).max() > 0.01


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
@pytest.mark.parametrize("case", RULED, ids=lambda case: case["label"])
def test_round_starts_by_rules_of_links_are_those_of_simgrid(case, engine):
    """Half-duplex links, fat pipes and acknowledgements, from the network on."""
    routers = int(np.max(case["ends"])) + 1
    underlay = Underlay(
        name="random",
        variant="corrected",
        labels=tuple(f"r{router:02}" for router in range(routers)),
        latitude_deg=np.zeros(routers),
        longitude_deg=np.zeros(routers),
        ends=np.array(case["ends"]),
        length_km=np.array(case["length_km"]),
        capacity_bps=np.array(case["capacity_bps"]),
    )
    plain = connectivity(
        underlay,
        access=AccessLinks(up_bps=case["access_bps"], down_bps=case["access_bps"]),
        routers=case["router"],
    )
    rules = LinkRules(
        half_duplex=tuple(case["half_duplex"]),
        half_duplex_core=tuple(case["half_duplex_core"]),
        fat_pipes=tuple(case["fat_pipes"]),
        ack_share=case["ack_share"],
    )
    work = Workload(model_bits=case["model_bits"], compute_s=case["compute_s"])
    rounds = len(case["round_start_s"]) - 1
    ruled, without = (
        simulate(build_overlay("test", graph, work, case["arcs"]), rounds, engine=engine).round_start_s
        for graph in (replace(plain, rules=rules), plain)
    )
    np.testing.assert_allclose(ruled, case["round_start_s"], rtol=1e-9)
    assert np.abs(without - case["round_start_s"]).max() > 0.01

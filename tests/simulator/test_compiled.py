"""The compiled engine gives the dates of the SimPy engine."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_networks import silos_of, strong_digraphs, untied_values

from simulator import FlowArc, Lognormal, simulate, simulate_flows
from simulator.compiled.engine import CompiledEngine, unsupported
from simulator.compute_times import Constant
from simulator.job import make_job
from topologies import AccessLinks, Workload, build_overlay, connectivity, design, load_underlay

CASES = json.loads((Path(__file__).parent / "data" / "simgrid_fluid.json").read_text())["cases"]
TABLES = ("start_s", "last_bit_s", "arrival_s")


@st.composite
def jobs(draw):
    """Strong digraphs with constant or random computing times, and fast and slow links."""
    capacities = st.sampled_from([0.5, 1.0, 3.0, 30.0, math.inf]) | st.floats(0.05, 50.0)
    job = draw(strong_digraphs(capacities))
    silos = silos_of(job)
    seconds = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0.01, 2.0)
    compute_s = draw(st.lists(seconds, min_size=silos, max_size=silos))
    # Time must advance along every circuit.
    if not all(arc.latency_s for arc in job["arcs"]):
        compute_s = [value or 0.125 for value in compute_s]
    return job | {
        "compute": draw(st.sampled_from([drawn, lambda values: Constant(compute_s=values)]))(compute_s)
    }


def drawn(mean_s):
    """Other computing times in every round."""
    return Lognormal(mean_s=mean_s, cv=0.3, seed=5)


def run(job, *, block_rounds=256, fast_forward=True):
    """All blocks of a job joined, and its engine."""
    assert not unsupported(job)
    engine = CompiledEngine(job, block_rounds, fast_forward=fast_forward)
    blocks = []
    while (block := engine.advance()) is not None:
        blocks.append(block)
    joined = {
        name: np.concatenate([getattr(block.messages, name) for block in blocks])
        for name in (*TABLES, "bound_link")
    }
    joined["round_start_s"] = np.concatenate([block.round_start_s for block in blocks])
    return joined, blocks, engine


def assert_same(first, second, rtol=1e-9):
    for name in ("round_start_s", *TABLES):
        np.testing.assert_allclose(first[name], second[name], rtol=rtol, atol=0, err_msg=name)


def assert_like_simpy(values, *, block_rounds=256):
    expected = simulate_flows(**values, engine="simpy", messages=True)
    tables, blocks, _ = run(make_job(**values), block_rounds=block_rounds)
    assert_same(
        tables, {"round_start_s": expected.round_start_s} | {n: getattr(expected.messages, n) for n in TABLES}
    )
    np.testing.assert_allclose(blocks[-1].link_bits, expected.link_bits, rtol=1e-12)
    return tables, expected


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@given(
    values=jobs(),
    rounds=st.integers(1, 25),
    block_rounds=st.sampled_from([1, 2, 5, 64]),
    backward_share=st.sampled_from([0.0, 0.5]),
)
def test_random_jobs_have_the_dates_of_simpy(values, rounds, block_rounds, backward_share, sharing, queueing):
    how = {"rounds": rounds, "sharing": sharing, "queueing": queueing, "backward_share": backward_share}
    assert_like_simpy(values | how, block_rounds=block_rounds)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["label"])
def test_round_starts_are_those_of_simgrid(case):
    arcs = [
        FlowArc(source=source, target=target, latency_s=latency_s, links=tuple(links))
        for source, target, latency_s, links in case["arcs"]
    ]
    job = make_job(
        arcs,
        link_capacity_bps=case["link_capacity_bps"],
        message_bits=case["message_bits"],
        compute=Constant(compute_s=case["compute_s"]),
        rounds=len(case["round_start_s"]) - 1,
    )
    tables, _, _ = run(job)
    np.testing.assert_allclose(tables["round_start_s"], case["round_start_s"], rtol=0, atol=1e-9)


def overlay(name, kind, access_bps):
    graph = connectivity(load_underlay(name), access=AccessLinks(up_bps=access_bps, down_bps=access_bps))
    work = Workload.preset("inaturalist")
    if kind == "complete":
        pairs = [(i, j) for i in range(graph.silos) for j in range(graph.silos) if i != j]
        return build_overlay(kind, graph, work, pairs)
    return design(kind, graph, work)


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("access_bps", [1e8, 1e10])
@pytest.mark.parametrize(
    ("name", "kind", "rounds"),
    [
        ("gaia", "complete", 12),
        ("geant", "star", 12),
        ("geant", "mst", 25),
        ("ebone", "star", 4),
        ("geant", "complete", 1),
    ],
)
def test_shipped_networks_have_the_dates_of_simpy(name, kind, rounds, access_bps, queueing):
    designed = overlay(name, kind, access_bps)
    slow = simulate(designed, rounds, queueing=queueing, engine="simpy", messages=True)
    fast = simulate(designed, rounds, queueing=queueing, engine="compiled", messages=True)
    for one, other in ((slow, fast), (slow.messages, fast.messages)):
        for table in ("round_start_s", "start_s", "last_bit_s", "arrival_s", "link_bits"):
            if hasattr(one, table) and not callable(getattr(one, table)):
                np.testing.assert_allclose(getattr(other, table), getattr(one, table), rtol=1e-9)


def test_no_link_bounds_messages_at_constant_rates():
    values = untied_values(np.random.default_rng(0)) | {"compute": drawn([0.5] * 8), "rounds": 3}
    values["arcs"] = [replace(arc, rate_bps=1.0) for arc in values["arcs"]]
    tables, expected = assert_like_simpy(values | {"sharing": "equal"})
    assert (tables["bound_link"] == -1).all()
    assert (expected.messages.bound_link == -1).all()


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("seed", range(6))
def test_the_link_that_bound_longest_is_that_of_simpy(seed, queueing):
    # Without ties: of links that are full at one rate, either may be named.
    rng = np.random.default_rng(seed)
    values = untied_values(rng) | {
        "compute": drawn(rng.uniform(0.1, 1.0, 8)),
        "rounds": 12,
        "queueing": queueing,
    }
    tables, expected = assert_like_simpy(values)
    assert len(np.unique(tables["bound_link"])) > 4
    np.testing.assert_array_equal(tables["bound_link"], expected.messages.bound_link)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_link_that_bound_longest_is_that_of_simpy_with_many_messages_on_one_arc(seed):
    # Silo 0 is up to nine rounds ahead of silo 1, whose models take long; the others share its two links now and then.
    rng, silos = np.random.default_rng(seed), 10
    routes = [(0, 1), *[(i % 2,) for i in range(1, silos)]]
    values = {
        "arcs": [
            FlowArc(source=i, target=(i + 1) % silos, latency_s=rng.uniform(0.01, 0.1), links=route)
            for i, route in enumerate(routes)
        ],
        "link_capacity_bps": [1.0, 1.01],
        "message_bits": [1.0, *rng.uniform(0.1, 0.4, silos - 1).tolist()],
        "compute": drawn(rng.uniform(0.05, 0.1, silos)),
        "rounds": 30,
        "queueing": "overlap",
    }
    tables, expected = assert_like_simpy(values)

    start_s, last_bit_s = tables["start_s"][:, 0], tables["last_bit_s"][:, 0]
    under_way = [np.sum((start_s <= date_s) & (last_bit_s > date_s)) for date_s in start_s]
    # Twice as much room as for four has to be made.
    assert max(under_way) > 4
    assert len(np.unique(tables["bound_link"][:, 0])) == 2
    np.testing.assert_array_equal(tables["bound_link"], expected.messages.bound_link)

"""The compiled engine gives the dates of the SimPy engine."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import FlowArc, simulate, simulate_flows
from simulator.compiled.engine import CompiledEngine, supports
from simulator.computing import Constant
from simulator.job import make_job
from topologies import AccessLinks, Workload, build_overlay, connectivity, design, load_underlay

CASES = json.loads((Path(__file__).parent / "data" / "simgrid_fluid.json").read_text())["cases"]
TABLES = ("start_s", "last_bit_s", "arrival_s")


class Drawn:
    """Other computing times in every round; a pure function of the round."""

    is_constant = False

    def __init__(self, compute_s):
        self.compute_s = np.array(compute_s)
        self.silos = len(self.compute_s)

    def rows(self, first, count):
        return np.array(
            [
                self.compute_s * (0.5 + np.random.default_rng(k).random(self.silos))
                for k in range(first, first + count)
            ]
        ).reshape(count, self.silos)


@st.composite
def jobs(draw):
    """Strong digraphs with ties, zero latencies and sizes, 0-token arcs and shared links."""
    silos, links = draw(st.integers(2, 6)), draw(st.integers(1, 6))
    ring = draw(st.permutations(range(silos)))
    pairs = {(ring[k - 1], ring[k]) for k in range(silos)}
    pairs |= set(draw(st.lists(st.tuples(st.integers(0, silos - 1), st.integers(0, silos - 1)), max_size=8)))
    arcs = [
        FlowArc(
            source=source,
            target=target,
            latency_s=draw(st.sampled_from([0.0, 0.25, 1.0]) | st.floats(0.0, 2.0)),
            links=tuple(draw(st.lists(st.integers(0, links - 1), unique=True, max_size=4))),
            tokens=draw(st.integers(0, 1)) if source < target else 1,
            rate_bps=draw(st.sampled_from([0.5, 1.0, 4.0, math.inf])),
        )
        for source, target in sorted(pairs)
        if source != target
    ]
    capacities = st.sampled_from([0.5, 1.0, 3.0, 30.0, math.inf]) | st.floats(0.05, 50.0)
    seconds = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0.01, 2.0)
    bits = st.sampled_from([0.0, 1.0, 3.0])
    compute_s = draw(st.lists(seconds, min_size=silos, max_size=silos))
    # Time must advance along every circuit.
    compute_s[ring[0]] += 0.0 if all(arc.latency_s for arc in arcs) else 0.125
    if not all(arc.latency_s for arc in arcs):
        compute_s = [value or 0.125 for value in compute_s]
    return {
        "arcs": arcs,
        "link_capacity_bps": draw(st.lists(capacities, min_size=links, max_size=links)),
        "message_bits": draw(bits | st.lists(bits, min_size=len(arcs), max_size=len(arcs))),
        "compute": draw(st.sampled_from([Drawn, lambda values: Constant(compute_s=values)]))(compute_s),
    }


def run(job, *, block_rounds=256, fast_forward=True):
    """All blocks of a job joined, and its engine."""
    assert supports(job)
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
    expected = simulate_flows(**values, engine="events", messages=True)
    tables, blocks, _ = run(make_job(**values), block_rounds=block_rounds)
    assert_same(
        tables, {"round_start_s": expected.round_start_s} | {n: getattr(expected.messages, n) for n in TABLES}
    )
    np.testing.assert_allclose(blocks[-1].link_bits, expected.link_bits, rtol=1e-12)
    return tables, expected


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@settings(deadline=None, max_examples=150)
@given(values=jobs(), rounds=st.integers(1, 25), block_rounds=st.sampled_from([1, 2, 5, 64]))
def test_random_jobs_have_the_dates_of_simpy(values, rounds, block_rounds, sharing, queueing):
    assert_like_simpy(
        values | {"rounds": rounds, "sharing": sharing, "queueing": queueing}, block_rounds=block_rounds
    )


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
    slow = simulate(designed, rounds, queueing=queueing, engine="events", messages=True)
    fast = simulate(designed, rounds, queueing=queueing, engine="compiled", messages=True)
    for one, other in ((slow, fast), (slow.messages, fast.messages)):
        for table in ("round_start_s", "start_s", "last_bit_s", "arrival_s", "link_bits"):
            if hasattr(one, table) and not callable(getattr(one, table)):
                np.testing.assert_allclose(getattr(other, table), getattr(one, table), rtol=1e-9)


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("seed", range(6))
def test_the_link_that_bound_longest_is_that_of_simpy(seed, queueing):
    # Without ties: of links that are full at one rate, either may be named.
    rng = np.random.default_rng(seed)
    silos, links = 8, 10
    pairs = {(i, (i + step) % silos) for i in range(silos) for step in (1, 3)}
    values = {
        "arcs": [
            FlowArc(
                source=i,
                target=j,
                latency_s=rng.uniform(0.1, 1.0),
                links=tuple(rng.choice(links, size=rng.integers(1, 5), replace=False).tolist()),
            )
            for i, j in sorted(pairs)
        ],
        "link_capacity_bps": rng.uniform(0.5, 3.0, links).tolist(),
        "message_bits": rng.uniform(0.5, 2.0, len(pairs)).tolist(),
        "compute": Drawn(rng.uniform(0.1, 1.0, silos)),
        "rounds": 12,
        "queueing": queueing,
    }
    tables, expected = assert_like_simpy(values)
    assert len(np.unique(tables["bound_link"])) > 4
    np.testing.assert_array_equal(tables["bound_link"], expected.messages.bound_link)

"""Timelines against SimGrid, run live on random jobs: actors and a max-min solver that others wrote.

They are slow, since the program is compiled anew and each job starts a process; round starts that SimGrid gave are kept
for the quick tests of both engines in `data/simgrid_fluid.json`.
"""

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from simulator import Constant, FlowArc, Trace, make_job, overlay_job, simulate, simulate_flows
from topologies import AccessLinks, Workload, connectivity, design, design_periodic, load_underlay

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))
import simgrid_peer

pytestmark = pytest.mark.slow

# Where many arcs queue, some timelines are chaotic: they multiply any change of a date by about 1.3 per round, on
# exact arithmetic too. Over 100 rounds the last float digit becomes 0.1 %; over these few it stays invisible.
ROUNDS = 30
ENGINES = ("simpy", "compiled")


@pytest.fixture(scope="session")
def peer(tmp_path_factory):
    """The peer's program, compiled once; without SimGrid these tests are skipped."""
    try:
        return simgrid_peer.build(tmp_path_factory.mktemp("peer"))
    except simgrid_peer.NoSimGridError as reason:
        pytest.skip(str(reason))


def ring(silos, rng):
    order = rng.permutation(silos).tolist()
    return list(zip(order, order[1:] + order[:1], strict=True))


def tree(silos, rng):
    edges = [(int(rng.integers(0, child)), child) for child in range(1, silos)]
    return edges + [(j, i) for i, j in edges]


def random_digraph(silos, rng):
    extra = rng.integers(0, silos, (2 * silos, 2)).tolist()
    return sorted({*ring(silos, rng), *((i, j) for i, j in extra if i != j)})


def complete(silos, _):
    return [(i, j) for i in range(silos) for j in range(silos) if i != j]


OVERLAYS = {make.__name__: make for make in (ring, tree, random_digraph, complete)}


def random_routes(pairs, silos, rng):
    """Uplink, core link directions and downlink of every pair on a random underlay; number of links."""
    routers = int(rng.integers(1, silos + 4))
    underlay = nx.Graph()
    underlay.add_nodes_from(range(routers))
    underlay.add_edges_from((int(rng.integers(0, router)), router) for router in range(1, routers))
    underlay.add_edges_from((i, j) for i, j in rng.integers(0, routers, (routers // 2, 2)).tolist() if i != j)
    directions = [*underlay.edges, *((j, i) for i, j in underlay.edges)]
    number = {direction: 2 * silos + link for link, direction in enumerate(directions)}
    paths = dict(nx.all_pairs_shortest_path(underlay))
    home = rng.integers(0, routers, silos).tolist()
    routes = [(i, *(number[hop] for hop in pairwise(paths[home[i]][home[j]])), silos + j) for i, j in pairs]
    return routes, 2 * silos + len(number)


def random_job(overlay, seed, *, ties=False, rounds=ROUNDS, queueing="fifo"):
    """Keywords of a job of 2 to 16 silos; with ties, most things happen at the same instants as others."""
    rng = np.random.default_rng(seed)
    silos = int(rng.integers(2, 17 if overlay != "complete" else 11))
    pairs = OVERLAYS[overlay](silos, rng)
    routes, links = random_routes(pairs, silos, rng)
    latency_s = rng.choice([0.0, 0.01], len(pairs)) if ties else rng.uniform(0.0, 0.05, len(pairs))
    # One way only, tokens of 0 cannot form a circuit.
    tokens = [int(rng.integers(0, 2)) if i < j and seed % 3 == 0 else 1 for i, j in pairs]
    if seed % 5 == 4:
        compute = Trace(table_s=rng.uniform(0.001, 0.5, (rounds, silos)))
    else:
        compute = Constant(compute_s=np.full(silos, 0.1) if ties else rng.uniform(0.001, 0.5, silos))
    return {
        "arcs": [
            FlowArc(source=i, target=j, tokens=token, latency_s=latency, links=route)
            for (i, j), token, latency, route in zip(pairs, tokens, latency_s.tolist(), routes, strict=True)
        ],
        "link_capacity_bps": 10.0 ** (rng.integers(6, 10, links) if ties else rng.uniform(6, 9, links)),
        "message_bits": np.round(10 ** rng.uniform(5, 7.5, len(pairs))) if seed % 2 and not ties else 1e7,
        "compute": compute,
        "rounds": rounds,
        "queueing": queueing,
    }


def check(peer, **job):
    """Every t_i(k) of both engines is that of SimGrid."""
    theirs = simgrid_peer.round_starts(peer, make_job(**job))
    for engine in ENGINES:
        ours = simulate_flows(**job, engine=engine).round_start_s
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, err_msg=engine)


@pytest.mark.parametrize("ties", [False, True], ids=["no ties", "ties"])
@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("seed", range(15))
def test_random_jobs(peer, overlay, ties, seed):
    check(peer, **random_job(overlay, seed, ties=ties))


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("seed", range(100, 105))
def test_random_jobs_whose_messages_overlap(peer, overlay, seed):
    """Over fewer rounds, since a backlog whose messages overlap multiplies changes faster."""
    check(peer, **random_job(overlay, seed, rounds=8, queueing="overlap"))


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("seed", range(201, 205))
def test_random_jobs_at_constant_rates(peer, overlay, seed):
    job = random_job(overlay, seed)
    rates_bps = 10 ** np.random.default_rng(seed).uniform(6, 9, len(job["arcs"]))
    arcs = [replace(arc, rate_bps=rate) for arc, rate in zip(job["arcs"], rates_bps.tolist(), strict=True)]
    check(peer, **job | {"arcs": arcs, "sharing": "equal"})


@pytest.mark.parametrize("kind", ["star", "mst", "delta_mbst", "ring"])
@pytest.mark.parametrize("name", ["geant", "aws_na"])
def test_designs_on_shipped_underlays(peer, name, kind):
    underlay = load_underlay(name)
    rng = np.random.default_rng(300)
    up_bps, down_bps = 10 ** rng.uniform(7, 10, (2, underlay.routers))
    access = AccessLinks(up_bps=up_bps, down_bps=down_bps)
    graph = connectivity(underlay, access=access)
    work = Workload(model_bits=45e6, compute_s=rng.uniform(0.01, 0.2, graph.silos), local_steps=1)
    overlay = design(kind, graph, work)
    theirs = simgrid_peer.round_starts(peer, overlay_job(overlay, ROUNDS))
    for engine in ENGINES:
        ours = simulate(overlay, ROUNDS, engine=engine).round_start_s
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, err_msg=engine)


@pytest.mark.parametrize("access_bps", [1e8, 1e10])
@pytest.mark.parametrize("kind", ["one_peer_exponential", "base", "multigraph", "hierarchical"])
def test_periodic_overlays(peer, kind, access_bps):
    """States with arcs of their own, lags, and states without computing; messages of several rounds share links."""
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=access_bps, down_bps=access_bps))
    overlay = design_periodic(kind, graph, Workload.preset("inaturalist"))
    theirs = simgrid_peer.round_starts(peer, overlay_job(overlay, ROUNDS))
    for engine in ENGINES:
        ours = simulate(overlay, ROUNDS, engine=engine).round_start_s
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, err_msg=engine)

"""Timelines against SimGrid, run live on random jobs: actors and a max-min solver that others wrote.

They are slow, since the program is compiled anew and each job starts a process; round starts that SimGrid gave are kept
for the quick tests of both engines in `data/simgrid_fluid.json`.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simulator import Constant, FlowArc, make_job, overlay_job, simulate, simulate_flows
from simulator.flows import run
from simulator.rtt_weights import REFERENCE_BITS
from topologies import (
    AccessLinks,
    Workload,
    build_overlay,
    connectivity,
    design,
    design_periodic,
    load_underlay,
)
from topologies.latency_rule import S_PER_KM, S_PER_PATH
from topologies.windows import with_windows

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))
import simgrid_peer
from peer_jobs import (
    OVERLAYS,
    ROUNDS,
    RULES,
    acknowledged,
    random_job,
    ruled_overlays,
    weighted_job,
    windowed_job,
)

pytestmark = pytest.mark.slow

ENGINES = ("simpy", "compiled")


@pytest.fixture(scope="session")
def peer(tmp_path_factory):
    """The peer's program, compiled once; without SimGrid these tests are skipped."""
    try:
        return simgrid_peer.build(tmp_path_factory.mktemp("peer"))
    except simgrid_peer.NoSimGridError as reason:
        pytest.skip(str(reason))


def check(peer, weights=None, rtol=1e-9, rules=simgrid_peer.NO_RULES, **job):
    """Every t_i(k) of both engines is that of SimGrid."""
    theirs = simgrid_peer.round_starts(peer, make_job(**job), weights, rules)
    for engine in ENGINES:
        ours = simulate_flows(**job, engine=engine).round_start_s
        np.testing.assert_allclose(ours, theirs, rtol=rtol, err_msg=engine)


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


@pytest.mark.parametrize("model", ["CM02", "LV08"])
@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("seed", range(5))
def test_weights_of_latency_that_senders_wait_for(peer, overlay, seed, model):
    """SimGrid's own latencies and weight-S; each message is handed over its latency before computing ends."""
    job, weights = weighted_job(overlay, seed, model, waits=True)
    check(peer, weights, **job)


@pytest.mark.parametrize("model", ["CM02", "LV08"])
@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("seed", range(300, 306))
def test_weights_with_queues_and_arcs_without_tokens(peer, overlay, seed, model):
    """SimGrid's latencies and weight-S scaled down, which leaves the ratios of weights.

    With latencies of up to 5 ns in place of 50 ms, dates differ by up to 1e-8 of them; of this, too, a hundredth is
    left with a hundredth of these latencies, where SimGrid takes them.
    """
    job, weights = weighted_job(overlay, seed, model, waits=False)
    check(peer, weights, rtol=1e-7, **job)


@pytest.mark.parametrize("overlay", ["tree", "complete"])
@pytest.mark.parametrize("seed", range(500, 512))
def test_acknowledgements_are_simgrids_cross_traffic(peer, overlay, seed):
    """5 % of each message's bits on the links of the way back, whose level they are bound to."""
    job = random_job(overlay, seed)
    slower = acknowledged(job)
    check(peer, rules=simgrid_peer.Rules(acks=True), **slower)
    with_acks, without = (simulate_flows(**each, engine="compiled").round_start_s for each in (slower, job))
    assert np.abs(with_acks - without).max() > 1e-3


@pytest.mark.parametrize("model", ["CM02", "LV08"])
@pytest.mark.parametrize("overlay", ["tree", "complete"])
@pytest.mark.parametrize("seed", range(520, 526))
def test_acknowledgements_with_weights(peer, overlay, seed, model):
    """The way back has no part in the weights."""
    job, weights = weighted_job(overlay, seed, model, waits=True)
    check(peer, weights, rules=simgrid_peer.Rules(acks=True), **acknowledged(job))


@pytest.mark.parametrize(
    ("rule", "overlay"),
    [(rule, overlay) for rule in RULES for overlay in OVERLAYS if "acks" not in rule]
    + [(rule, overlay) for rule in RULES for overlay in ("tree", "complete") if "acks" in rule],
)
def test_rules_of_links_are_those_of_simgrid(peer, rule, overlay):
    """Half-duplex links are one link for both directions there, fat pipes a policy, acknowledgements cross-traffic."""
    effect = 0.0
    for seed in range(600, 612):
        ruled, rules, plain = ruled_overlays(overlay, seed, rule)
        theirs = simgrid_peer.round_starts(peer, overlay_job(ruled, ROUNDS), None, rules)
        for engine in ENGINES:
            ours = simulate(ruled, ROUNDS, engine=engine).round_start_s
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, err_msg=f"{engine}, seed {seed}")
        without = simulate(plain, ROUNDS, engine="compiled").round_start_s
        effect = max(effect, np.abs(theirs[1:] / without[1:] - 1).max())
    assert effect > 0.01


def test_simgrids_fat_pipe_holds_back_what_weighs_less(peer):
    """Two messages of 1000 bits on 100 bit/s, which are not 100 bit/s for each, as `LinkRules.fat_pipes` has it.

    In SimGrid the rates of all messages on a fat pipe stop growing when the first has its capacity: with a third of the
    weight, the second has sent a third when the first leaves.
    """
    latency_s = np.array([0.0, 0.1, 0.3])
    arcs = [
        FlowArc(source=0, target=1, latency_s=0.1, links=(0, 1)),
        FlowArc(source=2, target=3, latency_s=0.3, links=(0, 2)),
        FlowArc(source=1, target=2, latency_s=0.1, links=(1,)),
        FlowArc(source=3, target=0, latency_s=0.1, links=(1,)),
    ]
    job = make_job(
        arcs,
        link_capacity_bps=[100.0, 1e15, 1e15],
        message_bits=1000.0,
        compute=Constant(compute_s=[1.0] * 4),
        rounds=1,
    )
    weights = simgrid_peer.Weights(link_latency_s=latency_s, reference_bits=0.0)
    rules = simgrid_peer.Rules(fat_pipe_bps={0: 100.0})
    theirs = simgrid_peer.round_starts(peer, job, weights, rules)[1]
    np.testing.assert_allclose(theirs[[1, 3]], [11.1, 1.3 + 10.0 + 2000.0 / 3 / 100.0], rtol=1e-9)


def test_simgrids_fat_pipe_holds_back_whose_acknowledgements_cross_it(peer):
    """1000 bits from silo 2 to 3, on a link of 1000 bit/s: alone their 50 bit/s back would fit on 100 bit/s."""
    routes = {(0, 1): 0, (3, 2): 0, (2, 3): 1, (1, 0): 2, (1, 2): 2, (2, 1): 2}
    arcs = [FlowArc(source=i, target=j, latency_s=0.0, links=(link,)) for (i, j), link in routes.items()]
    job = make_job(
        arcs,
        link_capacity_bps=[100.0, 1000.0, 1e15],
        message_bits=1000.0,
        compute=Constant(compute_s=[1.0] * 4),
        rounds=1,
    )
    for acks, arrival_s in ((True, 11.0), (False, 2.0)):
        rules = simgrid_peer.Rules(fat_pipe_bps={0: 100.0}, acks=acks)
        theirs = simgrid_peer.round_starts(peer, job, None, rules)
        assert theirs[1, 3] == pytest.approx(arrival_s, rel=1e-9)


def check_windows(peer, job, weights, unbounded):
    """Round starts are those under SimGrid's TCP-gamma, which differ from those without windows."""
    ours = [run(job, engine=engine, messages=False).round_start_s for engine in ENGINES]
    # Each message has its own window in SimGrid, those of one arc share one here: no two of an arc may meet.
    assert np.array_equal(
        run(replace(job, queueing="overlap"), engine="compiled", messages=False).round_start_s, ours[1]
    )
    theirs = simgrid_peer.round_starts(peer, job, weights)
    for engine, starts in zip(ENGINES, ours, strict=True):
        np.testing.assert_allclose(starts, theirs, rtol=1e-9, err_msg=engine)
    without = run(unbounded, engine="compiled", messages=False).round_start_s
    assert np.abs(without[1:] / theirs[1:] - 1).max() > 1e-7


@pytest.mark.parametrize("model", ["CM02", "LV08"])
@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("seed", range(400, 406))
def test_windows_are_those_of_tcp_gamma(peer, overlay, seed, model):
    """SimGrid bounds a rate by gamma / (2 * latency), with its weights of latency and weight-S."""
    values, weights = windowed_job(overlay, seed, model)
    job = make_job(**values | {"queueing": "fifo"})
    wide = np.array(job.link_capacity_bps)
    wide[len(weights.link_latency_s) :] = np.inf
    check_windows(peer, job, weights, replace(job, link_capacity_bps=wide))


@pytest.mark.parametrize("kind", ["mst", "delta_mbst", "ring"])
@pytest.mark.parametrize("name", ["geant", "gaia", "aws_na"])
def test_windows_of_a_network_are_those_of_tcp_gamma(peer, name, kind):
    """One window for all pairs, whose latency is the same there and back; links add theirs up."""
    underlay = load_underlay(name)
    rng = np.random.default_rng(500)
    up_bps, down_bps = 10 ** rng.uniform(8, 10, (2, underlay.routers))
    graph = connectivity(underlay, access=AccessLinks(up_bps=up_bps, down_bps=down_bps), latency="per_link")
    gamma_bits = 1e6
    link_s = np.zeros(graph.first_window)
    link_s[: graph.first_uplink] = np.repeat(S_PER_KM * underlay.length_km + S_PER_PATH, 2)
    work = Workload(model_bits=4e6, compute_s=rng.uniform(20, 21, graph.silos))
    plain = design(kind, graph, work)
    arcs = list(zip(plain.source.tolist(), plain.target.tolist(), strict=True))
    windowed = build_overlay(kind, with_windows(graph, gamma_bits), work, arcs, hub=plain.hub)
    jobs = [overlay_job(each, 8, sharing="rtt_weighted") for each in (windowed, plain)]
    weights = simgrid_peer.Weights(
        link_latency_s=link_s, reference_bits=REFERENCE_BITS, gamma_bits=gamma_bits
    )
    check_windows(peer, jobs[0], weights, jobs[1])


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

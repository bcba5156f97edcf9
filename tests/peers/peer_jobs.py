"""Random jobs that both SimGrid and silosim simulate."""

from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
from simgrid_peer import Weights

from simulator import Constant, FlowArc, Trace
from simulator.rtt_weights import REFERENCE_BITS
from simulator.simpy_engine.rtt_weighted import rtt_weighted

# Where many arcs queue, some timelines are chaotic: they multiply any change of a date by about 1.3 per round, on
# exact arithmetic too. Over 100 rounds the last float digit becomes 0.1 %; over these few it stays invisible.
ROUNDS = 30

CM02 = rtt_weighted("cm02", 0.0)
MODELS = {"CM02": (CM02, 0.0), "LV08": ("rtt_weighted", REFERENCE_BITS)}
"""Our sharing model and weight-S of SimGrid's models."""


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


def weighted_job(overlay, seed, model, *, waits, rounds=None):
    """Keywords of a job whose links have latencies of 0.1 to 50 ms and capacities of 1 Mbit/s to 1 Gbit/s, and weights.

    Where it `waits`, messages wait for latencies in SimGrid as they do there: see `simgrid_peer.Weights`.
    """
    overlaps = {"queueing": "overlap", "rounds": 8} if waits else {}
    job = random_job(overlay, seed, **overlaps | ({} if rounds is None else {"rounds": rounds}))
    rng = np.random.default_rng([seed, 1])
    link_s = 10.0 ** rng.uniform(-4, np.log10(0.05), len(job["link_capacity_bps"]))
    arcs = [replace(arc, latency_s=sum(link_s[list(arc.links)].tolist())) for arc in job["arcs"]]
    if waits:
        arcs = [replace(arc, tokens=1) for arc in arcs]
        job["compute"] = _later(job["compute"], max(arc.latency_s for arc in arcs))
    sharing, reference_bits = MODELS[model]
    weights = Weights(link_latency_s=link_s, reference_bits=reference_bits, scale=1.0 if waits else 1e-7)
    return job | {"arcs": arcs, "sharing": sharing}, weights


def windowed_job(overlay, seed, model, *, rounds=8):
    """As `weighted_job` where messages wait, with one window for all, which is the only limit of some arcs.

    Silos compute until the models of the round before have arrived, so that no two of one arc are under way at once.
    """
    job, weights = weighted_job(overlay, seed, model, waits=True, rounds=rounds)
    arcs, capacity_bps = job["arcs"], np.asarray(job["link_capacity_bps"])
    bits = np.broadcast_to(job["message_bits"], len(arcs))
    trip_s = np.array([2 * arc.latency_s for arc in arcs])
    slowest_bps = np.array([capacity_bps[list(arc.links)].min() for arc in arcs])
    gamma_bits = float(np.median(trip_s * slowest_bps)) / np.random.default_rng([seed, 2]).uniform(0.5, 4.0)
    load_s = np.zeros(len(capacity_bps))
    for arc, own in zip(arcs, bits.tolist(), strict=True):
        load_s[list(arc.links)] += own / capacity_bps[list(arc.links)]
    links = len(capacity_bps)
    windowed = [
        replace(arc, links=(*arc.links, links + number), hops=len(arc.links))
        for number, arc in enumerate(arcs)
    ]
    return job | {
        "arcs": windowed,
        "link_capacity_bps": np.concatenate((capacity_bps, gamma_bits / trip_s)),
        "compute": _later(job["compute"], 2 * load_s.max() + float((bits * trip_s).max()) / gamma_bits),
    }, replace(weights, gamma_bits=gamma_bits)


def _later(compute, least_s):
    """Longer computing times, at least so long."""
    if isinstance(compute, Trace):
        return Trace(table_s=compute.table_s + least_s)
    return Constant(compute_s=compute.compute_s + least_s)

"""Random jobs that both SimGrid and silosim simulate."""

from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
from simgrid_peer import Rules, Weights

from simulator import Constant, FlowArc, Trace
from simulator.rtt_weights import REFERENCE_BITS
from simulator.simpy_engine.rtt_weighted import rtt_weighted
from topologies import AccessLinks, Underlay, Workload, build_overlay, connectivity

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


def acknowledged(job):
    """The same job where 5 % of each message's bits go back on the route of the arc back: SimGrid's cross-traffic."""
    route = {(arc.source, arc.target): arc.links for arc in job["arcs"]}
    return job | {
        "arcs": [
            replace(
                arc,
                links=arc.links + (back := route[arc.target, arc.source]),
                usage=(1.0,) * len(arc.links) + (0.05,) * len(back),
                hops=len(arc.links),
            )
            for arc in job["arcs"]
        ]
    }


def ruled_graph(seed):
    """A random network of 2 to 10 silos, one at some routers, each access link as fast up as down, without rules."""
    rng = np.random.default_rng([seed, 3])
    silos = int(rng.integers(2, 11))
    routers = silos + int(rng.integers(0, 4))
    drawn = rng.integers(0, routers, (routers // 2, 2)).tolist()
    links = sorted(
        {*tree(routers, rng)[: routers - 1], *((min(i, j), max(i, j)) for i, j in drawn if i != j)}
    )
    underlay = Underlay(
        name="random",
        variant="corrected",
        labels=tuple(f"r{router:02}" for router in range(routers)),
        latitude_deg=np.zeros(routers),
        longitude_deg=np.zeros(routers),
        ends=np.array(links),
        length_km=rng.uniform(10.0, 2000.0, len(links)),
        capacity_bps=10.0 ** rng.uniform(6.0, 8.0, len(links)),
    )
    access_bps = 10.0 ** rng.uniform(6.0, 8.0, silos)
    routers_of = rng.permutation(routers)[:silos].tolist()
    return connectivity(
        underlay, access=AccessLinks(up_bps=access_bps, down_bps=access_bps), routers=routers_of
    )


def half_duplex(graph, seed):
    """Half of the access and core links carry one direction at a time; as SimGrid has them."""
    rng = np.random.default_rng([seed, 4])
    silos = np.flatnonzero(rng.random(graph.silos) < 0.5).tolist()
    links = np.flatnonzero(rng.random(len(graph.core_bps)) < 0.5).tolist()
    same = {graph.downlink(silo): graph.uplink(silo) for silo in silos}
    same |= {2 * link + 1: 2 * link for link in links}
    rules = replace(graph.rules, half_duplex=tuple(silos), half_duplex_core=tuple(links))
    return replace(graph, rules=rules), Rules(same=same)


def fat_pipes(graph, seed):
    """Two thirds of the core links are fat pipes; as SimGrid has them."""
    links = np.flatnonzero(np.random.default_rng([seed, 5]).random(len(graph.core_bps)) < 2 / 3).tolist()
    fat_pipe_bps = {2 * link + way: float(graph.core_bps[link]) for link in links for way in (0, 1)}
    return replace(graph, rules=replace(graph.rules, fat_pipes=tuple(links))), Rules(
        fat_pipe_bps=fat_pipe_bps
    )


def acks(graph, _):
    """Acknowledgements of SimGrid's share; as SimGrid has them."""
    return replace(graph, rules=replace(graph.rules, ack_share=0.05)), Rules(acks=True)


def half_duplex_with_acks(graph, seed):
    """Both: a half-duplex link carries models and their own acknowledgements."""
    graph, rules = half_duplex(graph, seed)
    return acks(graph, seed)[0], replace(rules, acks=True)


RULES = {make.__name__: make for make in (half_duplex, fat_pipes, acks, half_duplex_with_acks)}


def ruled_overlays(overlay, seed, rule):
    """An overlay on a network with rules, the rules as SimGrid has them, and the overlay without rules."""
    graph = ruled_graph(seed)
    rng = np.random.default_rng([seed, 6])
    work = Workload(
        model_bits=float(rng.integers(10**5, 10**7)), compute_s=rng.uniform(0.001, 0.5, graph.silos)
    )
    pairs = OVERLAYS[overlay](graph.silos, rng)
    ruled, rules = RULES[rule](graph, seed)
    return build_overlay(overlay, ruled, work, pairs), rules, build_overlay(overlay, graph, work, pairs)

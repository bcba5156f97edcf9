"""Networks with few silos, and random digraphs on few links."""

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from simulator import FlowArc
from topologies import AccessLinks, Underlay, Workload, connectivity


def network(ends, length_km, capacity_bps, *, up_bps=1000.0, down_bps=1000.0, **how):
    """Silos A, B and so on, one on each router."""
    routers = int(np.max(ends)) + 1
    underlay = Underlay(
        name="test",
        variant="corrected",
        labels=tuple("ABCD"[:routers]),
        latitude_deg=np.zeros(routers),
        longitude_deg=np.zeros(routers),
        ends=ends,
        length_km=length_km,
        capacity_bps=capacity_bps,
    )
    return connectivity(underlay, access=AccessLinks(up_bps=up_bps, down_bps=down_bps), **how)


def triangle_network():
    """A - B has 10 bit/s, B - C 5 and A - C 20; access links have 1000."""
    return network([(0, 1), (1, 2), (0, 2)], [100.0, 100.0, 150.0], [10.0, 5.0, 20.0])


def random_network(seed, silos):
    """Silos on routers of a tree with some links more, with few capacities, so that arcs meet on links."""
    rng = np.random.default_rng(seed)
    routers = max(2, silos + int(rng.integers(0, 2)))
    tree = [(int(rng.integers(0, i)), i) for i in range(1, routers)]
    pairs = itertools.combinations(range(routers), 2)
    links = tree + [pair for pair in pairs if pair not in tree and rng.random() < 0.3]
    underlay = Underlay(
        name="test",
        variant="corrected",
        labels=tuple(f"r{i}" for i in range(routers)),
        latitude_deg=np.zeros(routers),
        longitude_deg=np.zeros(routers),
        ends=np.array(links),
        length_km=rng.integers(0, 4, len(links)) * 1000.0,
        capacity_bps=rng.choice([5e8, 1e9], len(links)),
    )
    graph = connectivity(
        underlay,
        access=AccessLinks(up_bps=rng.choice([6e8, 1e10], silos), down_bps=rng.choice([6e8, 1e10], silos)),
        routers=range(silos),
    )
    return graph, Workload(model_bits=4.5e7, compute_s=rng.choice([0.0, 0.02, 0.1], silos))


@st.composite
def strong_digraphs(draw, capacities):
    """Strong digraphs with ties, zero latencies and sizes, 0-token arcs and shared links.

    Keywords of `simulate_flows` but `compute_s` and `rounds`.
    """
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
    bits = st.sampled_from([0.0, 1.0, 3.0])
    return {
        "arcs": arcs,
        "link_capacity_bps": draw(st.lists(capacities, min_size=links, max_size=links)),
        "message_bits": draw(bits | st.lists(bits, min_size=len(arcs), max_size=len(arcs))),
    }


def untied_values(rng):
    """Arcs of eight silos on ten links, all of whose numbers are drawn, so that nothing happens at once by chance."""
    silos, links = 8, 10
    pairs = sorted({(i, (i + step) % silos) for i in range(silos) for step in (1, 3)})
    return {
        "arcs": [
            FlowArc(
                source=i,
                target=j,
                latency_s=rng.uniform(0.1, 1.0),
                links=tuple(rng.choice(links, size=rng.integers(1, 5), replace=False).tolist()),
            )
            for i, j in pairs
        ],
        "link_capacity_bps": rng.uniform(0.5, 3.0, links).tolist(),
        "message_bits": rng.uniform(0.5, 2.0, len(pairs)).tolist(),
    }


def silos_of(job):
    """Number of silos of a strong digraph's job."""
    return 1 + max(arc.source for arc in job["arcs"])

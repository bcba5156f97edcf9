"""Local search on any strong digraph: drop and move arcs of the critical circuit."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from topologies.connectivity import Connectivity
from topologies.howard import RELATIVE_NOISE, cycle_time
from topologies.maxplus import EventGraph
from topologies.overlay import arc_rates
from topologies.workload import Workload

Arcs = frozenset[tuple[int, int]]


def polish(
    graph: Connectivity, work: Workload, arcs: Arcs, *, trials: int, seed: int, serialized: bool = False
) -> Arcs:
    """Strong digraph with a cycle time at most that of the given one.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
    arcs : frozenset of (int, int)
        A strong digraph of allowed arcs, each with one token.
    trials : int
        Changes tried; each costs one run of `cycle_time`.
    seed : int
    serialized : bool
        Whether an arc's transmission time bounds `tau` too, as in the `serialized` closed form.

    Returns
    -------
    frozenset of (int, int)

    Notes
    -----
    An arc added to a digraph lowers no circuit's delay, so that only changes that take an arc away can help: one of
    the critical circuit, or one that shares its sender or its receiver and so their access links. It is dropped,
    turned to another silo, or led through another silo. A change is kept if the digraph is still strong and `tau`
    falls.
    """
    rng = np.random.default_rng(seed)
    allowed = graph.may_send
    tau, circuit = _tau(graph, work, arcs, serialized)
    for _ in range(trials):
        ordered = sorted(arcs)
        critical = [ordered[arc] for arc in circuit if arc < len(ordered)]
        if not critical:  # a silo's own computing is the bound
            return arcs
        i, j = critical[int(rng.integers(len(critical)))]
        beside = [(a, b) for a, b in ordered if (a == i) != (b == j)]
        if beside and rng.random() < 0.5:
            i, j = beside[int(rng.integers(len(beside)))]
        k = int(rng.integers(graph.silos))
        new = (set[tuple[int, int]](), {(i, k)}, {(k, j)}, {(i, k), (k, j)})[int(rng.integers(4))]
        if not all(allowed[arc] for arc in new) or (i, j) in new:
            continue
        changed = (arcs - {(i, j)}) | new
        if not _strong(graph.silos, changed):
            continue
        lower, other = _tau(graph, work, changed, serialized)
        if lower < tau * (1 - RELATIVE_NOISE):
            arcs, tau, circuit = changed, lower, other
    return arcs


def _tau(graph: Connectivity, work: Workload, arcs: Arcs, serialized: bool) -> tuple[float, tuple[int, ...]]:
    """Cycle time, and what sets it: positions in the sorted arcs followed by the silos' self-loops."""
    source, target = np.array(sorted(arcs), dtype=np.int64).reshape(-1, 2).T
    compute_s = work.round_compute_s(graph.silos)
    sending = work.model_bits / arc_rates(graph, source, target)
    silos = np.arange(graph.silos)
    proof = cycle_time(
        EventGraph(
            nodes=graph.silos,
            source=np.concatenate((source, silos)),
            target=np.concatenate((target, silos)),
            delay_s=np.concatenate(
                (compute_s[source] + graph.latency_s[source, target] + sending, compute_s)
            ),
            tokens=np.ones(len(source) + graph.silos, dtype=np.int64),
        )
    )
    slowest = int(np.argmax(sending))
    if serialized and sending[slowest] > proof.value_s:
        return float(sending[slowest]), (slowest,)
    return proof.value_s, proof.circuit


def _strong(silos: int, arcs: Arcs) -> bool:
    """Whether every silo reaches every other."""
    source, target = np.array(sorted(arcs), dtype=np.int64).reshape(-1, 2).T
    links = coo_array((np.ones(len(source)), (source, target)), shape=(silos, silos)).tocsr()
    parts, _ = connected_components(links, directed=True, connection="strong")
    return int(parts) == 1

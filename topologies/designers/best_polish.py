"""Local search on any strong digraph: drop and move arcs of the critical circuit."""

import numpy as np

from topologies.arrays import IntArray
from topologies.connectivity import Connectivity
from topologies.delays import arc_rates, leaving, round_event_graph, transmissions, under_way
from topologies.designers.best_costs import CRITERIA, Crossings
from topologies.digraph import components
from topologies.howard import RELATIVE_NOISE, cycle_time
from topologies.slow_start import added_s, with_added_s
from topologies.workload import Workload

Arcs = frozenset[tuple[int, int]]


def polish(
    graph: Connectivity, work: Workload, arcs: Arcs, *, trials: int, seed: int, criterion: str = "paper"
) -> Arcs:
    """Strong digraph with a cycle time at most that of the given one.

    Parameters
    ----------
    arcs : frozenset of (int, int)
        A strong digraph of allowed arcs, each with one token.
    trials : int
        Changes tried; each costs one run of `cycle_time` at most.
    criterion : {"paper", "serialized", "all"}
        The closed form that counts, as for `best`.

    Returns
    -------
    frozenset of (int, int)

    Notes
    -----
    An arc added to a digraph lowers no circuit's delay, so that only changes that take an arc away can help: one of
    the critical circuit (or, where they set `tau`, of the arcs with the longest transmission or on the busiest core
    links), or one that shares its sender or its receiver and so their access links. It is dropped, turned to another
    silo, or led through another silo. A change is kept if the digraph is still strong and `tau` falls, or stays with
    fewer arcs that set it alone.
    """
    rng = np.random.default_rng(seed)
    allowed = graph.may_send
    score = _Score(graph, work, criterion)
    tau, alone, critical = score(arcs, np.inf)
    for _ in range(trials):
        if not critical:  # a silo's own computing is the bound
            return arcs
        i, j = critical[int(rng.integers(len(critical)))]
        beside = [(a, b) for a, b in sorted(arcs) if (a == i) != (b == j)]
        if beside and rng.random() < 0.5:
            i, j = beside[int(rng.integers(len(beside)))]
        k = int(rng.integers(graph.silos))
        new = (set[tuple[int, int]](), {(i, k)}, {(k, j)}, {(i, k), (k, j)})[int(rng.integers(4))]
        if not all(allowed[arc] for arc in new) or (i, j) in new:
            continue
        changed = (arcs - {(i, j)}) | new
        if not _strong(graph.silos, changed):
            continue
        other, fewer, their = score(changed, tau)
        falls = other < tau * (1 - RELATIVE_NOISE)
        if falls or (other <= tau * (1 + RELATIVE_NOISE) and fewer < alone):
            arcs, tau, alone, critical = changed, other, fewer, their
    return arcs


class _Score:
    """Largest of the closed forms that a criterion asks for, how many arcs set it alone, and the critical arcs."""

    def __init__(self, graph: Connectivity, work: Workload, criterion: str) -> None:
        self.graph, self.work = graph, work
        self.serialized, self.shared = CRITERIA[criterion]
        self.crossings = Crossings(graph, work)
        self.compute_s = work.round_compute_s(graph.silos)

    def __call__(self, arcs: Arcs, limit: float) -> tuple[float, int, list[tuple[int, int]]]:
        """Objective of these arcs; infinite where single arcs exceed the limit."""
        ordered = sorted(arcs)
        source, target = _ends(ordered)
        compute, share = self.compute_s[source], self.work.backward_share
        rate_bps = arc_rates(self.graph, source, target)
        sending = under_way(compute, transmissions(self.work.model_bits, rate_bps), share)
        delay = leaving(compute, share) + self.graph.latency_s[source, target] + sending
        slow_s = added_s(self.graph, self.work.model_bits, self.compute_s, source, target, rate_bps)
        delay, busy = with_added_s(self.graph, delay, sending, slow_s)
        alone = busy if self.serialized else np.zeros(len(sending))
        if self.shared:
            links = [self.crossings.links(*arc) for arc in ordered]
            crossed = np.array([link for route in links for link in route], dtype=np.int64)
            bits = np.array([own for arc in ordered for own in self.crossings.shares(*arc)], dtype=np.float64)
            loads = np.bincount(crossed, bits, minlength=len(self.crossings.busy_s)) * self.crossings.busy_s
            owner = np.repeat(np.arange(len(links)), [len(route) for route in links])
            alone = alone.copy()
            np.maximum.at(alone, owner, loads[crossed])
        longest = float(alone.max(initial=0.0))
        if longest > limit * (1 + RELATIVE_NOISE):
            return np.inf, len(arcs), []
        tokens = np.ones(len(source), dtype=np.int64)
        proof = cycle_time(round_event_graph(self.graph.silos, source, target, tokens, delay, self.compute_s))
        if longest > proof.cycle_time_s:
            slowest = np.flatnonzero(alone >= longest * (1 - RELATIVE_NOISE)).tolist()
            return longest, len(slowest), [ordered[arc] for arc in slowest]
        return proof.cycle_time_s, 0, [ordered[arc] for arc in proof.circuit if arc < len(ordered)]


def _ends(ordered: list[tuple[int, int]]) -> IntArray:
    """Sources and targets, shape (2, arcs)."""
    return np.array(ordered, dtype=np.int64).reshape(-1, 2).T


def _strong(silos: int, arcs: Arcs) -> bool:
    """Whether every silo reaches every other."""
    source, target = _ends(sorted(arcs))
    return components(silos, source, target, strong=True)[0] == 1

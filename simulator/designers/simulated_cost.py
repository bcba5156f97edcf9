"""Simulated cycle time of the overlays of a search, and a lower bound on it that takes no simulation."""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from simulator.flows import run
from simulator.overlay_jobs import overlay_job
from topologies.arrays import FloatArray, IntArray
from topologies.connectivity import Connectivity, with_bottleneck
from topologies.delays import pair_delays, pair_rates, round_event_graph, transmissions, under_way
from topologies.errors import InputError
from topologies.howard import cycle_time
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload

Arcs = frozenset[tuple[int, int]]

SLOWED = 0.5
"""Arcs whose messages lose this share of the longest time lost to sharing count as slowed by it."""
NOISE = 1e-9
"""Relative differences of simulated times below this are none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LowerBound:
    """Cycle time below which the simulation of given arcs cannot fall.

    Attributes
    ----------
    time_s : float
    arcs : tuple of (int, int)
        Those that set it: a critical circuit, or the arcs on the busiest link.
    """

    time_s: float
    arcs: tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Simulated:
    """Simulated cycle time of given arcs.

    Attributes
    ----------
    time_s : float
        Infinite where they cannot be simulated.
    arcs : tuple of (int, int)
        Those whose messages take longest beyond the time that they would need alone; none where nobody shares a link
        at any time.
    """

    time_s: float
    arcs: tuple[tuple[int, int], ...]


class SimulatedCost:
    """What the overlays of one network and workload cost: max-min fair sharing, an arc's messages one by one.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
        With constant computing times.
    """

    def __init__(self, graph: Connectivity, work: Workload) -> None:
        self.graph, self.work = graph, work
        self.compute_s = work.round_compute_s(graph.silos)
        alone = replace(with_bottleneck(graph), slow_start=None)
        self.alone_s = pair_delays(alone, work)
        sending_s = transmissions(work.model_bits, pair_rates(alone))
        self.sending_s = under_way(self.compute_s[:, np.newaxis], sending_s, work.backward_share)
        self.busy_s = transmissions(work.model_bits, graph.link_capacity_bps)

    def bound(self, arcs: Arcs) -> LowerBound:
        """Lower bound on the simulated cycle time of a strong digraph whose arcs all carry a token.

        Notes
        -----
        The cycle time of the event graph in which every model has its links for itself, or the time that the busiest
        link needs for a round's models: no fair sharing is faster, see `topologies.bounds.simulated_bound_s`. Where no
        two models meet on a link it is what the simulation gives. Time O(total route length), and that of
        `cycle_time`.
        """
        source, target = ends(arcs)
        graph = round_event_graph(
            self.graph.silos,
            source,
            target,
            np.ones(len(source), dtype=np.int64),
            self.alone_s[source, target],
            self.compute_s,
        )
        proof = cycle_time(graph, connected=True)
        loads_s, owner, link = self.loads(source, target)
        busiest_s = float(loads_s.max(initial=0.0))
        if busiest_s > proof.cycle_time_s:
            critical = np.unique(owner[loads_s[link] == busiest_s]).tolist()
            return LowerBound(time_s=busiest_s, arcs=_pairs(source, target, critical))
        circuit = [arc for arc in proof.circuit if arc < len(source)]
        return LowerBound(time_s=proof.cycle_time_s, arcs=_pairs(source, target, circuit))

    def simulated(self, overlay: Overlay, rounds: int) -> Simulated:
        """Simulate an overlay: exactly where it repeats within these rounds, else an estimate."""
        try:
            timeline = run(overlay_job(overlay, rounds), engine="compiled", messages=True)
        except InputError:
            return Simulated(time_s=inf, arcs=())
        assert timeline.messages is not None
        interval = timeline.confidence_interval()
        sending_s = timeline.messages.last_bit_s - timeline.messages.start_s
        lost_s = sending_s[rounds // 2 :].mean(axis=0) - self.sending_s[overlay.source, overlay.target]
        longest_s = float(lost_s.max(initial=0.0))
        slowed = (lost_s >= SLOWED * longest_s) & (lost_s > NOISE * timeline.cycle_time_s)
        return Simulated(
            time_s=timeline.cycle_time_s if interval is None else interval.mean,
            arcs=_pairs(overlay.source, overlay.target, np.flatnonzero(slowed).tolist()),
        )

    def overlay(self, arcs: Arcs) -> Overlay:
        """The overlay of a strong digraph."""
        return build_overlay("best", self.graph, self.work, sorted(arcs))

    def loads(self, source: IntArray, target: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
        """Time per round that each link is busy, and the arc and the link of every hop of arcs that all send in it."""
        arcs = self.graph.occupied(zip(source.tolist(), target.tolist(), strict=True))
        link = np.array([x for arc in arcs for x in arc.links], dtype=np.int64)
        usage = np.array([x for arc in arcs for x in arc.usage], dtype=np.float64)
        owner = np.repeat(np.arange(len(arcs)), [len(arc.links) for arc in arcs])
        return np.bincount(link, usage, minlength=len(self.busy_s)) * self.busy_s, owner, link


def ends(arcs: Arcs) -> IntArray:
    """Sources and targets in order, shape (2, arcs)."""
    return np.array(sorted(arcs), dtype=np.int64).reshape(-1, 2).T


def arcs_of(overlay: Overlay) -> Arcs:
    """The arcs of an overlay as a set."""
    return frozenset(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))


def reverse(arcs: Arcs) -> Arcs:
    """All arcs the other way."""
    return frozenset((j, i) for i, j in arcs)


def _pairs(source: IntArray, target: IntArray, which: list[int]) -> tuple[tuple[int, int], ...]:
    """Ends of some arcs."""
    return tuple((int(source[arc]), int(target[arc])) for arc in which)

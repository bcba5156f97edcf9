"""What periodic overlays cost a search: a bound without simulation, the simulated cycle time, how well they mix."""

from dataclasses import dataclass
from math import inf

import numpy as np

from simulator.designers.periodic_moves import StateArc, States
from simulator.designers.simulated_cost import NOISE, SLOWED, Arcs, SimulatedCost, ends
from simulator.flows import run
from simulator.overlay_jobs import overlay_job
from topologies.arrays import IntArray
from topologies.balanced import balanced
from topologies.connectivity import Connectivity
from topologies.contraction import worst_contraction
from topologies.digraph import components
from topologies.errors import InputError
from topologies.howard import cycle_time
from topologies.periodic.balanced_state import Weights, balanced_state, can_be_balanced
from topologies.periodic_events import periodic_event_graph
from topologies.periodic_overlay import PeriodicOverlay, build_periodic
from topologies.state import State
from topologies.workload import Workload


@dataclass(frozen=True, kw_only=True, slots=True)
class Costly:
    """A cycle time per round, or a bound on it, and the arcs that set it.

    Attributes
    ----------
    time_s : float
        Infinite where they cannot be simulated.
    arcs : tuple of (int, int, int)
        State, source and target.
    """

    time_s: float
    arcs: tuple[StateArc, ...]


class PeriodicCost:
    """What the periodic overlays of one network and workload cost: max-min fair sharing, an arc's messages one by one.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
        With constant computing times.
    """

    def __init__(self, graph: Connectivity, work: Workload) -> None:
        self.graph, self.work = graph, work
        self.static = SimulatedCost(graph, work)
        self._balanced: dict[Arcs, State] = {}
        self._can_be_balanced: dict[Arcs, bool] = {}

    def is_overlay(self, states: States) -> bool:
        """Whether the silos can send along all arcs, agree on their plain average, and reach each other in time."""
        silos, may_send = self.graph.silos, self.graph.may_send
        for arcs in states:
            if arcs not in self._can_be_balanced:
                source, target = ends(arcs)
                self._can_be_balanced[arcs] = bool(may_send[source, target].all()) and can_be_balanced(
                    silos, source, target
                )
            if not self._can_be_balanced[arcs]:
                return False
        return components(silos, *ends(frozenset().union(*states)), strong=True)[0] == 1

    def states(self, states: States, *, weights: Weights = balanced) -> tuple[State, ...]:
        """The arcs of each state with doubly stochastic weights, see `balanced_state`; those of `balanced` are kept."""
        if weights is not balanced:
            made = {
                arcs: balanced_state(self.graph.silos, *ends(arcs), weights=weights) for arcs in set(states)
            }
            return tuple(made[arcs] for arcs in states)
        for arcs in states:
            if arcs not in self._balanced:
                self._balanced[arcs] = balanced_state(self.graph.silos, *ends(arcs))
        return tuple(self._balanced[arcs] for arcs in states)

    def contraction(self, states: States) -> float:
        """`worst_contraction` with the weights of `balanced`."""
        return worst_contraction(self.graph.silos, self.states(states))

    def load_s(self, states: States) -> float:
        """Time per round that the busiest link needs for the models of a period."""
        _, source, target = _columns(states)
        loads_s, _, _ = self.static.loads(source, target)
        return float(loads_s.max(initial=0.0)) / len(states)

    def bound(self, states: States) -> Costly:
        """Lower bound on the simulated cycle time per round; see `SimulatedCost.bound`."""
        state, source, target = _columns(states)
        period = len(states)
        graph = periodic_event_graph(
            period,
            state,
            source,
            target,
            np.ones(len(source), dtype=np.int64),
            self.static.alone_s[source, target],
            np.tile(self.static.compute_s, (period, 1)),
        )
        proof = cycle_time(graph, connected=True)
        loads_s, owner, link = self.static.loads(source, target)
        busiest_s = float(loads_s.max(initial=0.0))
        if busiest_s > proof.cycle_time_s:
            critical = np.unique(owner[loads_s[link] == busiest_s]).tolist()
            return Costly(time_s=busiest_s / period, arcs=_triples(state, source, target, critical))
        circuit = [arc for arc in proof.circuit if arc < len(source)]
        return Costly(time_s=proof.cycle_time_s / period, arcs=_triples(state, source, target, circuit))

    def overlay(self, states: tuple[State, ...]) -> PeriodicOverlay:
        """The overlay of some states."""
        return build_periodic("best_periodic", self.graph, self.work, states)

    def simulated(self, overlay: PeriodicOverlay, rounds: int) -> Costly:
        """Simulate an overlay: exactly where it repeats within these rounds, else an estimate.

        The arcs are those whose messages take longest beyond the time that they would need alone, as for
        `SimulatedCost.simulated`.
        """
        try:
            timeline = run(overlay_job(overlay, rounds), engine="compiled", messages=True)
        except InputError:
            return Costly(time_s=inf, arcs=())
        assert timeline.messages is not None
        interval = timeline.confidence_interval()
        lasted_s = timeline.messages.last_bit_s - timeline.messages.start_s
        arcs = [(place, *arc) for place, state in enumerate(overlay.states) for arc in _pairs(state)]
        if not arcs:
            return Costly(time_s=timeline.cycle_time_s, arcs=())
        begin = -(-(rounds // 2) // overlay.period) * overlay.period
        lost_s = np.concatenate(
            [
                lasted_s[
                    begin + place :: overlay.period, overlay.numbers.of(state.source, state.target)
                ].mean(axis=0)
                - self.static.sending_s[state.source, state.target]
                for place, state in enumerate(overlay.states)
            ]
        )
        longest_s = float(lost_s.max(initial=0.0))
        slowed = (lost_s >= SLOWED * longest_s) & (lost_s > NOISE * timeline.cycle_time_s)
        return Costly(
            time_s=timeline.cycle_time_s if interval is None else interval.mean,
            arcs=tuple(arcs[place] for place in np.flatnonzero(slowed).tolist()),
        )


def _pairs(state: State) -> list[tuple[int, int]]:
    """The arcs of a state."""
    return list(zip(state.source.tolist(), state.target.tolist(), strict=True))


def _columns(states: States) -> tuple[IntArray, IntArray, IntArray]:
    """State, source and target of all arcs, those of a state in order."""
    counts = [len(arcs) for arcs in states]
    pairs = np.concatenate([ends(arcs) for arcs in states], axis=1)
    return np.repeat(np.arange(len(states)), counts), pairs[0], pairs[1]


def _triples(state: IntArray, source: IntArray, target: IntArray, which: list[int]) -> tuple[StateArc, ...]:
    """Some of the arcs."""
    return tuple((int(state[arc]), int(source[arc]), int(target[arc])) for arc in which)

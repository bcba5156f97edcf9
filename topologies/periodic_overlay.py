"""A periodic overlay: states that follow each other, their arcs with lags, delays and weights, and its closed forms."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topologies.arc_numbers import ArcNumbers
from topologies.arrays import FloatArray, IntArray, freeze
from topologies.closed_forms import ClosedForms, closed_forms
from topologies.connectivity import Connectivity
from topologies.delays import arc_rates, degrees, delays, leaving, transmissions, under_way
from topologies.errors import Field, InputError
from topologies.howard import CycleTime, bounds, cycle_time
from topologies.maxplus import EventGraph
from topologies.periodic_agreement import periodic_agreed_weights
from topologies.periodic_events import fifo_event_graph, periodic_event_graph, state_of_sending, turn_order
from topologies.slow_start import added_s, check_goes_with, with_added_s
from topologies.state import State, computing_times
from topologies.state_checks import StateArcs, check_states
from topologies.workload import Workload

PASSES = 64
"""Passes in which a potential is looked for before policy iteration."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PeriodicOverlay:
    """An overlay whose rounds are in one of P states, one after the other; made by `build_periodic`.

    Attributes
    ----------
    kind : str
        What it is called: the designer's name, unless the user gave another.
    states : tuple of State
        Round `k` is in state ``k mod P``. A silo without arcs in a state computes and waits for nobody.
    compute_s : ndarray, shape (silos,)
        Computing time of a round, ``s * T_c(i)``, in states in which silos compute; see `computing_s`.
    numbers : ArcNumbers
        Numbers of the arcs of all states, those with the same ends once: sorted by source, then target.
    routes : tuple of tuple of int
        Link directions that the messages of each of these arcs occupy; see `Connectivity.link_capacity_bps`.
    rate_bps : tuple of ndarray
        Of each state, of each of its arcs: by Eq. 3 with the degrees of that state, unless its kind states others.
    slow_start_s : tuple of ndarray
        What slow start adds to the delay of each arc of each state, in seconds.
    negative_weights : bool
        Whether some weights may be below 0.
    event_graph : EventGraph
        The round starts of one period; see `topologies.periodic_events.periodic_event_graph`.
    proof : CycleTime
        Cycle time of the event graph, which is that of a period, with critical circuit and potential.
    closed_forms : ClosedForms
        In seconds per round in which silos compute.
    """

    kind: str
    graph: Connectivity
    work: Workload
    states: tuple[State, ...]
    compute_s: FloatArray
    numbers: ArcNumbers
    routes: tuple[tuple[int, ...], ...]
    rate_bps: tuple[FloatArray, ...]
    slow_start_s: tuple[FloatArray, ...]
    negative_weights: bool
    event_graph: EventGraph
    proof: CycleTime
    closed_forms: ClosedForms

    def __repr__(self) -> str:
        """Kind, network, period, messages and closed forms."""
        size = f"{self.graph.silos} silos, {self.period} states, {self.messages} arcs"
        forms = self.closed_forms
        times = f"paper {forms.paper_s:.6g} s, serialized {forms.serialized_s:.6g} s, load {forms.load_bound_s:.6g} s"
        return f"<PeriodicOverlay {self.kind} on {self.graph.underlay.name}: {size}, {times}>"

    @property
    def period(self) -> int:
        """Number of states P."""
        return len(self.states)

    @property
    def computes(self) -> tuple[bool, ...]:
        """Whether silos compute in each state."""
        return tuple(state.computes for state in self.states)

    @property
    def messages(self) -> int:
        """Messages of one period, which is the number of arcs of all states."""
        return sum(len(state.source) for state in self.states)

    @property
    def longest_lag(self) -> int:
        """Largest lag of an arc; 1 without arcs."""
        return max(int(state.lag.max(initial=1)) for state in self.states)

    @property
    def latency_s(self) -> tuple[FloatArray, ...]:
        """Latency of each arc of each state, in seconds."""
        return tuple(self.graph.latency_s[state.source, state.target] for state in self.states)

    @property
    def transmission_s(self) -> tuple[FloatArray, ...]:
        """Time that one model needs on each arc of each state at the rate of Eq. 3, in seconds.

        As `Overlay.transmission_s`, at least the backward pass in which it leaves.
        """
        return tuple(
            under_way(computing_s, transmissions(self.work.model_bits, rate_bps), self.work.backward_share)
            for computing_s, rate_bps in zip(self.computing_s, self.rate_bps, strict=True)
        )

    @property
    def computing_s(self) -> tuple[FloatArray, ...]:
        """Computing time of the source of each arc of each state, in the round in which it sends, in seconds."""
        by_state_s = computing_times(self.states, self.compute_s)
        return tuple(
            by_state_s[state_of_sending(self.period, np.array(number), state.lag), state.source]
            for number, state in enumerate(self.states)
        )

    @property
    def delay_s(self) -> tuple[FloatArray, ...]:
        """Delay of each arc of each state, Eq. 3, in seconds."""
        ends = np.cumsum([len(state.source) for state in self.states])[:-1]
        return tuple(np.split(self.event_graph.delay_s[: self.messages], ends))

    @property
    def agreed_weights(self) -> FloatArray | None:
        """How much each silo's steps weigh in the model on which all agree, shape (silos,).

        See `topologies.periodic_agreement.periodic_agreed_weights`; time is cubic in silos times the longest lag.
        """
        return periodic_agreed_weights(self.graph.silos, self.states)

    @property
    def max_degree(self) -> int:
        """Largest number of models of a silo that others mix in, or that it mixes in, in one round."""
        return max(
            int(max(both.max(initial=0) for both in degrees(self.graph.silos, state.source, state.target)))
            for state in self.states
        )

    @property
    def critical_circuit(self) -> tuple[tuple[int, int], ...]:
        """Critical circuit of the `paper` cycle time, in order: silos, each with the state of the round it starts."""
        found = (int(self.event_graph.source[arc]) for arc in self.proof.circuit)
        return tuple((event % self.graph.silos, event // self.graph.silos) for event in found)

    def consensus(self, round_: int) -> FloatArray:
        """Consensus matrix of a round, shape (silos, silos); see `State.consensus`."""
        return self.states[round_ % self.period].consensus(self.graph.silos)


def build_periodic(
    kind: str,
    graph: Connectivity,
    work: Workload,
    states: Sequence[State],
    *,
    rates: Sequence[FloatArray] | None = None,
    negative_weights: bool = False,
) -> PeriodicOverlay:
    """Periodic overlay of the given states.

    Parameters
    ----------
    states : sequence of State
        In the order of rounds, from round 0 on; see `topologies.state.state_of`.
    rates : sequence of ndarray, optional
        Of each state the rate of each of its arcs, in bit/s, > 0. By default that of Eq. 3 with the degrees of the
        state.
    negative_weights : bool
        Whether weights may be below 0, a silo's own too.

    Raises
    ------
    InputError
        If silos compute in no state; if a state's arrays do not fit each other, its arcs are not sorted, repeated, join
        a silo with itself or leave the graph; if a lag is below 1, or such that a silo mixes in an older model of
        another one after a newer one; if a weight is not finite, or below 0 without `negative_weights`, a silo's own
        included; if the arcs of all states together are not strongly connected: then no consensus is reached; if there
        are more than `topologies.state_checks.MOST_EVENTS` events in a period; if a rate is not > 0.

    Notes
    -----
    Silo `i` starts round ``k + 1`` at

    ``t_i(k+1) = max(t_i(k) + s T_c(i), t_j(k + 1 - n_ij) + d_ij over the arcs (j, i) of state k mod P)``,

    with the lags `n` and the delays `d` of Eq. 3; rounds before round 0 are not awaited. ``s T_c`` is 0 in rounds in
    which silos do not compute, in a delay that of the round in which the source sends. The cycle time is the largest
    cycle mean of the event graph of a period, divided by the number C of its states in which silos compute, mostly all:
    the largest ratio of delays to lags over the circuits of (silo, state), times P / C (Baccelli, Cohen, Olsder,
    Quadrat, "Synchronization and Linearity", 1992, section 2.5). `serialized` is that of the larger event graph in
    which the models of one silo for another leave one after the other, of all states; where no two states have such an
    arc, it is the larger of `paper` and the longest transmission over C. Time
    O((silos * P + arcs) * iterations) of Howard's policy iteration.
    """
    arcs = check_states(kind, graph, states, negative_weights=negative_weights)
    period, compute_s = len(states), work.round_compute_s(graph.silos)
    by_state_s, computed = computing_times(states, compute_s), sum(state.computes for state in states)
    counts = np.bincount(arcs.state, minlength=period)
    kept = _split(arcs, counts, [state.computes for state in states])
    rate_bps = _rates(kind, graph, kept, rates)
    numbers = ArcNumbers(graph.silos, [(arcs.source, arcs.target)])
    routes = graph.routes_along(np.column_stack((numbers.source, numbers.target)).tolist())
    latency_s, rate = graph.latency_s[arcs.source, arcs.target], np.concatenate(rate_bps)
    computing_s = by_state_s[state_of_sending(period, arcs.state, arcs.lag), arcs.source]
    sending_s = transmissions(work.model_bits, rate)
    share, number = work.backward_share, numbers.of(arcs.source, arcs.target)
    delay_s = delays(computing_s, latency_s, work.model_bits, rate, share)
    slow_s = np.zeros(len(delay_s))
    if graph.slow_start is not None:
        check_goes_with(graph, work)
        ends = arcs.source, arcs.target
        slow_s = added_in_states_s(graph, work, period, computed, arcs.state, *ends, rate, number)
        delay_s, sending_s = with_added_s(graph, delay_s, sending_s, slow_s)
    event_graph = periodic_event_graph(
        period, arcs.state, arcs.source, arcs.target, arcs.lag, delay_s, by_state_s
    )
    proof = cycle_time(event_graph, connected=True)
    slowest_s = float(np.bincount(number, sending_s).max(initial=0.0))
    if len(numbers.source) < len(number):
        queued = fifo_event_graph(
            event_graph,
            period,
            arcs.state,
            number,
            leaving(computing_s, share),
            latency_s,
            sending_s,
            direct=share > 0,
        )
        slowest_s = _queued_cycle_s(queued, max(proof.cycle_time_s, slowest_s), proof)
    slow_start_s = tuple(np.split(slow_s, np.cumsum(counts)[:-1]))
    freeze(compute_s, event_graph.delay_s, proof.potential_s, *rate_bps, *slow_start_s)
    return PeriodicOverlay(
        kind=kind,
        graph=graph,
        work=work,
        states=kept,
        compute_s=compute_s,
        numbers=numbers,
        routes=routes,
        rate_bps=rate_bps,
        slow_start_s=slow_start_s,
        negative_weights=negative_weights,
        event_graph=event_graph,
        proof=proof,
        closed_forms=closed_forms(
            proof.cycle_time_s / computed,
            slowest_s / computed,
            graph.crossings(arcs.source, arcs.target),
            graph.link_capacity_bps,
            work.model_bits,
            period=computed,
        ),
    )


def added_in_states_s(
    graph: Connectivity,
    work: Workload,
    period: int,
    computed: int,
    state: IntArray,
    source: IntArray,
    target: IntArray,
    rate_bps: FloatArray,
    number: IntArray,
) -> FloatArray:
    """What slow start adds to each arc of each state: a connection opens its window for its slowest state.

    Parameters
    ----------
    period, computed : int
        Number of states, and of those in which silos compute.
    state, source, target, number : ndarray of int, shape (arcs of all states,)
        State of each arc, its silos, and the number of the two, the same in all states.
    rate_bps : ndarray, shape (arcs of all states,)
        Of Eq. 3.

    Returns
    -------
    ndarray, shape (arcs of all states,)
        See `topologies.slow_start.added_s`.
    """
    slowest_bps = np.full(int(number.max(initial=-1)) + 1, np.inf)
    np.minimum.at(slowest_bps, number, rate_bps)
    _, _, rounds = turn_order(period, state, number)
    compute_s = work.round_compute_s(graph.silos) * computed / period
    return added_s(graph, work.model_bits, compute_s, source, target, slowest_bps[number], rounds=rounds)


def _queued_cycle_s(queued: EventGraph, least_s: float, proof: CycleTime) -> float:
    """Cycle time of the event graph of models that leave one after the other, which is at least `least_s`.

    Mostly no circuit is slower than those of the overlay and those of one silo's models for another. A potential proves
    that in few passes, where policy iteration may take long: it settles the paths of all events.
    """
    found = slower_queue(queued, least_s, proof)
    return least_s if found is None else found.cycle_time_s


def slower_queue(queued: EventGraph, least_s: float, proof: CycleTime) -> CycleTime | None:
    """Cycle time of an event graph of models that leave one after the other, with its circuit.

    Parameters
    ----------
    queued : EventGraph
        See `topologies.periodic_events.fifo_event_graph`.
    least_s : float
        The larger of the cycle time without queues and of the longest time in which one silo's models for another leave
        in a period.
    proof : CycleTime
        Of the event graph without queues.

    Returns
    -------
    CycleTime or None
        None where no circuit is slower than `least_s`.
    """
    arcs = queued.nodes - len(proof.potential_s)
    handed_over_s = proof.potential_s[queued.source[:arcs]] + queued.delay_s[:arcs]
    start_s = np.concatenate((proof.potential_s, handed_over_s - least_s * queued.tokens[:arcs]))
    if bounds(queued, least_s, start_s, passes=PASSES):
        return None
    return cycle_time(queued)


def _split(arcs: StateArcs, counts: IntArray, computes: Sequence[bool]) -> tuple[State, ...]:
    """States of the checked arcs, which nobody can change."""
    freeze(arcs.source, arcs.target, arcs.lag, arcs.weight)
    ends = np.cumsum(counts)
    parts = (slice(end - count, end) for end, count in zip(ends.tolist(), counts.tolist(), strict=True))
    return tuple(
        State(
            source=arcs.source[part],
            target=arcs.target[part],
            lag=arcs.lag[part],
            weight=arcs.weight[part],
            computes=bool(each),
        )
        for part, each in zip(parts, computes, strict=True)
    )


def _rates(
    kind: str, graph: Connectivity, states: Sequence[State], stated: Sequence[FloatArray] | None
) -> tuple[FloatArray, ...]:
    """Rate of each arc of each state, in bit/s."""
    if stated is None:
        return tuple(arc_rates(graph, state.source, state.target) for state in states)
    if len(stated) != len(states):
        raise InputError(
            f"must be {len(states)} arrays, one per state.",
            field=Field("rates", value=len(stated)),
            source=kind,
        )
    found = []
    for place, (state, given) in enumerate(zip(states, stated, strict=True)):
        rate_bps = np.array(given, dtype=np.float64)
        if rate_bps.shape != state.source.shape:
            raise InputError(
                f"rates[{place}] has shape {rate_bps.shape}; it must be {state.source.shape}, one rate per arc.",
                source=kind,
            )
        if not (rate_bps > 0).all():
            arc = int(np.argmin(rate_bps > 0))
            raise InputError(
                "must be > 0.", field=Field("rates", place, arc, value=rate_bps[arc]), source=kind
            )
        found.append(rate_bps)
    return tuple(found)

"""Simulation of a synchronous job on arcs whose routes and sizes the caller brings."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from simulator import checks
from simulator.arc import FlowArc
from simulator.clock import Clock
from simulator.equal import EqualNetwork
from simulator.fluid import FluidNetwork
from simulator.observer import Observer, OnRound
from simulator.silo import Silo
from simulator.steady import equal_steady_state, observed_steady_state
from simulator.timeline import Timeline
from topologies.arrays import FloatArray

__all__ = ["FlowArc", "simulate_flows"]


def simulate_flows(
    arcs: Sequence[FlowArc],
    *,
    link_capacity_bps: ArrayLike,
    message_bits: ArrayLike,
    compute_s: ArrayLike,
    rounds: int,
    sharing: str = "maxmin",
    queueing: str = "fifo",
    observer: Observer | None = None,
) -> Timeline:
    """Simulate a job of some rounds: compute, send to every out-arc, wait for every in-arc.

    Parameters
    ----------
    arcs : sequence of FlowArc
        Arcs of the overlay with their routes. Silos need no arc to themselves: own computing is always
        waited for.
    link_capacity_bps : array_like of shape (links,)
        Capacity of each link direction in bit/s, > 0; infinity is allowed.
    message_bits : float or array_like of shape (arcs,)
        Size of a message, in bits.
    compute_s : array_like of shape (silos,)
        Computing time per round of each silo, in seconds.
    rounds : int
        Number of rounds, >= 1. No message of a later round exists.
    sharing : {"maxmin", "equal"}
        Rates of the messages on the network: max-min fair over all link directions at every instant, or the
        constant `FlowArc.rate_bps`.
    queueing : {"fifo", "overlap"}
        Whether a message waits until the previous one of its arc has left, or several share the arc's route.
    observer : Observer, optional
        Watches rounds and rates.

    Returns
    -------
    Timeline
        When every silo started every round and every message arrived.

    Raises
    ------
    InputError
        If a value is out of its range, arcs with 0 tokens form a circuit, or time could not advance around a
        circuit of arcs.

    Examples
    --------
    Two silos compute for 1 s and send 8 bits over 2 bit/s to each other:

    >>> pair = [FlowArc(source=0, target=1, latency_s=0.5, links=(0,)),
    ...         FlowArc(source=1, target=0, latency_s=0.5, links=(1,))]
    >>> timeline = simulate_flows(
    ...     pair, link_capacity_bps=[2, 2], message_bits=8, compute_s=[1, 1], rounds=3)
    >>> timeline.round_start_s[:, 0].tolist()
    [0.0, 5.5, 11.0, 16.5]

    Notes
    -----
    With t_i(0) = 0, silo `i` starts round ``k + 1`` when its own computing of round `k` has ended and the
    messages of round `k` of all its in-arcs are in. With ``sharing="equal", queueing="overlap"`` that is the
    max-plus recurrence of [1]_, Eq. 4, with the delays of Eq. 3.

    Equal sharing costs O(1) per message. Max-min sharing costs one solve per instant at which messages start
    or leave, over those flows only that are connected to them through shared links.

    Max-min sharing takes ends that lie within a relative 1e-13 of a date for one instant, since float noise
    must not tear apart what happens together. So a message that needs less than this fraction of the date at
    which it leaves (0.1 microseconds after 10^6 s) may take no time.

    References
    ----------
    .. [1] O. Marfoq, C. Xu, G. Neglia, R. Vidal, "Throughput-Optimal Topology Design for Cross-Silo Federated
       Learning", NeurIPS 2020.
    """
    checks.check_choice("sharing", sharing, checks.SHARINGS)
    checks.check_choice("queueing", queueing, checks.QUEUEINGS)
    rounds = checks.check_rounds(rounds)
    capacity_bps = checks.check_capacities(link_capacity_bps)
    computing_s = checks.check_compute(compute_s)
    bits = checks.check_message_bits(message_bits, len(arcs))
    routes = checks.check_routes([arc.links for arc in arcs], len(capacity_bps))
    checks.check_silos(arcs, len(computing_s))
    sending_s = _sending_alone_s(arcs, routes, bits, capacity_bps, sharing)
    checks.check_durations(arcs, sending_s, computing_s)

    clock = Clock(0.0)
    round_start_s = np.zeros((rounds + 1, len(computing_s)))
    arrival_s = np.zeros((rounds, len(arcs)))
    delivered_bits = [0.0] * len(arcs)
    silos = _silos(clock, arcs, computing_s)
    receive = [silos[arc.target].receive for arc in arcs]
    latency_s = [float(arc.latency_s) for arc in arcs]

    def deliver(arc: int, k: int, last_bit_s: float) -> None:
        arrival_s[k, arc] = date_s = last_bit_s + latency_s[arc]
        delivered_bits[arc] += bits[arc]
        receive[arc](k, date_s)

    network: EqualNetwork | FluidNetwork
    if sharing == "equal":
        network = EqualNetwork(clock, sending_s=sending_s, fifo=queueing == "fifo", deliver=deliver)
    else:
        network = FluidNetwork(
            clock,
            routes=routes,
            capacity_bps=capacity_bps,
            message_bits=bits,
            fifo=queueing == "fifo",
            deliver=deliver,
            on_rates=observer.on_rates if observer else None,
        )
    started = _recorder(clock, round_start_s, observer.on_round if observer else None)
    for number, silo in enumerate(silos):
        clock.process(silo.run(rounds, network.send, partial(started, number)))
    clock.run()
    if sharing == "equal":
        steady = equal_steady_state(
            round_start_s,
            arrival_s,
            arcs,
            compute_s=computing_s,
            sending_s=sending_s,
            fifo=queueing == "fifo",
        )
    else:
        steady = observed_steady_state(round_start_s)
    return Timeline(
        round_start_s=round_start_s,
        arrival_s=arrival_s,
        link_bits=_link_bits(routes, delivered_bits, len(capacity_bps)),
        cycle_time_s=steady.cycle_time_s,
        cycle_time_is_exact=steady.is_exact,
    )


def _sending_alone_s(
    arcs: Sequence[FlowArc],
    routes: Sequence[Sequence[int]],
    bits: Sequence[float],
    capacity_bps: Sequence[float],
    sharing: str,
) -> list[float]:
    """Time that a message of each arc needs if nothing else is on the network."""
    if sharing == "equal":
        checks.check_rates(arcs, bits)
        rates_bps = [float(arc.rate_bps) for arc in arcs]
    else:
        rates_bps = [min((capacity_bps[link] for link in route), default=inf) for route in routes]
    return [size / rate_bps if size else 0.0 for size, rate_bps in zip(bits, rates_bps, strict=True)]


def _silos(clock: Clock, arcs: Sequence[FlowArc], compute_s: Sequence[float]) -> list[Silo]:
    in_arcs = Counter(arc.target for arc in arcs)
    out_arcs: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, arc in enumerate(arcs):
        out_arcs[arc.source, arc.tokens].append(number)
    return [
        Silo(
            clock,
            compute_s=duration_s,
            in_arcs=in_arcs[silo],
            after_computing=out_arcs[silo, 1],
            after_start=out_arcs[silo, 0],
        )
        for silo, duration_s in enumerate(compute_s)
    ]


def _recorder(
    clock: Clock, round_start_s: FloatArray, on_round: OnRound | None
) -> Callable[[int, int], None]:
    """Function that notes when a silo starts a round, and tells the observer when all have."""
    if on_round is None:

        def note(silo: int, k: int) -> None:
            round_start_s[k, silo] = clock.now

        return note

    missing = [round_start_s.shape[1]] * round_start_s.shape[0]

    def note_and_tell(silo: int, k: int) -> None:
        round_start_s[k, silo] = clock.now
        missing[k] -= 1
        if not missing[k]:
            on_round(k, clock.now)

    return note_and_tell


def _link_bits(routes: Sequence[Sequence[int]], delivered_bits: Sequence[float], links: int) -> FloatArray:
    carried = np.zeros(links)
    for route, bits in zip(routes, delivered_bits, strict=True):
        carried[list(route)] += bits
    return carried

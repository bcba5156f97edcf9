"""Slow start of transfers: the time that a connection takes to open its window."""

from dataclasses import replace
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from topologies.arrays import BoolArray, FloatArray, IntArray, freeze
from topologies.connectivity import Connectivity, SlowStart, SlowStartWhen
from topologies.errors import Field, InputError, unknown_name
from topologies.windows import round_trips, streams_per_pair
from topologies.workload import Workload

INITIAL_BITS = 10 * 1448 * 8.0
"""What a stream sends in its first round trip: ten segments (RFC 6928) of 1,448 bytes."""

LEAST_RTO_S = 0.2
"""How much longer than a round trip Linux waits for an acknowledgement at least (`TCP_RTO_MIN`)."""


def with_slow_start(graph: Connectivity, when: SlowStartWhen, streams: ArrayLike = 1) -> Connectivity:
    """The same network where transfers start slowly.

    Parameters
    ----------
    graph : Connectivity
        With its windows, which slow start ends at.
    when : {"first", "idle", "always"}
        At the first message of a pair; at that and after idle times above the retransmission time-out; or at each,
        on a new connection, which takes a round trip more to open.
    streams : int or array_like of int, shape (silos,) or (silos, silos), default 1
        Parallel streams of a transfer, as of `topologies.windows.with_windows`; each has an initial window.

    Returns
    -------
    Connectivity
        With another `Connectivity.slow_start`.

    Raises
    ------
    InputError
        If there is no such `when`, or `streams` has another shape, or is no whole number >= 1.

    Notes
    -----
    Time and memory O(silos^2).
    """
    if when not in get_args(SlowStartWhen):
        raise unknown_name("slow_start", when, get_args(SlowStartWhen))
    silo = np.arange(graph.silos)
    trip_s = round_trips(graph, silo[:, np.newaxis], silo)
    initial_bits = INITIAL_BITS * streams_per_pair(streams, graph.silos)
    freeze(trip_s, initial_bits)
    return replace(graph, slow_start=SlowStart(when=when, trip_s=trip_s, initial_bits=initial_bits))


def check_goes_with(graph: Connectivity, work: Workload) -> None:
    """Accept a workload whose models leave after computing, if any message starts slowly."""
    if graph.slow_start is not None and work.backward_share:
        raise InputError(
            "must be 'none' where models leave in the backward pass (overlap).",
            field=Field("slow_start", value=graph.slow_start.when),
        )


def opening(
    bits: float, rate_bps: FloatArray, trip_s: FloatArray, initial_bits: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Round trips that transfers spend in slow start, and what they send in these.

    Parameters
    ----------
    bits : float
        Size `M` of a message.
    rate_bps, trip_s, initial_bits : ndarray, of one shape (or broadcast to it)
        Rate `r` that each transfer has with an open window, round-trip time `R`, and initial window `w`.

    Returns
    -------
    rounds : ndarray of int
        `n`, the smallest number with ``w 2^n >= r R`` or ``w (2^(n + 1) - 1) >= M``.
    sent_bits : ndarray
        ``w (2^n - 1)``.

    Notes
    -----
    A window of ``w 2^k`` is sent in round trip `k` at rate `r`, then the sender waits for its first acknowledgement. It
    waits no more from round `n` on, in which the window lasts for a round trip or the message ends. So the last bit
    leaves after ``n R + (M - w (2^n - 1)) / r``, which is ``n R - w (2^n - 1) / r`` later than at rate `r` from the
    start: the sum of ``R - w 2^k / r`` over the `n` rounds.

    It grows with `r`, and with `R`; the whole time falls with `r`, and is convex in `R` and ``1 / r`` together: the
    largest of ``k R + (M - w (2^k - 1)) / r`` over the `k` that the message leaves room for. Sources: RFC 5681, section
    3.1; N. Cardwell, S. Savage, T. Anderson, "Modeling TCP latency", INFOCOM 2000, without losses and delayed
    acknowledgements. Time O(log2(M / w)) per transfer.
    """
    with np.errstate(invalid="ignore"):
        full_bits = np.where(trip_s > 0, rate_bps * trip_s, 0.0)
    window = np.broadcast_to(initial_bits, full_bits.shape).astype(np.float64)
    rounds, sent_bits = np.zeros(full_bits.shape, dtype=np.int64), np.zeros(full_bits.shape)
    while (waits := (window < full_bits) & (sent_bits + window < bits)).any():
        rounds += waits
        sent_bits += np.where(waits, window, 0.0)
        window *= 2
    return rounds, sent_bits


def slow_start_s(
    graph: Connectivity, bits: float, source: IntArray, target: IntArray, rate_bps: FloatArray
) -> FloatArray:
    """How much longer a message of each arc takes where it starts slowly, in seconds; 0 where none does.

    Parameters
    ----------
    source, target : ndarray of int, of the shape of `rate_bps` (or broadcast to it)
    rate_bps : ndarray
        Rates with an open window, of Eq. 3.
    """
    start = graph.slow_start
    if start is None or not bits:
        return np.zeros(rate_bps.shape)
    rounds, sent_bits = opening_of(graph, bits, source, target, rate_bps)
    return np.asarray(rounds * start.trip_s[source, target] - shortened_s(sent_bits, rate_bps))


def opening_of(
    graph: Connectivity,
    bits: float,
    source: IntArray,
    target: IntArray,
    rate_bps: FloatArray,
    *,
    trip_s: FloatArray | None = None,
) -> tuple[IntArray, FloatArray]:
    """`opening` of arcs, with the round trip in which a new connection is opened; by default in their own `trip_s`."""
    start = graph.slow_start
    if start is None or not bits:
        return np.zeros(rate_bps.shape, dtype=np.int64), np.zeros(rate_bps.shape)
    trip_s = start.trip_s[source, target] if trip_s is None else trip_s
    rounds, sent_bits = opening(bits, rate_bps, trip_s, start.initial_bits[source, target])
    return rounds + (start.when == "always"), sent_bits


def shortened_s(sent_bits: FloatArray, rate_bps: FloatArray) -> FloatArray:
    """Time of so many bits at each rate; 0 of none, and where nothing can be sent."""
    seconds = np.zeros(np.broadcast_shapes(sent_bits.shape, rate_bps.shape))
    np.divide(sent_bits, rate_bps, out=seconds, where=(sent_bits > 0) & (rate_bps > 0))
    return seconds


def restart_after_s(graph: Connectivity, source: IntArray, target: IntArray) -> FloatArray:
    """Idle time above which a message of each arc starts slowly again, in seconds.

    Infinite: never; negative infinite: each message does. RFC 6298's time-out is the smoothed round-trip time plus four
    times its deviation, and of the latter Linux takes 200 ms at least; here it is ``R + 200 ms``.
    """
    start = graph.slow_start
    if start is None or start.when == "first":
        return np.full(np.broadcast_shapes(source.shape, target.shape), np.inf)
    trip_s: FloatArray = start.trip_s[source, target]
    return np.full(trip_s.shape, -np.inf) if start.when == "always" else trip_s + LEAST_RTO_S


def restarts(
    graph: Connectivity,
    bits: float,
    compute_s: FloatArray,
    source: IntArray,
    target: IntArray,
    rate_bps: FloatArray,
    *,
    hub: int | None = None,
    rounds: IntArray | int = 1,
) -> BoolArray:
    """Whether the messages of arcs are taken to start slowly in every round, for closed forms.

    Parameters
    ----------
    bits : float
    compute_s : ndarray, shape (silos,)
        Computing time of a round.
    source, target : ndarray of int, of one shape (or broadcast to it)
    rate_bps : ndarray
        Of Eq. 3.
    hub : int, optional
        The silo that only averages.
    rounds : int or ndarray of int
        Rounds from one message of an arc to the next.

    Notes
    -----
    A static rule: the computing that an arc's next message waits for, and its latency, take longer than
    `restart_after_s`. In a ring of equal silos and arcs that is the idle time: what a round takes beside the sending.
    An arc to or from the hub of a STAR idles longer: while the silo at its other end computes, the model goes back,
    and both latencies pass. Elsewhere arcs wait for others as well, and idle longer, or are busy while their silo
    computes, and idle less; simulations go by dates.
    """
    start = graph.slow_start
    after_s = restart_after_s(graph, source, target)
    if start is None or start.when != "idle":
        return np.asarray(after_s < 0)
    idle_s: FloatArray = rounds * compute_s[source] + graph.latency_s[source, target]
    if hub is not None:
        back_bps = np.full((graph.silos, graph.silos), np.inf)
        back_bps[target, source] = rate_bps
        back_s = graph.latency_s[target, source] + shortened_s(np.array(bits), back_bps[source, target])
        around = (source == hub) | (target == hub)
        computes_s = compute_s[np.where(source == hub, target, source)]
        idle_s = np.where(around, computes_s + graph.latency_s[source, target] + back_s, idle_s)
    return np.asarray(idle_s > after_s)


def rates_decide_restarts(graph: Connectivity, hub: int | None) -> bool:
    """Whether the rates of arcs decide which of them `restarts`: around a hub a model's way back is idle time."""
    return hub is not None and graph.slow_start is not None and graph.slow_start.when == "idle"


def check_restarts_stay(graph: Connectivity, hub: int | None, what: str) -> None:
    """Raise an InputError if `rates_decide_restarts`: `what` is of rates that change, and its delays would jump."""
    if rates_decide_restarts(graph, hub):
        raise InputError(
            f"must be 'none', 'first' or 'always' for {what} of an overlay with a hub: rates decide which of its arcs "
            "start slowly.",
            field=Field("slow_start", value="idle"),
        )


def added_s(
    graph: Connectivity,
    bits: float,
    compute_s: FloatArray,
    source: IntArray,
    target: IntArray,
    rate_bps: FloatArray,
    *,
    hub: int | None = None,
    rounds: IntArray | int = 1,
) -> FloatArray:
    """What slow start adds to the delay of each arc in Eq. 3: `slow_start_s` where an arc `restarts`, else 0."""
    if graph.slow_start is None:
        return np.zeros(rate_bps.shape)
    again = restarts(graph, bits, compute_s, source, target, rate_bps, hub=hub, rounds=rounds)
    return np.where(again, slow_start_s(graph, bits, source, target, rate_bps), 0.0)


def with_added_s(
    graph: Connectivity, delay_s: FloatArray, busy_s: FloatArray, slow_s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Delays of arcs and how long a message keeps each busy, in seconds, with what slow start adds to them (`added_s`).

    An arc that is never idle does not restart: only a new connection for each message keeps it busy for longer.
    """
    if graph.slow_start is None:
        return delay_s, busy_s
    return delay_s + slow_s, busy_s + slow_s if graph.slow_start.when == "always" else busy_s

"""Degrees, rates and delays of arcs by the paper's Eq. 3."""

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.connectivity import Connectivity
from topologies.maxplus import EventGraph
from topologies.slow_start import added_s, check_goes_with
from topologies.workload import Workload


def degrees(silos: int, source: IntArray, target: IntArray) -> tuple[IntArray, IntArray]:
    """Out-degree ``|N-_i|`` and in-degree ``|N+_j|`` of every silo, each of shape (silos,)."""
    return np.bincount(source, minlength=silos), np.bincount(target, minlength=silos)


def arc_rates(graph: Connectivity, source: IntArray, target: IntArray) -> FloatArray:
    """Rate of each arc in Eq. 3, in bit/s, when exactly these arcs exist, shape (arcs,)."""
    out, into = degrees(graph.silos, source, target)
    return _rate(
        graph.up_bps[source] / out[source],
        graph.down_bps[target] / into[target],
        between_rates(graph, source, target),
    )


def between_rates(graph: Connectivity, source: IntArray, target: IntArray) -> FloatArray:
    """`Connectivity.between_bps` of some arcs, shape (arcs,)."""
    available_bps = available_rates(graph, source, target)
    if graph.window_bps is None:
        return available_bps
    return np.minimum(available_bps, window_rates(graph, source, target))


def available_rates(graph: Connectivity, source: IntArray, target: IntArray) -> FloatArray:
    """`A(i', j')` of some arcs, and the access links that silos share on their way, shape (arcs,)."""
    available_bps: FloatArray = graph.available_bps[source, target]
    if not graph.rules.shared_access:
        return available_bps
    return np.minimum(available_bps, graph.shared_access_bps(source, target))


def window_rates(graph: Connectivity, source: IntArray, target: IntArray) -> FloatArray:
    """`Connectivity.window_bps` of some arcs, shape (arcs,); infinite without windows."""
    if graph.window_bps is None:
        return np.full(len(source), np.inf)
    return np.asarray(graph.window_bps[source, target])


def arc_delays(
    graph: Connectivity, work: Workload, source: IntArray, target: IntArray, *, hub: int | None = None
) -> FloatArray:
    """Delay of each arc when exactly these arcs exist.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)
    hub : int, optional
        The silo that only averages, so that its models wait for no computing.

    Returns
    -------
    ndarray, shape (arcs,)
        In seconds; infinite where `source` cannot send to `target`.

    Notes
    -----
    The paper's Eq. 3, ``s * T_c(i) + l(i, j) + M / min(up_i / |N-_i|, down_j / |N+_j|, A(i', j'))``, where the
    windows of transfers limit the rate, too (`topologies.windows`), the backward pass hides what it can of the
    transmission (`delays`), and slow start adds its time where an arc idles (`topologies.slow_start`). Time O(arcs).
    """
    return delays_after(graph, work, work.round_compute_s(graph.silos), source, target, hub=hub)


def delays_after(
    graph: Connectivity,
    work: Workload,
    compute_s: FloatArray,
    source: IntArray,
    target: IntArray,
    *,
    hub: int | None = None,
) -> FloatArray:
    """`arc_delays` with the computing time of a round of each silo at hand, where many sets of arcs have the same."""
    rate_bps = arc_rates(graph, source, target)
    delay_s = delays(
        _awaited_s(compute_s, hub)[source],
        graph.latency_s[source, target],
        work.model_bits,
        rate_bps,
        work.backward_share,
    )
    if graph.slow_start is None:
        return delay_s
    check_goes_with(graph, work)
    return delay_s + added_s(graph, work.model_bits, compute_s, source, target, rate_bps, hub=hub)


def pair_delays(
    graph: Connectivity,
    work: Workload,
    out_degree: IntArray | int = 1,
    in_degree: IntArray | int = 1,
    *,
    hub: int | None = None,
) -> FloatArray:
    """Delay that an arc between any two silos would have with given degrees.

    Parameters
    ----------
    out_degree, in_degree : int or ndarray of int, shape (silos,)
        Models that each silo sends and receives, the arc's own included; 0 counts as 1. By default the arc is the only
        one of both its ends.
    hub : int, optional
        As for `arc_delays`.

    Returns
    -------
    ndarray, shape (silos, silos)
        Row: who sends. In seconds; infinite where `i` cannot send to `j`, a silo's own computing time on the diagonal.

    Notes
    -----
    Eq. 3, see `arc_delays`. Time and memory O(silos^2).
    """
    compute_s = work.round_compute_s(graph.silos)
    rate_bps = pair_rates(graph, out_degree, in_degree)
    awaited_s = _awaited_s(compute_s, hub)[:, np.newaxis]
    delay_s = delays(awaited_s, graph.latency_s, work.model_bits, rate_bps, work.backward_share)
    if graph.slow_start is not None:
        check_goes_with(graph, work)
        delay_s += pair_added_s(graph, work, rate_bps, hub=hub)
    np.fill_diagonal(delay_s, compute_s)
    return delay_s


def pair_added_s(
    graph: Connectivity, work: Workload, rate_bps: FloatArray, *, hub: int | None = None
) -> FloatArray:
    """What slow start adds to the delay of an arc between any two silos, given their rates, shape (silos, silos)."""
    silo = np.arange(graph.silos)
    compute_s = work.round_compute_s(graph.silos)
    return added_s(graph, work.model_bits, compute_s, silo[:, np.newaxis], silo, rate_bps, hub=hub)


def pair_rates(
    graph: Connectivity, out_degree: IntArray | int = 1, in_degree: IntArray | int = 1
) -> FloatArray:
    """Rate of Eq. 3 that an arc between any two silos would have; see `pair_delays`.

    Returns
    -------
    ndarray, shape (silos, silos)
        In bit/s; 0 where `i` cannot send to `j`. The diagonal has no meaning.
    """
    up_bps, down_bps = graph.up_bps / np.maximum(out_degree, 1), graph.down_bps / np.maximum(in_degree, 1)
    return _rate(up_bps[:, np.newaxis], down_bps, graph.between_bps)


def delays(
    compute_s: FloatArray,
    latency_s: FloatArray,
    model_bits: float,
    rate_bps: FloatArray,
    backward_share: float,
) -> FloatArray:
    """The sum of Eq. 3 for arrays of one shape (or broadcast to it): computing, latency and transmission.

    Parameters
    ----------
    compute_s, latency_s, rate_bps : ndarray
        Computing times that models wait for, latencies and rates.
    model_bits : float
    backward_share : float
        `Workload.backward_share`.

    Notes
    -----
    The layers become ready at a constant pace during the last ``B = backward_share * compute_s`` of the computing. Of
    `L` equal layers layer `n` is ready at ``compute_s - B + n B / L``, when ``(L - n + 1) M / L`` bits are left to send
    at rate `r`; the last bit leaves at the largest of their sums, which is that of the first or of the last layer, as
    they are linear in `n`: at ``compute_s + M / r - min(B, M / r) (1 - 1 / L)``. With many layers it is

    ``compute_s + max(0, M / r - B) = (compute_s - B) + max(M / r, B)``:

    Eq. 3 of a model that begins to leave when the pass begins and takes no shorter than the pass.
    """
    sending_s = under_way(compute_s, transmissions(model_bits, rate_bps), backward_share)
    return np.asarray(leaving(compute_s, backward_share) + latency_s + sending_s)


def leaving(compute_s: FloatArray, backward_share: float) -> FloatArray:
    """From the start of a round until its model begins to leave; `compute_s` is what the model waits for."""
    return np.asarray((1.0 - backward_share) * compute_s)


def under_way(compute_s: FloatArray, transmission_s: FloatArray, backward_share: float) -> FloatArray:
    """From when a model begins to leave until its last bit does: not before computing has ended."""
    return np.maximum(transmission_s, backward_share * compute_s) if backward_share else transmission_s


def transmissions(model_bits: float, rate_bps: FloatArray) -> FloatArray:
    """Time of one model at each rate, in seconds; infinite at rate 0, even of a model of 0 bits."""
    seconds = np.full(rate_bps.shape, np.inf)
    np.divide(model_bits, rate_bps, out=seconds, where=rate_bps > 0)
    return seconds


def round_event_graph(
    silos: int,
    source: IntArray,
    target: IntArray,
    tokens: IntArray,
    delay_s: FloatArray,
    compute_s: FloatArray,
) -> EventGraph:
    """Event graph of the round starts: the arcs in order, then each silo's wait for its own computing.

    Parameters
    ----------
    source, target, tokens : ndarray of int, shape (arcs,)
    delay_s : ndarray, shape (arcs,)
    compute_s : ndarray, shape (silos,)
        Computing time of a round.

    Returns
    -------
    EventGraph
        Its self-loops carry one token.

    Notes
    -----
    Eq. 4 of the paper.
    """
    own = np.arange(silos)
    return EventGraph(
        nodes=silos,
        source=np.concatenate((source, own)),
        target=np.concatenate((target, own)),
        delay_s=np.concatenate((delay_s, compute_s)),
        tokens=np.concatenate((tokens, np.ones(silos, dtype=np.int64))),
    )


def _rate(up_share_bps: FloatArray, down_share_bps: FloatArray, between_bps: FloatArray) -> FloatArray:
    """Smallest of the limits of Eq. 3."""
    return np.minimum(np.minimum(up_share_bps, down_share_bps), between_bps)


def _awaited_s(compute_s: FloatArray, hub: int | None) -> FloatArray:
    """Computing time that the models of each silo wait for."""
    if hub is None:
        return compute_s
    awaited_s = compute_s.copy()
    awaited_s[hub] = 0.0
    return awaited_s

"""Windows of transfers: the rate that one transfer reaches at most, whatever the links have left."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from topologies.arrays import FloatArray, IntArray, freeze
from topologies.connectivity import Connectivity
from topologies.errors import InputError


def with_windows(graph: Connectivity, window_bits: ArrayLike, streams: ArrayLike = 1) -> Connectivity:
    """The same network where no transfer is faster than its windows let it be.

    Parameters
    ----------
    graph : Connectivity
    window_bits : float or array_like, shape (silos,) or (silos, silos)
        Bits that a stream sends before it waits for their acknowledgement, > 0; infinity means no limit. One for all
        pairs, one for each silo as the receiver, or one for each pair, whose row is the sender.
    streams : int or array_like of int, shape (silos,) or (silos, silos), default 1
        Parallel streams of a transfer, >= 1, in the same way.

    Returns
    -------
    Connectivity
        With another `Connectivity.window_bps`.

    Raises
    ------
    InputError
        If an array has another shape, or a value is out of its range.

    Notes
    -----
    ``window_bits * streams / (l(i, j) + l(j, i))``: a stream sends one window per round-trip time. Where that time is
    0, a window limits nothing. Source: RFC 7323, section 1.1, the product of bandwidth and delay. Time and memory
    O(silos^2).
    """
    window = per_pair("window_bits", window_bits, graph.silos)
    parallel = streams_per_pair(streams, graph.silos)
    if not np.all(window > 0):
        raise InputError(f"window_bits(={window[~(window > 0)][0]:g}) must be > 0.")
    silo = np.arange(graph.silos)
    trip_s = round_trips(graph, silo[:, np.newaxis], silo)
    window_bps = np.full_like(trip_s, np.inf)
    with np.errstate(over="ignore"):  # infinite, as where a window limits nothing
        np.divide(window * parallel, trip_s, out=window_bps, where=trip_s > 0)
    freeze(window_bps)
    return replace(graph, window_bps=window_bps)


def round_trips(graph: Connectivity, source: IntArray, target: IntArray) -> FloatArray:
    """``l(i, j) + l(j, i)`` of some pairs, in seconds, of the shape that `source` and `target` broadcast to.

    Where the latency of only one direction was measured, that of the other, in which the acknowledgements go, is taken
    to be the same.
    """
    there_s, back_s = graph.latency_s[source, target], graph.latency_s[target, source]
    if graph.latency == "measured":
        there, back = graph.available_bps[source, target] > 0, graph.available_bps[target, source] > 0
        there_s, back_s = np.where(there, there_s, back_s), np.where(back, back_s, there_s)
    return np.asarray(there_s + back_s)


def streams_per_pair(streams: ArrayLike, silos: int) -> FloatArray:
    """Parallel streams of a transfer of each ordered pair of silos; an error where one is no whole number >= 1."""
    parallel = per_pair("streams", streams, silos)
    wrong = ~(np.isfinite(parallel) & (parallel >= 1) & (parallel == np.floor(parallel)))
    if wrong.any():
        raise InputError(f"streams(={parallel[wrong][0]:g}) must be a whole number >= 1.")
    return parallel


def per_pair(name: str, values: ArrayLike, silos: int) -> FloatArray:
    """One value for each ordered pair of silos."""
    found = np.asarray(values, dtype=np.float64)
    if found.shape not in ((), (silos,), (silos, silos)):
        raise InputError(
            f"{name}(of shape {found.shape}) must be a number, or have shape ({silos},), a value for each receiver, "
            f"or ({silos}, {silos}), a row for each sender."
        )
    return np.array(np.broadcast_to(found, (silos, silos)))

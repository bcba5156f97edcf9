"""Windows of transfers from measured bandwidth and latency: the rate of far pairs times their round-trip time."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray, freeze
from topologies.errors import Field, InputError
from topologies.measured_pairs import MeasuredPairs

LEAST_PAIRS = 3
"""Far pairs that an estimate is made of, at least."""
_ENDS = (0.1, 0.9)
_CONSTANT = 1.5
"""Ratio of the ends of the middle 80 % up to which a product counts as constant."""
_APART = 1.25
"""Ratio of neighbouring windows from which on they are two sizes."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class WindowFit:
    """Windows by receiving site; made by `fit_windows`.

    Attributes
    ----------
    window_bits : ndarray, shape (sites,)
        Median of rate times round-trip time over the far pairs to a site; NaN with fewer than `LEAST_PAIRS` of them.
    low_bits, high_bits : ndarray, shape (sites,)
        10th and 90th percentile of it.
    far_pairs : ndarray of int, shape (sites,)
        How many far pairs there are to each site.
    is_constant : ndarray of bool, shape (sites,)
        Whether `high_bits` over `low_bits` is at most 1.5, and at most the root of the same ratio of round-trip times:
        only then do windows limit the far pairs.
    limited : ndarray of bool, shape (sites, sites)
        Pairs, from the row's site, whose rate times round-trip time is at least `low_bits` of a constant window: their
        window limits them, whatever the distance.
    """

    window_bits: FloatArray
    low_bits: FloatArray
    high_bits: FloatArray
    far_pairs: IntArray
    is_constant: BoolArray
    limited: BoolArray

    def __repr__(self) -> str:
        """Number of sites with a window, and of pairs that it limits."""
        sites, pairs = int(self.is_constant.sum()), int(self.limited.sum())
        return f"<WindowFit: {sites} sites with a window, {pairs} pairs limited>"

    def sizes(self) -> list[IntArray]:
        """Sites of each size of window, the smallest first: sizes are 25 % apart, or more."""
        sites = np.flatnonzero(self.is_constant)
        order = sites[np.argsort(self.window_bits[sites], kind="stable")]
        gaps = [k for k, (a, b) in enumerate(pairwise(self.window_bits[order]), 1) if b > _APART * a]
        return [part for part in np.split(order, gaps) if len(part)]


def fit_windows(measured: MeasuredPairs, *, far_s: float, streams: int) -> WindowFit:
    """Windows that the rates of far pairs show.

    Parameters
    ----------
    measured : MeasuredPairs
        Bandwidth of one transfer at a time.
    far_s : float
        Round-trip time in seconds, > 0, from which on a pair is far.
    streams : int
        Parallel streams of each measurement, >= 1; windows are those of one.

    Raises
    ------
    InputError
        If a value is out of its range.

    Notes
    -----
    A stream sends one window per round-trip time, so that where windows limit, rate times round-trip time is constant;
    where a link limits, it grows with the time. Only pairs with measurements in both directions have a round-trip time.
    The window is that of a transfer's receiver, if that decides. Time O(sites^2).
    """
    if not (np.isfinite(far_s) and far_s > 0):
        raise InputError("must be finite and > 0.", field=Field("far_s", value=far_s))
    if streams < 1:
        raise InputError("must be >= 1.", field=Field("streams", value=streams))
    talks = np.zeros((measured.sites, measured.sites), dtype=bool)
    talks[*measured.pairs.T] = True
    both = talks & talks.T & np.isfinite(measured.bandwidth_bps)
    trip_s = measured.latency_s + measured.latency_s.T
    product = np.where(both, measured.bandwidth_bps, 0.0) * trip_s / streams
    far = both & (trip_s >= far_s)
    low, window, high, trips = np.full((4, measured.sites), np.nan)
    for site in np.flatnonzero(far.sum(axis=0) >= LEAST_PAIRS).tolist():
        own = product[far[:, site], site]
        low[site], window[site], high[site] = np.quantile(own, (_ENDS[0], 0.5, _ENDS[1]))
        nearest_s, farthest_s = np.quantile(trip_s[far[:, site], site], _ENDS)
        trips[site] = farthest_s / nearest_s
    # Of a link of one rate the product is as uneven as the times.
    constant = high <= np.minimum(_CONSTANT, np.sqrt(trips)) * low
    limited = both & (product >= low) & constant
    found = WindowFit(
        window_bits=window,
        low_bits=low,
        high_bits=high,
        far_pairs=far.sum(axis=0),
        is_constant=constant,
        limited=limited,
    )
    freeze(low, window, high, found.far_pairs, constant, limited)
    return found

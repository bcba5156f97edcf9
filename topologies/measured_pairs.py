"""Bandwidth and latency that were measured between sites, where there is no routed core."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.errors import InputError, quoted


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MeasuredPairs:
    """What was measured for every ordered pair of sites.

    Parameters
    ----------
    bandwidth_bps : array of float, (sites, sites)
        From the row's site to the column's: infinite where nothing but access links limits, 0 where the pair cannot
        talk. The diagonal holds between two silos of one site.
    latency_s : array of float, (sites, sites)
        In one direction, finite and >= 0 where the pair can talk; elsewhere it does not count.

    Raises
    ------
    InputError
        If a matrix has another shape or a value breaks its rule.

    Notes
    -----
    Arrays are copied and made read-only.
    """

    bandwidth_bps: FloatArray
    latency_s: FloatArray

    def __post_init__(self) -> None:
        """Freeze the matrices and check every rule above."""
        shape = np.shape(self.bandwidth_bps)
        if len(shape) != 2 or shape[0] != shape[1] or np.shape(self.latency_s) != shape:
            raise InputError(
                f"bandwidth_bps(of shape {shape}) and latency_s(of shape {np.shape(self.latency_s)}) must be square "
                "matrices of one size."
            )
        bandwidth_bps = np.array(self.bandwidth_bps, dtype=np.float64)
        latency_s = np.array(self.latency_s, dtype=np.float64)
        for i, j in np.argwhere(~(bandwidth_bps >= 0)).tolist():
            raise InputError(f"bandwidth_bps[{i}, {j}](={bandwidth_bps[i, j]}) must be >= 0.")
        talks = bandwidth_bps > 0
        latency_s[~talks] = 0.0
        for i, j in np.argwhere(talks & ~(np.isfinite(latency_s) & (latency_s >= 0))).tolist():
            raise InputError(f"latency_s[{i}, {j}](={latency_s[i, j]}) must be finite and >= 0.")
        for field, matrix in (("bandwidth_bps", bandwidth_bps), ("latency_s", latency_s)):
            matrix.flags.writeable = False
            object.__setattr__(self, field, matrix)

    def __repr__(self) -> str:
        """Number of sites and of pairs that can talk."""
        return f"<MeasuredPairs: {self.sites} sites, {len(self.pairs)} pairs>"

    @property
    def sites(self) -> int:
        """Number of sites."""
        return len(self.bandwidth_bps)

    @property
    def pairs(self) -> IntArray:
        """Sender and receiver of each pair that can talk, shape (pairs, 2), by sender, then receiver."""
        return np.argwhere((self.bandwidth_bps > 0) & ~np.eye(self.sites, dtype=bool))

    def of(self, sites: IntArray) -> "MeasuredPairs":
        """The measurements between these sites, in their order; a site may occur several times, or not."""
        between = np.ix_(sites, sites)
        return MeasuredPairs(bandwidth_bps=self.bandwidth_bps[between], latency_s=self.latency_s[between])

    def check_labels(self, labels: Sequence[str]) -> None:
        """Raise an `InputError` unless there is a label for each site, and each site has a pair in both directions."""
        if len(labels) != self.sites:
            raise InputError(
                f"measured(of {self.sites} sites) must have a row for each of {len(labels)} routers."
            )
        talks = np.zeros((self.sites, self.sites), dtype=bool)
        talks[*self.pairs.T] = True
        for what, count in (("send to", talks.sum(axis=1)), ("receive from", talks.sum(axis=0))):
            for site in np.flatnonzero(count == 0).tolist():
                raise InputError(
                    f"{quoted(labels[site])} must {what} another site; no measured pair says so."
                )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class UnroutedPairs:
    """Routes of a network without a routed core: none crosses a core link (`topologies.routing.Routes`).

    Parameters
    ----------
    sites : int
    """

    sites: int

    def __repr__(self) -> str:
        """Number of sites."""
        return f"<UnroutedPairs between {self.sites} sites>"

    @property
    def distance_km(self) -> FloatArray:
        """NaN, shape (sites, sites): no latency follows from a distance."""
        return np.full((self.sites, self.sites), np.nan)

    @property
    def hops(self) -> IntArray:
        """Zeros, shape (sites, sites)."""
        return np.zeros((self.sites, self.sites), dtype=np.int64)

    @property
    def splits(self) -> bool:
        """See `topologies.routing.Routes`."""
        return False

    def links(self, source: int, target: int) -> tuple[int, ...]:  # noqa: ARG002  (the protocol's)
        """See `topologies.routing.Routes`."""
        return ()

    def shares(self, source: int, target: int) -> tuple[float, ...]:  # noqa: ARG002  (the protocol's)
        """See `topologies.routing.Routes`."""
        return ()

    def bottleneck_bps(self, core_bps: FloatArray) -> FloatArray:  # noqa: ARG002  (the protocol's)
        """See `topologies.routing.Routes`."""
        return np.full((self.sites, self.sites), np.inf)

    def used_links(self) -> BoolArray:
        """See `topologies.routing.Routes`."""
        return np.zeros(0, dtype=bool)

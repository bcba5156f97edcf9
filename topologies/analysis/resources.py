"""Resources that limit the rate of each arc, and the cycle time of the same arcs on other resources."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.connectivity import Connectivity
from topologies.delays import degrees, delays, transmissions, window_rates
from topologies.howard import CycleTime, cycle_time
from topologies.overlay import Overlay
from topologies.slow_start import opening_of, rates_decide_restarts, restarts, shortened_s
from topologies.windows import round_trips

EQUAL = 1e-12
"""Two capacities within this relative distance limit a rate equally."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Resources:
    """All terms of an overlay's delays; made by `Resources.of`.

    `dataclasses.replace` changes one of the first nine; `cycle_time` then computes `tau` again.

    Attributes
    ----------
    up_bps, down_bps : ndarray, shape (silos,)
    core_bps : ndarray, shape (links,)
        Capacity of each core link, in each of its directions.
    measured_bps : ndarray, shape (arcs,)
        Available bandwidth of arcs that follows from no core link: measured, or infinite on one router. A measured
        pair's link carries one arc, so that it is an arc's own. Access links that silos share are counted here, too.
    window_bps : ndarray, shape (arcs,)
        What the windows of each arc's transfers allow at its latency, see `topologies.windows`; infinite without any.
    latency_s : ndarray, shape (arcs,)
    trip_s : ndarray, shape (arcs,)
        Round-trip time of each arc in slow start, see `topologies.slow_start`; 0 where none adds to its delay,
        whatever its rate.
    compute_s : ndarray, shape (silos,)
        Computing time of a round.
    out, into : ndarray of int, shape (silos,)
        Degrees.
    crossing : ndarray of int, shape (crossings, 2)
        Arc and core link direction, for each core link on the route of each arc that core links limit.
    parts : ndarray, shape (crossings,)
        Into how many parts the rule for `A(i', j')` divides the capacity of each of them, times the share of the flow
        that crosses the link: the smallest quotient is `A(i', j')`.
    """

    up_bps: FloatArray
    down_bps: FloatArray
    core_bps: FloatArray
    measured_bps: FloatArray
    window_bps: FloatArray
    latency_s: FloatArray
    trip_s: FloatArray
    compute_s: FloatArray
    model_bits: float
    overlay: Overlay
    out: IntArray
    into: IntArray
    crossing: IntArray
    parts: FloatArray

    def __repr__(self) -> str:
        """The overlay."""
        return f"<Resources of {self.overlay!r}>"

    @classmethod
    def of(cls, overlay: Overlay) -> Self:
        """Resources of an overlay as it is.

        Notes
        -----
        Time and memory O(total route length).
        """
        graph = overlay.graph
        out, into = degrees(graph.silos, overlay.source, overlay.target)
        crossing, measured, parts = bandwidth_terms(graph, overlay.source, overlay.target, overlay.routes)
        return cls(
            up_bps=graph.up_bps,
            down_bps=graph.down_bps,
            core_bps=graph.core_bps,
            measured_bps=measured,
            window_bps=window_rates(graph, overlay.source, overlay.target),
            latency_s=overlay.latency_s,
            trip_s=_slow_trips(overlay),
            compute_s=overlay.compute_s,
            model_bits=overlay.work.model_bits,
            overlay=overlay,
            out=out,
            into=into,
            crossing=crossing,
            parts=parts,
        )

    def with_latency(self, arc: int, latency_s: float) -> Self:
        """The same with another latency of an arc, in which its windows, and those of the arc back, are sent.

        Latencies do not change whether an arc starts slowly in every round.
        """
        latencies_s, window_bps = self.latency_s.copy(), self.window_bps.copy()
        slow_s = self.trip_s.copy()
        latencies_s[arc] = latency_s
        source, target = self.overlay.source, self.overlay.target
        trip_s = float(round_trips(self.overlay.graph, source[arc], target[arc]))
        new_s = trip_s + latency_s - float(self.latency_s[arc])
        for number in (arc, *self.back(arc)):
            window_bps[number] = window_bps[number] * trip_s / new_s if new_s > 0 else np.inf
            if slow_s[number] > 0:
                slow_s[number] = new_s
        return replace(self, latency_s=latencies_s, window_bps=window_bps, trip_s=slow_s)

    def back(self, arc: int) -> list[int]:
        """The arc from an arc's target to its source, if there is one."""
        source, target = self.overlay.source, self.overlay.target
        found = np.flatnonzero((source == target[arc]) & (target == source[arc]))
        return [int(number) for number in found]

    def limits_bps(self) -> FloatArray:
        """Uplink share, downlink share, available bandwidth and windows of each arc, shape (4, arcs)."""
        source, target = self.overlay.source, self.overlay.target
        available = _smallest(len(source), self.crossing, self.core_bps, self.parts)
        return np.stack(
            (
                self.up_bps[source] / self.out[source],
                self.down_bps[target] / self.into[target],
                np.minimum(available, self.measured_bps),
                self.window_bps,
            )
        )

    def binding(self) -> BoolArray:
        """Which of the four `limits_bps` equal each arc's rate, shape (4, arcs); none where it plays no part.

        That is where it is infinite, or the model has left when the backward pass ends.
        """
        limits = self.limits_bps()
        rate = limits.min(axis=0)
        return np.asarray((limits <= rate * (1 + EQUAL)) & np.isfinite(rate) & ~self.hidden(rate))

    def hidden(self, rate_bps: FloatArray) -> BoolArray:
        """Whether the backward pass takes longer than each arc's transmission, which then takes no time of its own."""
        overlay = self.overlay
        pass_s = overlay.work.backward_share * overlay.tokens * self.compute_s[overlay.source]
        return np.asarray(transmissions(self.model_bits, rate_bps) < pass_s)

    def binding_links(self, arc: int) -> list[int]:
        """Core link directions that limit an arc's available bandwidth, in the route's order."""
        links: list[int] = self.crossing[self.binding_crossings(arc), 1].tolist()
        return links

    def binding_crossings(self, arc: int) -> IntArray:
        """Which of `crossing` are those of `binding_links`."""
        own = np.flatnonzero(self.crossing[:, 0] == arc)
        bps = self.core_bps[self.crossing[own, 1] // 2] / self.parts[own]
        least_bps = bps.min(initial=float(self.measured_bps[arc]))
        return np.asarray(own[bps <= least_bps * (1 + EQUAL)])

    def opening(self, rate_bps: FloatArray) -> tuple[IntArray, FloatArray]:
        """Round trips that slow start adds to each arc, and what it sends in these; see `topologies.slow_start`."""
        overlay, bits = self.overlay, self.model_bits
        ends = overlay.source, overlay.target
        rounds, sent_bits = opening_of(overlay.graph, bits, *ends, rate_bps, trip_s=self.trip_s)
        if not rates_decide_restarts(overlay.graph, overlay.hub):
            return rounds, sent_bits
        again = restarts(overlay.graph, bits, overlay.compute_s, *ends, rate_bps, hub=overlay.hub)
        return np.where(again, rounds, 0), np.where(again, sent_bits, 0.0)

    def cycle_time(self) -> CycleTime:
        """Cycle time of the overlay's arcs on these resources."""
        overlay, source = self.overlay, self.overlay.source
        awaited_s = overlay.tokens * self.compute_s[source]
        rate_bps, share = self.limits_bps().min(axis=0), overlay.work.backward_share
        delay_s = delays(awaited_s, self.latency_s, self.model_bits, rate_bps, share)
        if overlay.graph.slow_start is not None:
            rounds, sent_bits = self.opening(rate_bps)
            delay_s = delay_s + (rounds * self.trip_s - shortened_s(sent_bits, rate_bps))
        graph = replace(overlay.event_graph, delay_s=np.concatenate((delay_s, self.compute_s)))
        return cycle_time(graph, connected=True)


def _slow_trips(overlay: Overlay) -> FloatArray:
    """See `Resources.trip_s`."""
    graph, source, target = overlay.graph, overlay.source, overlay.target
    if graph.slow_start is None:
        return np.zeros(overlay.arcs)
    trip_s: FloatArray = graph.slow_start.trip_s[source, target]
    if rates_decide_restarts(graph, overlay.hub):
        return trip_s
    again = restarts(graph, overlay.work.model_bits, overlay.compute_s, source, target, overlay.rate_bps)
    return np.where(again, trip_s, 0.0)


def bandwidth_terms(
    graph: Connectivity, source: IntArray, target: IntArray, routes: Sequence[tuple[int, ...]]
) -> tuple[IntArray, FloatArray, FloatArray]:
    """What the available bandwidth of arcs follows from.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)
    routes : sequence of tuple of int
        See `topologies.connectivity.Connectivity.route`, of each arc.

    Returns
    -------
    crossing : ndarray of int, shape (crossings, 2)
    measured_bps : ndarray, shape (arcs,)
    parts : ndarray, shape (crossings,)
        See `Resources`.

    Notes
    -----
    An `available_bps` that was put into the connectivity graph afterwards, and does not follow its rule, counts as
    measured. Time and memory O(total route length).
    """
    arcs = len(source)
    core = [
        () if graph.is_measured else tuple(link for link in route if link < graph.first_uplink)
        for route in routes
    ]
    links = np.fromiter(chain.from_iterable(core), np.int64)
    crossing = np.column_stack((np.repeat(np.arange(arcs), np.fromiter(map(len, core), np.int64)), links))
    available_bps = graph.available_bps[source, target]
    measured_bps, parts = np.full(arcs, np.inf), np.ones(len(crossing))
    router = graph.router
    if graph.bandwidth == "hop_share":
        parts = graph.routes.hops[router[source], router[target]][crossing[:, 0]].astype(np.float64)
    if graph.routes.splits:
        ends = zip(router[source].tolist(), router[target].tolist(), strict=True)
        shares = (
            graph.routes.shares(*pair) or (1.0,) * len(route) for pair, route in zip(ends, core, strict=True)
        )
        parts = parts * np.fromiter(chain.from_iterable(shares), np.float64)
    follows = np.allclose(
        _smallest(arcs, crossing, graph.core_bps, parts), available_bps, rtol=EQUAL, atol=0.0
    )
    if not follows:
        measured_bps, crossing, parts = available_bps, crossing[:0], parts[:0]
    if graph.rules.shared_access:
        measured_bps = np.minimum(measured_bps, graph.shared_access_bps(source, target))
    return crossing, measured_bps, parts


def _smallest(arcs: int, crossing: IntArray, core_bps: FloatArray, parts: FloatArray) -> FloatArray:
    """Smallest capacity over parts on the route of each arc, infinite where it crosses no core link."""
    smallest = np.full(arcs, np.inf)
    np.minimum.at(smallest, crossing[:, 0], core_bps[crossing[:, 1] // 2] / parts)
    return smallest

"""The terms of every arc in a simulation: means over some rounds of queueing, slow start, rate, wait and computing."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from simulator import ComputeTimes, Timeline
from topologies import InputError, Overlay
from topologies.arrays import FloatArray, IntArray
from topologies.delays import leaving
from topologies.rounding import ROUNDING


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Terms:
    """Means over rounds, in seconds, of the arcs of an overlay and then of each silo's wait for its own computing.

    Attributes
    ----------
    queue_s, slow_s, rate_s, wait_s, computing_s : ndarray, shape (arcs + silos,)
        See `scenarios.validation.attribution.attribute`.
    sending_s : ndarray, shape (arcs + silos,)
        Transmission time of a model.
    under_way_s : ndarray, shape (arcs + silos,)
        From the first bit's leaving to the arrival.
    detour_s : ndarray, shape (arcs + silos,)
        Latency in excess of the arc's own: that of a detour around a failed link.
    link : ndarray of int, shape (arcs + silos,)
        The link direction that bounds the rate for the longest time in all; -1 where none does.
    gated : ndarray, shape (arcs + silos,)
        Fraction of the rounds in which the arrival starts the target's next round.
    """

    queue_s: FloatArray
    slow_s: FloatArray
    rate_s: FloatArray
    wait_s: FloatArray
    computing_s: FloatArray
    sending_s: FloatArray
    under_way_s: FloatArray
    detour_s: FloatArray
    link: IntArray
    gated: FloatArray

    @classmethod
    def of(
        cls,
        overlay: Overlay,
        timeline: Timeline,
        compute: ComputeTimes,
        first_round: int,
        rounds: int,
        *,
        fifo: bool,
    ) -> Self:
        """Terms of an overlay over some rounds of its simulation, with its computing times and queueing.

        Raises
        ------
        InputError
            If the timeline has no record of messages.

        Notes
        -----
        A message that slow start holds back takes its links later than it is sent, or than the one before it on its
        arc has left; waits for that one are queueing, where an arc sends one at a time (`fifo`). Time
        O(rounds * (arcs + silos)).
        """
        if timeline.messages is None:
            raise InputError("timeline.messages must not be None: simulate with messages=True.")
        window = slice(first_round, first_round + rounds)
        first_bit_s, last_bit_s, arrival_s, bound_link = (
            getattr(timeline.messages, name)[window]
            for name in ("start_s", "last_bit_s", "arrival_s", "bound_link")
        )
        start_s = timeline.round_start_s[first_round : first_round + rounds + 1]
        source, target, tokens = overlay.source, overlay.target, overlay.tokens
        leaves_s = np.where(tokens == 1, start_s[:-1, source], start_s[1:, source])
        compute_s, share = compute.rows(first_round, rounds), overlay.work.backward_share
        computed_s, more_s = start_s[:-1] + compute_s, (compute_s - overlay.compute_s).mean(axis=0)
        none = np.zeros(overlay.graph.silos)
        under_way_s = (arrival_s - first_bit_s).mean(axis=0)
        waits_s = np.concatenate((start_s[1:, target] - arrival_s, start_s[1:] - computed_s), axis=1)
        same_s = ROUNDING * float(np.diff(start_s, axis=0).mean())
        ready_s = leaves_s + leaving(tokens * compute_s[:, source], share)
        late_s, held_s = first_bit_s - ready_s, np.zeros(overlay.arcs)
        if overlay.graph.slow_start is not None:
            left_s = np.full_like(ready_s, -np.inf)
            if fifo:
                before = slice(max(first_round - 1, 0), first_round + rounds - 1)
                left_s[first_round == 0 :] = timeline.messages.last_bit_s[before]
            held_s = (first_bit_s - np.maximum(ready_s, left_s)).mean(axis=0)
        return cls(
            queue_s=np.concatenate((late_s.mean(axis=0) - held_s, none)),
            slow_s=np.concatenate((held_s - overlay.slow_start_s, none)),
            rate_s=np.concatenate((under_way_s - overlay.latency_s - overlay.transmission_s, none)),
            wait_s=waits_s.mean(axis=0),
            computing_s=np.concatenate((leaving(tokens * more_s[source], share), more_s)),
            sending_s=np.concatenate(((last_bit_s - first_bit_s).mean(axis=0), none)),
            under_way_s=np.concatenate((under_way_s, none)),
            detour_s=np.concatenate(((arrival_s - last_bit_s).mean(axis=0) - overlay.latency_s, none)),
            link=np.concatenate((_longest(bound_link, last_bit_s - first_bit_s), np.full(len(none), -1))),
            gated=(waits_s <= same_s).mean(axis=0),
        )


def _longest(links: IntArray, sending_s: FloatArray) -> IntArray:
    """The link that bounds each arc's messages for the longest time in all; the lowest one of several."""
    longest = np.empty(links.shape[1], dtype=np.int64)
    for arc in range(len(longest)):
        names, place = np.unique(links[:, arc], return_inverse=True)
        longest[arc] = names[np.argmax(np.bincount(place, weights=sending_s[:, arc]))]
    return longest

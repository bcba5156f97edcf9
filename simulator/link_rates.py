"""Rates on links between two dates, of messages whose dates are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simulator.activity import Sent
from simulator.progressive_filling import progressive_filling
from topologies.arrays import FloatArray

MOST_STEPS = 3_000_000
"""Links of all messages under way, over all dates: some seconds."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LinkRates:
    """Rates on links, constant from one date to the next.

    Attributes
    ----------
    date_s : ndarray of shape (n + 1,)
        In ascending order, from the first date to the last.
    rate_bps : ndarray of shape (n, links)
        Rate of all messages on each link direction from each date on.
    """

    date_s: FloatArray
    rate_bps: FloatArray

    @property
    def bits(self) -> FloatArray:
        """Bits that cross each link direction meanwhile, shape (links,)."""
        return np.asarray(np.diff(self.date_s) @ self.rate_bps)


def link_rates(
    sent: Sent,
    routes: Sequence[Sequence[int]],
    link_capacity_bps: FloatArray,
    message_bits: float,
    *,
    sharing: Literal["constant", "maxmin"],
    begin_s: float,
    end_s: float,
    usage: Sequence[Mapping[int, float]] | None = None,
) -> LinkRates | None:
    """Rates on links between two dates.

    Parameters
    ----------
    sent : Sent
        All messages under way between these dates.
    routes : sequence of sequence of int
        Link directions of each arc.
    link_capacity_bps : ndarray of shape (links,)
    message_bits : float
    sharing : {"constant", "maxmin"}
        Whether each message has one rate, or the messages under way share the links in the max-min fair way.
    begin_s, end_s : float
    usage : sequence of mapping from int to float, optional
        Of each arc, `simulator.arc.FlowArc.unequal_usage`.

    Returns
    -------
    LinkRates or None
        None where max-min fair rates would take more than `MOST_STEPS` steps.

    Notes
    -----
    Max-min fair rates follow from which messages are under way, as long as capacities and routes stay as they are: one
    `progressive_filling` for each date at which a message starts or leaves, O(dates * links of messages under way).
    Rates that are constant cost O(dates * links).
    """
    # Of those under way some have left all links, and are late for their latency alone.
    moves = sent.last_bit_s > np.maximum(sent.start_s, begin_s)
    dates = np.concatenate((sent.start_s[moves], sent.last_bit_s[moves]))
    date_s = np.unique(np.concatenate(([begin_s], dates[(dates > begin_s) & (dates < end_s)], [end_s])))
    first = np.searchsorted(date_s, sent.start_s, side="left").tolist()
    stop = np.searchsorted(date_s, sent.last_bit_s, side="left").tolist()
    used: Sequence[Mapping[int, float]] = [{}] * len(routes) if usage is None else usage
    crossed = {number: routes[arc] for number, arc in enumerate(sent.arc.tolist()) if moves[number]}
    bits_on = {
        number: np.array([used[sent.arc[number]].get(link, 1.0) for link in route])
        for number, route in crossed.items()
    }
    if sharing == "constant":
        change_bps = np.zeros((len(date_s), len(link_capacity_bps)))
        under_way = np.zeros(change_bps.shape, dtype=np.int64)
        for number, route in crossed.items():
            own_bps = message_bits / (sent.last_bit_s[number] - sent.start_s[number]) * bits_on[number]
            for sign, place in ((1, first[number]), (-1, stop[number])):
                if place < len(date_s):
                    change_bps[place, list(route)] += sign * own_bps
                    under_way[place, list(route)] += sign
        # What is left of a sum of which all parts are gone is rounding.
        rates = np.where(np.cumsum(under_way, axis=0) > 0, np.cumsum(change_bps, axis=0), 0.0)
        return LinkRates(date_s=date_s, rate_bps=rates[:-1])
    finite = {
        number: tuple(link for link in route if np.isfinite(link_capacity_bps[link]))
        for number, route in crossed.items()
    }
    usage_of = None if usage is None else {number: usage[sent.arc[number]] for number in crossed}
    if sum((stop[number] - first[number]) * len(route) for number, route in finite.items()) > MOST_STEPS:
        return None
    capacity_bps, rate_bps = link_capacity_bps.tolist(), np.zeros((len(date_s) - 1, len(link_capacity_bps)))
    members: dict[int, dict[int, None]] = {}
    starting: dict[int, list[int]] = {}
    leaving: dict[int, list[int]] = {}
    for number in finite:
        starting.setdefault(first[number], []).append(number)
        leaving.setdefault(stop[number], []).append(number)
    under: dict[int, tuple[int, ...]] = {}
    for place in range(len(date_s) - 1):
        for number in leaving.get(place, ()):
            for link in under.pop(number, ()):
                del members[link][number]
        for number in starting.get(place, ()):
            under[number] = finite[number]
            for link in finite[number]:
                members.setdefault(link, {})[number] = None
        busy = {link: flows for link, flows in members.items() if flows}
        for number, (own_bps, _) in progressive_filling(busy, under, capacity_bps, usage=usage_of).items():
            rate_bps[place, list(crossed[number])] += own_bps * bits_on[number]
    return LinkRates(date_s=date_s, rate_bps=rate_bps)

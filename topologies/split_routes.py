"""Flows that are split equally over all cheapest routes, packet by packet."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.equal_cost import LeadingOn, leading_on
from topologies.latency_rule import S_PER_KM, S_PER_PATH
from topologies.routing import TIE
from topologies.underlay import Underlay


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SplitRoutes:
    """All cheapest routes of every ordered pair of routers, and what share of a flow each link has of it.

    Made by `split_routes`.

    Attributes
    ----------
    distance_km : ndarray, shape (routers, routers)
    hops : ndarray of int, shape (routers, routers)
        Of the longest of the routes: the one of the largest latency, the constant of each link counted, on which the
        last bit arrives.
    directions : ndarray of int, shape (total number of links,)
        Link directions of all pairs, one after the other, by source, then target; of a pair none before one that leads
        to it.
    share : ndarray, shape (total number of links,)
        Of the flow that crosses each of them, > 0 and <= 1.
    first : ndarray of int, shape (routers * routers + 1,)
        Where those of each pair begin.
    number_of_links : int
        Of the underlay.
    splits : bool
        Whether any flow takes several routes.
    """

    distance_km: FloatArray
    hops: IntArray
    directions: IntArray
    share: FloatArray
    first: IntArray
    number_of_links: int
    splits: bool

    def __repr__(self) -> str:
        """Number of routers."""
        return f"<SplitRoutes between {len(self.hops)} routers>"

    def links(self, source: int, target: int) -> tuple[int, ...]:
        """See `topologies.routing.Routes`; those of all routes."""
        return tuple(self.directions[self._of(source, target)].tolist())

    def shares(self, source: int, target: int) -> tuple[float, ...]:
        """See `topologies.routing.Routes`."""
        return tuple(self.share[self._of(source, target)].tolist())

    def _of(self, source: int, target: int) -> slice:
        pair = source * len(self.hops) + target
        return slice(int(self.first[pair]), int(self.first[pair + 1]))

    def bottleneck_bps(self, core_bps: FloatArray) -> FloatArray:
        """See `topologies.routing.Routes`. O(total number of links)."""
        pair = np.repeat(np.arange(self.hops.size), np.diff(self.first))
        smallest = np.full(self.hops.size, np.inf)
        np.minimum.at(smallest, pair, core_bps[self.directions // 2] / self.share)
        return smallest.reshape(self.hops.shape)

    def used_links(self) -> BoolArray:
        """See `topologies.routing.Routes`. O(total number of links)."""
        used = np.zeros(self.number_of_links, dtype=bool)
        used[self.directions // 2] = True
        return used


def split_routes(underlay: Underlay, cost: FloatArray) -> SplitRoutes:
    """All cheapest routes of each ordered pair of routers, over which its flow is split.

    Parameters
    ----------
    underlay : Underlay
    cost : ndarray, shape (links,)
        Finite and > 0.

    Raises
    ------
    InputError
        If a cost is not finite and > 0.

    Notes
    -----
    At each router what has come of a flow is divided equally among the links that lead on at the same cost, parallel
    ones too, as OSPF does it packet by packet. Source: B. Fortz, M. Thorup, "Internet traffic engineering by optimizing
    OSPF weights", INFOCOM 2000. Numbers of routers make no difference. Time O(routers^2 * links), memory
    O(total number of links).
    """
    routers = underlay.routers
    distance_km, hops = np.zeros((routers, routers)), np.zeros((routers, routers), dtype=np.int64)
    parts = []
    for target, on in enumerate(leading_on(underlay, cost)):
        parts.append(_split(target, on, underlay.rank))
        distance_km[:, target], hops[:, target] = _longest(target, on, underlay.length_km)
    source = np.concatenate([part.source for part in parts])
    by_target = np.repeat(np.arange(routers), [len(part.source) for part in parts])
    pair = source * routers + by_target
    order = np.argsort(pair, kind="stable")
    share = np.concatenate([part.share for part in parts])[order]
    return SplitRoutes(
        distance_km=distance_km,
        hops=hops,
        directions=np.concatenate([part.direction for part in parts])[order],
        share=share,
        first=np.concatenate(([0], np.cumsum(np.bincount(pair, minlength=routers**2)))),
        number_of_links=underlay.links,
        splits=bool((share < 1).any()),
    )


class _Shares(NamedTuple):
    """Of some flows to one router, by source: link directions with the share that crosses each."""

    source: IntArray
    direction: IntArray
    share: FloatArray


def _split(target: int, on: LeadingOn, rank: IntArray) -> _Shares:
    """Shares of the flows from all routers to one, flow by flow."""
    routers = len(rank)
    here = np.eye(routers)
    share = np.zeros((routers, len(on.tail)))
    # All that comes to a router has come before anything of it goes on.
    ordered: list[IntArray] = []
    for node, arcs in _outgoing(on, np.lexsort((rank, -on.left)).tolist(), target):
        ordered.append(arcs)
        # Shares that were added up again are 1 without their rounding.
        come = np.where(np.abs(here[:, node] - 1) < TIE, 1.0, here[:, node])
        part = come / len(arcs)
        share[:, arcs] = part[:, np.newaxis]
        for head in on.head[arcs].tolist():
            here[:, head] += part
    order = np.concatenate([np.empty(0, dtype=np.int64), *ordered])
    source, place = np.nonzero(share[:, order])
    return _Shares(source, on.direction[order][place], share[source, order[place]])


def _longest(target: int, on: LeadingOn, length_km: FloatArray) -> tuple[FloatArray, IntArray]:
    """Length and number of links of the longest route from each router: of the largest latency, then length."""
    routers = len(on.left)
    km, hops = np.zeros(routers), np.zeros(routers, dtype=np.int64)
    for node, arcs in _outgoing(on, np.argsort(on.left, kind="stable").tolist(), target):
        head = on.head[arcs]
        own_km, own_hops = length_km[on.direction[arcs] // 2] + km[head], 1 + hops[head]
        latency_s = S_PER_KM * own_km + S_PER_PATH * own_hops
        late = np.flatnonzero(latency_s >= latency_s.max() * (1 - TIE))
        longest = late[np.argmax(own_km[late])]
        km[node], hops[node] = own_km[longest], own_hops[longest]
    return km, hops


def _outgoing(on: LeadingOn, nodes: list[int], target: int) -> Iterator[tuple[int, IntArray]]:
    """Those of some routers that are not the target, each with its links that lead on."""
    by_tail = np.argsort(on.tail, kind="stable")
    begin = np.searchsorted(on.tail[by_tail], np.arange(len(nodes) + 1)).tolist()
    for node in nodes:
        if node != target:
            yield node, by_tail[begin[node] : begin[node + 1]]

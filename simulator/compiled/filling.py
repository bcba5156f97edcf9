"""Sharing of links by progressive filling, as in `simulator.maxmin`, on tables."""

from typing import Any

from simulator.compiled.heap import Records, drop, put, size
from simulator.compiled.jit import compiled
from simulator.compiled.network import count_bound
from simulator.compiled.state import GREW, Network

_TIE = 1.0 + 1e-12
_CLEARLY = 1.0 + 1e-11


@compiled
def settle(network: Network) -> None:
    """Share links anew between all messages that the changes of this instant can reach."""
    links, shares = network.links, network.shares
    level_bps = 0.0
    for number in range(_reach(network)):
        link = links[number].reached
        if links[link].unfrozen:
            put(shares, link, links[link].left_bps / links[link].unfrozen)
    while size(shares):
        number = shares[0].order
        if not links[number].unfrozen:
            drop(shares, number)
            continue
        share_bps = links[number].left_bps / links[number].unfrozen
        if share_bps > shares[number].key:
            put(shares, number, share_bps)
            continue
        if shares[number].key > level_bps * _TIE:
            level_bps = shares[number].key
        drop(shares, number)
        _freeze(network, number, level_bps)


@compiled
def _reach(network: Network) -> int:
    """Collect the links that are connected to a changed link through shared links, and their arcs."""
    clock, arcs, parts, links = network.clock[0], network.arcs, network.parts, network.links
    clock.stamp += 1
    count = 0
    level_bps = clock.level_bps
    for number in range(clock.changed):
        link = links[number].changed
        if links[link].members:
            count = _reach_link(links, link, count, clock.stamp)
            if links[link].change == GREW:
                level_bps = min(level_bps, _least_share(arcs, parts, links[link], level_bps))
        links[link].change = 0
    clock.changed = 0
    level_bps /= _CLEARLY
    number = 0
    while number < count:
        link = links[links[number].reached]
        clock.work += link.members
        for place in range(link.first, link.first + link.members):
            arc = arcs[parts[parts[place].member].arc]
            if arc.stamp == clock.stamp:
                continue
            if 0.0 < arc.rate_bps < level_bps:
                link.left_bps -= arc.rate_bps * arc.count
                link.unfrozen -= arc.count
                continue
            arc.stamp = clock.stamp
            for part in range(arc.first, arc.end):
                if links[parts[part].link].stamp != clock.stamp:
                    count = _reach_link(links, parts[part].link, count, clock.stamp)
        number += 1
    return count


@compiled
def _least_share(arcs: Records, parts: Records, link: Any, enough_bps: float) -> float:
    """What a link surely leaves for a new message, as far as it is less than enough.

    Messages that are slower stay as they are, and all others get the same; each pass finds more slower ones.
    """
    share_bps, last_bps = link.capacity_bps / link.messages, 0.0
    while last_bps * _CLEARLY < share_bps < enough_bps:
        last_bps = share_bps
        left_bps, count = link.capacity_bps, link.messages
        for place in range(link.first, link.first + link.members):
            arc = arcs[parts[parts[place].member].arc]
            if 0.0 < arc.rate_bps < last_bps:
                left_bps -= arc.rate_bps * arc.count
                count -= arc.count
        if not count:
            return enough_bps
        share_bps = left_bps / count
    return float(share_bps)


@compiled
def _reach_link(links: Records, link: int, count: int, stamp: int) -> int:
    links[link].stamp = stamp
    links[link].left_bps = links[link].capacity_bps
    links[link].unfrozen = links[link].messages
    links[count].reached = link
    return count + 1


@compiled
def _freeze(network: Network, link: int, level_bps: float) -> None:
    """Give the rate to all messages on a link that have none yet."""
    clock, parts, links = network.clock[0], network.parts, network.links
    for place in range(links[link].first, links[link].first + links[link].members):
        bound = parts[place].member
        number = parts[bound].arc
        arc = network.arcs[number]
        if arc.stamp != clock.stamp:
            continue
        arc.stamp = 0
        for part in range(arc.first, arc.end):
            crossed = links[parts[part].link]
            crossed.left_bps -= level_bps * arc.count
            crossed.unfrozen -= arc.count
        if arc.bound_part != bound:
            count_bound(network.arcs, parts, number, clock.now_s)
            arc.bound_part = bound
            arc.bound_since_s = clock.now_s
        if arc.rate_bps != level_bps:
            sent_bits = arc.rate_bps * (clock.now_s - arc.since_s)
            arc.left_bits = max(0.0, arc.left_bits - sent_bits)
            arc.tail_bits = max(0.0, arc.tail_bits - sent_bits)
            arc.since_s = clock.now_s
            arc.rate_bps = level_bps
            put(network.ends, number, clock.now_s + arc.left_bits / level_bps)

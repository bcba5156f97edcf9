"""Max-min fair sharing of links, made anew only for the rates that change.

Rates are sought from the lowest to the highest, as by progressive filling. An arc of known rate is not looked at
as long as a full link keeps its rate where it is.
"""

from math import inf
from typing import Any

from simulator.compiled.ends import schedule
from simulator.compiled.heap import Records, clear, drop, put, size
from simulator.compiled.state import Network
from topologies.jit import compiled

_TIE = 1.0 + 1e-12

# Loads are sums that are kept up to date, so they drift. They only tell when a link is worth a look, with this
# margin, and are summed up anew now and then.
_MARGIN = 1.0 - 1e-12
_FRESH = 1024


@compiled
def seek(network: Network, number: int, more: int) -> None:
    """Let the rate of an arc be sought at the end of this instant, and be that of some more messages."""
    clock, arc, links = network.clock[0], network.arcs[number], network.links
    known = 0 if arc.active else arc.count
    if not arc.active:
        arc.active = 1
        arc.stamp = clock.stamp
        clock.open += 1
        if arc.bound_part >= 0:
            links[network.parts[arc.bound_part].link].bound -= 1
    for part in range(arc.first, arc.end):
        link = network.parts[part].link
        seat = network.seats[network.parts[part].place]
        seat.rate_bps = inf
        seat.count = arc.count + more
        links[link].load_bps -= arc.rate_bps * known
        links[link].active += known + more
        watch(network, link)
    arc.count += more


@compiled
def watch(network: Network, number: int) -> None:
    """Note that a link has more to give than before, or more messages to give it to."""
    link = network.links[number]
    if link.active:
        share_bps = (link.capacity_bps * _MARGIN - link.load_bps) / link.active
        if network.shares[number].place < 0 or share_bps < network.shares[number].key:
            put(network.shares, number, share_bps)
    if link.bound and network.levels[number].place < 0:
        put(network.levels, number, link.level_bps)


@compiled
def settle(network: Network) -> None:
    """Find all rates that are sought, and those that change because of them.

    Notes
    -----
    Two things happen to links on the way up. One is full at a rate below which neither it nor any other was: the
    arcs on it whose rates are sought get this rate, and those that were faster too. Or it is not full at the
    rate at which it was, and bounded arcs: these are sought as well.

    What results fits, and every arc has a bottleneck: a full link on which none is faster. There is only one
    such allocation.
    """
    clock, shares, levels = network.clock[0], network.shares, network.levels
    if not clock.open and not size(levels):
        return
    if clock.stamp % _FRESH == 0:
        _sum_up(network)
    level_bps = 0.0
    while clock.open or size(levels):
        if size(levels) and (not size(shares) or levels[levels[0].order].key <= shares[shares[0].order].key):
            _release(network, levels[0].order)
            continue
        number = shares[0].order
        link = network.links[number]
        if link.active:
            share_bps = (link.capacity_bps * _MARGIN - link.load_bps) / link.active
            if share_bps > shares[number].key:
                put(shares, number, share_bps)
                continue
        elif not link.over:
            drop(shares, number)
            continue
        share_bps = _full_bps(network, link, max(level_bps, shares[number].key))
        put(shares, number, share_bps)
        if shares[0].order != number or (size(levels) and levels[levels[0].order].key < share_bps):
            continue
        if share_bps > level_bps * _TIE:
            level_bps = share_bps
        drop(shares, number)
        level_bps = _same_number(network, link, level_bps)
        _freeze(network, number, level_bps)
    clear(shares)
    clock.stamp += 1


@compiled
def _full_bps(network: Network, link: Any, level_bps: float) -> float:
    """At which rate a link is full, as far as known rates stay what they are if they are lower.

    The given level must not be higher. Each pass finds a higher one, until no known rate lies between.
    """
    seats = network.seats
    while True:
        network.clock[0].work += link.members
        left_bps, count, next_bps = link.capacity_bps, 0, inf
        for place in range(link.first, link.first + link.members):
            rate_bps = seats[place].rate_bps
            if rate_bps > level_bps * _TIE:
                count += seats[place].count
                next_bps = min(next_bps, rate_bps)
            else:
                left_bps -= rate_bps * seats[place].count
        if not count:
            return level_bps
        level_bps = left_bps / count
        if next_bps > level_bps * _TIE:
            return level_bps


@compiled
def _same_number(network: Network, link: Any, level_bps: float) -> float:
    """The level, or the rate on a link that is equal to it but for the noise of floats."""
    same_bps = 0.0
    for place in range(link.first, link.first + link.members):
        rate_bps = network.seats[place].rate_bps
        if rate_bps == inf:
            rate_bps = network.arcs[network.parts[network.seats[place].part].arc].rate_bps
        if rate_bps <= level_bps * _TIE and rate_bps * _TIE >= level_bps:
            same_bps = max(same_bps, rate_bps)
    return same_bps or level_bps


@compiled
def _release(network: Network, number: int) -> None:
    """If a link is not full at its level, let the rates that it bounded be sought."""
    clock, seats, link = network.clock[0], network.seats, network.links[number]
    drop(network.levels, number)
    level_bps = link.level_bps
    if not link.bound or (not link.active and link.load_bps >= link.capacity_bps - level_bps * (_TIE - 1.0)):
        return
    left_bps, count = link.capacity_bps, 0
    clock.work += link.members
    for place in range(link.first, link.first + link.members):
        if seats[place].rate_bps * _TIE >= level_bps:
            count += seats[place].count
        else:
            left_bps -= seats[place].rate_bps * seats[place].count
    if left_bps > level_bps * _TIE * count:
        for place in range(link.first, link.first + link.members):
            if seats[place].rate_bps < inf:
                part = seats[place].part
                arc = network.arcs[network.parts[part].arc]
                if arc.bound_part == part and arc.stamp != clock.stamp:
                    seek(network, network.parts[part].arc, 0)


@compiled
def _freeze(network: Network, number: int, level_bps: float) -> None:
    """Give the rate to all arcs on a link whose rates are sought or higher."""
    clock, parts, links = network.clock[0], network.parts, network.links
    given = 0
    for place in range(links[number].first, links[number].first + links[number].members):
        if network.seats[place].rate_bps <= level_bps * _TIE:
            continue
        bound = network.seats[place].part
        arc = network.arcs[parts[bound].arc]
        if arc.active:
            arc.active = 0
            clock.open -= 1
            for part in range(arc.first, arc.end):
                network.seats[parts[part].place].rate_bps = level_bps
                links[parts[part].link].load_bps += level_bps * arc.count
                links[parts[part].link].active -= arc.count
                _mark_over(clock, links, parts[part].link, level_bps)
        else:
            arc.stamp = clock.stamp
            links[parts[arc.bound_part].link].bound -= 1
            for part in range(arc.first, arc.end):
                network.seats[parts[part].place].rate_bps = level_bps
                links[parts[part].link].load_bps -= (arc.rate_bps - level_bps) * arc.count
                watch(network, parts[part].link)
        given += 1
        links[number].bound += 1
        clock.work += arc.end - arc.first
        bind(network, parts[bound].arc, bound)
        if arc.rate_bps != level_bps:
            sent_bits = arc.rate_bps * (clock.now_s - arc.since_s)
            arc.left_bits = max(0.0, arc.left_bits - sent_bits)
            arc.tail_bits = max(0.0, arc.tail_bits - sent_bits)
            arc.since_s = clock.now_s
            arc.rate_bps = level_bps
            schedule(network, parts[bound].arc, clock.now_s + arc.left_bits / level_bps)
    if given:
        links[number].level_bps = level_bps
        drop(network.levels, number)
    if links[number].over:
        links[number].over = 0
        clock.open -= 1


@compiled
def _mark_over(clock: Any, links: Records, number: int, level_bps: float) -> None:
    """Note that known rates on a link must fall, where no others are sought that could."""
    link = links[number]
    if not link.active and not link.over and link.load_bps > link.capacity_bps + level_bps * (_TIE - 1.0):
        link.over = 1
        clock.open += 1


@compiled
def bind(network: Network, number: int, part: int) -> None:
    """Note which part of its route bounds an arc from now on."""
    arc = network.arcs[number]
    if arc.bound_part != part:
        count_bound(network.arcs, network.parts, number, network.clock[0].now_s)
        arc.bound_part = part
        arc.bound_since_s = network.clock[0].now_s


@compiled
def count_bound(arcs: Records, parts: Records, number: int, now_s: float) -> None:
    """Add up until now for how long the present bound of an arc has been its bound."""
    part = arcs[number].bound_part
    if part >= 0:
        parts[part].bound_s += now_s - arcs[number].bound_since_s
        arcs[number].bound_since_s = now_s


@compiled
def _sum_up(network: Network) -> None:
    """Sum up the loads of all links anew."""
    for number in range(len(network.links)):
        link = network.links[number]
        link.load_bps = 0.0
        for place in range(link.first, link.first + link.members):
            if network.seats[place].rate_bps < inf:
                link.load_bps += network.seats[place].rate_bps * network.seats[place].count

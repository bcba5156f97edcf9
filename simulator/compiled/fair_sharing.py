"""Max-min fair sharing of links between the messages under way, kept up to date as they start and leave.

Three parts, in this order: messages that start on the links of their route and leave them; the rates, found again only
where they or a capacity change; the dates at which messages leave.

Rates are sought from the lowest to the highest, as by progressive filling. An arc of known rate is not looked at
as long as a full link keeps its rate where it is.

With weights it is levels that are sought and compared, rate / weight: all messages that one link bounds have its level.
Without them all weights are 1, and levels are rates.
"""

from math import inf, isnan
from typing import Any

from simulator.compiled.heap import Records, clear, drop, put, size
from simulator.compiled.state import Network, Queue
from simulator.tolerances import EQUAL_RATE
from topologies.jit import compiled

# Loads are running sums, so they drift. They only decide, with this margin, when a link must be checked, and are
# summed again from time to time.
_MARGIN = 1.0 - 1e-12
_FRESH = 1024


@compiled
def begin(network: Network, queue: Queue, messages: Records, number: int, k: int) -> None:
    """Put the message of round `k` of an arc on its links."""
    clock, arc, hops, links = network.clock[0], network.arcs[number], network.hops, network.links
    now_s = clock.now_s
    messages[k - clock.base, number].start_s = now_s
    row = (arc.head + arc.count) % len(queue.gap_bits)
    alone = True
    for hop in range(arc.first, arc.end):
        if links[hops[hop].link].members:
            alone = False
    if not arc.count:
        arc.head_round = k
        arc.left_bits = arc.bits
        arc.tail_bits = arc.bits
        arc.since_s = now_s
        arc.level_bps = 0.0
        _take_links(network, number)
    else:
        # All messages of an arc leave at one rate, so they stay apart by what they differ in now.
        sent_bits = arc.rate_bps * (now_s - arc.since_s)
        queue.gap_bits[row, number] = arc.bits - max(0.0, arc.tail_bits - sent_bits)
        arc.tail_bits = arc.bits + sent_bits
    count_bound(network.arcs, hops, number, now_s)
    for hop in range(arc.first, arc.end):
        queue.bound_s[row, hop] = hops[hop].bound_s
    if not alone:
        seek(network, number, 1)
        return
    arc.count = 1
    arc.rate_bps = arc.alone_bps
    arc.level_bps = arc.alone_bps / arc.weight
    for hop in range(arc.first, arc.end):
        links[hops[hop].link].load_bps = arc.alone_bps * hops[hop].usage
        network.seats[hops[hop].place].level_bps = arc.level_bps
        network.seats[hops[hop].place].weight = arc.weight * hops[hop].usage
    bound = links[hops[arc.alone_hop].link]
    bound.level_bps = arc.level_bps
    bound.bound = 1
    bind(network, number, arc.alone_hop)
    schedule(network, number, now_s + arc.bits / arc.alone_bps)


@compiled
def leave(network: Network, queue: Queue, messages: Records, number: int) -> int:
    """Let the first message under way on an arc leave, and return its round."""
    clock, arc, hops, links = network.clock[0], network.arcs[number], network.hops, network.links
    now_s, k = clock.now_s, arc.head_round
    messages[k - clock.base, number].last_bit_s = now_s
    count_bound(network.arcs, hops, number, now_s)
    messages[k - clock.base, number].bound_link = _longest_bound(network.arcs, hops, queue, number)
    arc.head += 1
    if clock.fifo and arc.queued and (not arc.slow or arc.after_s >= 0.0):
        arc.queued -= 1
        arc.head_round = _next_round(network, messages, number)
        messages[arc.head_round - clock.base, number].start_s = now_s
        for hop in range(arc.first, arc.end):
            queue.bound_s[0, hop] = hops[hop].bound_s
        arc.left_bits = arc.bits
        arc.since_s = now_s
        schedule(network, number, now_s + arc.bits / arc.rate_bps)
        return int(k)
    _unload(network, number)
    arc.count -= 1
    if arc.count:
        sent_bits = arc.rate_bps * (now_s - arc.since_s)
        arc.head_round = _next_round(network, messages, number)
        arc.left_bits = queue.gap_bits[arc.head % len(queue.gap_bits), number]
        arc.tail_bits = max(arc.left_bits, arc.tail_bits - sent_bits)
        arc.since_s = now_s
        schedule(network, number, now_s + arc.left_bits / arc.rate_bps)
    else:
        if arc.active:
            arc.active = 0
            clock.open -= 1
        else:
            links[hops[arc.bound_hop].link].bound -= 1
        arc.bound_hop = -1
        drop(network.ends, number)
        _leave_links(network, number)
    for hop in range(arc.first, arc.end):
        watch(network, hops[hop].link)
    return int(k)


@compiled
def _next_round(network: Network, messages: Records, number: int) -> int:
    """Round of the message behind the first one under way on an arc."""
    clock, k = network.clock[0], network.arcs[number].head_round + 1
    while clock.planned and isnan(messages[k - clock.base, number].start_s):
        k += 1
    return int(k)


@compiled
def _unload(network: Network, number: int) -> None:
    """Take one message off the links of an arc."""
    clock, arc, hops, links = network.clock[0], network.arcs[number], network.hops, network.links
    for hop in range(arc.first, arc.end):
        usage = hops[hop].usage
        network.seats[hops[hop].place].weight = arc.weight * usage * (arc.count - 1)
        if arc.active:
            _remove_active(clock, links, hops[hop].link, 1, arc.weight * usage)
        else:
            links[hops[hop].link].load_bps -= arc.rate_bps * usage


@compiled
def _remove_active(clock: Any, links: Records, number: int, count: int, weight: float) -> None:
    """Count some messages less on a link whose rates are sought."""
    link = links[number]
    link.active -= count
    link.active_weight = link.active_weight * clock.up - weight if link.active else 0.0


@compiled
def _longest_bound(arcs: Records, hops: Records, queue: Queue, number: int) -> int:
    """The link that set the rate of the first message under way on an arc for the longest time."""
    arc = arcs[number]
    row = arc.head % len(queue.gap_bits)
    longest_s, link = -1.0, -1
    for hop in range(arc.first, arc.end):
        bound_s = hops[hop].bound_s - queue.bound_s[row, hop]
        if bound_s > longest_s:
            longest_s, link = bound_s, hops[hop].link
    return link


@compiled
def _take_links(network: Network, number: int) -> None:
    """Give an idle arc a seat on each link of its route."""
    arc, hops, links = network.arcs[number], network.hops, network.links
    for hop in range(arc.first, arc.end):
        link = links[hops[hop].link]
        place = link.first + link.members
        network.seats[place].hop = hop
        hops[hop].place = place
        link.members += 1


@compiled
def _leave_links(network: Network, number: int) -> None:
    """Give up the seats of an arc that has become idle; the last seat of each link takes the place."""
    arc, hops, links = network.arcs[number], network.hops, network.links
    for hop in range(arc.first, arc.end):
        link = links[hops[hop].link]
        link.members -= 1
        last, here = network.seats[link.first + link.members], network.seats[hops[hop].place]
        hops[last.hop].place = hops[hop].place
        here.hop = last.hop
        here.level_bps = last.level_bps
        here.weight = last.weight


@compiled
def seek(network: Network, number: int, more: int) -> None:
    """Seek the rate of an arc at the end of this instant, for `more` messages than now."""
    clock, arc, links = network.clock[0], network.arcs[number], network.links
    known = 0 if arc.active else arc.count
    if not arc.active:
        arc.active = 1
        arc.stamp = clock.stamp
        clock.open += 1
        if arc.bound_hop >= 0:
            links[network.hops[arc.bound_hop].link].bound -= 1
    for hop in range(arc.first, arc.end):
        link, usage = network.hops[hop].link, network.hops[hop].usage
        seat = network.seats[network.hops[hop].place]
        seat.level_bps = inf
        seat.weight = arc.weight * usage * (arc.count + more)
        links[link].load_bps -= arc.rate_bps * usage * known
        links[link].active += known + more
        links[link].active_weight += arc.weight * usage * (known + more)
        links[link].active_weight *= clock.up
        watch(network, link)
    arc.count += more


@compiled
def watch(network: Network, number: int) -> None:
    """Note that a link has more capacity left than before, or more messages to share it."""
    link = network.links[number]
    if link.active:
        share_bps = (link.capacity_bps * _MARGIN - link.load_bps) / link.active_weight
        if network.shares[number].place < 0 or share_bps < network.shares[number].key:
            put(network.shares, number, share_bps)
    if link.bound and network.levels[number].place < 0:
        put(network.levels, number, link.level_bps)


@compiled
def update_rates(network: Network) -> None:
    """Find all rates that are sought, and those that change because of them.

    Notes
    -----
    The level rises, and each link met on the way is one of two cases. It is full at this level, and no link was
    full at a lower one: the arcs on it whose rates are sought get this level, and so do those whose level was higher.
    Or it is no longer full at the level at which it bounded arcs: these are sought as well.

    The rates that result fit the capacities, and every arc has a bottleneck, a full link on which no arc has a higher
    level: the max-min fair allocation, of which there is only one.
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
            share_bps = (link.capacity_bps * _MARGIN - link.load_bps) / link.active_weight
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
        if share_bps > level_bps * EQUAL_RATE:
            level_bps = share_bps
        drop(shares, number)
        level_bps = _same_number(network, link, level_bps)
        _freeze(network, number, level_bps)
    clear(shares)
    clock.stamp += 1


@compiled
def _full_bps(network: Network, link: Any, level_bps: float) -> float:
    """Level at which a link is full while known levels below it stay as they are.

    The given level must not exceed it. Each pass finds a higher level, until no known level lies in between.
    """
    seats = network.seats
    while True:
        network.clock[0].work += link.members
        left_bps, weight, next_bps = link.capacity_bps, 0.0, inf
        for place in range(link.first, link.first + link.members):
            known_bps = seats[place].level_bps
            if known_bps > level_bps * EQUAL_RATE:
                weight += seats[place].weight
                next_bps = min(next_bps, known_bps)
            else:
                left_bps -= known_bps * seats[place].weight
        if not weight:
            return level_bps
        level_bps = left_bps / weight
        if next_bps > level_bps * EQUAL_RATE:
            return level_bps


@compiled
def _same_number(network: Network, link: Any, level_bps: float) -> float:
    """The level, or one on a link that differs from it by rounding only, so that equal levels are one number."""
    same_bps = 0.0
    for place in range(link.first, link.first + link.members):
        known_bps = network.seats[place].level_bps
        if known_bps == inf:
            known_bps = network.arcs[network.hops[network.seats[place].hop].arc].level_bps
        if known_bps <= level_bps * EQUAL_RATE and known_bps * EQUAL_RATE >= level_bps:
            same_bps = max(same_bps, known_bps)
    return same_bps or level_bps


@compiled
def _release(network: Network, number: int) -> None:
    """Seek the rates that a link bounded, if it is no longer full at its level."""
    clock, seats, link = network.clock[0], network.seats, network.links[number]
    drop(network.levels, number)
    level_bps = link.level_bps
    if not link.bound or (
        not link.active
        and link.load_bps >= link.capacity_bps - level_bps * link.least_weight * (EQUAL_RATE - 1.0)
    ):
        return
    left_bps, weight = link.capacity_bps, 0.0
    clock.work += link.members
    for place in range(link.first, link.first + link.members):
        if seats[place].level_bps * EQUAL_RATE >= level_bps:
            weight += seats[place].weight
        else:
            left_bps -= seats[place].level_bps * seats[place].weight
    if left_bps > level_bps * EQUAL_RATE * weight:
        for place in range(link.first, link.first + link.members):
            hop = seats[place].hop
            arc = network.arcs[network.hops[hop].arc]
            if arc.bound_hop == hop and arc.stamp != clock.stamp:
                seek(network, network.hops[hop].arc, 0)


@compiled
def _freeze(network: Network, number: int, level_bps: float) -> None:
    """Give this level to all arcs on a link whose levels are sought or higher."""
    clock, hops, links = network.clock[0], network.hops, network.links
    given = 0
    for place in range(links[number].first, links[number].first + links[number].members):
        if network.seats[place].level_bps <= level_bps * EQUAL_RATE:
            continue
        bound = network.seats[place].hop
        arc = network.arcs[hops[bound].arc]
        rate_bps = level_bps * arc.weight
        if arc.active:
            arc.active = 0
            clock.open -= 1
            for hop in range(arc.first, arc.end):
                usage = hops[hop].usage
                network.seats[hops[hop].place].level_bps = level_bps
                links[hops[hop].link].load_bps += rate_bps * usage * arc.count
                _remove_active(clock, links, hops[hop].link, arc.count, arc.weight * usage * arc.count)
                _mark_over(clock, links, hops[hop].link, level_bps)
        else:
            arc.stamp = clock.stamp
            links[hops[arc.bound_hop].link].bound -= 1
            for hop in range(arc.first, arc.end):
                network.seats[hops[hop].place].level_bps = level_bps
                links[hops[hop].link].load_bps -= (arc.rate_bps - rate_bps) * hops[hop].usage * arc.count
                watch(network, hops[hop].link)
        given += 1
        links[number].bound += 1
        clock.work += arc.end - arc.first
        bind(network, hops[bound].arc, bound)
        if arc.level_bps != level_bps:
            sent_bits = arc.rate_bps * (clock.now_s - arc.since_s)
            arc.left_bits = max(0.0, arc.left_bits - sent_bits)
            arc.tail_bits = max(0.0, arc.tail_bits - sent_bits)
            arc.since_s = clock.now_s
            arc.rate_bps = rate_bps
            arc.level_bps = level_bps
            schedule(network, hops[bound].arc, clock.now_s + arc.left_bits / rate_bps)
    if given:
        links[number].level_bps = level_bps
        drop(network.levels, number)
    if links[number].over:
        links[number].over = 0
        clock.open -= 1


@compiled
def _mark_over(clock: Any, links: Records, number: int, level_bps: float) -> None:
    """Note that known rates on a link must fall, where no sought rate is left to fall instead."""
    link = links[number]
    if (
        not link.active
        and not link.over
        and link.load_bps > link.capacity_bps + level_bps * link.least_weight * (EQUAL_RATE - 1.0)
    ):
        link.over = 1
        clock.open += 1


@compiled
def bind(network: Network, number: int, hop: int) -> None:
    """Note which hop of its route bounds the rate of an arc from now on."""
    arc = network.arcs[number]
    if arc.bound_hop != hop:
        count_bound(network.arcs, network.hops, number, network.clock[0].now_s)
        arc.bound_hop = hop
        arc.bound_since_s = network.clock[0].now_s


@compiled
def count_bound(arcs: Records, hops: Records, number: int, now_s: float) -> None:
    """Add the time since the last call to that in which the present hop has bounded an arc."""
    hop = arcs[number].bound_hop
    if hop >= 0:
        hops[hop].bound_s += now_s - arcs[number].bound_since_s
        arcs[number].bound_since_s = now_s


@compiled
def set_capacity(network: Network, number: int, capacity_bps: float) -> None:
    """Change the capacity of a link, > 0, and seek the rates of all messages on it at the end of this instant."""
    arcs, hops, seats, links = network.arcs, network.hops, network.seats, network.links
    link = links[number]
    link.capacity_bps = capacity_bps
    for place in range(link.first, link.first + link.users):
        arc = arcs[hops[seats[place].user].arc]
        arc.alone_bps = inf
        for hop in range(arc.first, arc.end):
            own_bps = links[hops[hop].link].capacity_bps / hops[hop].usage
            if own_bps < arc.alone_bps:
                arc.alone_bps = own_bps
                arc.alone_hop = hop
    for place in range(link.first, link.first + link.members):
        seek(network, hops[seats[place].hop].arc, 0)


@compiled
def _sum_up(network: Network) -> None:
    """Sum the loads of all links again."""
    for number in range(len(network.links)):
        link = network.links[number]
        link.load_bps = 0.0
        for place in range(link.first, link.first + link.members):
            if network.seats[place].level_bps < inf:
                link.load_bps += network.seats[place].level_bps * network.seats[place].weight


@compiled
def schedule(network: Network, number: int, end_s: float) -> None:
    """Let the first message under way on an arc leave at a date.

    The heap keeps an earlier date that it holds until that one is due: most dates move again before then.
    """
    network.arcs[number].end_s = end_s
    ends = network.ends
    if ends[number].place < 0 or end_s < ends[number].key:
        put(ends, number, end_s)


@compiled
def next_end_s(network: Network) -> float:
    """When the next message leaves, on the first arc in the heap; infinite without messages."""
    ends = network.ends
    while size(ends):
        number = ends[0].order
        end_s = network.arcs[number].end_s
        if ends[number].key >= end_s:
            return float(end_s)
        put(ends, number, end_s)
    return inf

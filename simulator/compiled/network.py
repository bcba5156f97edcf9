"""Messages on the network: when they start and leave, and what limits them."""

from math import isnan

from simulator.compiled.ends import schedule
from simulator.compiled.filling import bind, count_bound, seek, watch
from simulator.compiled.heap import Records, drop
from simulator.compiled.state import Network, Queue
from topologies.jit import compiled


@compiled
def begin(network: Network, queue: Queue, messages: Records, number: int, k: int) -> None:
    """Put the message of round `k` of an arc on its links."""
    clock, arc, parts, links = network.clock[0], network.arcs[number], network.parts, network.links
    now_s = clock.now_s
    messages[k - clock.base, number].start_s = now_s
    row = (arc.head + arc.count) % len(queue.gap_bits)
    alone = True
    for part in range(arc.first, arc.end):
        if links[parts[part].link].members:
            alone = False
    if not arc.count:
        arc.head_round = k
        arc.left_bits = arc.bits
        arc.tail_bits = arc.bits
        arc.since_s = now_s
        arc.rate_bps = 0.0
        _join(network, number)
    else:
        # All messages of an arc leave at one rate, so they stay apart by what they differ in now.
        sent_bits = arc.rate_bps * (now_s - arc.since_s)
        queue.gap_bits[row, number] = arc.bits - max(0.0, arc.tail_bits - sent_bits)
        arc.tail_bits = arc.bits + sent_bits
    count_bound(network.arcs, parts, number, now_s)
    for part in range(arc.first, arc.end):
        queue.bound_s[row, part] = parts[part].bound_s
    if not alone:
        seek(network, number, 1)
        return
    arc.count = 1
    arc.rate_bps = arc.alone_bps
    for part in range(arc.first, arc.end):
        links[parts[part].link].load_bps = arc.alone_bps
        network.seats[parts[part].place].rate_bps = arc.alone_bps
        network.seats[parts[part].place].count = 1
    bound = links[parts[arc.alone_part].link]
    bound.level_bps = arc.alone_bps
    bound.bound = 1
    bind(network, number, arc.alone_part)
    schedule(network, number, now_s + arc.bits / arc.alone_bps)


@compiled
def leave(network: Network, queue: Queue, messages: Records, number: int) -> int:
    """Let the first message under way on an arc leave; its round."""
    clock, arc, parts, links = network.clock[0], network.arcs[number], network.parts, network.links
    now_s, k = clock.now_s, arc.head_round
    messages[k - clock.base, number].last_bit_s = now_s
    count_bound(network.arcs, parts, number, now_s)
    messages[k - clock.base, number].bound_link = _longest_bound(network.arcs, parts, queue, number)
    arc.head += 1
    if clock.fifo and arc.queued:
        arc.queued -= 1
        arc.head_round = _next_round(network, messages, number)
        messages[arc.head_round - clock.base, number].start_s = now_s
        for part in range(arc.first, arc.end):
            queue.bound_s[0, part] = parts[part].bound_s
        arc.left_bits = arc.bits
        arc.tail_bits = arc.bits
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
            links[parts[arc.bound_part].link].bound -= 1
        arc.bound_part = -1
        drop(network.ends, number)
        _part(network, number)
    for part in range(arc.first, arc.end):
        watch(network, parts[part].link)
    return int(k)


@compiled
def _next_round(network: Network, messages: Records, number: int) -> int:
    """The round of the message after the first one under way on an arc."""
    clock, k = network.clock[0], network.arcs[number].head_round + 1
    while clock.planned and isnan(messages[k - clock.base, number].start_s):
        k += 1
    return int(k)


@compiled
def _unload(network: Network, number: int) -> None:
    """Take one message off the links of an arc."""
    arc, parts, links = network.arcs[number], network.parts, network.links
    for part in range(arc.first, arc.end):
        network.seats[parts[part].place].count -= 1
        if arc.active:
            links[parts[part].link].active -= 1
        else:
            links[parts[part].link].load_bps -= arc.rate_bps


@compiled
def _longest_bound(arcs: Records, parts: Records, queue: Queue, number: int) -> int:
    arc = arcs[number]
    row = arc.head % len(queue.gap_bits)
    longest_s, link = -1.0, -1
    for part in range(arc.first, arc.end):
        bound_s = parts[part].bound_s - queue.bound_s[row, part]
        if bound_s > longest_s:
            longest_s, link = bound_s, parts[part].link
    return link


@compiled
def _join(network: Network, number: int) -> None:
    arc, parts, links = network.arcs[number], network.parts, network.links
    for part in range(arc.first, arc.end):
        link = links[parts[part].link]
        place = link.first + link.members
        network.seats[place].part = part
        parts[part].place = place
        link.members += 1


@compiled
def _part(network: Network, number: int) -> None:
    arc, parts, links = network.arcs[number], network.parts, network.links
    for part in range(arc.first, arc.end):
        link = links[parts[part].link]
        link.members -= 1
        last, here = network.seats[link.first + link.members], network.seats[parts[part].place]
        parts[last.part].place = parts[part].place
        here.part = last.part
        here.rate_bps = last.rate_bps
        here.count = last.count

"""Messages on the network: when they start and leave, and what limits them."""

from simulator.compiled.heap import Records, drop, put
from simulator.compiled.jit import compiled
from simulator.compiled.state import GREW, SHRANK, Network, Queue


@compiled
def begin(network: Network, queue: Queue, messages: Records, number: int, k: int) -> None:
    """Put the message of round `k` of an arc on its links."""
    clock, arc, parts, links = network.clock[0], network.arcs[number], network.parts, network.links
    now_s = clock.now_s
    messages[k - clock.base, number].start_s = now_s
    row = k % len(queue.gap_bits)
    alone = True
    for part in range(arc.first, arc.end):
        if links[parts[part].link].messages:
            alone = False
        links[parts[part].link].messages += 1
    arc.count += 1
    if arc.count == 1:
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
    if alone:
        arc.rate_bps = arc.alone_bps
        arc.bound_part = arc.alone_part
        arc.bound_since_s = now_s
        put(network.ends, number, now_s + arc.bits / arc.alone_bps)
    else:
        _mark_changed(network, number, GREW)


@compiled
def leave(network: Network, queue: Queue, messages: Records, number: int) -> int:
    """Let the first message under way on an arc leave; its round."""
    clock, arc, parts, links = network.clock[0], network.arcs[number], network.parts, network.links
    now_s, k = clock.now_s, arc.head_round
    messages[k - clock.base, number].last_bit_s = now_s
    count_bound(network.arcs, parts, number, now_s)
    messages[k - clock.base, number].bound_link = _longest_bound(network.arcs, parts, queue, number)
    arc.head_round = k + 1
    if clock.fifo and arc.queued:
        arc.queued -= 1
        messages[k + 1 - clock.base, number].start_s = now_s
        for part in range(arc.first, arc.end):
            queue.bound_s[0, part] = parts[part].bound_s
        arc.left_bits = arc.bits
        arc.tail_bits = arc.bits
        arc.since_s = now_s
        put(network.ends, number, now_s + arc.bits / arc.rate_bps)
        return int(k)
    for part in range(arc.first, arc.end):
        links[parts[part].link].messages -= 1
    clock.level_bps = min(clock.level_bps, arc.rate_bps)
    arc.count -= 1
    if arc.count:
        sent_bits = arc.rate_bps * (now_s - arc.since_s)
        arc.left_bits = queue.gap_bits[(k + 1) % len(queue.gap_bits), number]
        arc.tail_bits = max(arc.left_bits, arc.tail_bits - sent_bits)
        arc.since_s = now_s
        put(network.ends, number, now_s + arc.left_bits / arc.rate_bps)
    else:
        arc.bound_part = -1
        drop(network.ends, number)
        _part(network, number)
    _mark_changed(network, number, SHRANK)
    return int(k)


@compiled
def count_bound(arcs: Records, parts: Records, number: int, now_s: float) -> None:
    """Add up until now for how long the present bound of an arc has been its bound."""
    part = arcs[number].bound_part
    if part >= 0:
        parts[part].bound_s += now_s - arcs[number].bound_since_s
        arcs[number].bound_since_s = now_s


@compiled
def _mark_changed(network: Network, number: int, change: int) -> None:
    """Note that the links of an arc must be shared anew, where anybody is left on them."""
    clock, arc, parts, links = network.clock[0], network.arcs[number], network.parts, network.links
    for part in range(arc.first, arc.end):
        link = parts[part].link
        if links[link].members:
            if not links[link].change:
                links[clock.changed].changed = link
                clock.changed += 1
            links[link].change = max(links[link].change, change)


@compiled
def _longest_bound(arcs: Records, parts: Records, queue: Queue, number: int) -> int:
    arc = arcs[number]
    row = arc.head_round % len(queue.gap_bits)
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
        parts[place].member = part
        parts[part].place = place
        link.members += 1


@compiled
def _part(network: Network, number: int) -> None:
    arc, parts, links = network.arcs[number], network.parts, network.links
    for part in range(arc.first, arc.end):
        link = links[parts[part].link]
        link.members -= 1
        last = parts[link.first + link.members].member
        parts[parts[part].place].member = last
        parts[last].place = parts[part].place

"""The loop over all events of silos and messages."""

from math import inf

from simulator.compiled.fair_sharing import begin, leave, next_end_s, update_rates
from simulator.compiled.heap import Records, drop, put, size
from simulator.compiled.repeats import is_repeat
from simulator.compiled.slow_start import hold, next_held, release
from simulator.compiled.state import (
    BACKWARD,
    COMPUTING,
    GATED,
    OFF,
    WAITING,
    Network,
    Queue,
    Silos,
    Window,
)
from simulator.tolerances import SAME_INSTANT
from topologies.arrays import FloatArray
from topologies.jit import compiled

DONE, PAUSED, FULL_WINDOW, FULL_QUEUE, REPEATED, CHANGE = range(1, 7)


@compiled
def run(network: Network, silos: Silos, queue: Queue, window: Window, saved: FloatArray, budget: int) -> int:
    """Simulate until the caller must act, and return why: `DONE` to `CHANGE`."""
    clock, events = network.clock[0], silos.events
    clock.work = 0
    while True:
        blocked = _instant(network, silos, queue, window)
        if blocked:
            return blocked
        if clock.now_s >= clock.change_s:
            return CHANGE
        update_rates(network)
        then_s = next_end_s(network)
        if size(events):
            then_s = min(then_s, events[events[0].order].key)
        if then_s == inf:
            return DONE
        then_s = min(then_s, clock.change_s)
        if then_s > clock.now_s:
            if clock.reference >= 0 and is_repeat(network, silos, queue, window, saved):
                return REPEATED
            if clock.work > budget:
                return PAUSED
            clock.now_s = then_s


@compiled
def _instant(network: Network, silos: Silos, queue: Queue, window: Window) -> int:
    """Process all events that are due now, and those that they cause at the same instant."""
    clock, events = network.clock[0], silos.events
    while True:
        clock.work += 10
        if size(events) and events[events[0].order].key <= clock.now_s:
            silo = events[0].order
            if silo >= len(silos.table):
                arc = silo - len(silos.table)
                _pass(network, silos, queue, window, arc, release(network, silos, window.messages, arc))
                continue
            if silos.table[silo].round + clock.longest_lag - clock.base >= len(window.inbox):
                return FULL_WINDOW
            if not clock.fifo and _queue_is_full(network, silos.table, window, silo, len(queue.gap_bits)):
                return FULL_QUEUE
            if silos.table[silo].phase == COMPUTING:
                _send_all(network, silos, queue, window, silo)
            elif silos.table[silo].phase == BACKWARD:
                _computed(network, silos, queue, window, silo)
            else:
                _start(network, silos, queue, window, silo)
        elif next_end_s(network) <= clock.now_s * SAME_INSTANT:
            arc = network.ends[0].order
            k = leave(network, queue, window.messages, arc)
            _deliver(network, silos, window, arc, k)
            if network.arcs[arc].slow:
                _left(network, silos, queue, window, arc, k)
        else:
            return 0


@compiled
def _start(network: Network, silos: Silos, queue: Queue, window: Window, number: int) -> None:
    """Start the next round."""
    clock, silo = network.clock[0], silos.table[number]
    k = silo.round + 1
    silo.round = k
    here = window.inbox[k - clock.base, number]
    here.round_start_s = clock.now_s
    if number == 0 and clock.reference != OFF:
        clock.reference = k
    if k > 0:
        for place in range(silo.middle, silo.end):
            _send(network, silos, queue, window, *_out(network, window, place, k - 1), clock.now_s)
    if clock.planned:
        silo.first, silo.middle, silo.end = here.first, here.middle, here.end
    if k < clock.rounds:
        silo.phase = COMPUTING
        silo.computed_s = clock.now_s + here.compute_s
        put(silos.events, number, clock.now_s + clock.forward * here.compute_s)
    else:
        drop(silos.events, number)
    # From here on it may send no message of rounds after the end.
    if k + clock.longest_lag > clock.rounds:
        clock.reference = OFF


@compiled
def _send_all(network: Network, silos: Silos, queue: Queue, window: Window, number: int) -> None:
    """Send the model after computing, or when the backward pass begins in which it leaves."""
    clock, silo = network.clock[0], silos.table[number]
    for place in range(silo.first, silo.middle):
        message = _out(network, window, place, silo.round)
        _send(network, silos, queue, window, *message, silo.computed_s)
    if silo.computed_s > clock.now_s:
        silo.phase = BACKWARD
        put(silos.events, number, silo.computed_s)
    else:
        _computed(network, silos, queue, window, number)


@compiled
def _computed(network: Network, silos: Silos, queue: Queue, window: Window, number: int) -> None:
    """Wait for the in-arcs after computing."""
    clock, silo = network.clock[0], silos.table[number]
    here = window.inbox[silo.round - clock.base, number]
    if here.missing:
        silo.phase = WAITING
        drop(silos.events, number)
    elif here.latest_s > clock.now_s:
        silo.phase = GATED
        put(silos.events, number, here.latest_s)
    else:
        _start(network, silos, queue, window, number)


@compiled
def _out(network: Network, window: Window, place: int, k: int) -> tuple[int, int]:
    """The out-arc at a place of the list of round `k`, and the round of its message; without a plan one list holds."""
    clock = network.clock[0]
    if clock.planned:
        out = window.out[k - clock.base, place]
        return int(out.arc), int(k + out.ahead)
    return int(network.arcs[place].out), int(k)


@compiled
def _send(
    network: Network, silos: Silos, queue: Queue, window: Window, number: int, k: int, ready_s: float
) -> None:
    """Send a message, unless it starts slowly or waits for one that does."""
    clock, arc = network.clock[0], network.arcs[number]
    window.messages[k - clock.base, number].arrival_s = ready_s
    if arc.slow:
        if clock.fifo and arc.held:
            arc.queued += 1
            if clock.planned:
                window.messages[k - clock.base, number].start_s = clock.now_s
            return
        if (not clock.fifo or not arc.count) and hold(network, silos, window.messages, number, k):
            return
    _pass(network, silos, queue, window, number, k)


@compiled
def _pass(network: Network, silos: Silos, queue: Queue, window: Window, number: int, k: int) -> None:
    """Let a message take its links, or wait for the one before it."""
    _take(network, silos, queue, window, number, k)
    if network.arcs[number].first == network.arcs[number].end:
        _left(network, silos, queue, window, number, k)


@compiled
def _left(network: Network, silos: Silos, queue: Queue, window: Window, number: int, k: int) -> None:
    """Note that the message of round `k` has left an arc that starts slowly, and send those that waited for it."""
    clock, arc = network.clock[0], network.arcs[number]
    arc.open_until_s = clock.now_s + arc.after_s
    while clock.fifo and arc.queued and not arc.count and not arc.held:
        k = next_held(network, window.messages, number, k)
        arc.queued -= 1
        if not hold(network, silos, window.messages, number, k):
            _take(network, silos, queue, window, number, k)


@compiled
def _take(network: Network, silos: Silos, queue: Queue, window: Window, number: int, k: int) -> None:
    clock, arc = network.clock[0], network.arcs[number]
    if arc.first == arc.end:
        message = window.messages[k - clock.base, number]
        message.start_s = clock.now_s
        message.last_bit_s = clock.now_s
        _deliver(network, silos, window, number, k)
    elif clock.fifo and arc.count:
        arc.queued += 1
        if clock.planned:
            window.messages[k - clock.base, number].start_s = clock.now_s
    else:
        begin(network, queue, window.messages, number, k)


@compiled
def _deliver(network: Network, silos: Silos, window: Window, number: int, k: int) -> None:
    """Give the target the arrival of the message that takes its links no longer."""
    clock, arc = network.clock[0], network.arcs[number]
    message = window.messages[k - clock.base, number]
    message.last_bit_s = max(message.last_bit_s, message.arrival_s)
    arrival_s = message.last_bit_s + arc.latency_s
    clock.latest = max(clock.latest, k)
    message.arrival_s = arrival_s
    silo, there = silos.table[arc.target], window.inbox[k - clock.base, arc.target]
    there.latest_s = max(there.latest_s, arrival_s)
    there.missing -= 1
    if not there.missing and silo.phase == WAITING and silo.round == k:
        silo.phase = GATED
        put(silos.events, arc.target, there.latest_s)


@compiled
def _queue_is_full(network: Network, table: Records, window: Window, silo: int, rows: int) -> bool:
    """Whether an arc on which the silo may send now cannot take one more message."""
    most = 0
    for place in range(table[silo].first, table[silo].end):
        number, _ = _out(network, window, place, table[silo].round)
        most = max(most, network.arcs[number].count + network.arcs[number].held)
    # A silo may send the models of several rounds on an arc at once, if their lags say so.
    return bool(most + network.clock[0].longest_lag > rows)

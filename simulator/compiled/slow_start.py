"""Messages that start slowly, compiled: held back before they take their links.

As `simulator.simpy_engine.slow_start`. When a message that is held back takes its links is noted as its `start_s`.
"""

from math import isnan
from typing import Any

from simulator.compiled.heap import Records, drop, put
from simulator.compiled.state import Network, Silos
from simulator.tolerances import SAME_INSTANT
from topologies.jit import compiled


@compiled
def starts_slowly(arc: Any, now_s: float) -> bool:
    """Whether a message that is sent now on an arc starts slowly."""
    idles = not arc.count and not arc.held
    return bool(arc.after_s < 0.0 or (idles and now_s > arc.open_until_s * SAME_INSTANT))


@compiled
def hold(network: Network, silos: Silos, messages: Records, number: int, k: int) -> bool:
    """Hold back the message of round `k` of an arc, if it starts slowly or comes after one that does."""
    clock, arc = network.clock[0], network.arcs[number]
    if starts_slowly(arc, clock.now_s):
        until_s = clock.now_s + arc.slow_s
    elif arc.held:
        until_s = arc.held_until_s
    else:
        return False
    if not arc.held:
        arc.held_round = k
        put(silos.events, len(silos.table) + number, until_s)
    messages[k - clock.base, number].start_s = until_s
    arc.held += 1
    arc.held_until_s = until_s
    return True


@compiled
def release(network: Network, silos: Silos, messages: Records, number: int) -> int:
    """Take the first message that is held back on an arc, and return its round."""
    clock, arc = network.clock[0], network.arcs[number]
    k = arc.held_round
    arc.held -= 1
    if arc.held:
        arc.held_round = next_held(network, messages, number, k)
        put(silos.events, len(silos.table) + number, messages[arc.held_round - clock.base, number].start_s)
    else:
        drop(silos.events, len(silos.table) + number)
    return int(k)


@compiled
def next_held(network: Network, messages: Records, number: int, k: int) -> int:
    """Round of the message of an arc that was sent after that of round `k`."""
    clock = network.clock[0]
    k += 1
    while clock.planned and isnan(messages[k - clock.base, number].start_s):
        k += 1
    return int(k)

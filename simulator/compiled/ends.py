"""The dates at which messages leave."""

from math import inf

from simulator.compiled.heap import put, size
from simulator.compiled.state import Network
from topologies.jit import compiled


@compiled
def schedule(network: Network, number: int, end_s: float) -> None:
    """Let the first message under way on an arc leave at some date.

    A later date than the one before is looked at only when that one has come: most dates move again until then.
    """
    network.arcs[number].end_s = end_s
    ends = network.ends
    if ends[number].place < 0 or end_s < ends[number].key:
        put(ends, number, end_s)


@compiled
def next_end_s(network: Network) -> float:
    """When the next message leaves: that of the first arc in the heap."""
    ends = network.ends
    while size(ends):
        number = ends[0].order
        end_s = network.arcs[number].end_s
        if ends[number].key >= end_s:
            return float(end_s)
        put(ends, number, end_s)
    return inf

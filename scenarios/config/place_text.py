"""Where a run takes place, in a few words: the network and the capacities of its access links."""

from math import inf

from scenarios.config.quantities import format_rate
from topologies import Connectivity, Underlay
from topologies.networks.underlay_title import underlay_title


def place_text(underlay: Underlay, graph: Connectivity) -> str:
    """Network and access capacities in a sentence, such as ``geant (corrected) at 100 Mbps``."""
    return f"{underlay_title(underlay)}{_access_text(graph)}"


def _access_text(graph: Connectivity) -> str:
    """The capacities of access links, `` at 100 Mbps``."""
    ends = [float(bps) for bps in (graph.up_bps.min(), graph.up_bps.max())]
    down = [float(bps) for bps in (graph.down_bps.min(), graph.down_bps.max())]
    if min(ends) == min(down) == inf:
        return " with unlimited access links"
    if ends == down:
        low, high = map(format_rate, ends)
        return f" at {low}" if low == high else f" with access links of {low} to {high}"
    (up_low, up_high), (down_low, down_high) = map(format_rate, ends), map(format_rate, down)
    up = up_low if up_low == up_high else f"{up_low} to {up_high}"
    return f" at {up} up, {down_low if down_low == down_high else f'{down_low} to {down_high}'} down"

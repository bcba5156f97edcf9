"""Free arcs: arcs that can be added without raising the cycle time.

Library only: no command calls it.
"""

from dataclasses import dataclass

import numpy as np

from topologies.analysis.slack import detours, noise_s, reduced_costs
from topologies.arrays import FloatArray, IntArray
from topologies.delays import degrees, pair_delays
from topologies.overlay import Overlay
from topologies.slow_start import added_s


@dataclass(frozen=True, kw_only=True, slots=True)
class FreeArc:
    """An arc outside an overlay that can be added without raising the cycle time.

    Attributes
    ----------
    source, target : int
        Silos that it joins.
    delay_s : float
        Its delay, Eq. 3, with the degrees below.
    slack_s : float
        How much that delay could grow before the cycle time would.
    out_degree : int
        Models that the source sends in a round once the arc is there.
    in_degree : int
        Models that the target receives in a round once the arc is there.
    slowed : tuple of int
        Arcs of the overlay whose delay grows, since they share the source's uplink or the target's downlink.
    """

    source: int
    target: int
    delay_s: float
    slack_s: float
    out_degree: int
    in_degree: int
    slowed: tuple[int, ...]


def free_arcs(overlay: Overlay) -> list[FreeArc]:
    """Arcs that can be added to an overlay, one at a time, without raising its cycle time.

    Returns
    -------
    list of FreeArc
        Sorted by source and target. Blocked pairs are no candidates.

    Notes
    -----
    An arc `(p, q)` brings its own delay, and one more model on the uplink of `p` and on the downlink of `q`: the
    other arcs out of `p` and into `q` slow down by Eq. 3. Every delay that changes leaves `p` or enters `q`, and a
    simple circuit passes each of the two once, so it holds at most one changed arc of either sort. With the
    all-pairs detours of the old overlay (see `event_slack`), the arc is free if and only if

    1. the new arc's reduced cost plus the detour from `q` to `p` is >= 0, its `slack_s`,
    2. every arc that slows down does so by at most its slack,
    3. for any two that slow down, ``(p, x)`` and ``(y, q)``, the circuit of both with the detours from `x` to `y`
       and from `q` to `p` is not too heavy,

    so that no cycle time is computed again. Time and memory O(silos * arcs * log silos) and O(silos^2) for all
    candidates together, plus the size of the answer.

    Around a hub (STAR) tokens are those of `build_overlay`: an arc out of the hub has none, any other has one; one
    between two silos hands a model of this round to the next one, beside the round trip to the hub. The cycle time
    is that of Eq. 3 to 5, `paper`; a slower arc may still raise the other closed forms.
    """
    cost = reduced_costs(overlay.event_graph, overlay.proof)
    detour = detours(overlay.event_graph, cost)
    cost = cost[: overlay.arcs]
    out, into = degrees(overlay.graph.silos, overlay.source, overlay.target)
    delay_s = pair_delays(overlay.graph, overlay.work, out + 1, into + 1, hub=overlay.hub)
    more_out_s, more_in_s = _growth(overlay, out, into)
    slack_s = _new_slacks(overlay, delay_s, detour)
    spare_s = np.minimum(slack_s, _spare(overlay, cost, detour, more_out_s, more_in_s))

    candidates = overlay.graph.may_send
    candidates[overlay.source, overlay.target] = False
    free = candidates & (spare_s >= -noise_s(overlay.event_graph, overlay.proof))
    slowed_out = [np.flatnonzero((overlay.source == p) & (more_out_s > 0)) for p in range(len(out))]
    slowed_in = [np.flatnonzero((overlay.target == q) & (more_in_s > 0)) for q in range(len(into))]
    return [
        FreeArc(
            source=p,
            target=q,
            delay_s=float(delay_s[p, q]),
            slack_s=max(0.0, float(slack_s[p, q])),
            out_degree=int(out[p]) + 1,
            in_degree=int(into[q]) + 1,
            slowed=tuple(sorted({*slowed_out[p].tolist(), *slowed_in[q].tolist()})),
        )
        for p, q in np.argwhere(free).tolist()
    ]


def _growth(overlay: Overlay, out: IntArray, into: IntArray) -> tuple[FloatArray, FloatArray]:
    """How much each arc's delay grows when its source, and when its target, gets one more arc."""
    graph, bits = overlay.graph, overlay.work.model_bits
    up = graph.up_bps[overlay.source] / (out[overlay.source] + 1)
    down = graph.down_bps[overlay.target] / (into[overlay.target] + 1)
    if graph.slow_start is None:
        return (
            np.maximum(bits / up - overlay.transmission_s, 0.0),
            np.maximum(bits / down - overlay.transmission_s, 0.0),
        )
    ends, sent_s = (overlay.source, overlay.target), overlay.transmission_s + overlay.slow_start_s

    def growth_s(share_bps: FloatArray) -> FloatArray:
        rate_bps = np.minimum(share_bps, overlay.rate_bps)
        slow_s = added_s(graph, bits, overlay.compute_s, *ends, rate_bps, hub=overlay.hub)
        return np.asarray(np.maximum(bits / rate_bps + slow_s - sent_s, 0.0))

    return growth_s(up), growth_s(down)


def _new_slacks(overlay: Overlay, delay_s: FloatArray, detour: FloatArray) -> FloatArray:
    """Slack of every possible arc; negative where it is too slow."""
    v, tau = overlay.proof.potential_s, overlay.proof.cycle_time_s
    tokens = np.ones(len(v))
    if overlay.hub is not None:
        tokens[overlay.hub] = 0.0
    return np.asarray(v - v[:, np.newaxis] - delay_s + tau * tokens[:, np.newaxis] + detour.T)


def _spare(
    overlay: Overlay, cost: FloatArray, detour: FloatArray, more_out_s: FloatArray, more_in_s: FloatArray
) -> FloatArray:
    """Slack of the heaviest circuit through the slowed arcs, for every possible arc; < 0: too slow."""
    silos = overlay.graph.silos
    source, target = overlay.source, overlay.target
    slack = cost + detour[target, source]
    leaving, entering = np.flatnonzero(more_out_s > 0), np.flatnonzero(more_in_s > 0)

    alone_out, alone_in = np.full(silos, np.inf), np.full(silos, np.inf)
    np.minimum.at(alone_out, source[leaving], slack[leaving] - more_out_s[leaving])
    np.minimum.at(alone_in, target[entering], slack[entering] - more_in_s[entering])

    away, through = np.full((silos, silos), np.inf), np.full((silos, silos), np.inf)
    for arc in leaving:
        row = away[source[arc]]
        np.minimum(row, cost[arc] - more_out_s[arc] + detour[target[arc]], out=row)
    for arc in entering:
        column = through[:, target[arc]]
        np.minimum(column, away[:, source[arc]] + cost[arc] - more_in_s[arc], out=column)
    return np.asarray(np.minimum(np.minimum.outer(alone_out, alone_in), through + detour.T))

"""Slack of arcs: how much a delay may grow before the cycle time does.

Library only: no command calls it.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from topologies.arrays import FloatArray
from topologies.howard import RELATIVE_NOISE, CycleTime
from topologies.maxplus import EventGraph
from topologies.overlay import Overlay


def arc_slack(overlay: Overlay) -> FloatArray:
    """How much the delay of each arc may grow, alone, before the overlay's cycle time does.

    Returns
    -------
    ndarray, shape (arcs,)
        In seconds, in the overlay's order of arcs; 0 on every arc of every critical circuit.

    Notes
    -----
    See `event_slack`.
    """
    return event_slack(overlay.event_graph, overlay.proof)[: overlay.arcs]


def event_slack(graph: EventGraph, proof: CycleTime) -> FloatArray:
    """How much the delay of each arc of an event graph may grow, alone, before the cycle time does.

    Parameters
    ----------
    proof : CycleTime
        Of this graph.

    Returns
    -------
    ndarray, shape (arcs,)
        In seconds; 0 on every arc of every critical circuit, infinite on an arc that lies on no circuit. Values
        below `noise_s` are 0: rounding alone makes them.

    Notes
    -----
    With reduced costs ``c = v[j] - v[i] - delay + tau * tokens >= 0``, the heaviest circuit through the arc
    `(i, j)` falls short of `tau` by its `c` plus the length of the shortest `c`-path from `j` back to `i`: the
    potential cancels along a circuit. Time O(nodes * arcs * log nodes), memory O(nodes^2).
    """
    cost = reduced_costs(graph, proof)
    slack = cost + detours(graph, cost)[graph.target, graph.source]
    slack[slack <= noise_s(graph, proof)] = 0.0
    slack[list(proof.circuit)] = 0.0
    return slack


def reduced_costs(graph: EventGraph, proof: CycleTime) -> FloatArray:
    """``v[j] - v[i] - delay + tau * tokens`` of each arc, shape (arcs,), never below 0."""
    v = proof.potential_s
    cost = v[graph.target] - v[graph.source] - graph.delay_s + proof.cycle_time_s * graph.tokens
    return np.asarray(np.maximum(cost, 0.0))


def detours(graph: EventGraph, cost: FloatArray) -> FloatArray:
    """Length of the shortest path between all nodes for arc lengths `cost`, shape (nodes, nodes).

    Notes
    -----
    Dijkstra's algorithm from each node: the second half of Johnson's algorithm, whose first half, the potential,
    comes with the proof.
    """
    order = np.lexsort((cost, graph.target, graph.source))
    ends = np.stack((graph.source[order], graph.target[order]))
    # A sparse array would add parallel arcs up; the first of each pair is the shortest.
    first = np.ones(len(order), dtype=bool)
    first[1:] = np.any(ends[:, 1:] != ends[:, :-1], axis=0)
    shortest = csr_array(
        (cost[order][first], (ends[0, first], ends[1, first])), shape=(graph.nodes, graph.nodes)
    )
    return np.asarray(dijkstra(shortest), dtype=np.float64)


def noise_s(graph: EventGraph, proof: CycleTime) -> float:
    """Rounding error that sums of this graph's delays and potentials may hold, in seconds."""
    largest = max(np.abs(graph.delay_s).max(initial=0.0), np.abs(proof.potential_s).max(initial=0.0))
    return 4 * RELATIVE_NOISE * float(largest)

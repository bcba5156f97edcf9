"""Overlays that come without a network: which silo stands in each place of their states."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from topologies.arrays import IntArray
from topologies.connectivity import Connectivity
from topologies.delays import arc_rates, delays
from topologies.designers.node_order import EVALUATIONS, NODE_ORDERS, Objective, node_order, reordered
from topologies.designers.options import DesignerOption
from topologies.howard import cycle_time
from topologies.periodic_events import periodic_event_graph, state_of_sending
from topologies.periodic_overlay import added_in_states_s
from topologies.state import State, computing_times
from topologies.workload import Workload

Order = Annotated[
    str,
    DesignerOption(
        help="Which silo stands where in an overlay that comes without a network; none: by label, tour: along a short "
        "ring, searched: for a small cycle time",
        choices=NODE_ORDERS,
    ),
]
_MOST_ARCS = 1_000_000
"""Arcs of all orders that a search tries together: some ten seconds."""


def placed(
    graph: Connectivity, work: Workload, states: Sequence[State], order: str, *, seed: int
) -> tuple[State, ...]:
    """The states with a silo of the network in each place.

    Parameters
    ----------
    states : sequence of State
        Of places ``0..silos - 1``; the arcs of all together are strongly connected.
    order : str
        One of `NODE_ORDERS`; see `node_order`. ``"searched"`` looks for a small `paper` cycle time.
    seed : int
        Of the search.

    Returns
    -------
    tuple of State
        Whatever the numbers of the silos, the same labels stand in the same places.

    Raises
    ------
    InputError
        As `node_order`.
    """
    arcs = max(1, sum(len(state.source) for state in states))
    places = node_order(
        order,
        graph,
        work,
        cycle_time_s=cycle_time_by_order(graph, work, states),
        seed=seed,
        evaluations=min(EVALUATIONS, max(2, _MOST_ARCS // arcs)),
    )
    return reordered(states, places)


def cycle_time_by_order(graph: Connectivity, work: Workload, states: Sequence[State]) -> Objective:
    """Function from an order of the silos to the `paper` cycle time of these states, in seconds per round.

    It is infinite where a silo cannot send along an arc. Time of a call O(silos * P + arcs) times the iterations of
    Howard's policy iteration.
    """
    state = np.repeat(np.arange(len(states)), [len(each.source) for each in states])
    lag = np.concatenate([each.lag for each in states])
    compute_s = computing_times(states, work.round_compute_s(graph.silos))
    sending, computed = state_of_sending(len(states), state, lag), sum(each.computes for each in states)
    places = [np.concatenate([getattr(each, end) for each in states]) for end in ("source", "target")]
    # Silos that change places keep which arcs of the states are the same.
    number = np.unique(np.column_stack(places), axis=0, return_inverse=True)[1].reshape(-1)

    def cycle_time_s(order: IntArray) -> float:
        ends = [(order[each.source], order[each.target]) for each in states]
        source, target = (np.concatenate(side) for side in zip(*ends, strict=True))
        if not graph.may_send[source, target].all():
            return float("inf")
        rate_bps = np.concatenate([arc_rates(graph, *pair) for pair in ends])
        delay_s = delays(
            compute_s[sending, source],
            graph.latency_s[source, target],
            work.model_bits,
            rate_bps,
            work.backward_share,
        )
        if graph.slow_start is not None:
            arcs = state, source, target, rate_bps, number
            delay_s = delay_s + added_in_states_s(graph, work, len(states), computed, *arcs)
        events = periodic_event_graph(len(states), state, source, target, lag, delay_s, compute_s)
        return cycle_time(events, connected=True).cycle_time_s / computed

    return cycle_time_s

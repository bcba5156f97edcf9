"""The round starts of a periodic overlay as events of one period."""

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.closed_forms import serialized_event_graph
from topologies.maxplus import EventGraph


def periodic_event_graph(
    period: int,
    state: IntArray,
    source: IntArray,
    target: IntArray,
    lag: IntArray,
    delay_s: FloatArray,
    compute_s: FloatArray,
) -> EventGraph:
    """Event graph of the round starts of a periodic overlay.

    Parameters
    ----------
    period : int
        Number of states.
    state, source, target, lag : ndarray of int, shape (arcs,)
        Of each arc of each state.
    delay_s : ndarray, shape (arcs,)
        The computing time of the source in the round in which it sends included; see `state_of_sending`.
    compute_s : ndarray, shape (period, silos)
        Computing times of the rounds in each state; see `topologies.state.computing_times`.

    Returns
    -------
    EventGraph
        Node ``s * silos + i`` is the start of silo `i`'s rounds in state `s`. The arcs in order, then each silo's wait
        for its own computing, state by state.

    Notes
    -----
    Round ``k + 1`` of the target, with `k` in the arc's state, starts no earlier than ``delay_s`` after round
    ``k + 1 - lag`` of the source. Rounds ``q P + 1`` to ``q P + P`` are one period, so that round 0 is one of its own,
    as `recurrence` starts; a token is a boundary between periods that an arc crosses, and along a circuit there are
    ``sum of lags / P`` of them. With a period of 1 and lags of 1 it is Eq. 4 of the paper.
    """
    silos, states = compute_s.shape[1], np.arange(period)
    own, own_state = np.tile(np.arange(silos), period), np.repeat(states, silos)
    begin = np.concatenate((state + 1 - lag, own_state))
    end_state = np.concatenate(((state + 1) % period, (own_state + 1) % period))
    return EventGraph(
        nodes=period * silos,
        source=(begin % period) * silos + np.concatenate((source, own)),
        target=end_state * silos + np.concatenate((target, own)),
        delay_s=np.concatenate((delay_s, compute_s.ravel())),
        tokens=1 + -begin // period,
    )


def state_of_sending(period: int, state: IntArray, lag: IntArray) -> IntArray:
    """State of the round in which a model is sent that is mixed in at the end of a round of another state."""
    return np.asarray((state + 1 - lag) % period)


def fifo_event_graph(
    graph: EventGraph,
    period: int,
    state: IntArray,
    number: IntArray,
    computing_s: FloatArray,
    latency_s: FloatArray,
    transmission_s: FloatArray,
    *,
    direct: bool = False,
) -> EventGraph:
    """Event graph in which a silo sends its models to another one after each other, of all states.

    Parameters
    ----------
    graph : EventGraph
        Of `periodic_event_graph`.
    period : int
    state, number : ndarray of int, shape (arcs,)
        Of each arc of each state; arcs between the same silos have the same number.
    computing_s, latency_s, transmission_s : ndarray, shape (arcs,)
    direct : bool
        See `topologies.closed_forms.serialized_event_graph`.

    Returns
    -------
    EventGraph
        See `topologies.closed_forms.serialized_event_graph`.
    """
    behind, turns, _ = turn_order(period, state, number)
    return serialized_event_graph(
        graph, computing_s, latency_s, transmission_s, behind=behind, turns=turns, direct=direct
    )


def turn_order(period: int, state: IntArray, number: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Which message of a connection comes before which.

    Parameters
    ----------
    period : int
    state, number : ndarray of int, shape (arcs,)
        As for `fifo_event_graph`.

    Returns
    -------
    behind : ndarray of int, shape (arcs,)
        The arc between the same silos of the state before, in the order of states, around the period.
    turns : ndarray of int, shape (arcs,)
        1 where that is of the period before, else 0.
    rounds : ndarray of int, shape (arcs,)
        Rounds from that state to the arc's own, at most `period`.
    """
    order = np.lexsort((state, number))
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = number[order[1:]] != number[order[:-1]]
    starts = np.flatnonzero(is_first)
    ends = np.concatenate((starts[1:], [len(order)])) - 1
    before = np.arange(len(order)) - 1
    before[starts] = ends[: len(starts)]
    behind, turns = np.empty_like(order), np.empty(len(order), dtype=np.int64)
    behind[order], turns[order] = order[before], is_first
    return behind, turns, state - state[behind] + period * turns

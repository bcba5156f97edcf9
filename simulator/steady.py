"""The steady state of a simulated job: its cycle time, proven where the job repeats."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from simulator.arc import FlowArc
from topologies import EventGraph, recurrence
from topologies.arrays import FloatArray
from topologies.closed_forms import serialized_event_graph

_SAME = 1e-9
_TABLE = 1 << 24
"""Numbers that a piece of a recurrence may hold, 128 MiB."""

_WORK, _WORK_PER_ROUND = 1 << 25, 1000
"""Arcs that further rounds may update in all (some tenths of a second), and what a round costs besides, in arcs."""


class SteadyState(NamedTuple):
    """Time per round in seconds, and whether it comes from a repeat or is an estimate."""

    cycle_time_s: float
    is_exact: bool


def observed_steady_state(round_start_s: FloatArray) -> SteadyState:
    """Steady state as the round starts show it, whatever made them.

    Parameters
    ----------
    round_start_s : ndarray of shape (rounds + 1, silos)
        Round starts of every silo, in seconds.

    Returns
    -------
    SteadyState
        Exact if the last half of the rounds repeats, else an estimate.

    Notes
    -----
    Silos that are rounds ahead end the job early and leave their links to the others, whose last rounds are
    faster for it. So the rounds that some silo starts after the first silo has ended the job are left out, as
    long as half of the rounds remain (they do not if a silo that hears nobody runs far ahead).

    If a period `p` of at most a quarter of these rounds exists such that ``t(k + p) - t(k)`` is one and the
    same number (relative 1e-9) for all silos and all `k` in their last half, the cycle time is that number
    divided by the smallest such `p`. Otherwise, as after too few rounds or with max-min fair sharing that
    never repeats, the result is an estimate: the mean slope of the date at which the last silo starts a
    round, over the last half.

    Finding the period takes O(rounds^2 * silos) time at worst, and O(rounds + rounds * silos * p) as a rule.
    """
    start_s = _undisturbed(round_start_s)
    rounds = len(start_s) - 1
    settled_s = start_s[rounds // 2 :]
    for period in range(1, rounds // 4 + 1):
        growth_s = _common([settled_s[-1] - settled_s[-1 - period]])
        if growth_s is not None and _common([settled_s[period:] - settled_s[:-period]]) is not None:
            return SteadyState(growth_s / period, True)
    return SteadyState(_slope(settled_s), False)


def equal_steady_state(
    round_start_s: FloatArray,
    arrival_s: FloatArray,
    arcs: Sequence[FlowArc],
    *,
    compute_s: Sequence[float],
    sending_s: Sequence[float],
    fifo: bool,
) -> SteadyState:
    """Steady state of a job with ``sharing="equal"``, after more rounds than simulated if need be.

    Parameters
    ----------
    round_start_s : ndarray of shape (rounds + 1, silos)
    arrival_s : ndarray of shape (rounds, arcs)
    arcs : sequence of FlowArc
    compute_s : sequence of float, one per silo
    sending_s : sequence of float, one per arc
        Time in which a message leaves.
    fifo : bool
        Whether an arc sends one message at a time.

    Returns
    -------
    SteadyState
        Exact if the state repeats within the simulated rounds or the further ones, else the mean slope of the
        last of these. Further are at most ``max(rounds, 2**25 / (1000 + arcs + silos))`` rounds, on sparse
        overlays some 30,000.

    Notes
    -----
    With constant rates a job is a max-plus linear system. Its state ``x(k)`` is the round starts, and with
    queues also when each arc's last message arrives: it determines everything after. If
    ``low <= x(k + p) - x(k) <= high`` holds in every component for a single `k`, then the cycle time lies
    between ``low / p`` and ``high / p``, because the system is monotone and commutes with adding a constant
    ([1]_, chapter 3). So one repeat up to a common shift, here with ``high - low <= 1e-9 * high``, gives the
    cycle time to that precision, however long the period is and whatever went before. A strongly connected
    overlay always comes to repeat, after a transient that no simple bound limits. A silo that hears nobody
    may run ahead of the others for ever: then there is no repeat.

    The further rounds are the recurrence of the event graph, from the last simulated state on: O(arcs) each.

    References
    ----------
    .. [1] F. Baccelli, G. Cohen, G. J. Olsder, J.-P. Quadrat, *Synchronization and Linearity*, 1992.
    """
    simulated = [round_start_s[1:], arrival_s] if fifo else [round_start_s]
    cycle_time_s = _repeat(simulated)
    if cycle_time_s is not None:
        return SteadyState(cycle_time_s, True)
    silos, limit = len(compute_s), _WORK // (_WORK_PER_ROUND + len(arcs) + len(compute_s))
    graph, state_s = _continued(
        round_start_s[-1], arrival_s[-1], arcs, compute_s=compute_s, sending_s=sending_s, fifo=fifo
    )
    states_s = state_s[np.newaxis]
    for piece in _pieces(
        max(1, limit, len(arrival_s)), first=2 * silos, largest=max(1, _TABLE // graph.nodes)
    ):
        # Dates that start near zero keep their digits.
        states_s = recurrence(graph, piece, states_s[-1] - states_s[-1].max())
        cycle_time_s = _repeat([states_s])
        if cycle_time_s is not None:
            return SteadyState(cycle_time_s, True)
    return SteadyState(_slope(states_s[len(states_s) // 2 - 1 :, :silos]), False)


def _continued(
    start_s: FloatArray,
    arrival_s: FloatArray,
    arcs: Sequence[FlowArc],
    *,
    compute_s: Sequence[float],
    sending_s: Sequence[float],
    fifo: bool,
) -> tuple[EventGraph, FloatArray]:
    """The event graph of a job, and the dates of its events in the last simulated round."""
    silos = np.arange(len(compute_s))
    computing_s, transmission_s = np.array(compute_s), np.array(sending_s, dtype=np.float64)
    latency_s = np.array([arc.latency_s for arc in arcs], dtype=np.float64)
    source = np.array([arc.source for arc in arcs], dtype=np.int64)
    tokens = np.array([arc.tokens for arc in arcs], dtype=np.int64)
    graph = EventGraph(
        nodes=len(silos),
        source=np.concatenate((source, silos)),
        target=np.concatenate((np.array([arc.target for arc in arcs], dtype=np.int64), silos)),
        delay_s=np.concatenate((tokens * computing_s[source] + transmission_s + latency_s, computing_s)),
        tokens=np.concatenate((tokens, np.ones_like(silos))),
    )
    if not fifo:
        return graph, start_s
    graph, _ = serialized_event_graph(graph, computing_s, latency_s, transmission_s)
    return graph, np.concatenate((start_s, arrival_s - latency_s - transmission_s))


def _pieces(rounds: int, *, first: int, largest: int) -> Iterator[int]:
    """Pieces that double in length, so that in time one holds the longest period; no short one at the end."""
    piece = min(first, rounds, largest)
    while rounds >= piece:
        yield piece
        rounds -= piece
        piece = min(2 * piece, largest)


def _repeat(states_s: Sequence[FloatArray]) -> float | None:
    """Time per round if the last row of all tables is an earlier one up to a common shift."""
    for period in range(1, len(states_s[0])):
        growth_s = _common([table_s[-1] - table_s[-1 - period] for table_s in states_s])
        if growth_s is not None:
            return growth_s / period
    return None


def _slope(start_s: FloatArray) -> float:
    """Mean growth per round of the date at which the last silo starts a round."""
    last_s = start_s.max(axis=1)
    return float(last_s[-1] - last_s[0]) / (len(last_s) - 1)


def _undisturbed(round_start_s: FloatArray) -> FloatArray:
    """Rounds that all silos start before one of them has ended the job, if these are at least half."""
    rows = int(np.searchsorted(round_start_s.max(axis=1), round_start_s[-1].min(), side="right"))
    return round_start_s[:rows] if 2 * (rows - 1) >= len(round_start_s) - 1 and rows > 1 else round_start_s


def _common(growths_s: Sequence[FloatArray]) -> float | None:
    """The number that all entries are equal to, if they are."""
    low = min(float(growth_s.min(initial=np.inf)) for growth_s in growths_s)
    high = max(float(growth_s.max(initial=-np.inf)) for growth_s in growths_s)
    return (low + high) / 2 if high - low <= _SAME * high else None

"""Which silo stands in which place of an overlay that was made without a network."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from topologies.arrays import IntArray
from topologies.checks import check_integer
from topologies.connectivity import Connectivity
from topologies.designers.ring import ring
from topologies.designers.ring_search import tour_along
from topologies.errors import InputError, unknown_name
from topologies.label_order import silo_order
from topologies.state import State, state_of
from topologies.workload import Workload

NODE_ORDERS = ("none", "tour", "searched")
EVALUATIONS = 2000
"""Orders that are tried by default: a second or two where each takes a millisecond."""
_NOISE = 1e-12
"""Relative differences up to this are rounding."""
Objective = Callable[[IntArray], float]


def node_order(
    how: str,
    graph: Connectivity,
    work: Workload,
    *,
    cycle_time_s: Objective | None = None,
    seed: int = 0,
    evaluations: int = EVALUATIONS,
) -> IntArray:
    """Order of the silos, for overlays that come without a network.

    Parameters
    ----------
    how : str
        ``"none"``: by label (with published inputs by the published order), whatever the numbers of the silos.
        ``"tour"``: along the ring of the designer ``ring``, so that near numbers are near each other, from the first
        silo by label on. ``"searched"``: from the better of both on, by `searched_order`.
    graph : Connectivity
    work : Workload
    cycle_time_s : callable, optional
        Cycle time, or whatever is to be small, of the overlay in an order; only ``"searched"`` needs it.
    seed : int
        Of the search, at least 0.
    evaluations : int
        Most calls of `cycle_time_s`, at least 2.

    Returns
    -------
    ndarray of int, shape (silos,)
        The silo in each place; see `reordered`.

    Raises
    ------
    InputError
        If `how` is unknown or a number out of its range, or no ring is found for an order that needs one.
    """
    if how not in NODE_ORDERS:
        raise unknown_name("order", how, NODE_ORDERS)
    check_integer("seed", seed, minimum=0)
    check_integer("evaluations", evaluations, minimum=2)
    by_label = silo_order(graph)
    if how == "none" or graph.silos == 1:
        return by_label
    short = ring(graph, work)
    tour = np.array(tour_along(short.source, short.target), dtype=np.int64)
    tour = np.roll(tour, -int(np.argmax(tour == by_label[0])))
    if how == "tour":
        return tour
    if cycle_time_s is None:
        raise InputError("order(='searched') needs a cycle time to search for.")
    return searched_order((by_label, tour), cycle_time_s, seed=seed, evaluations=evaluations)


def searched_order(
    starts: Sequence[IntArray], cycle_time_s: Objective, *, seed: int = 0, evaluations: int = EVALUATIONS
) -> IntArray:
    """Order with a small cycle time, by exchanges of two silos.

    Parameters
    ----------
    starts : sequence of ndarray of int, shape (silos,)
        At least one; of equally good ones the first counts.
    cycle_time_s : callable
    seed : int
        Of the order in which exchanges are tried.
    evaluations : int
        Most calls of `cycle_time_s`, the starts included.

    Returns
    -------
    ndarray of int, shape (silos,)
        Never worse than a start that was tried. Unless `evaluations` were used up, no exchange of two silos betters it.

    Notes
    -----
    From the best start on, each exchange that gains is kept (first improvement), until all pairs of places were tried
    since the last one.
    """
    values = [cycle_time_s(start) for start in starts[:evaluations]]
    best = int(np.argmin(values))
    order, value = starts[best].copy(), values[best]
    pairs = np.column_stack(np.triu_indices(len(order), 1))
    np.random.default_rng(seed).shuffle(pairs)
    tried = 0
    for a, b in itertools.islice(itertools.cycle(pairs.tolist()), max(evaluations - len(values), 0)):
        if tried == len(pairs):
            break
        tried += 1
        order[[a, b]] = order[[b, a]]
        new = cycle_time_s(order.copy())
        if new < value - (_NOISE * abs(value) if np.isfinite(value) else 0.0):
            value, tried = new, 0
        else:
            order[[a, b]] = order[[b, a]]
    return order


def reordered(states: Sequence[State], order: IntArray) -> tuple[State, ...]:
    """The same states with silo ``order[place]`` in each place.

    Parameters
    ----------
    states : sequence of State
        Of places ``0..silos - 1``.
    order : ndarray of int, shape (silos,)
        A permutation.

    Returns
    -------
    tuple of State
    """
    return tuple(
        state_of(order[state.source], order[state.target], state.weight, state.lag, computes=state.computes)
        for state in states
    )

"""Lower bounds on the cycle time of every overlay that a network allows, in closed form and on real links."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.circuit_bound import circuit_bound
from topologies.connectivity import Connectivity, with_bottleneck
from topologies.delays import pair_delays, pair_rates, transmissions
from topologies.digraph import components
from topologies.errors import InputError
from topologies.label_order import in_silo_order
from topologies.sizes import MANY_SILOS
from topologies.workload import Workload

BOUNDED = 2
"""Silos whose circuits linear programs bound: those that are most expensive to visit."""


def lower_bound_s(graph: Connectivity, work: Workload, *, circuits: bool = True) -> float:
    """Cycle time below which no static overlay can fall on this network and workload.

    Parameters
    ----------
    circuits : bool
        Whether linear programs, (3) below, raise the bound of the assignment problems; they take most of the time.

    Returns
    -------
    float
        In seconds; the `paper` cycle time of every static overlay is at least this, up to rounding. A
        randomized one may fall below it.

    Raises
    ------
    InputError
        If some silo lies on no circuit of pairs that can talk: then there is no overlay.

    Notes
    -----
    Proof. (1) A silo's self-loop gives ``tau >= s * T_c(i)``. (2) Let ``m(i, j)`` be Eq. 3 with degrees 1; no overlay
    has a smaller delay on `(i, j)`, since larger degrees only slow an arc. An overlay is strongly connected, so each
    silo `x` lies on a simple circuit, whose mean delay is at most `tau`. Map each silo of that circuit to the next
    one, and every other silo to itself: a permutation `p` that moves `x`, with
    ``sum of m(i, p(i)) over the moved silos <= tau * (number of moved silos)``. Hence

    ``tau >= max over x of min over permutations p that move x of (mean of m(i, p(i)) over the silos that p moves)``.

    In the STAR, the circuit of silo and hub has one token on its two arcs and its delay counts only the silo's
    computing; its half, with half the hub's self-loop, bounds the same mean, so that the bound holds there too.

    For a fixed ratio the inner minimum is an assignment problem with cost ``m(i, j) - ratio`` off the diagonal, 0 on
    it and none at `(x, x)`; the smallest ratio is where that minimum is 0 (Dinkelbach's method, finite). It is loose
    since the permutation may have further circuits that do not touch the one through `x` and cost nothing to reach.
    (3) For the silos that are most expensive to visit `circuit_bound` forbids most of those: it bounds the mean of
    every simple circuit through `x`, so by (2) `tau`.

    What remains loose: the bound asks nothing of two silos at once. Time O(n^4) at worst for (2), a few assignment
    problems per silo in practice; about a second per silo of (3) on 100 silos, which is left out above `MANY_SILOS`.

    References
    ----------
    W. Dinkelbach, "On nonlinear fractional programming", Management Science 13(7), 1967.
    """
    # Bounds of silos that cost equally much differ in the last bits, and few silos get the better bound.
    graph, work, _ = in_silo_order(graph, work)
    delay = pair_delays(graph, work)
    bound = float(work.round_compute_s(graph.silos).max())
    if graph.silos == 1:
        return bound
    worst_first = np.argsort(-_cheapest_visit(delay), kind="stable")
    for x in worst_first.tolist():
        permutation = _assignment(graph, delay, bound, x)
        moved = permutation != np.arange(graph.silos)
        while (ratio := _mean(delay, permutation, moved)) > bound:
            permutation = _assignment(graph, delay, ratio, x)
            moved = permutation != np.arange(graph.silos)
            lower = _mean(delay, permutation, moved)
            if lower >= ratio * (1 - 1e-12):
                bound = ratio
                break
    if circuits and graph.silos <= MANY_SILOS:
        bound = max(bound, *(circuit_bound(delay, x) for x in worst_first[:BOUNDED].tolist()))
    return bound


def simulated_bound_s(graph: Connectivity, work: Workload, *, circuits: bool = True) -> float:
    """Cycle time below which no static overlay can fall in simulation, however fairly its links are shared.

    Parameters
    ----------
    circuits : bool
        As for `lower_bound_s`.

    Returns
    -------
    float
        In seconds; of constant computing times, and with models that wait for each other (``queueing="fifo"``) or do
        not.

    Raises
    ------
    InputError
        If there is no overlay.

    Notes
    -----
    The larger of two bounds. (1) No sharing gives a message more than the smallest capacity on its route, access links
    included. So a model takes at least Eq. 3's delay with degrees 1 and that capacity, and the proof of
    `lower_bound_s` holds for these delays, without what slow start adds. (2) An arc carries a model per round, which
    the slowest link of its route needs ``M / capacity`` for. Without the arcs that need longer than `t` some silos
    cannot reach others, for every `t` below the bound; so every overlay has such an arc. Time O(silos^2 log silos) for
    (2).
    """
    return simulated_bounds_s(graph, work, (1,), circuits=circuits)[0]


def periodic_bound_s(graph: Connectivity, work: Workload, period: int, *, circuits: bool = True) -> float:
    """Cycle time per round below which no periodic overlay of so many states and lags of 1 can fall in simulation.

    Parameters
    ----------
    period : int
        Number of states, at least 1.
    circuits : bool
        As for `lower_bound_s`.

    Returns
    -------
    float
        In seconds, as `simulated_bound_s`, which it is with a period of 1. It asks only that the arcs of all states
        together connect the silos strongly: overlays that agree faster than that lie above it.

    Raises
    ------
    InputError
        If there is no overlay.

    Notes
    -----
    Proof. The arcs of all states together are a strong digraph, so each silo lies on a simple circuit of it, of `h`
    arcs say. From one to the next there are at most `P` rounds, that of the arc and those in which the silo between
    them only computes: a circuit of (silo, state) of at most ``h P`` rounds, whose mean delay is at most `tau`. The
    arcs take their delays `d`, the other rounds at least the smallest computing time `c` of a silo. As ``d >= c``, the
    mean is smallest where the rounds are most:

    ``tau >= (mean of d over the circuit + (P - 1) c) / P``,

    and the mean over the circuit is what `lower_bound_s` bounds, on the network of `with_bottleneck`. Besides,
    ``tau >= s * T_c(i)`` of each silo; and an arc that some silos cannot do without carries a model per period, which
    its slowest link needs a P-th of its time for in each round.
    """
    return simulated_bounds_s(graph, work, (period,), circuits=circuits)[0]


def simulated_bounds_s(
    graph: Connectivity, work: Workload, periods: Sequence[int], *, circuits: bool = True
) -> tuple[float, ...]:
    """`periodic_bound_s` of several numbers of states, in the time of one; 1 is that of static overlays."""
    # Whether a message starts slowly depends on dates, and for how long on the rate of Eq. 3.
    alone = replace(with_bottleneck(graph), slow_start=None)
    compute_s = work.round_compute_s(graph.silos)
    circuit_s, slowest_s = lower_bound_s(alone, work, circuits=circuits), _slowest_needed_s(alone, work)
    least_s, most_s = float(compute_s.min()), float(compute_s.max())
    return tuple(
        max(most_s, (circuit_s + (period - 1) * least_s) / period, slowest_s / period) for period in periods
    )


def _slowest_needed_s(graph: Connectivity, work: Workload) -> float:
    """Smallest time such that the arcs that send one model within it connect all silos strongly."""
    sending_s = transmissions(work.model_bits, pair_rates(graph))
    sending_s[~graph.may_send] = np.inf
    times_s = np.unique(sending_s[graph.may_send])
    low, high = 0, len(times_s) - 1
    while low < high:
        middle = (low + high) // 2
        if components(graph.silos, *np.nonzero(sending_s <= times_s[middle]), strong=True)[0] == 1:
            high = middle
        else:
            low = middle + 1
    return float(times_s[low]) if len(times_s) else 0.0


def _cheapest_visit(delay: FloatArray) -> FloatArray:
    """Cheapest arc into plus cheapest arc out of every silo; the largest promise the largest bounds."""
    arcs = delay.copy()
    np.fill_diagonal(arcs, np.inf)
    return np.asarray(arcs.min(axis=0) + arcs.min(axis=1))


def _assignment(graph: Connectivity, delay: FloatArray, ratio: float, x: int) -> IntArray:
    """Permutation that moves `x` with the smallest sum of (delay - ratio) over the silos that it moves."""
    cost = delay - ratio
    np.fill_diagonal(cost, 0.0)
    cost[x, x] = np.inf
    try:
        return np.asarray(linear_sum_assignment(cost)[1])
    except ValueError:
        raise InputError(
            f"no overlay exists: {graph.labels[x]} lies on no circuit of pairs that can talk."
        ) from None


def _mean(delay: FloatArray, permutation: IntArray, moved: BoolArray) -> float:
    """Mean delay over the silos that the permutation moves."""
    return float(delay[np.flatnonzero(moved), permutation[moved]].mean())

"""Arcs that let silos agree sooner, added to the states of a periodic overlay where they cost little time."""

import numpy as np

from simulator.designers.periodic_cost import PeriodicCost
from simulator.designers.periodic_moves import States, with_state
from topologies.arrays import FloatArray
from topologies.contraction import worst_contraction
from topologies.state import State

ROUNDING = 1e-9
"""A contraction that is larger by this share is not larger."""
TOGETHER = 1e-6
"""Singular values that differ by less than this share are one, whose vectors have no order."""
LOOKS = 6
"""Pairs of arcs that are looked at for each that is added."""


def mixes(found: float, most: float) -> bool:
    """Whether a contraction is not larger than another one; 1 and more never is."""
    return found <= most * (1 + ROUNDING) and found < 1


def mended(cost: PeriodicCost, states: States, most: float, below_s: float, *, pairs: int) -> States | None:
    """The states with some pairs of arcs more, so that they mix well enough.

    Parameters
    ----------
    cost : PeriodicCost
    states : States
        Whose arcs can be balanced.
    most : float
        Largest contraction per round, see `topologies.contraction.worst_contraction`.
    below_s : float
        Time per round that the lower bound of `PeriodicCost.bound` must stay below.
    pairs : int
        Pairs of arcs that are added at most.

    Returns
    -------
    States or None
        None where so many pairs are not enough.

    Notes
    -----
    The pair of silos is taken whose exchange in one of the states lowers the norm of the period's product most, to
    first order (`pair_gains`), among those that do not cost too much time. Time O(states * silos^3) for each pair.
    """
    for _ in range(pairs):
        weighted = cost.states(states)
        if mixes(worst_contraction(cost.graph.silos, weighted), most):
            return states
        longer = _with_pair(cost, states, pair_gains(cost.graph.silos, weighted), below_s)
        if longer is None:
            return None
        states = longer
    return states if mixes(cost.contraction(states), most) else None


def _with_pair(cost: PeriodicCost, states: States, gains: FloatArray, below_s: float) -> States | None:
    """The states with the pair of arcs of the largest gain that does not take too long."""
    period, silos = len(states), cost.graph.silos
    delay_s = cost.static.alone_s
    both_s = (delay_s + delay_s.T) / 2 + (period - 1) * cost.static.compute_s.min()
    gains = np.where(np.triu(both_s < below_s * period, 1), gains, 0.0)
    if gains.max() <= 0:
        return None
    # Rounding must not order what is equal.
    order = np.argsort(-np.round(gains / gains.max(), 9), axis=None, kind="stable")
    looked = 0
    for number in order.tolist():
        state, ends = divmod(number, silos * silos)
        pair = divmod(ends, silos)
        if looked == LOOKS or gains[state, *pair] <= 0:
            return None
        longer = with_state(states, state, states[state] | {pair, pair[::-1]})
        if longer == states:
            continue
        looked += 1
        if cost.load_s(longer) < below_s and cost.is_overlay(longer) and cost.bound(longer).time_s < below_s:
            return longer
    return None


def pair_gains(silos: int, states: tuple[State, ...]) -> FloatArray:
    """How fast the norm of a period's product falls with the weight of an exchange of two silos in one state.

    Parameters
    ----------
    silos : int
    states : tuple of State
        With lags of 1.

    Returns
    -------
    ndarray, shape (states, silos, silos)
        Symmetric. For the product ``W_(P-1) ... W_0`` with the leading singular vectors `u` and `v`, an exchange of
        weight ``e`` between `i` and `j` in state `s` lowers the norm by ``e (y_i - y_j) (x_i - x_j)`` to first order,
        with ``x = W_(s-1) ... W_0 v`` and ``y = (W_(P-1) ... W_(s+1))^T u``. Where several singular values are the
        largest it is their sum.
    """
    matrices = [state.consensus(silos) for state in states]
    before = [np.eye(silos) - 1 / silos]
    for matrix in matrices:
        before.append(matrix @ before[-1])
    product = before[-1] - before[-1].mean(axis=0)
    left, sizes, right = np.linalg.svd(product)
    leading = sizes >= sizes[0] * (1 - TOGETHER)
    left, right = left[:, leading], right[leading].T
    gains = np.empty((len(states), silos, silos))
    for place in range(len(states) - 1, -1, -1):
        came = before[place] @ right
        alike = left @ came.T
        own = np.diag(alike)
        gains[place] = own[:, np.newaxis] + own - alike - alike.T
        left = matrices[place].T @ left
    return gains

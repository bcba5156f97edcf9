"""On which mean of their models the silos of a periodic overlay agree."""

from collections.abc import Sequence

import numpy as np

from topologies.arrays import FloatArray
from topologies.consensus import SPLIT, SUM_TOLERANCE
from topologies.contraction import contraction
from topologies.lagged_models import longest_lag, mixing_matrix
from topologies.state import State


def periodic_agreed_weights(
    silos: int, states: Sequence[State], *, factor: float | None = None
) -> FloatArray | None:
    """How much the local steps of each silo weigh in the model on which all agree in the long run.

    Parameters
    ----------
    silos : int
    states : sequence of State
        Of one period, one or more; silos compute in one of them or more.
    factor : float, optional
        `topologies.contraction.contraction` of these states where it is known, which takes most of the time.

    Returns
    -------
    ndarray, shape (silos,), or None
        They sum to 1: with steps that are small enough, a training comes to the minimum of the sum of the silos'
        objectives, each times its weight. ``1 / silos`` each, without rounding, where lags are 1 and the columns of
        each state's consensus matrix sum to 1; of one state without lags those of
        `topologies.consensus.agreed_weights`. None where the silos never agree, or where weights below 0 let their
        steps come to nothing.

    Notes
    -----
    A round of state `s` turns the models of the last ``L`` rounds, ``z = (x(k), ..., x(k + 1 - L))`` with `L` the
    longest lag, into ``M_s z``; local steps change the newest of them before. The product of a period ``M_(P-1) ...
    M_0`` has one left eigenvector `u` of eigenvalue 1 and sum 1, and its powers tend to ``1 u``: ``u z`` is the model
    on which the silos will agree without further steps. From the start of state `s` on it is ``u M_(P-1) ... M_s z``,
    so that a step of silo `j` in a round of this state moves it by as much as the entry of the newest model of `j`.
    The weights are these entries, summed over the states in which silos compute, divided by their sum. Without lags,
    and with columns that do not sum to 1, they are still not those of a period's product, which says on which mean of
    the models at its start silos agree: steps of later states meet fewer rounds.

    Time O(L * silos * arcs + (L * silos)^3), besides that of `topologies.contraction.contraction`.
    """
    longest = longest_lag(states)
    if 1 - (contraction(silos, states) if factor is None else factor) <= SPLIT:
        return None
    if longest == 1 and all(_keeps_mean(silos, state) for state in states):
        return np.full(silos, 1 / silos)
    rounds = [mixing_matrix(silos, longest, state) for state in states]
    product = np.eye(silos * longest)
    for each in rounds:
        product = each @ product
    kept = product.T - np.eye(len(product))
    kept[0] = 1.0
    share = np.linalg.solve(kept, np.eye(len(product))[0])
    total = np.zeros(silos)
    for each, state in zip(reversed(rounds), reversed(states), strict=True):
        share = share @ each
        if state.computes:
            total += share[:silos]
    whole = float(total.sum())
    return total / whole if whole > SPLIT else None


def _keeps_mean(silos: int, state: State) -> bool:
    """Whether the columns of a state's consensus matrix sum to 1: what a silo receives and gives weighs the same."""
    received, given = (
        np.bincount(ends, state.weight, minlength=silos) for ends in (state.target, state.source)
    )
    return bool(np.abs(given - received).max(initial=0.0) <= SUM_TOLERANCE)

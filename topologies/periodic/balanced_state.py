"""The state of given arcs whose weights let the silos agree on the plain average."""

from collections.abc import Callable

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.balanced import balanced
from topologies.consensus import SUM_TOLERANCE
from topologies.digraph import components
from topologies.state import State, state_of
from topologies.weights import local_degree

Weights = Callable[[int, IntArray, IntArray], FloatArray]


def can_be_balanced(silos: int, source: IntArray, target: IntArray) -> bool:
    """Whether arcs can all have weights of a doubly stochastic matrix: whether each lies on a circuit of them.

    Notes
    -----
    An arc between two strong components would carry a flow that never comes back (Sinkhorn and Knopp, 1967). Time
    O(silos + arcs log arcs).
    """
    _, component = components(silos, source, target, strong=True)
    return bool((component[source] == component[target]).all())


def balanced_state(silos: int, source: IntArray, target: IntArray, *, weights: Weights = balanced) -> State:
    """State with doubly stochastic weights on given arcs, some silos of which may have none.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)
        Each on a circuit: see `can_be_balanced`.
    weights : callable
        Rule of a strong component whose local-degree weights are not doubly stochastic, such as
        `topologies.balanced.balanced` or, slower and with a larger spectral gap, `fast_balanced`.

    Returns
    -------
    State
        With lags of 1. In each strong component the weights are those of the local-degree rule where their columns sum
        to 1, as for circuits, pairs and symmetric arcs.
    """
    matrix = local_degree(silos, source, target)
    unequal = np.abs(matrix.sum(axis=0) - 1) > SUM_TOLERANCE
    if unequal.any():
        _, component = components(silos, source, target, strong=True)
        for number in np.unique(component[unequal]).tolist():
            inside = np.flatnonzero(component == number)
            place = np.full(silos, -1)
            place[inside] = np.arange(len(inside))
            here = component[source] == number
            block = weights(len(inside), place[source[here]], place[target[here]])
            matrix[np.ix_(inside, inside)] = block
    return state_of(source, target, matrix[target, source])

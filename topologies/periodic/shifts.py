"""States whose arcs are shifts: each silo sends to those whose numbers are some fixed steps ahead of its own."""

import numpy as np
from numpy.typing import ArrayLike

from topologies.state import State, state_of


def shift_state(silos: int, shifts: ArrayLike, weights: ArrayLike) -> State:
    """State of the arcs ``i -> i + u mod silos`` of all silos `i` and shifts `u`.

    Parameters
    ----------
    silos : int
        Number of silos, at least 1.
    shifts : array_like of int, shape (shifts,)
        Different ones of ``1..silos - 1``.
    weights : array_like, shape (shifts,) or ()
        That a receiver gives the model of each shift.

    Returns
    -------
    State
        Its consensus matrix is circulant, hence doubly stochastic, and every silo sends and receives as many models as
        there are shifts. Time O(silos shifts).
    """
    steps = np.asarray(shifts, dtype=np.int64)
    source = np.repeat(np.arange(silos), len(steps))
    target = (source + np.tile(steps, silos)) % silos
    return state_of(source, target, np.tile(np.broadcast_to(weights, steps.shape), silos))

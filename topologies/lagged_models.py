"""What a round of a periodic overlay does to the models of the last rounds."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from topologies.state import State


def longest_lag(states: Sequence[State]) -> int:
    """Rounds whose models the rounds of some states mix: the largest lag of a weight that is not 0, at least 1."""
    return max(int(state.lag[state.weight != 0].max(initial=1)) for state in states)


def mixing_matrix(silos: int, longest: int, state: State) -> csr_array:
    """What a round does to the models of the last rounds: mixes them into new ones, and moves all one round back.

    Parameters
    ----------
    silos : int
    longest : int
        Rounds whose models are kept, at least the `longest_lag` of the state.
    state : State

    Returns
    -------
    csr_array, shape (silos * longest, silos * longest)
        For models ``x(k), ..., x(k + 1 - longest)``, the newest first. Rows sum to 1. Without lags it is the consensus
        matrix.
    """
    size, every = silos * longest, np.arange(silos)
    older, used = np.arange(silos, size), state.weight != 0
    own = 1.0 - np.bincount(state.target, state.weight, minlength=silos)
    sent = (state.lag[used] - 1) * silos + state.source[used]
    row = np.concatenate((state.target[used], every, older))
    column = np.concatenate((sent, every, older - silos))
    weight = np.concatenate((state.weight[used], own, np.ones(len(older))))
    return csr_array((weight, (row, column)), shape=(size, size))

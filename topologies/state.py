"""One state of a periodic overlay: its arcs with their lags and weights, and whether silos compute in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topologies.arrays import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class State:
    """The arcs of the rounds that are in one state of a period.

    Attributes
    ----------
    source, target : ndarray of int, shape (arcs,)
        Silos at the ends of each arc, sorted by source, then target; no arc twice, none from a silo to itself.
    lag : ndarray of int, shape (arcs,)
        At the end of round `k` the target mixes with the model that the source sent in round ``k + 1 - lag``: 1 is that
        of the same round. Before round 0 nothing is sent or awaited.
    weight : ndarray, shape (arcs,)
        Weight that the target gives that model. The weight of its own is what they leave of 1.
    computes : bool
        Whether silos make their local steps before they send the models of a state's rounds. Where not, the computing
        time is 0, and they send on what they have averaged in the round before.
    """

    source: IntArray
    target: IntArray
    lag: IntArray
    weight: FloatArray
    computes: bool = True

    def __repr__(self) -> str:
        """Number of arcs, largest lag, and whether silos compute."""
        computing = "" if self.computes else ", no computing"
        return f"<State: {len(self.source)} arcs, lags up to {self.lag.max(initial=0)}{computing}>"

    def consensus(self, silos: int) -> FloatArray:
        """Consensus matrix, shape (silos, silos): row `i` holds the weights with which silo `i` averages.

        Notes
        -----
        Only with lags of 1 are the models that it averages all of one round.
        """
        matrix = np.zeros((silos, silos))
        matrix[self.target, self.source] = self.weight
        matrix[np.diag_indices(silos)] = 1.0 - matrix.sum(axis=1)
        return matrix


def state_of(
    source: IntArray,
    target: IntArray,
    weight: FloatArray,
    lag: IntArray | None = None,
    *,
    computes: bool = True,
) -> State:
    """State of the given arcs, which it sorts; by default with lags of 1, and silos compute."""
    source, target = np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)
    order = np.lexsort((target, source))
    return State(
        source=source[order],
        target=target[order],
        lag=np.ones_like(source) if lag is None else np.asarray(lag, dtype=np.int64)[order],
        weight=np.asarray(weight, dtype=np.float64)[order],
        computes=computes,
    )


def different_states(states: Sequence[State]) -> tuple[list[State], IntArray]:
    """States that differ from each other, in the order in which they first come.

    Parameters
    ----------
    states : sequence of State

    Returns
    -------
    states : list of State
    number : ndarray of int, shape (states,)
        Which of them each of the given ones is, to the last bit of its weights.

    Notes
    -----
    Time O(arcs of all states).
    """
    found: dict[tuple[object, ...], int] = {}
    first: list[State] = []
    number = np.empty(len(states), dtype=np.int64)
    for place, state in enumerate(states):
        integers = (
            np.asarray(each, dtype=np.int64).tobytes() for each in (state.source, state.target, state.lag)
        )
        key = (*integers, np.asarray(state.weight, dtype=np.float64).tobytes(), bool(state.computes))
        if key not in found:
            found[key] = len(first)
            first.append(state)
        number[place] = found[key]
    return first, number


def computing_times(states: Sequence[State], compute_s: FloatArray) -> FloatArray:
    """Computing times of the rounds in each state, shape (states, silos): 0 where silos do not compute.

    Parameters
    ----------
    states : sequence of State
    compute_s : ndarray, shape (silos,)
        Of a round in which they do.
    """
    return np.outer([state.computes for state in states], compute_s)

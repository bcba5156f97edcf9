"""The multigraph: a ring on which slow arcs wait for several rounds."""

import math

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.checks import check_integer
from topologies.errors import InputError
from topologies.sizes import MOST_STATES
from topologies.state import State, state_of
from topologies.weights import half_ring

MOST_LAG = 5
"""Of the published tables."""


def multigraph_lags(delay_s: FloatArray, *, most_lag: int = MOST_LAG) -> IntArray:
    """Lag of each arc: how many of the fastest arc's delays its own takes, rounded half to even.

    Parameters
    ----------
    delay_s : ndarray, shape (arcs,)
        Eq. 3, in seconds, >= 0.
    most_lag : int
        Largest lag, at least 1.

    Returns
    -------
    ndarray of int, shape (arcs,)
        ``min(most_lag, round(delay / least delay))``. Where the least delay is 0, 1 for delays of 0 and `most_lag` for
        others.

    Raises
    ------
    InputError
        If `most_lag` is no integer or below 1.
    """
    check_integer("most_lag", most_lag, minimum=1)
    least_s = delay_s.min(initial=np.inf)
    if least_s == 0:
        return np.asarray(np.where(delay_s > 0, most_lag, 1), dtype=np.int64)
    return np.asarray(np.minimum(np.rint(delay_s / least_s), most_lag), dtype=np.int64)


def multigraph(
    source: IntArray, target: IntArray, delay_s: FloatArray, *, most_lag: int = MOST_LAG
) -> tuple[State, ...]:
    """Multigraph of a ring: an arc of lag `n` is in every `n`-th state only.

    Parameters
    ----------
    source, target : ndarray of int, shape (silos,)
        A directed ring; of one silo none.
    delay_s : ndarray, shape (silos,)
        Of each arc, Eq. 3 with degrees 1, in seconds.
    most_lag : int
        Largest lag, at least 1. With 1 the ring itself.

    Returns
    -------
    tuple of State
        As many as the least common multiple of the lags. State `s` has the arcs whose lag divides `s` (strong arcs);
        the others (weak arcs) are not waited for. A receiver weighs the model of a strong arc, which was sent as many
        rounds before as its lag is, and its own by 1/2. A silo that only weak arcs enter goes on with its own.

    Raises
    ------
    InputError
        If the arcs are no ring, `most_lag` is no integer or below 1, or the period has more than `MOST_STATES` states.

    Notes
    -----
    Source: Do, Nguyen et al., "Reducing training time in cross-silo federated learning using multigraph topology"
    (ICCV 2023, arXiv 2207.09657), algorithms 1 and 2. The recurrence of round starts on these
    states is what real links do; the published figures are another quantity, see
    `topologies.periodic.multigraph_readings`. Its cycle time is at most ``max(largest computing time, sum of delays /
    sum of lags)``, as the arcs of a ring with these lags in every round are waited for more often. Time O(silos
    period).
    """
    weights = half_ring(max(len(source), 1), source, target)
    lags = multigraph_lags(delay_s, most_lag=most_lag)
    period = math.lcm(*lags.tolist())
    if period > MOST_STATES:
        raise InputError(
            f"most_lag(={most_lag}) makes a period of {period} states; it must be <= {MOST_STATES}."
        )
    strong = (np.flatnonzero(state % lags == 0) for state in range(period))
    return tuple(
        state_of(source[arcs], target[arcs], weights[target[arcs], source[arcs]], lags[arcs])
        for arcs in strong
    )

"""Cycle times of the multigraph: as its authors report it, by their equation, and by their protocol."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from topologies.arrays import FloatArray, IntArray
from topologies.checks import check_integer
from topologies.errors import Field, InputError
from topologies.howard import cycle_time
from topologies.periodic.multigraph import MOST_LAG, multigraph_lags
from topologies.periodic_events import periodic_event_graph


def published_reading(
    delay_s: FloatArray, compute_s: ArrayLike, rounds: int, *, most_lag: int = MOST_LAG
) -> float:
    """Cycle time as in the published table of the multigraph: a mean over the ring's arcs.

    Parameters
    ----------
    delay_s : ndarray, shape (arcs,)
        Eq. 3 with degrees 1, in seconds.
    compute_s : float or array_like, shape (arcs,)
        Computing time of a round of the silo that sends, ``s * T_c``, in seconds.
    rounds : int
        Rounds over which the table averages, at least 1: 6,400 for FEMNIST, 20,000 for Sentiment140, 1,600 for
        iNaturalist.
    most_lag : int
        As for `topologies.periodic.multigraph.multigraph`.

    Returns
    -------
    float
        In seconds.

    Raises
    ------
    InputError
        If `rounds` or `most_lag` is no integer or below 1, or there is no arc: a single silo has no ring.

    Notes
    -----
    Source: the public code of Do et al. (ICCV 2023), https://github.com/aioz-ai/MultigraphFL. A round lasts for the
    mean over all arcs of: 0 for a weak arc; its delay for a strong one, less the time since it was strong the last time
    but one round, at least the computing time. The mean of a ring's arcs is its cycle time as a static overlay, but no
    round of the multigraph lasts so long: a silo waits for the arc that enters it, not for the mean of all. Time O(arcs
    period).
    """
    return _mean_round(delay_s, compute_s, rounds, most_lag, np.mean)


def equation_reading(
    delay_s: FloatArray, compute_s: ArrayLike, rounds: int, *, most_lag: int = MOST_LAG
) -> float:
    """Cycle time by the equation of the multigraph's paper: each round lasts as long as its slowest strong arc.

    Parameters, result and errors are those of `published_reading`.

    Notes
    -----
    Source: Do et al. (ICCV 2023, arXiv 2207.09657). It lets all silos wait for the slowest one at
    the end of each round, which the protocol does not ask for. Time O(arcs period).
    """
    return _mean_round(delay_s, compute_s, rounds, most_lag, np.max)


def recurrence_reading(
    source: IntArray, target: IntArray, delay_s: FloatArray, compute_s: ArrayLike, *, most_lag: int = MOST_LAG
) -> float:
    """Cycle time of the protocol itself: a silo starts a round once its own computing and its strong arc allow.

    Parameters
    ----------
    source, target : ndarray of int, shape (silos,)
        A directed ring.
    delay_s, compute_s, most_lag
        As for `published_reading`; arrays in the order of the arcs.

    Returns
    -------
    float
        In seconds per round.

    Raises
    ------
    InputError
        If `most_lag` is no integer or below 1, or there is no arc.

    Notes
    -----
    The largest cycle mean of the event graph of one period, see `topologies.periodic_overlay.build_periodic`, for
    delays that are given. The value is exact and at most ``max(compute_s, sum of delays / sum of lags)``. Time
    O(silos period iterations) of Howard's policy iteration.
    """
    lags, period = _lags(delay_s, most_lag)
    state, arc = np.nonzero(np.arange(period)[:, np.newaxis] % lags == 0)
    own_s = np.empty((period, len(source)))
    own_s[:, source] = compute_s
    graph = periodic_event_graph(
        period, state, source[arc], target[arc], lags[arc], np.asarray(delay_s)[arc], own_s
    )
    return cycle_time(graph, connected=True).cycle_time_s / period


def _lags(delay_s: FloatArray, most_lag: int) -> tuple[IntArray, int]:
    """Lag of each arc of a ring, and the rounds after which all arcs are strong again."""
    if not len(delay_s):
        raise InputError("must be those of one arc or more.", field=Field("delay_s", value=delay_s.tolist()))
    lags = multigraph_lags(delay_s, most_lag=most_lag)
    return lags, math.lcm(*lags.tolist())


def _mean_round(
    delay_s: FloatArray,
    compute_s: ArrayLike,
    rounds: int,
    most_lag: int,
    length: Callable[[FloatArray], np.float64],
) -> float:
    """Mean length of the first rounds, each of some length by what each arc adds to it."""
    check_integer("rounds", rounds, minimum=1)
    lags, period = _lags(delay_s, most_lag)
    since_s = np.zeros(len(lags))
    round_s = np.zeros(period + 1)
    for k in range(min(period + 1, rounds)):
        strong = k % lags == 0
        round_s[k] = length(np.where(strong, np.maximum(compute_s, delay_s - since_s), 0.0))
        since_s = np.where(strong, 0.0, since_s + round_s[k])
    # All arcs are strong in the last of these rounds, so that the ones after the first repeat.
    periods, left = divmod(rounds - 1, period)
    return float((round_s[0] + periods * round_s[1:].sum() + round_s[1 : left + 1].sum()) / rounds)

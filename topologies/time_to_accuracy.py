"""Seconds that an overlay needs until the silos' models differ e times less: cycle time and mixing in one number."""

import math

from topologies.consensus import SPLIT


def rounds_per_efold(contraction: float, *, period: int = 1) -> float:
    """Rounds until the models of the silos differ e times less, at least one.

    Parameters
    ----------
    contraction : float
        Factor by which a round shrinks the differences, see `topologies.contraction`; of a periodic overlay in the
        geometric mean over a period.
    period : int
        Rounds of a period in which silos compute; 1 of a static overlay.

    Returns
    -------
    float
        ``1 / log(1 / contraction)`` where that is more than 1, else 1; infinite where the silos do not come to agree.
        `period` where the contraction is 0: a period averages exactly, but nothing says what its rounds do one by one.

    Notes
    -----
    A contraction of 0, that of the STAR and of the complete graph, would need no round at all by the logarithm, and
    overlays of 1e-3 and of 1e-6 would differ by a factor of two. But models arrive once a round, and each local step
    makes them differ anew, so that nothing is gained by differences far below those of one step. Hence a round counts
    as one e-fold at most.

    That is also what bounds on decentralized SGD say. In theorem 2 of Koloskova et al. the terms that depend on the
    overlay grow as ``1 / p``, or slower, with ``p = 1 - contraction^2`` (for one mixing a round), and ``1 / p`` ends
    at 1. The number returned here is between 0.86 and 2 times ``1 / p`` for every contraction: 2 times where mixing is
    slow, where a squared distance shrinks by e in half as many rounds, and 0.86 times at a contraction of 1/e, beyond
    which no overlay takes more than 14 % off the bound.

    References
    ----------
    A. Koloskova, N. Loizou, S. Boreiri, M. Jaggi, S. U. Stich, "A unified theory of decentralized SGD with changing
    topology and local updates", ICML 2020.

    Examples
    --------
    >>> rounds_per_efold(0.0), round(rounds_per_efold(0.9), 3)
    (1.0, 9.491)
    """
    if contraction >= 1 - SPLIT:
        return math.inf
    if contraction == 0:
        return float(period)
    return 1.0 if contraction <= math.exp(-1) else 1 / -math.log(contraction)


def seconds_per_efold(cycle_time_s: float, contraction: float, *, period: int = 1) -> float:
    """Seconds until the models of the silos differ e times less, at least those of one round.

    Parameters
    ----------
    cycle_time_s : float
    contraction : float
    period : int
        As for `rounds_per_efold`.

    Returns
    -------
    float
        ``cycle_time_s / log(1 / contraction)`` where a round shrinks differences by less than e, else `cycle_time_s`,
        or where a period averages exactly that of all its rounds; infinite where the silos do not come to agree.
    """
    rounds = rounds_per_efold(contraction, period=period)
    return math.inf if math.isinf(rounds) else cycle_time_s * rounds

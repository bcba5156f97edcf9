"""Epidemic learning: every silo pushes its model to a few random others."""

import math

import numpy as np

from topologies.arrays import IntArray
from topologies.checks import check_integer
from topologies.errors import Field, InputError
from topologies.state import State, state_of


def draw_targets(silos: int, fanout: int, rng: np.random.Generator) -> IntArray:
    """To whom each silo sends in one round.

    Parameters
    ----------
    silos : int
        Number of silos, at least 1.
    fanout : int
        `s`: others to which each silo sends, at least 1 and below `silos`; of a single silo it is not used.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (silos, fanout)
        Row: who sends; different others, uniform among all sets of so many, independent of other rows. Shape (1, 0) of
        a single silo.

    Raises
    ------
    InputError
        If a number is out of its range.

    Notes
    -----
    Floyd's algorithm for all rows at once (Bentley, "Programming pearls", 1987): time O(silos fanout^2).
    """
    check_integer("silos", silos, minimum=1)
    check_integer("fanout", fanout, minimum=1)
    if silos == 1:
        return np.empty((1, 0), dtype=np.int64)
    if fanout >= silos:
        raise InputError(f"must be < silos(={silos}).", field=Field("fanout", value=fanout))
    others = np.empty((silos, fanout), dtype=np.int64)
    for place in range(fanout):
        last = silos - 1 - fanout + place
        drawn = rng.integers(0, last + 1, size=silos)
        taken = (others[:, :place] == drawn[:, np.newaxis]).any(axis=1)
        others[:, place] = np.where(taken, last, drawn)
    own = np.arange(silos)[:, np.newaxis]
    return np.asarray(others + (others >= own))


def epidemic(targets: IntArray) -> State:
    """One round of epidemic learning.

    Parameters
    ----------
    targets : ndarray of int, shape (silos, fanout)
        To whom each silo sends, as `draw_targets` draws it.

    Returns
    -------
    State
        A silo averages its own model and all that it receives with equal weights. How many those are differs: rows of
        the consensus matrix sum to 1, columns in expectation only. A silo that nobody sends to keeps its model.

    Notes
    -----
    Source: de Vos, Farhadkhani, Guerraoui, Kermarrec, Pires, Sharma, "Epidemic learning: boosting decentralized
    learning with randomized communication" (NeurIPS 2023, arXiv 2310.01972), algorithm 1 with EL-Local, where silos
    draw independently of each other. A silo gives its own model the mean weight ``(1 - (1 - s / (n - 1))^n) (n - 1) /
    (n s)``, `n` silos of fanout `s`. Time O(silos fanout log(silos fanout)).
    """
    silos, fanout = targets.shape
    source, target = np.repeat(np.arange(silos), fanout), targets.ravel()
    received = np.bincount(target, minlength=silos)
    return state_of(source, target, 1 / (1 + received[target]))


def mean_contraction(silos: int, fanout: int) -> float:
    """Factor per round of the root mean square distance from the average.

    Parameters
    ----------
    silos : int
        Number of silos, at least 1.
    fanout : int
        As for `draw_targets`; of a single silo it is not used.

    Returns
    -------
    float
        The square root of the spectral norm of ``E[W^T W] - J`` with ``J = 1 1^T / silos``; 0 of a single silo, and
        where all send to all.

    Notes
    -----
    Silos are drawn alike, so that ``E[W^T W]`` is ``a I + b J``. Rows sum to 1: on equal models it is 1, and on all
    differences ``(trace - 1) / (n - 1)``. A silo that receives `R` models gives each of ``1 + R`` the weight ``1 / (1 +
    R)``, whose squares sum to ``1 / (1 + R)``; `R` is binomial, of ``n - 1`` others that send to it with probability
    ``p = s / (n - 1)``, and ``E[1 / (1 + R)] = (1 - (1 - p)^n) / (n p)``. So the norm is ``((1 - (1 - p)^n) / p - 1) /
    (n - 1)``. As columns sum to 1 in expectation only, the models' average moves, too; the distance is that from where
    it was before the round.
    """
    if silos == 1:
        return 0.0
    share = fanout / (silos - 1)
    return math.sqrt(max((1 - (1 - share) ** silos) / share - 1, 0.0) / (silos - 1))

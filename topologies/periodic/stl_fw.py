"""STL-FW: sparse weights learned from the labels of the silos, by the Frank-Wolfe algorithm."""

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.checks import check_integer
from topologies.errors import Field, InputError
from topologies.state import State, state_of

VARIANCE_WEIGHT = 0.1
"""Weight of the second term by default: the first one, the labels, decides."""
_ROUNDING = 1e-15
"""Gains and weights up to this are rounding."""


def stl_fw(
    proportions: FloatArray, iterations: int, *, variance_weight: float = VARIANCE_WEIGHT
) -> tuple[State, ...]:
    """Static digraph whose neighbourhoods have the labels of all silos together, as nearly as few arcs allow.

    Parameters
    ----------
    proportions : ndarray, shape (silos, classes)
        Share of each label among the samples of each silo; rows sum to 1.
    iterations : int
        `k`: permutations that are mixed, at least 0. No silo sends, or receives, more than so many models.
    variance_weight : float
        `lambda`, above 0: what a spread of weights is worth beside a spread of labels. The variance of the silos'
        gradients over what their differences scale with; nobody knows either before training.

    Returns
    -------
    tuple of State
        One state, doubly stochastic.

    Raises
    ------
    InputError
        If a number is out of its range, or `proportions` has another shape, a share below 0 or that is not finite, or a
        row that does not sum to 1 within 1e-6.

    Notes
    -----
    Source: Le Bars, Bellet, Tommasi, Lavoie, Kermarrec, "Refined convergence and topology learning for decentralized
    SGD with heterogeneous data" (AISTATS 2023, arXiv 2204.04452), algorithm 2. Minimises `label_spread` over doubly
    stochastic matrices from the identity on. Each step moves towards the permutation along which the objective falls
    fastest, a linear assignment problem, as far as the objective, a parabola, falls. The general bound of the
    Frank-Wolfe algorithm is ``16 / (iterations + 2) (lambda + |Q - J Q|^2 / silos)`` here; the optimum, 0, is the
    average of all silos. Steps end early where none gains anything. Few steps may leave silos that never hear of some
    others: two labels in equal numbers pair up in the first. Time O(silos^3) for each step, at worst.
    """
    check_integer("iterations", iterations, minimum=0)
    shares = _checked(proportions)
    if not (0 < variance_weight < np.inf):
        raise InputError("must be finite and > 0.", field=Field("variance_weight", value=variance_weight))
    silos = len(shares)
    matrix = np.eye(silos)
    for _ in range(iterations):
        step = _step(matrix, shares, variance_weight)
        if step is None:
            break
        share, permutation = step
        matrix *= 1 - share
        matrix[np.arange(silos), permutation] += share
    target, source = np.nonzero(np.where(np.eye(silos, dtype=bool), 0.0, matrix) > _ROUNDING)
    return (state_of(source, target, matrix[target, source]),)


def label_spread(
    matrix: FloatArray, proportions: FloatArray, *, variance_weight: float = VARIANCE_WEIGHT
) -> float:
    """What STL-FW minimises: how far the labels of the neighbourhoods, and the weights, are from equal.

    Parameters
    ----------
    matrix : ndarray, shape (silos, silos)
        Consensus matrix.
    proportions, variance_weight
        As for `stl_fw`.

    Returns
    -------
    float
        ``(|W Q - J Q|^2 + lambda |W - J|^2) / silos`` with Frobenius norms, ``J = 1 1^T / silos``.
    """
    silos = len(matrix)
    labels = matrix @ proportions - proportions.mean(axis=0)
    return float(((labels**2).sum() + variance_weight * ((matrix - 1 / silos) ** 2).sum()) / silos)


def _step(matrix: FloatArray, shares: FloatArray, variance_weight: float) -> tuple[float, IntArray] | None:
    """Share of the permutation that is mixed in, and the column of it for each row; None where nothing is gained."""
    # Imported here since it takes long, and few commands need it.
    from scipy.optimize import linear_sum_assignment

    silos = len(matrix)
    labels = matrix @ shares - shares.mean(axis=0)
    gradient = labels @ shares.T + variance_weight * (matrix - 1 / silos)
    _, permutation = linear_sum_assignment(gradient)
    moved_labels = shares[permutation] - matrix @ shares
    moved = -matrix
    moved[np.arange(silos), permutation] += 1.0
    falls = -float((gradient * moved).sum())
    curvature = float((moved_labels**2).sum() + variance_weight * (moved**2).sum())
    if falls <= _ROUNDING * silos or curvature == 0:
        return None
    return min(1.0, falls / curvature), permutation.astype(np.int64)


def _checked(proportions: FloatArray) -> FloatArray:
    """The proportions as floats, with rows whose sum is 1."""
    shares = np.asarray(proportions, dtype=np.float64)
    if shares.ndim != 2 or 0 in shares.shape:
        raise InputError(
            f"proportions has shape {shares.shape}; it must have a row for each silo and a column for each label."
        )
    for silo, label in np.argwhere(~(np.isfinite(shares) & (shares >= 0))).tolist():
        raise InputError(
            "must be finite and >= 0.",
            field=Field("proportions", silo, label, value=float(shares[silo, label])),
        )
    sums = shares.sum(axis=1)
    for silo in np.flatnonzero(np.abs(sums - 1) > 1e-6).tolist():
        raise InputError(f"must sum to 1, not {sums[silo]:.10g}.", field=Field("proportions", silo))
    return np.asarray(shares / sums[:, np.newaxis])

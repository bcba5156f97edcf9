"""Mixing matrices that were written with few digits, with sums that are 1 as exactly as floating point allows."""

import math

import numpy as np

from topologies.arrays import FloatArray

ROUNDED = 1e-6
"""Largest distance from 1 of a sum of weights that were written with seven digits."""
_EXACT = 1e-12
"""Of a sum that is rounded itself: three times 0.333333 is within `ROUNDED` of 1, and columns this near are right."""
_STEPS = 20
_MOST_CHANGE = 1e-3
"""Of a weight, in parts of it; far more than rounding explains."""
_SPLIT = 1e-9
"""Eigenvalues below this are 0: parts of the matrix do not share weights."""


def is_rounded_one(sums: FloatArray) -> bool:
    """Whether all sums are 1 but for the digits that were left out, within `ROUNDED`."""
    return bool(np.abs(sums - 1).max() <= ROUNDED + _EXACT)


def exact_sums(matrix: FloatArray) -> FloatArray:
    """Weights with rows that sum to 1, and columns where they did so within `ROUNDED`, too.

    Parameters
    ----------
    matrix : ndarray, shape (silos, silos)
        Finite weights; rows sum to 1 within `ROUNDED`. Weights may be below 0.

    Returns
    -------
    ndarray, shape (silos, silos)
        Rows sum to 1 within 2.3e-16, where no weight is 2 or more: what is left is added to the silo's weight of its
        own model; a row in which that weight, 0 or more, would fall below 0 is divided by its sum. Where columns were
        right within `ROUNDED`, but are not within 1e-12 then, each weight is scaled by a factor of its row and one of
        its column instead, all of them near 1, so that the silos agree on the plain average of their models. No weight
        becomes 0 or changes its sign, but for one of a silo's own model.

    Notes
    -----
    In ``k`` rounds a row that sums to ``1 + e`` makes models grow by ``exp(k e)``, and a column that does so moves
    their average by ``e`` times the distance of a model from it in each round: neither may be left to add up.

    The factors ``1 + u_i + v_j`` solve ``u + W v = r`` and ``W' u + v = c`` for what rows and columns lack: one of
    Newton's steps towards the limit of Sinkhorn's scaling. ``I - W W'``, which is left of it, is inverted once. Time
    O(silos^3).

    References
    ----------
    R. Sinkhorn, P. Knopp, "Concerning nonnegative matrices and doubly stochastic matrices", Pacific Journal of
    Mathematics 21(2), 1967.
    """
    weights = _exact_rows(matrix)
    if not is_rounded_one(matrix.sum(axis=0)) or np.abs(weights.sum(axis=0) - 1).max() <= _EXACT:
        return weights
    scaled = _scaled(matrix)
    return weights if scaled is None else _exact_rows(scaled)


def _exact_rows(matrix: FloatArray) -> FloatArray:
    """The matrix with rows whose sum is 1; one that is right to the last bit stays as it is."""
    weights = matrix.copy()
    left = _left(weights)
    own = np.einsum("ii->i", weights)
    off = np.abs(left) > np.finfo(float).eps
    small = off & (own >= 0) & (own + left < 0)
    own[off & ~small] += left[off & ~small]
    for silo in np.flatnonzero(small).tolist():
        row = weights[silo]
        row /= 1 - left[silo]
        row[np.argmax(row)] += _left(row[np.newaxis])[0]
    return weights


def _left(rows: FloatArray) -> FloatArray:
    """What each row lacks of 1, rounded once."""
    return np.array([-math.fsum((*row, -1.0)) for row in rows.tolist()])


def _scaled(matrix: FloatArray) -> FloatArray | None:
    """The matrix with factors of its rows and columns, so that both sum to 1; None where they would not be near 1."""
    weights = matrix.copy()
    values, vectors = np.linalg.eigh(np.eye(len(weights)) - weights @ weights.T)
    inverse = np.divide(1, values, out=np.zeros_like(values), where=np.abs(values) > _SPLIT)
    for _ in range(_STEPS):
        rows, columns = 1 - weights.sum(axis=1), 1 - weights.sum(axis=0)
        if max(np.abs(rows).max(), np.abs(columns).max()) <= _EXACT / 10:
            return weights
        of_rows = vectors @ (inverse * (vectors.T @ (rows - weights @ columns)))
        change = of_rows[:, np.newaxis] + (columns - weights.T @ of_rows)
        if np.abs(change[weights != 0]).max() > _MOST_CHANGE:
            return None
        weights *= 1 + change
    return None

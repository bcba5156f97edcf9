"""Doubly stochastic weights for any strongly connected digraph, without a program."""

from collections.abc import Iterator

import numpy as np

from topologies.arrays import FloatArray, IntArray

SWEEPS = 20_000
"""Most scalings of Sinkhorn's algorithm; long circuits need some ten thousand."""
SCALED = 1e-13
"""How far the row sums of a scaled matrix may be from 1."""
MOST_SILOS = 300
"""Silos up to which better weights than the random walk's are searched for, by eigenvalues."""
FACTORS = np.linspace(0.3, 1.0, 71) * (1 - 1e-12)
"""Shares of the largest possible weights that are tried; just below 1, so that rounding leaves no weight below 0."""


def balanced(silos: int, source: IntArray, target: IntArray) -> FloatArray:
    """Doubly stochastic weights: the flows of a random walk along the arcs.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)
        Strongly connected.

    Returns
    -------
    ndarray, shape (silos, silos)
        A walk that leaves each silo by a random arc crosses arc `(i, j)` with frequency ``pi_i / out-degree``,
        which is a circulation, scaled so that each silo keeps at least half of its own model.
    """
    if silos == 1:
        return np.ones((1, 1))
    out = np.bincount(source, minlength=silos)
    balance = np.eye(silos)
    np.subtract.at(balance, (target, source), 1 / out[source])
    balance[0] = 1.0
    # Frequencies that underflow may come out below 0 by a rounding error.
    frequency = np.maximum(np.linalg.solve(balance, np.eye(silos)[0]), 0.0)
    return rebuilt(silos, source, target, (frequency / out)[source] / (2 * frequency.max()))


def fast_balanced(silos: int, source: IntArray, target: IntArray) -> FloatArray:
    """Doubly stochastic weights with a large spectral gap.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)
        Strongly connected, each arc once.

    Returns
    -------
    ndarray, shape (silos, silos)
        No weight below 0; rows and columns sum to 1, so that the silos agree on the plain average of their models.

    Notes
    -----
    A strongly connected digraph with self-loops has total support: every arc lies on a circuit, which with the
    self-loops elsewhere is a permutation. So there are doubly stochastic matrices on it (Sinkhorn and Knopp). Two are
    made: `balanced`, and the limit of scaling the rows and columns of the pattern, which is the one of largest
    entropy. Either one, `W`, is one of the family ``I - f (I - W)`` with the factor `f` up to where some silo keeps
    nothing of its own model; the eigenvalues of ``I - W`` tell the spectral gap of each, and the largest is taken.
    Time O(silos^3); above `MOST_SILOS` the weights are those of `balanced`.

    References
    ----------
    R. Sinkhorn, P. Knopp, "Concerning nonnegative matrices and doubly stochastic matrices", Pacific Journal of
    Mathematics 21(2), 1967.
    """
    walk = balanced(silos, source, target)
    if silos == 1 or silos > MOST_SILOS:
        return walk
    best, best_gap = walk, -np.inf
    for weights in (walk, *_sinkhorn(silos, source, target)):
        moved = np.eye(silos) - weights
        moved /= np.diag(moved).max()
        # Without the eigenvalue 0 of the constant vector: rows and columns sum to 0.
        eigenvalues = np.linalg.eigvals(moved + 1 / silos)
        one = int(np.argmin(np.abs(eigenvalues - 1)))
        rest = np.delete(eigenvalues, one)
        gaps = 1 - np.abs(1 - FACTORS[:, np.newaxis] * rest).max(axis=1)
        k = int(np.argmax(gaps))
        if gaps[k] > best_gap * (1 + 1e-9):
            share = FACTORS[k] * weights[target, source] / np.max(1 - np.diag(weights))
            best, best_gap = rebuilt(silos, source, target, share), float(gaps[k])
    return best


def rebuilt(silos: int, source: IntArray, target: IntArray, weights: FloatArray) -> FloatArray:
    """Matrix with these weights on the arcs, and the rest of each row on its diagonal, shape (silos, silos)."""
    matrix = np.zeros((silos, silos))
    matrix[target, source] = weights
    rest = 1 - matrix.sum(axis=1)
    # A silo that keeps nothing of its own model would else keep minus one rounding error.
    rest[np.abs(rest) < 8 * np.finfo(float).eps] = 0.0
    np.fill_diagonal(matrix, rest)
    return matrix


def _sinkhorn(silos: int, source: IntArray, target: IntArray) -> Iterator[FloatArray]:
    """The pattern with rows and columns scaled to sum to 1, unless that takes too many scalings."""
    pattern = np.eye(silos)
    pattern[target, source] = 1.0
    row = np.ones(silos)
    for _ in range(SWEEPS):
        column = 1 / (row @ pattern)
        sums = pattern @ column
        if np.abs(row * sums - 1).max() < SCALED:
            yield pattern * np.outer(row, column)
            return
        row = 1 / sums

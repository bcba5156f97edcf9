"""By how much the models of the silos differ less after each round of a static or periodic overlay."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from topologies.arrays import FloatArray
from topologies.state import State

EXACT = 1e-12
"""A state that leaves this part of the difference, or less, leaves none: the rest is rounding."""


def contraction(silos: int, states: Sequence[State]) -> float:
    """Contraction per round: the factor by which differences of models shrink, in the geometric mean over a period.

    Rounds in which silos do not compute are part of the one before.

    Parameters
    ----------
    silos : int
    states : sequence of State
        Of one period, one or more.

    Returns
    -------
    float
        0 where all silos hold one model after a period; 1 or more where they do not come to agree. 1 minus it is a gap
        per round, which compares with `topologies.consensus.spectral_gap` of a static overlay.

    Notes
    -----
    With lags of 1 it is ``||(I - J) W_(P-1) ... W_0||_2 ^ (1 / C)`` with the consensus matrices of the P states, C of
    them computing, and ``J = 1 1^T / silos``: the largest part of their distance from their mean that models keep over
    a period (with columns that sum to 1, as Ying et al., "Exponential graph is provably efficient for decentralized
    deep training", NeurIPS 2021, ``||product - J||_2``). On a static overlay of a symmetric matrix that is its second
    largest modulus of an eigenvalue; on another one it is not smaller than that.

    With lags the models mixed in a round are not all of it. Then it is ``rho ^ (1 / C)``, where `rho` is the second
    largest modulus of an eigenvalue of the product of a period on the models of the last ``L`` rounds, ``x(k), ..., x(k
    + 1 - L)`` with `L` the longest lag, of which each round mixes those that its lags name: the factor in the long run,
    whatever the first rounds do. Eigenvalues of a product far from normal are only accurate to a root of the floating
    point precision.

    Time O(silos * arcs + silos^3), with lags O(L * silos * arcs + (L * silos)^3).
    """
    longest = max(int(state.lag.max(initial=1)) for state in states)
    rounds = sum(state.computes for state in states)
    if longest > 1:
        product = np.eye(silos * longest)
        for state in states:
            product = _mixing(silos, longest, state) @ product
        # Wielandt's deflation takes the eigenvalue 1 of agreement out.
        eigenvalues = np.linalg.eigvals(product - product.mean(axis=0))
        return float(np.abs(eigenvalues).max() ** (1 / rounds))
    left = np.eye(silos) - 1 / silos
    for state in states:
        before = np.linalg.norm(left)
        left = _mixing(silos, 1, state) @ left
        left -= left.mean(axis=0)
        if np.linalg.norm(left) <= EXACT * before:
            return 0.0
    return float(np.linalg.norm(left, 2) ** (1 / rounds))


def round_contraction(matrix: FloatArray) -> float:
    """Contraction of one round of a static overlay: the largest factor by which it shrinks the silos' differences.

    Parameters
    ----------
    matrix : ndarray, shape (silos, silos)
        A consensus matrix; rows sum to 1.

    Returns
    -------
    float
        ``||(I - J) W||_2`` with ``J = 1 1^T / silos``: `contraction` of a period of one state without lags. 0 where all
        silos hold one model after the round.

    Notes
    -----
    It holds for every round and all models: ``||W x - mean(W x)|| <= c ||x - mean(x)||``, which is what bounds on
    decentralized SGD assume. The second largest modulus of an eigenvalue, of which
    `topologies.consensus.spectral_gap` is the gap, is the factor in the long run only; both are equal for a symmetric
    matrix, and for a ring of weights 1/2: ``cos(pi / silos)``. Time O(silos^3).
    """
    left = matrix - matrix.mean(axis=0)
    left -= left.mean(axis=1, keepdims=True)
    norm = float(np.linalg.norm(left, 2))
    return 0.0 if norm <= EXACT else norm


def _mixing(silos: int, longest: int, state: State) -> csr_array:
    """What a round does to the models of the last rounds: mixes them into new ones, and moves all one round back.

    Shape (silos * longest,) squared, the newest models first; without lags it is the consensus matrix.
    """
    size, every = silos * longest, np.arange(silos)
    older = np.arange(silos, size)
    own = 1.0 - np.bincount(state.target, state.weight, minlength=silos)
    row = np.concatenate((state.target, every, older))
    column = np.concatenate(((state.lag - 1) * silos + state.source, every, older - silos))
    weight = np.concatenate((state.weight, own, np.ones(len(older))))
    return csr_array((weight, (row, column)), shape=(size, size))

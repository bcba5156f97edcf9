"""By how much the models of the silos differ less after each round of a static or periodic overlay."""

import math
from collections.abc import Sequence

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import Field, InputError
from topologies.lagged_models import longest_lag, mixing_matrix
from topologies.state import State

EXACT = 1e-12
"""A state that leaves this part of the difference, or less, leaves none: the rest is rounding."""
_NEAR_ONE = 1e100
"""Products are scaled before they grow beyond this, or shrink below its inverse."""


def contraction(silos: int, states: Sequence[State]) -> float:
    """Contraction per round in the long run: by how much differences of models shrink, geometric mean over a period.

    Rounds in which silos do not compute are part of the one before.

    Parameters
    ----------
    silos : int
    states : sequence of State
        Of one period, one or more.

    Returns
    -------
    float
        0 where all silos hold one model after some periods; 1 or more where they do not come to agree. 1 minus it is a
        gap per round, which of one state without lags is `topologies.consensus.spectral_gap` of its matrix.

    Notes
    -----
    ``rho ^ (1 / C)`` with C the number of states in which silos compute, and `rho` the spectral radius of ``(I - J)
    M_(P-1) ... M_0``: `M` is what the round of a state does to the models of the last ``L`` rounds, ``x(k), ..., x(k +
    1 - L)`` with `L` the longest lag of a weight other than 0, and ``J = 1 1^T / (L silos)``. Without lags `M` is the
    state's consensus matrix. Rows sum to 1, so that the product's eigenvalues are those of the period but for the 1 of
    agreement. Whatever the models are, and in whichever state a period begins, differences shrink so in the long run;
    in the first rounds they may shrink less, see `worst_contraction`, which it never exceeds.

    Eigenvalues are taken of a power of the product, as high as its size: small ones that are defective, to which
    rounding does most, vanish there, and a product some power of which leaves no difference has exactly 0. Others that
    are far from normal are still only accurate to a root of the floating point precision. Time O(L * silos * arcs + (L
    * silos)^3 log(L * silos)).
    """
    left, scale = _left(silos, states)
    radius, more = _spectral_radius(left)
    rounds = sum(state.computes for state in states)
    return float(radius ** (1 / rounds)) * math.exp((scale + more) / rounds)


def worst_contraction(silos: int, states: Sequence[State]) -> float:
    """Contraction per round that holds for every period and all models: the largest factor, geometric mean over it.

    Parameters
    ----------
    silos : int
    states : sequence of State
        Of one period, one or more, with lags of 1.

    Returns
    -------
    float
        Never less than `contraction`, and the same of normal matrices that commute, such as circulant ones. 0 where all
        silos hold one model after a period.

    Raises
    ------
    InputError
        If a lag of a weight is above 1: then the models at a period's start are not all of which differences are left.

    Notes
    -----
    ``||(I - J) W_(P-1) ... W_0||_2 ^ (1 / C)`` with the consensus matrices of the P states, C of them computing, and
    ``J = 1 1^T / silos``: the largest part of their distance from their mean that models keep over a period (with
    columns that sum to 1, as Ying et al., "Exponential graph is provably efficient for decentralized deep training",
    NeurIPS 2021, ``||product - J||_2``). Bounds on decentralized SGD assume it. Of one state it is `round_contraction`
    of its matrix. Time O(silos * arcs + silos^3).
    """
    longest = longest_lag(states)
    if longest > 1:
        raise InputError("must be 1.", field=Field("lag", value=longest))
    left, scale = _left(silos, states)
    rounds = sum(state.computes for state in states)
    return float(np.linalg.norm(left, 2) ** (1 / rounds)) * math.exp(scale / rounds)


def round_contraction(matrix: FloatArray) -> float:
    """Contraction of one round of a static overlay: the largest factor by which it shrinks the silos' differences.

    Parameters
    ----------
    matrix : ndarray, shape (silos, silos)
        A consensus matrix; rows sum to 1.

    Returns
    -------
    float
        ``||(I - J) W||_2`` with ``J = 1 1^T / silos``: `worst_contraction` of a period of one state, of a matrix that
        need not be a state's. 0 where all silos hold one model after the round.

    Notes
    -----
    It holds for every round and all models: ``||W x - mean(W x)|| <= c ||x - mean(x)||``, which is what bounds on
    decentralized SGD assume. The second largest modulus of an eigenvalue, of which
    `topologies.consensus.spectral_gap` is the gap, is the factor in the long run only, as `contraction` is; both are
    equal for a symmetric matrix, and for a ring of weights 1/2: ``cos(pi / silos)``. Time O(silos^3).
    """
    left = matrix - matrix.mean(axis=0)
    left -= left.mean(axis=1, keepdims=True)
    norm = float(np.linalg.norm(left, 2))
    return 0.0 if norm <= EXACT else norm


def _left(silos: int, states: Sequence[State]) -> tuple[FloatArray, float]:
    """What a period leaves of the differences of the last rounds' models: a matrix times ``exp`` of a number."""
    longest = longest_lag(states)
    size = silos * longest
    left, scale = np.eye(size) - 1 / size, 0.0
    for state in states:
        before = float(np.linalg.norm(left))
        left = mixing_matrix(silos, longest, state) @ left
        left -= left.mean(axis=0)
        after = float(np.linalg.norm(left))
        if after <= EXACT * before:
            return np.zeros_like(left), 0.0
        if not 1 / _NEAR_ONE < after < _NEAR_ONE:
            left, scale = left / after, scale + math.log(after)
    return left, scale


def _spectral_radius(matrix: FloatArray) -> tuple[float, float]:
    """Largest modulus of an eigenvalue: a number times ``exp`` of another one."""
    power, scale = 1, 0.0
    while power < len(matrix):
        size = float(np.linalg.norm(matrix))
        if size == 0:
            return 0.0, 0.0
        half = matrix / size
        matrix = half @ half
        if np.linalg.norm(matrix) <= EXACT:
            return 0.0, 0.0
        power, scale = 2 * power, 2 * (scale + math.log(size))
    largest = float(np.abs(np.linalg.eigvals(matrix)).max())
    return largest ** (1 / power), scale / power

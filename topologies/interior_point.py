"""The smallest spectral norm over combinations of rank-one matrices, by an interior-point method."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csc_array
from threadpoolctl import threadpool_limits

from topologies.arrays import FloatArray

ACCURACY = 1e-8
"""Distance to the smallest norm at which the search ends by default."""
SHARPEN = 0.05
"""Factor of the barrier's weight from one stage to the next."""
CENTRED = 0.3
"""Newton decrement below which a stage ends."""
MOST_STEPS = 400
"""Most Newton steps, after which the best point so far is taken; some forty are usual."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class NormProgram:
    """Minimise ``||I - J - sum_k x_k left_k right_k^T||`` with ``J = 1 1^T / n``, within linear constraints.

    Attributes
    ----------
    left, right : csc_array, shape (n, m)
        The rank-one matrices, linearly independent.
    start : ndarray, shape (m,)
        Meets the equations, and the limits strictly.
    balance : ndarray, shape (equations, m)
        ``balance @ x = 0``, of full rank; may have no rows.
    limit : csc_array, shape (limits, m)
        ``limit @ x <= bound``; may have no rows.
    bound : ndarray, shape (limits,)
    """

    left: csc_array
    right: csc_array
    start: FloatArray
    balance: FloatArray
    limit: csc_array
    bound: FloatArray


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Point:
    """Combination, norm bound `t`, the matrix `R`, eigenvalues and vectors of ``R R^T``, slacks of the limits."""

    x: FloatArray
    t: float
    rest: FloatArray
    squares: FloatArray
    vectors: FloatArray
    slack: FloatArray

    @property
    def inside(self) -> bool:
        """Whether the barrier is finite here."""
        return self.t > 0 and self.t**2 > float(self.squares[-1]) and bool(np.all(self.slack > 0))

    def barrier(self, weight: float) -> float:
        """Objective of one stage."""
        inner = np.log(self.t**2 - self.squares).sum() + np.log(self.slack).sum()
        return self.t / weight - float(inner)


def smallest_norm(program: NormProgram, accuracy: float = ACCURACY) -> FloatArray:
    """The combination of the smallest norm.

    Parameters
    ----------
    accuracy : float, default 1e-8
        Distance of the norm to the smallest one at which the search ends.

    Returns
    -------
    ndarray, shape (m,)

    Notes
    -----
    ``||R|| <= t`` means that ``S = [[t I, R], [R^T, t I]]`` is positive semidefinite. Each stage minimises
    ``t / weight - log det S - sum of log slacks`` by Newton's method; at its minimum `t` is at most ``weight`` times
    the barrier's parameter, ``2 n`` plus the number of limits, above the smallest norm. A variable changes `S` by a
    matrix of rank 2, so that the Hessian consists of products of entries of three m by m matrices, which no general
    solver exploits. Time O(n^3 + m^3) per step, memory O(m^2).

    References
    ----------
    Lin Xiao, Stephen Boyd, "Fast linear iterations for distributed averaging" (2004), section 5.1, for symmetric
    weights.
    """
    # On matrices of this size, threads that wait for each other, numpy's and scipy's own, cost more than they bring.
    with threadpool_limits(limits=1, user_api="blas"):
        return _path(program, accuracy)


def _path(program: NormProgram, accuracy: float) -> FloatArray:
    """Follow the minima of the stages, each from the one before."""
    point = _at(program, program.start, 0.0)
    point = _at(program, program.start, float(np.sqrt(np.maximum(point.squares[-1], 0.0))) + 0.1)
    parameter = 2 * len(point.squares) + len(program.bound)
    weight = 1.0 / parameter
    steps = 0
    while weight * parameter > accuracy and steps < MOST_STEPS:
        weight *= SHARPEN
        while steps < MOST_STEPS:
            steps += 1
            moved = _newton(program, point, weight)
            if moved is None:
                break
            point, decrement = moved
            if decrement < CENTRED:
                break
    return point.x


def _at(program: NormProgram, x: FloatArray, t: float) -> _Point:
    """The point of these values."""
    nodes = program.left.shape[0]
    rest = np.eye(nodes) - 1 / nodes - ((program.left * x) @ program.right.T).toarray()
    squares, vectors = np.linalg.eigh(rest @ rest.T)
    slack = program.bound - program.limit @ x
    return _Point(x=x, t=t, rest=rest, squares=squares, vectors=vectors, slack=slack)


def _newton(program: NormProgram, point: _Point, weight: float) -> tuple[_Point, float] | None:
    """One damped step, and the Newton decrement before it; None if rounding leaves no descent."""
    gradient, hessian = _derivatives(program, point)
    gradient[-1] += 1 / weight
    try:
        step = _descent(program, gradient, hessian)
    except np.linalg.LinAlgError:
        return None
    decrement = float(np.sqrt(np.maximum(-gradient @ step, 0.0)))
    now, size = point.barrier(weight), 1.0
    while size > 1e-6:
        moved = _at(program, point.x + size * step[:-1], point.t + size * float(step[-1]))
        if moved.inside and moved.barrier(weight) <= now - 0.1 * size * decrement**2:
            return moved, decrement
        size /= 2
    return None


def _derivatives(program: NormProgram, point: _Point) -> tuple[FloatArray, FloatArray]:
    """Gradient and Hessian of the barrier in the combination and `t`, the latter last."""
    left, right = program.left, program.right
    t, rest = point.t, point.rest
    room = t**2 - point.squares
    # Blocks of the inverse of S, and the upper right one of its square.
    upper = (point.vectors * (t / room)) @ point.vectors.T
    corner = -upper @ rest / t
    lower = (np.eye(len(rest)) - rest.T @ corner) / t
    squared = (point.vectors * (-2 * t / room**2)) @ point.vectors.T @ rest
    mixed = left.T @ (corner @ right)
    size = len(point.x)
    gradient = np.empty(size + 1)
    hessian = np.empty((size + 1, size + 1))
    weighted = (program.limit.T * (1 / point.slack)).T
    gradient[:-1] = 2 * mixed.diagonal() + program.limit.T @ (1 / point.slack)
    gradient[-1] = -2 * (t / room).sum()
    hessian[:-1, :-1] = mixed * mixed.T + (right.T @ (lower @ right)) * (left.T @ (upper @ left))
    hessian[:-1, :-1] *= 2
    hessian[:-1, :-1] += (weighted.T @ weighted).toarray()
    hessian[:-1, -1] = hessian[-1, :-1] = -2 * left.multiply(squared @ right).sum(axis=0)
    hessian[-1, -1] = 2 * ((t**2 + point.squares) / room**2).sum()
    return gradient, hessian


def _descent(program: NormProgram, gradient: FloatArray, hessian: FloatArray) -> FloatArray:
    """Newton step that keeps the equations."""
    scale = 1 / np.sqrt(hessian.diagonal())
    factor = cho_factor(hessian * np.outer(scale, scale), check_finite=False)
    free = scale * cho_solve(factor, -gradient * scale)
    if not len(program.balance):
        return np.asarray(free)
    padded = np.column_stack((program.balance, np.zeros(len(program.balance))))
    along = scale[:, np.newaxis] * cho_solve(factor, (padded * scale).T)
    return np.asarray(free - along @ np.linalg.solve(padded @ along, padded @ free))

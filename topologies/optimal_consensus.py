"""Consensus matrices that mix fastest, as semidefinite programs.

In a scenario: ``consensus = "fdla"`` or ``"fmmc"`` in ``[overlays]``.
"""

import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csc_array, eye_array, vstack

from topologies.arrays import FloatArray, IntArray
from topologies.balanced import balanced, rebuilt
from topologies.errors import SilosimError
from topologies.interior_point import ACCURACY, NormProgram, smallest_norm
from topologies.weights import is_symmetric, metropolis

NOISE = 1e-5
"""Weights below this, relative to the largest, are what a solver leaves of zero."""
EXACT_SIZE = 1_500
"""Largest number of weights that the interior-point method takes; its time grows with the cube."""


def fdla(silos: int, source: IntArray, target: IntArray, *, accuracy: float = ACCURACY) -> FloatArray:
    """Fastest distributed linear averaging: the weights of either sign that contract disagreement most.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)
        Strongly connected, each arc once.
    accuracy : float, default 1e-8
        Largest distance of the norm to the smallest one, on overlays of up to `EXACT_SIZE` weights. A coarser one
        spreads the weights over more arcs, since the interior-point method then ends further inside.

    Returns
    -------
    ndarray, shape (silos, silos)
        The matrix `W` on these arcs (and the diagonal), rows and columns summing to 1, that minimises the spectral
        norm ``||W - 1 1^T / silos||``; symmetric on a symmetric overlay.

    Raises
    ------
    SilosimError
        If the solver finds no solution.

    Notes
    -----
    Source: Lin Xiao, Stephen Boyd, "Fast linear iterations for distributed averaging" (2004), section 3.

    A symmetric overlay loses nothing by symmetric weights, since the norm is convex and transposition keeps it;
    there the norm is the modulus of an eigenvalue and the spectral gap is optimal. On other digraphs the norm is
    the worst contraction in one round; the long-run rate, an eigenvalue's modulus, is not convex and at least as good:
    the spectral gap is then 1 minus the norm or more. Off-diagonal weights whose rows and columns sum to 1 are
    circulations: as much leaves a silo as enters it.

    Up to `EXACT_SIZE` weights (edges of a symmetric overlay, else arcs) the norm is within 1e-8 of the smallest, see
    `topologies.interior_point`. Beyond, SCS (first order) stops at 1e-5 in the norm, 1e-4 on digraphs that are not
    symmetric, so that tiny gaps lose some per cent.
    Sums and pattern hold exactly all the same: the matrix is rebuilt from the weights alone, and scaled optimally
    where it is symmetric. The norm is never above that of `balanced` or Metropolis weights.
    """
    return _fastest(silos, source, target, nonnegative=False, accuracy=accuracy)


def fmmc(silos: int, source: IntArray, target: IntArray) -> FloatArray:
    """Fastest mixing Markov chain: as `fdla`, with no weight below 0.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)
        Strongly connected, each arc once.

    Returns
    -------
    ndarray, shape (silos, silos)
        Doubly stochastic.

    Raises
    ------
    SilosimError
        If the solver finds no solution.

    Notes
    -----
    Source: Stephen Boyd, Persi Diaconis, Lin Xiao, "Fastest mixing Markov chain on a graph" (2004). On a digraph
    that is not symmetric it minimises the spectral norm too, which they leave out.
    """
    return _fastest(silos, source, target, nonnegative=True, accuracy=ACCURACY)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Program:
    """Minimise the norm of ``I - J - sum of x_k B_k``; the weights of the arcs are ``weights @ x``."""

    silos: int
    source: IntArray
    target: IntArray
    weights: csc_array
    symmetric: bool

    def received(self) -> csc_array:
        """Matrix from the `x_k` to the sum of the weights of the models that each silo receives."""
        arcs = np.arange(len(self.target))
        into = coo_array((np.ones(len(arcs)), (self.target, arcs)), shape=(self.silos, len(arcs)))
        return csc_array(into.tocsr() @ self.weights)


def _fastest(
    silos: int, source: IntArray, target: IntArray, *, nonnegative: bool, accuracy: float
) -> FloatArray:
    """The best of the optimal weights and those in closed form."""
    start = balanced(silos, source, target)
    if silos == 1 or (len(source) == silos > 2):
        # A directed ring has one circulation, and of its multiples 1/2 is the best.
        return start
    symmetric = is_symmetric(silos, source, target)
    if symmetric:
        edge = np.unique(
            np.minimum(source, target) * silos + np.maximum(source, target), return_inverse=True
        )[1]
        basis = csc_array((np.ones(len(source)), (np.arange(len(source)), edge)))
    else:
        basis = csc_array(eye_array(len(source)))
    program = _Program(silos=silos, source=source, target=target, weights=basis, symmetric=symmetric)
    small = basis.shape[1] <= EXACT_SIZE
    found = _interior(program, nonnegative, accuracy) if small else _first_order(program, nonnegative)
    found[np.abs(found) < NOISE * np.abs(found).max()] = 0.0
    if symmetric:
        weights = _scaled(
            silos, source, target, np.maximum(found, 0.0) if nonnegative else found, nonnegative
        )
    elif nonnegative:
        weights = _circuits(silos, source, target, found)
    else:
        weights = _circulation(silos, source, target, found)
    solved = rebuilt(silos, source, target, weights)
    simple = [start, metropolis(silos, source, target)] if symmetric else [start]
    return min(solved, *simple, key=_norm)


def _interior(program: _Program, nonnegative: bool, accuracy: float) -> FloatArray:
    """Weight of each arc at the optimum, by the interior-point method."""
    silos, source, target = program.silos, program.source, program.target
    size = program.weights.shape[1]
    # One arc for each variable: on a symmetric overlay it stands for its edge.
    chosen = source < target if program.symmetric else np.ones(len(source), dtype=bool)
    edge = program.weights[chosen].indices
    start = np.empty(size)
    given = (metropolis if program.symmetric else balanced)(silos, source, target)
    start[edge] = given[target[chosen], source[chosen]]
    differences = np.zeros((silos, size))
    differences[target[chosen], edge] = 1.0
    differences[source[chosen], edge] = -1.0
    limit, bound = csc_array((0, size)), np.empty(0)
    if nonnegative:
        limit = csc_array(vstack((-eye_array(size), program.received())))
        bound = np.concatenate((np.zeros(size), np.ones(silos)))
    found = smallest_norm(
        NormProgram(
            left=csc_array(differences if program.symmetric else np.maximum(differences, 0.0)),
            right=csc_array(differences),
            start=start,
            balance=np.empty((0, size)) if program.symmetric else differences[1:],
            limit=limit,
            bound=bound,
        ),
        accuracy,
    )
    return np.asarray(program.weights @ found)


def _first_order(program: _Program, nonnegative: bool) -> FloatArray:
    """Weight of each arc at the solver's optimum."""
    # cvxpy takes a second to import, which only large overlays need.
    import cvxpy

    cp: Any = cvxpy
    silos, arcs = program.silos, np.arange(len(program.source))
    ends = np.concatenate((program.source * silos + program.target, program.target * silos + program.target))
    signs = np.concatenate((np.ones(len(arcs)), -np.ones(len(arcs))))
    # Column-major entries of the matrix that adds each arc's weight and takes it off the target's own.
    place = csc_array((signs, (ends, np.tile(arcs, 2))), shape=(silos * silos, len(arcs)))
    x = cp.Variable(program.weights.shape[1])
    norm = cp.Variable()
    identity = np.eye(silos)
    rest = identity - 1 / silos + cp.reshape((place @ program.weights) @ x, (silos, silos), order="F")
    if program.symmetric:
        constraints = [norm * identity - rest >> 0, norm * identity + rest >> 0]
    else:
        constraints = [cp.bmat([[norm * identity, rest], [rest.T, norm * identity]]) >> 0]
        incidence = cp.Constant(_incidence(silos, program.source, program.target))
        constraints.append(incidence @ x == 0)
    if nonnegative:
        constraints += [program.weights @ x >= 0, program.received() @ x <= 1]
    problem = cp.Problem(cp.Minimize(norm), constraints)
    with warnings.catch_warnings():
        # The result is rebuilt, and compared with weights that need no solver.
        warnings.simplefilter("ignore")
        with suppress(cp.SolverError):
            problem.solve(solver=cp.SCS, eps=1e-5 if program.symmetric else 1e-4, max_iters=5_000)
    if x.value is None:
        raise SilosimError(f"fastest averaging: the solver found no weights (status {problem.status}).")
    return np.asarray(program.weights @ x.value)


def _scaled(
    silos: int, source: IntArray, target: IntArray, weights: FloatArray, nonnegative: bool
) -> FloatArray:
    """Symmetric weights times their optimal factor, ``2 / (lambda_2 + lambda_n)`` of their Laplacian."""
    laplacian = np.eye(silos) - rebuilt(silos, source, target, weights)
    eigenvalues = np.linalg.eigvalsh(laplacian)
    most = float(np.diag(laplacian).max())
    if eigenvalues[1] + eigenvalues[-1] <= 0 or most <= 0:
        return weights
    best = 2 / float(eigenvalues[1] + eigenvalues[-1])
    return weights * (min(best, 1 / most) if nonnegative else best)


def _circulation(silos: int, source: IntArray, target: IntArray, weights: FloatArray) -> FloatArray:
    """Nearest circulation on the arcs whose weight is not 0."""
    kept = weights != 0
    incidence = _incidence(silos, source[kept], target[kept])
    excess = np.linalg.lstsq(incidence @ incidence.T, incidence @ weights[kept], rcond=None)[0]
    result = np.zeros(len(weights))
    result[kept] = weights[kept] - incidence.T @ excess
    return result


def _circuits(silos: int, source: IntArray, target: IntArray, weights: FloatArray) -> FloatArray:
    """Circulation >= 0 near the weights: the sum of circuits that the weights decompose into."""
    left = np.zeros((silos, silos))
    left[source, target] = np.maximum(weights, 0.0)
    total = np.zeros((silos, silos))
    start = 0
    while start < silos:
        path, seen = [start], {start: 0}
        while left[path[-1]].any():
            after = int(np.argmax(left[path[-1]]))
            if after in seen:
                circuit = [*path[seen[after] :], after]
                ends = (np.array(circuit[:-1]), np.array(circuit[1:]))
                flow = left[ends].min()
                total[ends] += flow
                left[ends] -= flow
                break
            seen[after] = len(path)
            path.append(after)
        else:
            # A dead end: what flows into it is noise.
            left[:, path[-1]] = 0.0
        while start < silos and not left[start].any():
            start += 1
    inflow = total.sum(axis=0).max()
    return np.asarray(total[source, target] / max(1.0, inflow))


def _incidence(silos: int, source: IntArray, target: IntArray) -> FloatArray:
    """Incidence matrix: 1 at the target of each arc, -1 at its source, shape (silos, arcs)."""
    arcs = np.arange(len(source))
    incidence = np.zeros((silos, len(arcs)))
    incidence[target, arcs] = 1.0
    incidence[source, arcs] -= 1.0
    return incidence


def _norm(matrix: FloatArray) -> float:
    """Spectral norm of ``W - 1 1^T / silos``."""
    return float(np.linalg.norm(matrix - 1 / len(matrix), 2))

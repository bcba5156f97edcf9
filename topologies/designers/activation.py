"""MATCHA's two optimisations: activation probabilities of the matchings, and the weight of an active edge."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import SilosimError
from topologies.semidefinite import solved

EXACT = 1e-6
"""Relative distance to a proven bound at which the activation probabilities count as optimal."""
COARSE, FINE = 1e-7, 1e-9
"""Accuracies asked of the first-order solver: the first proves most optima to `EXACT`, the second is for the others."""
SMALL = 32
"""Up to this many directions an interior-point method is the faster solver; beyond, a first-order one."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Matchings:
    """A graph's edges, each in one matching.

    Attributes
    ----------
    edges : ndarray of int, shape (edges, 2)
    number : ndarray of int, shape (edges,)
        The matching of each edge.
    count : int
        Number of matchings.
    """

    nodes: int
    edges: IntArray
    number: IntArray
    count: int

    def laplacian(self, weight: FloatArray) -> FloatArray:
        """Weighted sum of the matchings' Laplacians, shape (nodes, nodes)."""
        i, j = self.edges.T
        total = np.zeros((self.nodes, self.nodes))
        total[i, j] = total[j, i] = -weight[self.number]
        np.fill_diagonal(total, -total.sum(axis=1))
        return total

    def per_matching(self, values: FloatArray) -> FloatArray:
        """Sum of a number per edge over each matching's edges, shape (matchings,)."""
        return np.bincount(self.number, values, self.count).astype(np.float64)


def activation_probabilities(matchings: Matchings, budget: float) -> tuple[FloatArray, float, float]:
    """Probabilities that maximise the algebraic connectivity of the expected graph.

    Parameters
    ----------
    matchings : Matchings
        Of a connected graph.
    budget : float
        The probabilities sum up to at most ``budget * matchings``.

    Returns
    -------
    probability : ndarray, shape (matchings,)
    connectivity : float
        Second smallest eigenvalue of the expected Laplacian `L(p)`.
    bound : float
        No probabilities within the budget have a larger one; see Notes.

    Raises
    ------
    SilosimError
        If the solver finds no solution, or rounding puts the connectivity above its bound.

    Notes
    -----
    For any positive semidefinite `Z` of trace 1 with ``Z 1 = 0``, the connectivity of `p` is at most
    ``<L(p), Z>``, hence at most the maximum of that linear function over all `p` within the budget. With
    ``Z = (I - J) / (n - 1)`` this proves equal probabilities optimal on every complete graph, whose matchings are
    equally large: both sides are ``budget * n`` (`n` odd: `n` matchings of (n - 1) / 2 edges; even: n - 1 of n / 2).

    Otherwise the semidefinite program is solved on a growing subspace: ``V^T L(p) V >= g I``, with the eigenvectors
    that violate a solution added to `V`, until the dual solution proves the connectivity optimal to 1e-6 or `V`
    spans the whole space and the program has been solved once more with a finer accuracy. In the first case
    optimality to 1e-6 is proven; in the second it rests on the solver's accuracy, and what is proven is
    ``connectivity <= optimum <= bound`` with the `bound` returned. Few directions
    matter on sparse graphs: Ebone's underlay takes 0.3 s, where the program on all directions takes 5 s with SCS
    and 64 s with Clarabel. Where the eigenvalues lie close together, as on dense graphs, most directions matter;
    there SCS solves it on all at once.
    """
    nodes = matchings.nodes
    best = np.full(matchings.count, budget)
    if nodes == 1:
        return best, 0.0, 0.0
    # Coordinates across the constant vector: a disconnected iterate has it in a multiple eigenspace, where the
    # eigenvectors of the whole space need not keep it apart, and the bound would be none.
    across = np.linalg.qr(np.column_stack((np.ones(nodes), np.eye(nodes)[:, 1:])))[0][:, 1:]
    edges = across[matchings.edges[:, 0]] - across[matchings.edges[:, 1]]
    values, vectors = np.linalg.eigh(across.T @ matchings.laplacian(best) @ across)
    found = float(values[0])
    everywhere = matchings.per_matching(np.full(len(edges), 2 / (nodes - 1)))
    slowest = matchings.per_matching((edges @ vectors[:, 0]) ** 2)
    bound = min(_most(everywhere, budget), _most(slowest, budget))
    basis, accuracy = np.empty((nodes - 1, 0)), COARSE
    while found < (1 - EXACT) * bound and accuracy > FINE:
        if basis.shape[1] == nodes - 1:
            accuracy = FINE
        more = 2 if basis.size else 6
        grown = _orthonormal(np.hstack((basis, vectors[:, :more])))
        few = nodes <= SMALL or values[SMALL - 1] > 2 * values[0]
        basis = grown if few and basis.shape[1] < grown.shape[1] <= SMALL else vectors
        along = edges @ basis
        projected = np.array(
            [along[matchings.number == m].T @ along[matchings.number == m] for m in range(matchings.count)]
        )
        share, dual = _solve(projected * (budget / found), budget, accuracy)
        bound = min(bound, _most(matchings.per_matching(((along @ dual) * along).sum(axis=1)), budget))
        values, vectors = np.linalg.eigh(across.T @ matchings.laplacian(budget * share) @ across)
        if values[0] > found:
            best, found = budget * share, float(values[0])
    if found > bound * (1 + EXACT):
        raise SilosimError(
            f"activation probabilities: the connectivity found (={found:.9g}) is above its bound (={bound:.9g}); "
            "the matchings are too badly scaled for the precision of the numbers."
        )
    return best, found, bound


def _solve(laplacians: FloatArray, budget: float, accuracy: float) -> tuple[FloatArray, FloatArray]:
    """Multiples of the budget that maximise the smallest eigenvalue, and the dual matrix, scaled to trace 1.

    Parameters
    ----------
    laplacians : ndarray, shape (matchings, size, size)
    accuracy : float
        `COARSE` or `FINE`, of the first-order solver, which alone is asked for the latter.

    Returns
    -------
    share : ndarray, shape (matchings,)
    dual : ndarray, shape (size, size)

    Raises
    ------
    SilosimError
        If no solver finds a solution.
    """
    # cvxpy takes a second to import, which only some overlays need.
    import cvxpy

    cp: Any = cvxpy
    count, size = laplacians.shape[:2]
    share, smallest = cp.Variable(count), cp.Variable()
    expected = cp.reshape(laplacians.reshape(count, size * size).T @ share, (size, size), order="C")
    semidefinite = expected - smallest * np.eye(size) >> 0
    limits = [share >= 0, share <= min(1 / budget, count), cp.sum(share) <= count]
    problem = cp.Problem(cp.Maximize(smallest), [*limits, semidefinite])
    first_order = {"solver": cp.SCS, "eps_abs": accuracy, "eps_rel": accuracy, "max_iters": 20_000}
    # The caller measures what a solution is worth, whatever the solver thinks of its accuracy.
    asked = ("activation probabilities", problem, share, semidefinite)
    by_interior_points = size <= SMALL and accuracy == COARSE
    try:
        solution, dual = solved(*asked, **({"solver": cp.CLARABEL} if by_interior_points else first_order))
    except SilosimError:
        if not by_interior_points:
            raise
        # Now and then Clarabel does not get beyond its first step where the other solver has no trouble.
        solution, dual = solved(*asked, **first_order)
    solution = np.clip(solution, 0.0, 1 / budget)
    solution *= min(1.0, count / max(float(solution.sum()), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(dual)
    values = np.maximum(values, 0.0)
    # A dual of zero proves nothing; any other matrix of trace 1 is as good.
    values = values / values.sum() if values.any() else np.full(size, 1 / size)
    return solution, (vectors * values) @ vectors.T


def best_alpha(matchings: Matchings, probability: FloatArray) -> tuple[float, float]:
    """Edge weight that minimises the spectral norm of ``E[W^T W] - J``, and that norm with empty rounds left out.

    Notes
    -----
    A matching's Laplacian has ``L_m^2 = 2 L_m``, so ``E[L^2] = Lbar^2 + 2 sum_m p_m (1 - p_m) L_m``. The norm is
    the largest eigenvalue of ``I - 2 alpha Lbar + alpha^2 E[L^2]`` across the consensus direction: a maximum of
    convex quadratics in `alpha`, and growing beyond 1 / lambda_2(Lbar), since ``E[L^2] >= Lbar^2``. So a search along
    that interval finds what the semidefinite program of MATCHA's equation 7 finds.
    """
    # Here since it takes long to import, and most commands design no MATCHA.
    from scipy.optimize import minimize_scalar

    if matchings.nodes == 1:
        return 0.0, 0.0
    first = matchings.laplacian(probability)
    second = first @ first + 2 * matchings.laplacian(probability * (1 - probability))
    values, vectors = np.linalg.eigh(first)
    across = vectors[:, 1:]
    first, second = across.T @ first @ across, across.T @ second @ across
    counted = -np.expm1(np.log1p(-np.minimum(probability, 1 - 1e-16)).sum())

    def norm(alpha: float) -> float:
        """Spectral norm, for the rounds that are not drawn again."""
        return 1 - float(np.linalg.eigvalsh(2 * alpha * first - alpha**2 * second)[0]) / float(counted)

    end = 1 / float(values[1])
    found = minimize_scalar(norm, bounds=(0.0, end), method="bounded", options={"xatol": 1e-10 * end})
    return float(found.x), float(found.fun)


def _most(gains: FloatArray, budget: float) -> float:
    """Largest ``sum p_m gains_m`` over probabilities within the budget, where a gain below 0 is rounding."""
    falling = np.sort(np.maximum(gains, 0.0))[::-1]
    share = np.clip(budget * len(gains) - np.arange(len(gains)), 0.0, 1.0)
    return float(falling @ share)


def _orthonormal(columns: FloatArray) -> FloatArray:
    """Orthonormal basis of the columns' span."""
    basis, triangle = np.linalg.qr(columns)
    return np.asarray(basis[:, np.abs(np.diag(triangle)) > 1e-9])

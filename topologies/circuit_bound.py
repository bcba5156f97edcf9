"""Lower bound on the mean delay of every simple circuit through one node, by linear programs with cuts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, vstack
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from topologies.arrays import BoolArray, FloatArray, IntArray

solve: Any = linprog  # its types know no sparse constraints

NEAR = 8
"""Cheapest arcs out of and into each node in the first program."""
UNITS = 1e7
"""Resolution of the flows that the cuts are sought with."""


def circuit_bound(delay: FloatArray, node: int, *, rounds: int = 25) -> float:
    """Lower bound on the mean delay of every simple circuit through a node.

    Parameters
    ----------
    delay : ndarray, shape (nodes, nodes)
        At least 0, infinite where there is no arc; the diagonal does not count.
    rounds : int
        Linear programs solved at most; each can only raise the bound.

    Returns
    -------
    float
        Up to rounding a lower bound whatever the solver's accuracy; ``-inf`` if no program could be solved.

    Notes
    -----
    A simple circuit through `node` (`x`) of `c` arcs gives ``z = 1 / c`` on its arcs, 0 elsewhere, with

    - as much into each node as out of it, and ``sum of z = 1``;
    - no more out of any node than out of `x`;
    - for every set `S` without `x` and every `k` in `S`: as much out of `S` as out of `k`, since the circuit leaves `S`
      if it visits `k`.

    Its mean delay is ``sum of d z``, so that the smallest such sum is a lower bound. Sets are added by minimum cuts
    between `k` and `x` where the present optimum violates them. What is returned is not the solver's optimum: let
    `p`, `u <= 0` and `w <= 0` be multipliers of the three kinds of rows and `r(i, j)` what is left of `d(i, j)` after
    the multiples of the rows are taken off. Then ``sum of d z >= min r * sum of z = min r`` for every `z` above, by
    weak duality, whatever the multipliers are. `min r` over all arcs is recomputed from them.

    The first programs have few arcs; those with `r` below the optimum are added. Time: some 10 programs of
    O(nodes) arcs, each with up to `nodes` maximum flows.
    """
    arc = np.isfinite(delay) & ~np.eye(len(delay), dtype=bool)
    # Scaled to the order of 1, for which the solver's tolerances are made.
    unit = float(np.max(delay, where=arc, initial=0.0))
    if unit == 0.0:
        return 0.0
    cost = np.where(arc, delay / unit, np.inf)
    kept = _near(cost) & arc
    kept[node], kept[:, node] = arc[node], arc[:, node]
    cuts: list[_Cut] = []
    bound = -np.inf
    for _ in range(rounds):
        solved = _solve(cost, kept, node, cuts)
        if solved is None:
            if np.array_equal(kept, arc):
                break
            kept = arc
            continue
        flow, optimum, left = solved
        bound = max(bound, float(left[arc].min()))
        missing = arc & ~kept & (left < optimum - 1e-9)
        new = _violated(flow, node)
        if not new and not missing.any():
            break
        cuts += new
        kept = kept | missing
    return bound * unit


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Cut:
    """Nodes that a circuit must leave if it visits one of them."""

    inside: BoolArray
    visited: int


def _near(cost: FloatArray) -> BoolArray:
    """The cheapest arcs out of and into each node."""
    near = np.zeros(cost.shape, dtype=bool)
    np.put_along_axis(near, np.argsort(cost, axis=1, kind="stable")[:, :NEAR], True, axis=1)
    np.put_along_axis(near, np.argsort(cost, axis=0, kind="stable")[:NEAR], True, axis=0)
    return near


def _solve(
    cost: FloatArray, kept: BoolArray, node: int, cuts: list[_Cut]
) -> tuple[FloatArray, float, FloatArray] | None:
    """Optimal flow, its cost, and the reduced cost of every arc."""
    nodes = len(cost)
    i, j = np.nonzero(kept)
    arcs = np.arange(len(i))
    ones = np.ones(len(i))
    out = coo_array((ones, (i, arcs)), shape=(nodes, len(i))).tocsr()
    into = coo_array((ones, (j, arcs)), shape=(nodes, len(i))).tocsr()
    own = csr_array((i == node).astype(np.float64)[np.newaxis])
    rows = [out - csr_array(np.ones((nodes, 1))) @ own]
    rows += [
        csr_array(((i == cut.visited).astype(np.float64) - (cut.inside[i] & ~cut.inside[j]))[np.newaxis])
        for cut in cuts
    ]
    limits = vstack(rows, format="csr")
    result = solve(
        cost[i, j],
        A_ub=limits,
        b_ub=np.zeros(limits.shape[0]),
        A_eq=vstack([out - into, csr_array(ones[np.newaxis])], format="csr"),
        b_eq=np.append(np.zeros(nodes), 1.0),
        method="highs",
    )
    if result.status != 0:
        return None
    flow = np.zeros(cost.shape)
    flow[i, j] = result.x
    potential = result.eqlin.marginals[:nodes]
    multipliers = np.minimum(result.ineqlin.marginals, 0.0)
    left = cost - potential[:, np.newaxis] + potential - multipliers[:nodes, np.newaxis]
    left[node] += multipliers[:nodes].sum()
    for cut, multiplier in zip(cuts, multipliers[nodes:].tolist(), strict=True):
        if multiplier < 0:
            left[cut.visited] -= multiplier
            left[np.ix_(cut.inside, ~cut.inside)] += multiplier
    return flow, float(result.fun), left


def _violated(flow: FloatArray, node: int) -> list[_Cut]:
    """Node sets whose cut constraint the flow violates."""
    scale = UNITS * len(flow)
    capacity = csr_array(np.rint(flow * scale).astype(np.int32))
    visits = flow.sum(axis=1)
    covered = np.zeros(len(flow), dtype=bool)
    found = []
    for k in np.argsort(-visits, kind="stable").tolist():
        if k == node or covered[k] or visits[k] * len(flow) < 1e-6:
            continue
        most = maximum_flow(capacity, k, node)
        if most.flow_value >= visits[k] * scale * (1 - 1e-3):
            continue
        inside = np.zeros(len(flow), dtype=bool)
        inside[_reached(capacity, most.flow, k)] = True
        covered |= inside
        found.append(_Cut(inside=inside, visited=int(np.argmax(np.where(inside, visits, -1.0)))))
    return found


def _reached(capacity: csr_array, flow: csr_array, start: int) -> IntArray:
    """Nodes reachable from the start in the residual network."""
    residual = capacity - flow
    residual.eliminate_zeros()
    return np.asarray(breadth_first_order(residual, start, return_predecessors=False), dtype=np.int64)

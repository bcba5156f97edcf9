"""Rings on sparse connectivity graphs: an exact search, and the reasons why there is none."""

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack
from scipy.sparse.csgraph import maximum_bipartite_matching

from topologies.arrays import BoolArray, IntArray
from topologies.connectivity import Connectivity
from topologies.digraph import check_connected, components
from topologies.errors import InputError
from topologies.integer_program import Rule, solve_program
from topologies.sizes import MANY_SILOS

ROUNDS = 40
"""Most integer programs, each with the cuts of those before."""
BRANCHES = 100
"""Most branch-and-bound nodes of each."""


def some_circuit(allowed: BoolArray) -> tuple[list[int] | None, bool]:
    """Circuit through all nodes, by integer programming.

    Parameters
    ----------
    allowed : ndarray of bool, shape (n, n)
        Which arcs exist; false on the diagonal.

    Returns
    -------
    tour : list of int or None
        Every node once, from node 0 on.
    known : bool
        Whether the answer is proven: a tour, or that there is none. Else the search gave up.

    Notes
    -----
    One arc into and out of each node (an assignment), solved by HiGHS; where its arcs form several circuits, each
    must be left at least once in the next try (Dantzig, Fulkerson, Johnson 1954). Exponential at worst, so limited
    by counts, not by time: the same answer on every machine. Sparse one-way arcs, where local search fails, are easy.
    """
    nodes = len(allowed)
    if not (allowed.any(axis=1).all() and allowed.any(axis=0).all()):
        return None, True
    if nodes > MANY_SILOS:
        return None, False
    source, target = np.nonzero(allowed)
    arcs = np.arange(len(source))
    ones = np.ones(len(arcs))
    degree = vstack([coo_array((ones, (end, arcs)), shape=(nodes, len(arcs))) for end in (source, target)])
    rules: list[Rule] = [(degree.tocsr(), 1, 1)]
    costs = np.random.default_rng(0).random(len(arcs))
    for _ in range(ROUNDS):
        answer = solve_program(
            costs, rules, integrality=np.ones(len(arcs), dtype=np.int64), low=0, high=1, nodes=BRANCHES
        )
        if answer.x is None:
            return None, answer.status == 2
        used = answer.x > 0.5
        parts, part = components(nodes, source[used], target[used], strong=False)
        if parts == 1:
            return tour_along(source[used], target[used]), True
        inside = np.arange(parts)[:, np.newaxis] == part
        leaving = csr_array((inside[:, source] & ~inside[:, target]).astype(np.float64))
        rules.append((leaving, 1, np.inf))
    return None, False


def tour_along(source: IntArray, target: IntArray) -> list[int]:
    """Nodes of a directed ring with these arcs, in order, from node 0 on."""
    after = dict(zip(source.tolist(), target.tolist(), strict=True))
    tour = [0]
    while len(tour) < len(after):
        tour.append(after[tour[-1]])
    return tour


def is_dense(allowed: BoolArray) -> bool:
    """Whether so many arcs exist that there is a circuit through all nodes.

    Parameters
    ----------
    allowed : ndarray of bool, shape (n, n)
        Which arcs exist; false on the diagonal.

    Notes
    -----
    Ghouila-Houri (1960): a strongly connected digraph whose nodes have at least ``n`` arcs each, out and in together,
    has one.
    """
    nodes = len(allowed)
    degree = allowed.sum(axis=0) + allowed.sum(axis=1)
    if nodes == 1 or not (degree >= nodes).all():
        return nodes == 1
    return components(nodes, *np.nonzero(allowed), strong=True)[0] == 1


def require_reach(kind: str, graph: Connectivity) -> None:
    """Raise an error where a silo can send to none or receive from none, or some silos cannot reach others."""
    allowed, labels = graph.may_send, graph.labels
    if np.count_nonzero(allowed) == graph.silos * (graph.silos - 1):
        return
    for axis, lack in ((1, "send to no other silo"), (0, "receive from no other silo")):
        alone = ~allowed.any(axis=axis)
        if graph.silos > 1 and alone.any():
            raise InputError(f"{kind}: no ring exists, since {labels[int(np.argmax(alone))]} can {lack}.")
    check_connected(f"{kind}: the silos must reach each other", labels, *np.nonzero(allowed), strong=True)


def no_ring(kind: str, graph: Connectivity) -> InputError:
    """Error for a network on which no ring was found, with the simplest known reason.

    Parameters
    ----------
    kind : str
        Name of the designer.

    Returns
    -------
    InputError
        To be raised by the caller.

    Notes
    -----
    Reasons in this order: a silo that can send, or receive, nothing; silos that cannot reach each other; a silo
    without which two others cannot reach each other either way, although a ring less one silo is a path through all
    others; silos that can send to fewer silos than they are (Hall 1935); an integer programme without solution.
    Whether a ring exists at all is NP-complete, so there may be none for another reason.
    """
    try:
        require_reach(kind, graph)
    except InputError as error:
        return error
    allowed, labels = graph.may_send, graph.labels
    cut = _cut_silo(allowed)
    if cut is not None:
        silo, one, other = (labels[i] for i in cut)
        return InputError(
            f"{kind}: no ring exists, since it would pass {silo} twice: without it neither of {one} and {other} "
            f"can reach the other."
        )
    crowd, hearers = _crowd(allowed)
    if crowd:
        some = ", ".join(labels[i] for i in crowd[:5]) + (", ..." if len(crowd) > 5 else "")
        return InputError(
            f"{kind}: no ring exists, since {len(crowd)} silos ({some}) can send to {hearers} silos only."
        )
    if some_circuit(allowed) == (None, True):
        return InputError(f"{kind}: no ring exists: no circle of pairs that can talk visits every silo once.")
    return InputError(f"{kind}: no ring was found, neither by local search nor by integer programming.")


def _cut_silo(allowed: BoolArray) -> tuple[int, int, int] | None:
    """A node, and two others of which neither reaches the other without it."""
    nodes = len(allowed)
    for node in range(nodes):
        rest = np.delete(np.arange(nodes), node)
        source, target = np.nonzero(allowed[np.ix_(rest, rest)])
        parts, part = components(nodes - 1, source, target, strong=True)
        if parts < 2:
            continue
        # The strong components make an acyclic digraph; each of its paths doubles in length per product.
        reach = np.zeros((parts, parts), dtype=bool)
        reach[part[source], part[target]] = True
        np.fill_diagonal(reach, True)
        for _ in range(int(parts).bit_length()):
            reach = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
        apart = np.argwhere(~(reach | reach.T))
        if len(apart):
            one, other = (int(rest[np.argmax(part == p)]) for p in apart[0])
            return node, min(one, other), max(one, other)
    return None


def _crowd(allowed: BoolArray) -> tuple[list[int], int]:
    """Nodes with fewer successors than nodes (Hall), and the number of successors; none where there is no such set."""
    sender = maximum_bipartite_matching(csr_array(allowed), perm_type="row")
    free = np.setdiff1d(np.arange(len(allowed)), sender[sender >= 0])
    if not len(free):
        return [], 0
    crowd = {int(free[0])}
    while True:
        heard = np.flatnonzero(allowed[sorted(crowd)].any(axis=0))
        more = crowd | {int(sender[j]) for j in heard}
        if more == crowd:
            return sorted(crowd), len(heard)
        crowd = more

"""Short directed tours: exact for few nodes, local search from many starts for more."""

from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.compiled_designs import takes_compiled
from topologies.designers.euler_tours import euler_tours
from topologies.designers.matching import complete_graph, lightest_matching
from topologies.designers.ring_search import some_circuit
from topologies.designers.tie_orders import tie_orders
from topologies.designers.tour_search import NEIGHBOURS, TourSearch
from topologies.designers.trees import prim
from topologies.sizes import MANY_SILOS

if TYPE_CHECKING:
    from topologies.designers.compiled.tour_search import CompiledTourSearch

EXACT_NODES = 9
"""Up to this many nodes the tour is a proven optimum."""
SEED = 0
"""Seed of the restarts."""
CHRISTOFIDES_NODES = 60
"""Nodes above which restarts find shorter tours in less time than Christofides' algorithm."""
RESTARTS = 500
"""Perturbations tried by default, in each order of the nodes."""
SEARCHES, MANY_SEARCHES = 3, 1
"""Orders of the nodes in which a short tour is searched for, and on more than `MANY_SILOS` nodes."""
MATCHINGS = 3
"""Orders of ties in which Christofides' algorithm matches nodes: the part that takes time."""


def short_tour(
    costs: FloatArray, *, restarts: int = RESTARTS, seed: int = SEED, searches: int | None = None
) -> list[int] | None:
    """Short directed tour through all nodes.

    Parameters
    ----------
    costs : ndarray, shape (n, n)
        Cost of each arc, >= 0, infinite where there is none; the diagonal is ignored. It may be asymmetric, break the
        triangle inequality and have ties and zeros.
    restarts : int
        Number of perturbations tried, one after the other.
    seed : int
        Seed of the perturbations.
    searches : int, optional
        Orders of the nodes, by which ties are broken, in each of which a tour is searched for; the shortest is kept. At
        most as many as `tie_orders` gives; by default `SEARCHES`, or `MANY_SEARCHES` of many nodes.

    Returns
    -------
    list of int or None
        Every node once, from node 0 on; None where no tour was found. With at most `EXACT_NODES` nodes the tour is
        the shortest, and None means that there is none.

    Notes
    -----
    Few nodes: dynamic programming over subsets (Held and Karp 1962). More: nearest neighbour from several nodes,
    greedy edges and Christofides' tour (complete graphs of at most `CHRISTOFIDES_NODES` nodes), each improved by
    2-opt and Or-opt moves among near neighbours, on the true asymmetric costs; then iterated local search on the
    best: two neighbouring segments change places, moves follow around them, and a longer tour is kept with a
    probability that falls (Martin, Otto, Felten 1991; Johnson, McGeoch 1997). All that in several orders of the nodes.
    Where it leaves a missing arc, the
    search begins again from `some_circuit`. Time O(n^2 log n), and O(n) for each restart.
    """
    nodes = len(costs)
    if nodes <= EXACT_NODES:
        return _exact(costs)
    if searches is None:
        searches = SEARCHES if nodes <= MANY_SILOS else MANY_SEARCHES
    whole = _search(costs)
    symmetric = (costs + costs.T) / 2
    complete = bool(np.all(np.isfinite(symmetric[~np.eye(nodes, dtype=bool)])))
    extra = [christofides_tour(symmetric)] if complete and nodes <= CHRISTOFIDES_NODES else []
    found = []
    for order in tie_orders(nodes)[:searches]:
        same = np.array_equal(order, np.arange(nodes))
        ordered = costs if same else costs[np.ix_(order, order)]
        search, place = whole if same else _search(ordered), np.argsort(order)
        starts = [*_starts(ordered), *(place[tour].tolist() for tour in extra)]
        best = min((search.improved(start) for start in starts), key=search.length)
        found.append(order[search.perturbed(best, restarts, seed)].tolist())
    best = min(found, key=whole.length)
    existing = np.isfinite(costs) & ~np.eye(nodes, dtype=bool)
    if not existing[best, best[1:] + best[:1]].all():
        circuit, _ = some_circuit(existing)
        if circuit is None:
            return None
        best = whole.perturbed(whole.improved(circuit), restarts, seed)
    first = best.index(0)
    return best[first:] + best[:first]


def _search(costs: FloatArray, *, noise: float | None = None) -> "TourSearch | CompiledTourSearch":
    """Local search on costs."""
    if takes_compiled(len(costs)):
        from topologies.designers.compiled.tour_search import CompiledTourSearch

        return CompiledTourSearch.of(costs, noise=noise)
    return TourSearch.of(costs, noise=noise)


def _exact(costs: FloatArray) -> list[int] | None:
    """Shortest tour of few nodes."""
    nodes = len(costs)
    if nodes == 1:
        return [0]
    paths = {(1 << j, j): (float(costs[0, j]), [0, j]) for j in range(1, nodes)}
    for _ in range(nodes - 2):
        longer: dict[tuple[int, int], tuple[float, list[int]]] = {}
        for (visited, last), (length, path) in paths.items():
            for new in range(1, nodes):
                if visited >> new & 1:
                    continue
                total = length + float(costs[last, new])
                key = (visited | 1 << new, new)
                if key not in longer or total < longer[key][0]:
                    longer[key] = (total, [*path, new])
        paths = longer
    length, tour = min((length + float(costs[path[-1], 0]), path) for length, path in paths.values())
    return tour if np.isfinite(length) else None


def _starts(costs: FloatArray) -> list[list[int]]:
    """Initial tours."""
    nodes = len(costs)
    count = 5 if nodes <= MANY_SILOS else 1
    starts = [_nearest_neighbour(costs, first) for first in range(0, nodes, -(-nodes // count))]
    return [*starts, _greedy(costs)]


def _nearest_neighbour(costs: FloatArray, first: int) -> list[int]:
    """Nearest-neighbour tour from `first`."""
    if takes_compiled(len(costs)):
        from topologies.designers.compiled.first_tours import nearest_neighbours

        found = np.full(len(costs), first)
        nearest_neighbours(costs, found, np.empty(len(costs), dtype=bool))
        return found.tolist()
    open_costs = costs.copy()
    open_costs[:, first] = np.inf
    tour, left = [first], np.ones(len(costs), dtype=bool)
    left[first] = False
    while len(tour) < len(costs):
        row = open_costs[tour[-1]]
        new = int(np.argmin(np.where(left, row, np.inf)))
        if not left[new]:  # no arc leads on
            new = int(np.argmax(left))
        tour.append(new)
        left[new] = False
    return tour


def _greedy(costs: FloatArray) -> list[int]:
    """Greedy tour: cheapest arcs that form paths, then the paths one after the other."""
    nodes = len(costs)
    near = min(nodes, 3 * NEIGHBOURS)
    masked = costs.copy()
    np.fill_diagonal(masked, np.inf)
    sources = np.repeat(np.arange(nodes), near)
    targets = np.argsort(masked, axis=1, kind="stable")[:, :near].ravel()
    order = np.argsort(masked[sources, targets], kind="stable")
    if takes_compiled(nodes):
        from topologies.designers.compiled.first_tours import greedy_edges

        found, *buffers = np.empty((4, nodes), dtype=np.int64)
        greedy_edges(masked, sources[order], targets[order], found, *buffers)
        joined: list[int] = found.tolist()
        return joined
    after, before = [-1] * nodes, [-1] * nodes
    end = list(range(nodes))  # the other end of the path that a node is an end of
    for i, j in zip(sources[order].tolist(), targets[order].tolist(), strict=True):
        if after[i] < 0 and before[j] < 0 and end[i] != j:
            after[i], before[j] = j, i
            start, stop = end[i], end[j]
            end[start], end[stop] = stop, start
    tour: list[int] = []
    heads = [node for node in range(nodes) if before[node] < 0]
    while heads:
        node = heads[0] if not tour else min(heads, key=lambda head: (masked[tour[-1], head], head))
        heads.remove(node)
        while node >= 0:
            tour.append(node)
            node = after[node]
    return tour


def christofides_tours(weights: FloatArray, *, orders: int = MATCHINGS) -> IntArray:
    """Tours of Christofides' algorithm on finite symmetric weights, by several orders of ties, each from node 0 on.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    orders : int
        Orders of the nodes, in each of which a minimum spanning tree and a matching are made.

    Returns
    -------
    ndarray of int, shape (tours, n)
        Shortest first, each once.

    Notes
    -----
    The algorithm leaves three things open: which of several minimum trees and matchings is taken, which Euler circuit
    of their edges is walked, and from where. Each of the tours keeps its factor of 3/2 where the weights keep the
    triangle inequality. Matchings O(n^3); `topologies.designers.euler_tours.EULER_CIRCUITS` circuits of each, O(n).
    """
    nodes = len(weights)
    if nodes < 3:
        return np.arange(nodes)[np.newaxis]
    found: list[IntArray] = []
    counts: tuple[int, ...] = ()
    for order in tie_orders(nodes)[:orders]:
        ordered = weights[np.ix_(order, order)]
        tree = prim(ordered)
        odd = np.flatnonzero(np.bincount(np.ravel(tree), minlength=nodes) % 2)
        edges = np.concatenate((tree, odd[lightest_matching(ordered[np.ix_(odd, odd)])]))
        counts = (*counts, len(edges))
        found.append(order[euler_tours(edges, nodes, counts)])
    tours = np.concatenate(found)
    from_zero = np.argmax(tours == 0, axis=1)[:, np.newaxis] + np.arange(nodes)
    tours = _distinct(np.take_along_axis(tours, from_zero % nodes, axis=1))
    length = weights[tours, np.roll(tours, -1, axis=1)].sum(axis=1)
    return tours[np.argsort(length, kind="stable")]


def _distinct(tours: IntArray) -> IntArray:
    """Each tour once, in lexicographic order."""
    # Numbers of four bytes, the high one first, are ordered as their bytes are: ten times as fast as numpy's `unique`.
    rows = {row.tobytes(): number for number, row in enumerate(tours.astype(">u4"))}
    return tours[[rows[row] for row in sorted(rows)]]


def published_tour(weights: FloatArray) -> IntArray:
    """The one tour of networkx's Christofides' algorithm in the order of the nodes, as in the published tables."""
    if len(weights) < 3:
        return np.arange(len(weights))
    tour: list[int] = nx.approximation.christofides(complete_graph(weights))
    return np.roll(np.array(tour[:-1], dtype=np.int64), -tour.index(0))


def christofides_tour(weights: FloatArray) -> IntArray:
    """The shortest of `christofides_tours` by one order of ties."""
    return np.asarray(christofides_tours(weights, orders=1)[0])


def repaired(costs: FloatArray, tour: IntArray) -> IntArray | None:
    """The tour after moves that each take missing (infinite) arcs out of it, or None if some stay."""
    existing = np.isfinite(costs) & ~np.eye(len(costs), dtype=bool)
    # A search prices a missing arc at nodes * largest: no other change is worth half of that.
    threshold = len(costs) * (float(costs[existing].max()) or 1.0) / 2
    result = _search(costs, noise=threshold).improved(tour.tolist())
    if not existing[result, result[1:] + result[:1]].all():
        return None
    return np.roll(np.array(result, dtype=np.int64), -result.index(0))

"""Short directed tours: exact for few nodes, local search from many starts for more."""

import dataclasses

import networkx as nx
import numpy as np

from topologies.arrays import FloatArray
from topologies.designers.circuits import some_circuit
from topologies.designers.tour_search import NEIGHBOURS, TourSearch
from topologies.sizes import MANY_SILOS

EXACT_NODES = 9
"""Up to this many nodes the tour is a proven optimum."""
SEED = 0
"""Seed of the restarts."""
CHRISTOFIDES_NODES = 60
"""Beyond it Christofides' tour costs more time than restarts that find shorter ones."""
RESTARTS = 500
"""Perturbations tried by default."""


def short_tour(costs: FloatArray, *, restarts: int = RESTARTS, seed: int = SEED) -> list[int] | None:
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
    probability that falls (Martin, Otto, Felten 1991; Johnson, McGeoch 1997). Where that leaves a missing arc, the
    search begins again from `some_circuit`. Time O(n^2 log n), and O(n) for each restart.
    """
    nodes = len(costs)
    if nodes <= EXACT_NODES:
        return _exact(costs)
    search = TourSearch.of(costs)
    tours = [search.improved(start) for start in _starts(costs)]
    best = min(tours, key=search.length)
    best = search.perturbed(best, restarts, seed)
    existing = np.isfinite(costs) & ~np.eye(nodes, dtype=bool)
    if not existing[best, best[1:] + best[:1]].all():
        circuit, _ = some_circuit(existing)
        if circuit is None:
            return None
        best = search.perturbed(search.improved(circuit), restarts, seed)
    return _from_first(best)


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
    """Tours to begin with."""
    nodes = len(costs)
    symmetric = (costs + costs.T) / 2
    count = 5 if nodes <= MANY_SILOS else 1
    starts = [_nearest_neighbour(costs, first) for first in range(0, nodes, -(-nodes // count))]
    starts.append(_greedy(costs))
    if nodes <= CHRISTOFIDES_NODES and np.all(np.isfinite(symmetric[~np.eye(nodes, dtype=bool)])):
        starts.append(christofides_tour(symmetric))
    return starts


def _nearest_neighbour(costs: FloatArray, first: int) -> list[int]:
    """From `first` always on to the nearest node not yet visited."""
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
    """The cheapest arcs that leave paths, then the paths one after the other."""
    nodes = len(costs)
    near = min(nodes, 3 * NEIGHBOURS)
    masked = costs.copy()
    np.fill_diagonal(masked, np.inf)
    sources = np.repeat(np.arange(nodes), near)
    targets = np.argsort(masked, axis=1, kind="stable")[:, :near].ravel()
    order = np.argsort(masked[sources, targets], kind="stable")
    after, before = [-1] * nodes, [-1] * nodes
    end = list(range(nodes))  # the other end of the path that a node is an end of
    for i, j in zip(sources[order].tolist(), targets[order].tolist(), strict=True):
        if i != j and after[i] < 0 and before[j] < 0 and end[i] != j:
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


def christofides_tour(weights: FloatArray) -> list[int]:
    """Tour of Christofides' algorithm (networkx) on finite symmetric weights, from node 0 on, O(n^3)."""
    if len(weights) < 3:
        return list(range(len(weights)))
    complete: nx.Graph[int] = nx.Graph()
    # Edge by edge: a zero weight is no edge to from_numpy_array, but two nodes of one place are still neighbours.
    complete.add_weighted_edges_from(
        (i, j, float(weights[i, j])) for i in range(len(weights)) for j in range(i + 1, len(weights))
    )
    tour: list[int] = nx.approximation.christofides(complete)
    return _from_first([int(node) for node in tour[:-1]])


def repaired(costs: FloatArray, tour: list[int]) -> list[int] | None:
    """The tour after moves that each take missing (infinite) arcs out of it, or None if some stay."""
    existing = np.isfinite(costs) & ~np.eye(len(costs), dtype=bool)
    # TourSearch prices a missing arc at nodes * largest: no other change is worth half of that.
    threshold = len(costs) * (float(costs[existing].max()) or 1.0) / 2
    result = dataclasses.replace(TourSearch.of(costs), noise=threshold).improved(tour)
    if not existing[result, result[1:] + result[:1]].all():
        return None
    return _from_first(result)


def _from_first(tour: list[int]) -> list[int]:
    """The same tour from node 0 on."""
    first = tour.index(0)
    return tour[first:] + tour[:first]

"""Lightest perfect matchings of complete graphs."""

import networkx as nx
import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.compiled_designs import takes_compiled


def lightest_matching(weights: FloatArray) -> IntArray:
    """Perfect matching of the smallest total weight on a complete graph.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
        Symmetric and finite; `n` is even.

    Returns
    -------
    ndarray of int, shape (n / 2, 2)
        Its edges, sorted.

    Notes
    -----
    By networkx; where designs are compiled by code that makes the same choices. Time O(n^3).
    """
    if takes_compiled(len(weights)):
        from topologies.designers.compiled.perfect_matching import perfect_matching

        return perfect_matching(weights)
    return np.array(sorted(nx.min_weight_matching(complete_graph(weights))))


def complete_graph(weights: FloatArray) -> "nx.Graph[int]":
    """Complete graph with these weights of its edges."""
    complete: nx.Graph[int] = nx.Graph()
    # Edge by edge: a zero weight is no edge to from_numpy_array, but two nodes of one place are still neighbours.
    complete.add_weighted_edges_from(
        (i, j, float(weights[i, j])) for i in range(len(weights)) for j in range(i + 1, len(weights))
    )
    return complete

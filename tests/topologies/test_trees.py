"""Lightest trees: Kruskal's, with ties by pair."""

import itertools
from contextlib import nullcontext

import networkx as nx
import numpy as np
import pytest

from topologies.compiled_designs import many_designs
from topologies.designers.trees import prim


@pytest.mark.parametrize("by_compiled", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_ties_fall_as_in_kruskals_algorithm_over_sorted_pairs(seed, by_compiled):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(1, 12))
    weights = rng.integers(0, int(rng.integers(1, 6)), (nodes, nodes)).astype(float)
    weights = weights + weights.T
    pairs = sorted(itertools.combinations(range(nodes), 2), key=lambda pair: (weights[pair], pair))
    forest, expected = nx.utils.UnionFind(range(nodes)), []
    for i, j in pairs:
        if forest[i] != forest[j]:
            forest.union(i, j)
            expected.append((i, j))
    with many_designs() if by_compiled else nullcontext():
        edges = prim(weights).tolist()

    assert sorted((min(edge), max(edge)) for edge in edges) == sorted(expected)
    # Each edge leads from the tree so far to a new node.
    joined = {0}
    for old, new in edges:
        assert old in joined
        assert new not in joined
        joined.add(new)


def test_of_equal_edges_to_a_node_the_one_from_the_smaller_number_counts():
    weights = np.full((4, 4), 3.0)
    for i, j, weight in ((0, 3, 1), (3, 2, 1), (1, 2, 2), (1, 3, 2)):
        weights[i, j] = weights[j, i] = weight

    assert prim(weights).tolist() == [[0, 3], [3, 2], [2, 1]]

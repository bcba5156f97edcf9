"""Hamiltonian paths in cubes of trees."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import InputError
from topologies.designers.cube_path import cube_paths


def cube_path(edges, nodes: int, start: int = 0) -> list[int]:
    return cube_paths(edges, nodes, starts=[start])[0].tolist()


def longest_step(edges, nodes: int, path: list[int]) -> int:
    tree = nx.Graph(edges)
    tree.add_nodes_from(range(nodes))
    distance = dict(nx.all_pairs_shortest_path_length(tree))
    return max((distance[a][b] for a, b in itertools.pairwise(path)), default=0)


@given(seed=st.integers(0, 2**32 - 1), nodes=st.integers(1, 40), window=st.integers(1, 40))
def test_every_node_once_in_steps_of_at_most_three(seed, nodes, window):
    # A window of 1 makes paths, a wide one random recursive trees; both under random names and edge orders.
    rng = np.random.default_rng(seed)
    name = rng.permutation(nodes)
    edges = [(int(name[v]), int(name[rng.integers(max(0, v - window), v)])) for v in range(1, nodes)]
    rng.shuffle(edges)
    start = int(rng.integers(nodes))
    path = cube_path(edges, nodes, start)

    assert sorted(path) == list(range(nodes))
    assert path[0] == start
    assert longest_step(edges, nodes, path) <= 3
    if nodes > 1:
        assert {path[0], path[-1]} in [set(edge) for edge in edges]


@pytest.mark.parametrize("nodes", [1, 2, 3, 10])
def test_a_star_needs_steps_of_two(nodes):
    edges = [(0, leaf) for leaf in range(1, nodes)]
    path = cube_path(edges, nodes)

    assert sorted(path) == list(range(nodes))
    assert longest_step(edges, nodes, path) <= 2


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([], [0]),
        ([(1, 0)], [0, 1]),
        ([(1, 0), (1, 2)], [0, 2, 1]),
        ([(0, 1), (1, 2), (2, 3)], [0, 2, 3, 1]),
    ],
)
def test_small_trees_by_hand(edges, expected):
    assert cube_path(edges, len(expected)) == expected


def test_the_cube_is_needed():
    # The square of a spider with three legs of two edges has no Hamiltonian circuit (Fleischner), its cube has one.
    spider = [(0, 1), (1, 2), (0, 3), (3, 4), (0, 5), (5, 6)]
    path = cube_path(spider, 7)

    assert longest_step(spider, 7, path) == 3


def test_a_long_path_does_not_recurse():
    nodes = 10_000
    path = cube_path([(i, i + 1) for i in range(nodes - 1)], nodes)

    assert sorted(path) == list(range(nodes))
    assert np.abs(np.diff(path)).max() <= 3


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        ([], 2, "0 edges do not make a tree on 2 nodes"),
        ([(0, 1), (1, 0)], 3, "2 edges do not make a tree on 3 nodes"),
        ([(0, 1), (1, 2), (2, 0)], 3, "3 edges do not make a tree on 3 nodes"),
        ([(0, 0)], 1, "1 edges do not make a tree on 1 nodes"),
        ([(0, 1), (1, 3)], 3, r"edge\(=\(1, 3\)\) must join nodes 0\.\.2"),
    ],
)
def test_edges_that_make_no_tree(edges, nodes, message):
    with pytest.raises(InputError, match=message):
        cube_path(edges, nodes)

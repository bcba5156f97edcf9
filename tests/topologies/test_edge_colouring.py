"""Edge colouring: proper, complete, within Vizing's bound."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import InputError
from topologies.designers.edge_colouring import edge_colouring, fewest_matchings
from topologies.designers.tie_orders import tie_orders


def assert_colouring(matchings, edges, nodes):
    assert all(len(matching) and len(np.unique(matching)) == matching.size for matching in matchings)
    coloured = [tuple(edge) for matching in matchings for edge in matching.tolist()]
    assert sorted(coloured) == sorted(tuple(sorted(edge)) for edge in edges)
    largest = np.bincount(np.ravel(edges).astype(int), minlength=nodes).max(initial=0)
    assert len(matchings) <= largest + 1


@st.composite
def graphs(draw):
    nodes = draw(st.integers(1, 16))
    pairs = list(itertools.combinations(range(nodes), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    names = draw(st.permutations(range(nodes)))
    return nodes, [(names[i], names[j]) for i, j in edges]


@given(graphs())
def test_random_graphs(graph):
    nodes, edges = graph
    assert_colouring(edge_colouring(edges, nodes), edges, nodes)


@given(st.integers(10, 40), st.floats(0.5, 1.0), st.integers(0, 10**6))
def test_dense_graphs_need_fans_and_paths(nodes, density, seed):
    rng = np.random.default_rng(seed)
    edges = [pair for pair in itertools.combinations(range(nodes), 2) if rng.random() < density]
    assert_colouring(edge_colouring(edges, nodes), edges, nodes)


@pytest.mark.parametrize("nodes", [2, 3, 4, 5, 22, 40, 79, 87])
def test_complete_graphs_get_the_fewest_matchings_all_equally_large(nodes):
    edges = list(itertools.combinations(range(nodes), 2))
    matchings = edge_colouring(edges, nodes)

    assert_colouring(matchings, edges, nodes)
    assert len(matchings) == (nodes if nodes % 2 else nodes - 1)
    assert {len(matching) for matching in matchings} == {nodes // 2}


def test_star_has_one_matching_per_leaf():
    assert len(edge_colouring([(0, leaf) for leaf in range(1, 9)], 9)) == 8


def test_petersen_graph_needs_four():
    edges = [(i, (i + 1) % 5) for i in range(5)] + [(i, i + 5) for i in range(5)]
    edges += [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
    matchings = edge_colouring(edges, 10)

    assert_colouring(matchings, edges, 10)
    assert len(matchings) == 4


def test_order_and_direction_of_the_edges_do_not_matter():
    edges = list(itertools.combinations(range(7), 2))
    again = edge_colouring([(j, i) for i, j in reversed(edges)], 7)
    assert [m.tolist() for m in again] == [m.tolist() for m in edge_colouring(edges, 7)]


@pytest.mark.parametrize("nodes", [0, 1, 5])
def test_no_edges_no_matchings(nodes):
    assert edge_colouring([], nodes) == ()


@pytest.mark.parametrize(
    ("edge", "rule"),
    [((0, 3), "nodes of 0..2"), ((-1, 0), "nodes of 0..2"), ((1, 1), "different"), ((1, 0), "repeated")],
)
def test_bad_edges(edge, rule):
    with pytest.raises(InputError, match=rule):
        edge_colouring([(0, 1), edge], 3)


@given(graphs())
def test_the_fewest_matchings_of_all_orders(graph):
    nodes, edges = graph
    edges = np.array(edges, dtype=np.int64).reshape(-1, 2)
    found = fewest_matchings(edges, nodes)
    counts = [
        len(edge_colouring(map(tuple, np.argsort(order)[edges].tolist()), nodes))
        for order in tie_orders(nodes)
    ]

    assert_colouring(found, edges.tolist(), nodes)
    assert len(found) == min(counts)
    assert all(matching.tolist() == sorted(map(sorted, matching.tolist())) for matching in found)

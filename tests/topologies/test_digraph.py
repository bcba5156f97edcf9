"""Components against networkx, and errors that name both sides of a cut."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import InputError
from topologies.digraph import check_connected, components

pairs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=16)


def ends(arcs):
    return np.array(arcs, dtype=np.int64).reshape(-1, 2).T


def same(label):
    """Which nodes share a component."""
    return (np.asarray(label)[:, np.newaxis] == np.asarray(label)).tolist()


@given(arcs=pairs, strong=st.booleans())
def test_components(arcs, strong):
    count, label = components(8, *ends(arcs), strong=strong)
    graph = nx.DiGraph(arcs)
    graph.add_nodes_from(range(8))
    parts = list((nx.strongly_connected_components if strong else nx.weakly_connected_components)(graph))
    expected = [next(k for k, part in enumerate(parts) if node in part) for node in range(8)]

    assert count == len(parts)
    assert sorted(set(label.tolist())) == list(range(count))
    assert same(label) == same(expected)


@pytest.mark.parametrize("strong", [True, False])
def test_arcs_that_are_repeated_and_loops_change_nothing(strong):
    # Scipy's search for strong components does not end on some matrices that hold an entry twice.
    rng = np.random.default_rng(0)
    for _ in range(200):
        source, target = rng.integers(0, 9, (2, 30))
        once = np.unique(np.column_stack((source, target))[source != target], axis=0).T

        count, label = components(9, source, target, strong=strong)
        expected, expected_label = components(9, *once, strong=strong)
        assert (count, label.tolist()) == (expected, expected_label.tolist())


@given(arcs=pairs, strong=st.booleans())
def test_the_silos_that_an_error_names_are_apart(arcs, strong):
    graph = nx.DiGraph(arcs)
    graph.add_nodes_from(range(8))
    connected = nx.is_strongly_connected(graph) if strong else nx.is_weakly_connected(graph)
    labels = [str(node) for node in range(8)]
    if connected:
        check_connected("rule", labels, *ends(arcs), strong=strong)
        return
    with pytest.raises(InputError) as error:
        check_connected("rule", labels, *ends(arcs), strong=strong)
    a, b = (int(word) for word in str(error.value).rstrip(".").split() if word.isdigit())

    # The message says that nothing goes from the first to the second.
    assert not nx.has_path(graph if strong else graph.to_undirected(), a, b)


def test_messages():
    cut = ends([(0, 1), (1, 0), (2, 1)])
    with pytest.raises(
        InputError, match=r"^r: arcs must connect all, but nothing that a sends can reach c\.$"
    ):
        check_connected("r: arcs must connect all", "abc", *cut, strong=True)
    with pytest.raises(InputError, match=r"^r, but none joins the silos of a with those of b\.$"):
        check_connected("r", "abc", *ends([(0, 2)]), strong=False)
    check_connected("r", "abc", *cut, strong=False)


def test_many_parallel_arcs_are_one():
    # 256 of them would be 0 in a byte.
    many = np.zeros(256, dtype=np.int64)

    assert components(2, many, many + 1, strong=False)[0] == 1
    assert components(2, many, many + 1, strong=True)[0] == 2


@pytest.mark.parametrize("strong", [True, False])
def test_one_node_and_none(strong):
    assert components(1, *ends([]), strong=strong)[0] == 1
    assert components(0, *ends([]), strong=strong)[0] == 0
    check_connected("r", ["a"], *ends([]), strong=strong)

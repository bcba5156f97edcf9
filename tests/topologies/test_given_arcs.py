"""Arcs as users give them to `build_overlay`: labels, matrices, graphs of networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, load_underlay
from topologies.consensus import consensus_matrix
from topologies.given_arcs import mixing_arcs, numbered_arcs, silo_index, weighted_arcs

LABELS = ("a", "b", "c", "d")
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]
WORK = Workload(model_bits=1e8, compute_s=0.01)


@pytest.fixture(scope="module")
def gaia():
    return connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))


def arcs_of(arcs, labels=LABELS):
    pairs, weights = numbered_arcs(arcs, labels)
    return sorted(map(tuple, pairs.tolist())), weights


def test_labels_indices_and_graphs_are_the_same_arcs():
    adjacency = np.zeros((4, 4))
    adjacency[*zip(*RING, strict=True)] = 1
    named = [(LABELS[i], LABELS[j]) for i, j in RING]
    for given_arcs in (
        RING,
        np.array(RING),
        iter(named),
        [("0", "b"), (1, "c"), ("2", np.int64(3)), (3, 0)],
        adjacency,
        adjacency.astype(bool),
        nx.DiGraph(RING),
        nx.DiGraph(named),
        nx.from_numpy_array(adjacency.astype(int), create_using=nx.DiGraph, edge_attr=None),
    ):
        assert arcs_of(given_arcs) == (sorted(RING), None)


def test_where_a_label_is_a_number_texts_are_labels_only():
    # "1" is the label of silo 0 here, the number 1 is silo 1.
    labels = ("1", "2", "3", "4")
    assert arcs_of([("1", 1)], labels)[0] == [(0, 1)]
    assert arcs_of([("4", "1")], labels)[0] == [(3, 0)]
    for wrong in ("0", "01", "5", "x"):
        with pytest.raises(InputError, match=f"silo\\(='{wrong}'\\) must be one of 1, 2, 3, 4") as caught:
            numbered_arcs([("2", wrong)], labels)
        assert "A text is only a label here, not a silo's number, as '1' is a label." in str(caught.value)
    # One such label is enough.
    with pytest.raises(InputError, match="as '7' is a label"):
        numbered_arcs([("a", "1")], ("a", "7"))


@pytest.mark.parametrize("pairs", [[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
def test_an_array_of_two_pairs_of_two_silos_is_the_list(pairs):
    assert arcs_of(np.array(pairs), "ab") == arcs_of(pairs, "ab") == ([(0, 1), (1, 0)], None)


def test_other_arrays_of_two_silos_are_matrices():
    both = [(0, 1), (1, 0)]
    for adjacency in (np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[False, True], [True, False]])):
        assert arcs_of(adjacency, "ab") == (both, None)
    pairs, weights = arcs_of(np.full((2, 2), 0.5), "ab")
    assert (pairs, weights.tolist()) == (both, [[0.5, 0.5], [0.5, 0.5]])
    # The identity in floating point mixes nothing.
    assert arcs_of(np.eye(2), "ab")[0] == []
    with pytest.raises(InputError, match="the row of a sums to 2"):
        numbered_arcs(np.ones((2, 2), dtype=int), "ab")


def test_an_undirected_graph_has_both_directions():
    assert arcs_of(nx.path_graph(4))[0] == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]


def test_a_mixing_matrix_gives_the_arcs_that_it_needs():
    matrix = np.diag([0.7, 0.5, 0.5, 1.25])
    matrix[0, 1], matrix[1, 2], matrix[2, 3], matrix[3, 0] = 0.3, 0.5, 0.5, -0.25
    pairs, weights = arcs_of(matrix)

    assert pairs == [(0, 3), (1, 0), (2, 1), (3, 2)]  # silo 0 weighs the model of 1, which sends to it
    assert np.array_equal(weights, matrix)


@given(st.integers(0, 10**6), st.sampled_from([2, 5, 11]))
def test_a_matrix_by_a_rule_comes_back_as_its_overlay(seed, silos):
    rng = np.random.default_rng(seed)
    order = rng.permutation(silos)
    edges = {(int(order[i]), int(order[i + 1])) for i in range(silos - 1)}
    edges |= {(int(i), int(j)) for i, j in rng.integers(0, silos, (silos, 2)) if i != j}
    arcs = np.array(sorted(edges | {(j, i) for i, j in edges}))
    matrix = consensus_matrix("metropolis", silos, *arcs.T)
    pairs, weights = numbered_arcs(matrix, [f"s{i}" for i in range(silos)])

    assert np.array_equal(pairs, arcs)
    assert np.abs(weights - matrix).max() <= 1e-15


def test_rows_that_were_rounded_sum_to_one():
    matrix = np.round(np.full((3, 3), 1 / 3), 7)
    _, weights = numbered_arcs(matrix, "abc")

    assert np.abs(weights.sum(axis=1) - 1).max() <= 1e-15
    off = ~np.eye(3, dtype=bool)
    assert np.array_equal(weights[off], matrix[off])


def test_rounding_makes_no_weight_negative(gaia):
    graph = nx.DiGraph([(i, (i + 1) % 11) for i in range(11)])
    graph.add_edges_from((i, 0) for i in (4, 7))
    for *_, data in graph.in_edges(0, data=True):
        data["weight"] = 0.3333335
    for i in range(1, 11):
        graph.edges[i - 1, i]["weight"] = 0.5
    overlay = build_overlay("mine", gaia, WORK, graph)

    assert not overlay.negative_weights
    assert overlay.consensus[0, 0] == 0
    assert overlay.consensus[0, [4, 7, 10]] == pytest.approx(1 / 3, abs=1e-12)
    # The same as a matrix.
    matrix = overlay.consensus.copy()
    matrix[0] *= 1.0000005
    _, weights = numbered_arcs(matrix, gaia.labels)
    assert weights.min() == 0
    assert weights == pytest.approx(overlay.consensus, abs=1e-12)


@given(st.integers(0, 10**6), st.booleans())
def test_corrected_rows_sum_to_one_with_the_signs_that_they_had(seed, has_own):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(5), 5)
    if not has_own:
        np.fill_diagonal(matrix, 0.0)
        matrix /= matrix.sum(axis=1, keepdims=True)
    rounded = np.round(matrix, 7)
    _, weights = numbered_arcs(rounded, "abcde")

    assert np.abs(weights.sum(axis=1) - 1).max() <= 1e-12
    assert weights.min() >= 0
    assert np.abs(weights - matrix).max() <= 1e-6


def test_weights_of_a_graph_are_the_receivers():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 0.25), ("b", "c", 0.5), ("c", "d", 0.5), ("d", "a", 0.125)])
    _, weights = arcs_of(graph)

    assert (weights[1, 0], weights[1, 1]) == (0.25, 0.75)
    assert (weights[0, 3], weights[0, 0]) == (0.125, 0.875)
    graph.add_edge("a", "a", weight=0.875)
    pairs, same = arcs_of(graph)
    assert np.array_equal(same, weights)
    assert (0, 0) not in pairs


def test_an_overlay_of_a_mixing_matrix_mixes_by_it(gaia):
    ring = [(i, (i + 1) % 11) for i in range(11)]
    matrix = 0.6 * np.eye(11)
    for i, j in ring:
        matrix[j, i] = 0.4
    overlay = build_overlay("mine", gaia, WORK, matrix)

    assert list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)) == ring
    assert np.array_equal(overlay.consensus, matrix)
    assert not overlay.negative_weights
    as_pairs = build_overlay("mine", gaia, WORK, ring, consensus=matrix)
    assert overlay.closed_forms == as_pairs.closed_forms


def test_a_matrix_with_weights_below_0_is_one_of_fdla(gaia):
    path = [(i, i + 1) for i in range(10)] + [(i + 1, i) for i in range(10)]
    matrix = consensus_matrix("fdla", 11, *np.array(path).T)
    overlay = build_overlay("mine", gaia, WORK, matrix)

    assert overlay.negative_weights == bool((matrix < 0).any())
    assert len(overlay.source) == int((matrix[~np.eye(11, dtype=bool)] != 0).sum())


@pytest.mark.parametrize(
    ("arcs", "rule"),
    [
        ([("a", "e")], r"silo\(='e'\) must be one of a, b, c, d, or a number of 0..3"),
        ([("a", "9" * 5000)], r"silo\(='99.*99'\) must be a label or a number of 0..3"),
        ([("a", 10**5000)], r"silo\(=an integer of 16610 bits\) must be a label or a number of 0..3"),
        (np.full((4, 4), 0.25).tolist(), "arcs must be pairs of silos; a matrix must be an array of NumPy"),
        ([[0.5, 0.5], [0.5, 0.5]], "arcs must be pairs of silos; a matrix must be an array of NumPy"),
        (nx.DiGraph([("a", "b", {"weight": 10**5000})]), "weight must be a number on all edges"),
        ([("a", 4)], r"silo\(=4\) must be a label or a number of 0..3"),
        ([("a", -1)], r"silo\(=-1\) must be a label or a number of 0..3"),
        ([("a", True)], r"silo\(=True\) must be a label or a number"),
        ([("a", 0.5)], r"silo\(=0.5\) must be a label or a number"),
        ([("a", None)], r"silo\(=None\) must be a label or a number"),
        ([("a", "7")], r"silo\(=7\) must be a label or a number"),
        (7, "arcs must be pairs of silos"),
        ([7], "arcs must be pairs of silos"),
        (np.ones((3, 3)), r"arcs\(of shape \(3, 3\)\) must be pairs of silos, or a matrix of 4 rows"),
        (
            np.ones((4, 4)),
            r"the row of a sums to 4; rows of a mixing matrix must sum to 1 within 1e-06 \(an adjacency",
        ),
        (np.full((4, 4), np.nan), r"the weight\(=nan\) that a gives a must be finite"),
        (np.full((4, 4), "x"), "the matrix must hold numbers"),
        (nx.DiGraph([("a", "b"), ("b", "z")]), r"silo\(='z'\) must be one of"),
        (
            nx.DiGraph([("a", "b", {"weight": 0.5}), ("b", "a")]),
            "weight must be stated by all 2 edges or by none, is by 1",
        ),
        (nx.DiGraph([("a", "b", {"weight": "much"})]), "weight must be a number on all edges"),
        (
            nx.DiGraph([("a", "b", {"weight": 700.0}), ("b", "a", {"weight": 0.5})]),
            "the weights that b gives the models that it receives sum to 700; they must sum to <= 1 within 1e-06",
        ),
        (
            nx.MultiDiGraph([("a", "b", {"weight": 0.1}), ("a", "b", {"weight": 0.1})]),
            "a -> b must not be repeated",
        ),
    ],
)
def test_what_is_no_overlay_is_named(arcs, rule):
    with pytest.raises(InputError, match=rule):
        numbered_arcs(arcs, LABELS)


@pytest.mark.parametrize(
    ("sums", "said"),
    [
        ([1.0, 2.0, -0.5, 1.0], "the row of c sums to -0.5;"),
        ([0.25, 1.0, 1.875, 1.0], "the row of c sums to 1.875;"),
        ([1.0, 1.0, 1.0, 1.0 + 2e-6], "the row of d sums to 1.000002;"),
        ([1.0, np.inf, 2.0, 1.0], "the row of b sums to inf;"),
    ],
)
def test_the_row_farthest_from_1_is_named(sums, said):
    matrix = np.zeros((4, 4))
    matrix[:, 0] = sums
    matrix[1] = [1e308, 1e308, 0, 0] if np.isinf(sums[1]) else matrix[1]
    with pytest.raises(InputError) as caught:
        mixing_arcs(matrix, LABELS)
    assert str(caught.value).startswith(said)


def test_an_undirected_graph_states_weights_both_ways_and_loops_once():
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 0.25), ("b", "c", 0.125), ("c", "d", 0.5), ("b", "b", 0.625)])
    pairs, weights = arcs_of(graph)

    assert pairs == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    assert weights.tolist() == [
        [0.75, 0.25, 0.0, 0.0],
        [0.25, 0.625, 0.125, 0.0],
        [0.0, 0.125, 0.375, 0.5],
        [0.0, 0.0, 0.5, 0.5],
    ]


def test_a_node_without_an_edge_must_be_a_silo_too():
    graph = nx.DiGraph(RING)
    graph.add_node("a")
    assert arcs_of(graph) == (sorted(RING), None)
    graph.add_node("z")
    with pytest.raises(InputError, match=r"^silo\(='z'\) must be one of a, b, c, d, or a number of 0\.\.3"):
        numbered_arcs(graph, LABELS)


def test_no_arcs_are_pairs_of_none():
    for nothing in ([], iter(()), np.empty((0, 2), dtype=int), nx.DiGraph()):
        pairs, weights = numbered_arcs(nothing, LABELS)
        assert (pairs.shape, pairs.dtype, weights) == ((0, 2), np.int64, None)


@pytest.mark.parametrize(
    ("silo", "number"),
    [("a", 0), ("d", 3), ("3", 3), ("003", 3), ("0", 0), (2, 2), (2.0, 2), (np.int8(1), 1)],
)
def test_a_silo_by_label_or_number(silo, number):
    found = silo_index(silo, LABELS)
    assert (found, type(found)) == (number, int)


@pytest.mark.parametrize(
    "silo", ["4", "00004", -1, 4, 3.5, np.nan, np.inf, True, np.True_, None, (0,), "-1", "²"]
)
def test_what_is_neither_a_label_nor_a_number_of_a_silo_is_refused(silo):
    with pytest.raises(InputError, match=r"^silo\(=.*\) must be .*a number of 0\.\.3"):
        silo_index(silo, LABELS)


def test_own_weights_that_are_stated_stay_and_others_are_what_is_left():
    pairs = np.array([(0, 1), (1, 1), (1, 0), (2, 0)])
    arcs, weights = weighted_arcs(pairs, [0.25, 0.75, 0.5, 0.125], "abc")

    assert arcs.tolist() == [[0, 1], [1, 0], [2, 0]]
    assert weights.tolist() == [[0.375, 0.5, 0.125], [0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]
    with pytest.raises(InputError, match=r"^the arc c -> a must not be repeated\.$"):
        weighted_arcs(np.array([(2, 0), (0, 1), (2, 0)]), [0.1, 0.2, 0.3], "abc")
    with pytest.raises(InputError, match=r"^the row of b sums to 0\.75; rows of a mixing matrix"):
        weighted_arcs(np.array([(0, 1), (1, 1)]), [0.25, 0.5], "abc")

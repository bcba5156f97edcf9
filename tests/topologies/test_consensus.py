"""Consensus rules by name and the spectral gap: closed forms, promises, bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from topologies.consensus import (
    agreed_weights,
    check_consensus,
    consensus_matrix,
    consensus_rules,
    spectral_gap,
    weight_pattern,
)
from topologies.errors import InputError
from topologies.weights import is_symmetric, local_degree, uniform


def both_ways(edges):
    a, b = np.array(edges).T
    return np.concatenate((a, b)), np.concatenate((b, a))


def directed_ring(silos):
    return np.arange(silos), (np.arange(silos) + 1) % silos


NOTHING = np.array([], dtype=np.int64)


@pytest.mark.parametrize("rule", sorted(consensus_rules))
def test_a_single_silo_keeps_its_model(rule):
    matrix = consensus_matrix(rule, 1, NOTHING, NOTHING)

    assert matrix.tolist() == [[1.0]]
    assert spectral_gap(matrix) == 1.0


@pytest.mark.parametrize("rule", sorted(consensus_rules))
def test_two_silos_average_in_one_round(rule):
    matrix = consensus_matrix(rule, 2, np.array([0, 1]), np.array([1, 0]))

    assert matrix == pytest.approx(np.full((2, 2), 0.5), abs=1e-8)


@pytest.mark.parametrize("rule", ["local_degree", "metropolis", "fdla", "fmmc"])
def test_two_by_two_torus(rule):
    # On a torus of width 2 the neighbours to both sides are the same silo: each edge occurs twice.
    edges = [(0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (2, 0), (1, 3), (3, 1)]
    matrix = consensus_matrix(rule, 4, *both_ways(edges))

    third = 1 / 3
    expected = [
        [third, third, third, 0],
        [third, third, 0, third],
        [third, 0, third, third],
        [0, third, third, third],
    ]
    assert matrix == pytest.approx(np.array(expected), abs=1e-7)
    assert np.all(matrix[np.array(expected) == 0] == 0)
    assert spectral_gap(matrix) == pytest.approx(2 / 3, abs=1e-7)


@pytest.mark.parametrize("silos", [2, 3, 8, 87])
@pytest.mark.parametrize("rule", ["local_degree", "half_ring"])
def test_gap_of_the_directed_ring(silos, rule):
    matrix = consensus_matrix(rule, silos, *directed_ring(silos))

    assert np.all(matrix[matrix != 0] == 0.5)
    assert spectral_gap(matrix) == pytest.approx(1 - np.cos(np.pi / silos), abs=1e-12)


@pytest.mark.parametrize("silos", [2, 5, 30])
def test_gap_of_the_uniform_matrix_and_the_complete_graph(silos):
    complete = np.nonzero(~np.eye(silos, dtype=bool))

    assert spectral_gap(uniform(silos)) == pytest.approx(1, abs=1e-12)
    assert spectral_gap(consensus_matrix("metropolis", silos, *complete)) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("silos", [3, 4, 20])
def test_gap_of_the_path_with_metropolis_weights(silos):
    matrix = consensus_matrix("metropolis", silos, *both_ways([(i, i + 1) for i in range(silos - 1)]))

    assert spectral_gap(matrix) == pytest.approx((2 - 2 * np.cos(np.pi / silos)) / 3, abs=1e-12)


def test_gap_of_a_star_with_metropolis_weights():
    # Every edge weighs 1 / silos; the leaves' differences shrink by 1 - 1 / silos.
    matrix = consensus_matrix("metropolis", 6, *both_ways([(0, leaf) for leaf in range(1, 6)]))

    assert spectral_gap(matrix) == pytest.approx(1 / 6, abs=1e-12)


def test_gap_counts_every_eigenvalue_on_the_unit_circle():
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    apart = np.eye(3)

    assert spectral_gap(swap) == pytest.approx(0, abs=1e-12)
    assert spectral_gap(apart) == pytest.approx(0, abs=1e-12)
    assert spectral_gap(np.array([[-1.0, 2.0], [2.0, -1.0]])) == pytest.approx(-2, abs=1e-12)


def test_gap_without_column_sums():
    # Eigenvalues of this matrix: 1 and a + b - 1.
    a, b = 0.9, 0.4
    matrix = np.array([[a, 1 - a], [1 - b, b]])

    assert spectral_gap(matrix) == pytest.approx(1 - abs(a + b - 1), abs=1e-12)
    assert spectral_gap(csr_array(matrix)) == spectral_gap(matrix)


@pytest.mark.slow
def test_gap_of_a_thousand_silos():
    matrix = consensus_matrix("half_ring", 1000, *directed_ring(1000))

    assert spectral_gap(csr_array(matrix)) == pytest.approx(1 - np.cos(np.pi / 1000), abs=1e-10)


@given(data=st.data(), silos=st.integers(2, 8))
def test_sums_and_pattern_on_random_digraphs(data, silos):
    order = data.draw(st.permutations(range(silos)))
    ends = st.tuples(st.integers(0, silos - 1), st.integers(0, silos - 1)).filter(
        lambda pair: pair[0] != pair[1]
    )
    chords = data.draw(st.lists(ends, max_size=10))
    arcs = np.array(list(zip(order, order[1:] + order[:1], strict=True)) + chords)
    source, target = arcs.T
    matrix = consensus_matrix("local_degree", silos, source, target)

    sends = np.zeros((silos, silos), dtype=bool)
    sends[target, source] = True
    assert matrix.sum(axis=1) == pytest.approx(np.ones(silos), abs=1e-12)
    assert np.array_equal((matrix > 0) & ~np.eye(silos, dtype=bool), sends)
    assert 0 < spectral_gap(matrix) <= 1
    if is_symmetric(silos, source, target):
        assert np.array_equal(matrix, consensus_matrix("metropolis", silos, source, target))
        assert matrix.sum(axis=0) == pytest.approx(np.ones(silos), abs=1e-12)


@pytest.mark.parametrize(
    ("rule", "silos", "arcs", "message"),
    [
        ("fldla", 2, [(0, 1), (1, 0)], "did you mean 'fdla'"),
        ("metropolis", 3, [(0, 1), (1, 2), (2, 0)], "metropolis needs a symmetric overlay"),
        ("half_ring", 3, [(0, 1), (1, 0), (1, 2), (2, 1)], "silo 1 sends 2 models"),
        ("half_ring", 4, [(0, 1), (1, 0), (2, 3), (3, 2)], "strongly connected"),
        ("local_degree", 3, [(0, 1), (1, 0)], "strongly connected"),
        ("fdla", 2, [], "strongly connected"),
        ("fdla", 2, [(0, 1), (1, 2)], "0..1"),
        ("fmmc", 2, [(0, 1), (1, 0), (1, 1)], "two different silos"),
    ],
)
def test_bad_overlays(rule, silos, arcs, message):
    source, target = np.array(arcs, dtype=np.int64).reshape(-1, 2).T

    with pytest.raises(InputError, match=message):
        consensus_matrix(rule, silos, source, target)


@pytest.mark.parametrize(
    ("matrix", "columns", "message"),
    [
        ([[0.5, 0.4], [0.5, 0.5]], False, "row of silo 0 sums to 0.9"),
        ([[0.5, 0.5], [1.0, 0.0]], True, "column of silo 0 sums to 1.5"),
        ([[0.5, 0.5]], False, "must be square"),
        ([[np.nan, 0.5], [0.5, 0.5]], False, "finite"),
    ],
)
def test_check_names_the_sum(matrix, columns, message):
    with pytest.raises(InputError, match=message):
        check_consensus(np.array(matrix), columns=columns)


def test_check_returns_the_matrix():
    matrix = np.array([[0.5, 0.5], [1.0, 0.0]])

    assert check_consensus(matrix, columns=False) is matrix
    assert check_consensus(local_degree(3, *directed_ring(3)), columns=True).shape == (3, 3)


EXACT = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])


def changed(i, j, by):
    """The matrix with another weight."""
    matrix = EXACT.copy()
    matrix[i, j] += by
    return matrix


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        (
            changed(1, 2, 0.5),
            {"columns": True},
            "consensus matrix: the row of silo 1 sums to 1.5; it must sum to 1 within 1e-12.",
        ),
        (
            changed(1, 2, -3e-12),
            {"columns": False, "labels": "abc"},
            "consensus matrix: the row of b sums to 0.999999999997; it must sum to 1 within 1e-12.",
        ),
        (
            np.array([[0.5, 0.5], [0.25, 0.75]]),
            {"columns": True, "labels": "ab"},
            "consensus matrix: the column of a sums to 0.75; it must sum to 1 within 1e-12.",
        ),
        (
            np.array([[1.25, -0.25], [-0.125, 1.125]]),
            {"columns": False},
            "consensus matrix: the weight(=-0.25) that silo 0 gives the model of silo 1 must be >= 0, or "
            "negative_weights=True be given.",
        ),
        (
            np.array([[np.inf, 0.5], [0.5, np.nan]]),
            {"columns": False, "labels": "ab", "negative_weights": True},
            "consensus matrix: the weight(=inf) that a gives the model of a must be finite.",
        ),
        (
            EXACT,
            {"columns": True, "labels": "abc", "pattern": np.tri(3, dtype=bool)},
            "consensus matrix: the weight(=0.25) that a gives the model of b must be 0: there is no arc b -> a.",
        ),
        (np.ones((2, 3)) / 3, {"columns": False}, "consensus matrix has shape (2, 3); it must be square."),
        (np.ones(1), {"columns": False}, "consensus matrix has shape (1,); it must be square."),
        (np.empty((0, 0)), {"columns": False}, "consensus matrix has shape (0, 0); it must be square."),
    ],
)
def test_what_is_no_consensus_matrix_is_said_in_one_line(matrix, options, message):
    with pytest.raises(InputError) as caught:
        check_consensus(matrix, **options)
    assert str(caught.value) == message


def test_rounding_is_no_wrong_sum_and_no_weight_below_0():
    for matrix in (changed(0, 1, 9e-13), changed(2, 2, -9e-13), np.array([[1.0, -9e-13], [-9e-13, 1.0]])):
        assert check_consensus(matrix, columns=True) is matrix
    below = np.array([[1.25, -0.25], [-0.25, 1.25]])
    assert check_consensus(below, columns=True, negative_weights=True) is below
    pattern = np.array([[True, False], [True, True]])
    matrix = np.array([[1.0, 0.0], [0.5, 0.5]])
    assert check_consensus(matrix, columns=False, pattern=pattern) is matrix


def test_through_a_hub_models_of_all_that_it_hears_come_to_those_that_hear_it():
    # 0 and 1 send to the hub 2, which sends to 1 and 3; 3 sends to 0.
    source, target = np.array([0, 1, 2, 2, 3]), np.array([2, 2, 1, 3, 0])
    plain = [[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]]

    assert weight_pattern(4, source, target).tolist() == np.array(plain, dtype=bool).tolist()
    plain[1], plain[3] = [1, 1, 1, 0], [1, 1, 1, 1]
    assert weight_pattern(4, source, target, hub=2).tolist() == np.array(plain, dtype=bool).tolist()


def test_the_mean_on_which_silos_agree_by_hand():
    # (0.8, 0.2) A = (0.8, 0.2).
    matrix = np.array([[0.9, 0.1], [0.4, 0.6]])
    assert agreed_weights(matrix) == pytest.approx([0.8, 0.2], rel=1e-12)
    assert np.linalg.matrix_power(matrix, 100)[1] == pytest.approx([0.8, 0.2], rel=1e-12)
    assert agreed_weights(EXACT).tolist() == [1 / 3] * 3
    assert agreed_weights(np.ones((1, 1))).tolist() == [1.0]
    assert agreed_weights(np.eye(2)) is None
    assert agreed_weights(np.array([[0.0, 1.0], [1.0, 0.0]])) is None


@pytest.mark.parametrize(("gap", "agree"), [(1.1e-9, True), (1e-9, False), (0.0, False), (-1.0, False)])
def test_a_gap_of_rounding_is_none(gap, agree):
    assert (agreed_weights(EXACT, gap=gap) is not None) == agree


@pytest.mark.parametrize(
    ("arcs", "message"),
    [
        ([(0, 1), (1, 2), (2, 3)], r"^arcs must join silos 0\.\.2\.$"),
        ([(0, 1), (1, 2), (2, -1)], r"^arcs must join silos 0\.\.2\.$"),
        ([(0, 1), (1, 1), (2, 0)], r"^an arc must join two different silos\.$"),
        (
            [(0, 1), (1, 0), (0, 2)],
            r"^consensus rule balanced: the overlay must be strongly connected, but nothing that silo 2 sends can "
            r"reach silo 0\.$",
        ),
    ],
)
def test_arcs_of_no_overlay_are_said_in_one_line(arcs, message):
    with pytest.raises(InputError, match=message):
        consensus_matrix("balanced", 3, *np.array(arcs).T)

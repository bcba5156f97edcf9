"""Consensus matrices that come in: a weight needs an arc, rows sum to 1, and columns are reported."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, design, make_schedule
from topologies.consensus import agreed_weights, consensus_matrix, weight_pattern
from topologies.designers.enrich import enrich
from topologies.weights import local_degree

WORK = Workload(model_bits=1e6, compute_s=0.1)
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]
HALF = np.array([[0.5, 0, 0, 0.5], [0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5]])


@pytest.fixture(scope="module")
def graph(make_underlay):
    pairs = [(i, j, 10.0) for i in range(4) for j in range(i)]
    return connectivity(make_underlay(4, pairs), access=AccessLinks(up_bps=1e9, down_bps=1e9))


def overlay_of(graph, matrix, **options):
    return build_overlay("x", graph, WORK, RING, consensus=np.array(matrix, dtype=object), **options)


def with_row(row):
    """The matrix of the ring with another first row: silo 0 hears silo 3."""
    return np.vstack((np.asarray(row, dtype=float), HALF[1:]))


def test_weights_of_the_arcs_are_taken(graph):
    assert np.array_equal(overlay_of(graph, HALF).consensus, HALF)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (
            np.full((4, 4), 0.25),
            "x: consensus matrix: the weight(=0.25) that r0 gives the model of r1 must be 0: "
            "there is no arc r1 -> r0.",
        ),
        # The transposed matrix weighs along the arcs the wrong way round: silo 0 would hear silo 1.
        (HALF.T, "that r0 gives the model of r1 must be 0: there is no arc r1 -> r0."),
        (with_row([2, -1, 0, 0]), "that r0 gives the model of r1 must be 0"),
        (
            with_row([2, 0, 0, -1]),
            "the weight(=-1) that r0 gives the model of r3 must be >= 0, or negative_weights=True",
        ),
        (with_row([-0.5, 0, 0, 1.5]), "the weight(=-0.5) that r0 gives the model of r0 must be >= 0"),
        (with_row([0.5, 0, 0, 0.4]), "the row of r0 sums to 0.9; it must sum to 1 within 1e-12."),
        (with_row([0.5, 0, 0, 0.5 + 3e-12]), "the row of r0 sums to 1.000000000003"),
        (with_row([0, 0, 0, 0]), "the row of r0 sums to 0;"),
        (with_row([0.5, np.nan, 0, 0.5]), "the weight(=nan) that r0 gives the model of r1 must be finite."),
        (with_row([np.inf, 0, 0, 0.5]), "the weight(=inf) that r0 gives the model of r0 must be finite."),
        (np.eye(3), "x: consensus has shape (3, 3); it must be (4, 4)."),
        (np.array([["a"] * 4] * 4, dtype=object), "x: consensus must be a matrix of numbers."),
        (with_row([0.5, 1e-300, 0, 0.5]), "that r0 gives the model of r1 must be 0"),
    ],
)
def test_wrong_weights_are_named(graph, matrix, message):
    with pytest.raises(InputError) as error:
        overlay_of(graph, matrix)
    assert message in str(error.value)


def test_negative_weights_are_taken_where_they_are_asked_for(graph):
    matrix = with_row([1.25, 0, 0, -0.25])

    assert overlay_of(graph, matrix, negative_weights=True).negative_weights
    with pytest.raises(InputError, match="there is no arc r1 -> r0"):
        overlay_of(graph, with_row([2, -1, 0, 0]), negative_weights=True)


def test_rounding_is_no_negative_weight(graph):
    assert overlay_of(graph, with_row([1.0, 0, 0, -1e-16])).consensus[0, 3] == -1e-16


def test_the_star_averages_all_that_the_hub_hears(graph):
    star = design("star", graph, WORK)
    arcs = list(zip(star.source.tolist(), star.target.tolist(), strict=True))
    by_size = np.tile([0.1, 0.2, 0.3, 0.4], (4, 1))
    weighted = build_overlay("star", graph, WORK, arcs, hub=star.hub, consensus=by_size)

    assert np.array_equal(star.consensus, np.full((4, 4), 0.25))
    assert star.agreed_weights.tolist() == [0.25] * 4
    assert weighted.agreed_weights == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=1e-12)
    with pytest.raises(InputError, match="there is no arc"):  # without a hub nobody averages for others
        build_overlay("x", graph, WORK, arcs, consensus=np.full((4, 4), 0.25))


def test_what_a_hub_does_not_hear_it_does_not_send():
    # 0 is the hub: 1 and 2 send to it, it sends to 2 and 3; 3 sends to 1.
    pattern = weight_pattern(4, np.array([1, 2, 0, 0, 3]), np.array([0, 0, 2, 3, 1]), hub=0)

    assert pattern.astype(int).tolist() == [[1, 1, 1, 0], [0, 1, 0, 1], [1, 1, 1, 0], [1, 1, 1, 1]]


def test_the_mean_by_hand():
    matrix = np.array([[0.5, 0.25, 0.25], [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    # v_2 = v_0 / 4 + v_2 / 2, so v_2 = v_0 / 2; v_0 = v_0 / 2 + v_1 / 2, so v_1 = v_0.
    assert agreed_weights(matrix) == pytest.approx([0.4, 0.4, 0.2], abs=1e-15)
    assert np.linalg.matrix_power(matrix, 200)[1] == pytest.approx([0.4, 0.4, 0.2], abs=1e-12)


@pytest.mark.parametrize(
    "matrix", [np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[2.0, -1.0], [0, 1]])]
)
def test_silos_that_never_agree(matrix):
    assert agreed_weights(matrix) is None


def test_one_silo_agrees_with_itself():
    assert agreed_weights(np.ones((1, 1))).tolist() == [1.0]


@given(seed=st.integers(0, 2**32 - 1), silos=st.integers(2, 8))
def test_powers_of_local_degree_weights_tend_to_the_reported_mean(seed, silos):
    rng = np.random.default_rng(seed)
    order = rng.permutation(silos)
    pairs = {tuple(pair) for pair in np.column_stack((order, np.roll(order, -1))).tolist()}
    pairs |= {(i, j) for i, j in rng.integers(0, silos, (silos, 2)).tolist() if i != j}
    matrix = local_degree(silos, *np.array(sorted(pairs)).T)
    weights = agreed_weights(matrix)
    limit = np.linalg.matrix_power(matrix, 2**14)

    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert limit == pytest.approx(np.tile(weights, (silos, 1)), abs=1e-9)


def test_fdla_keeps_its_negative_weights():
    # Around a hub of five neighbours the fastest weights leave the hub less than nothing of its own model.
    pairs = np.array([(i, j) for i in range(6) for j in range(6) if i != j and 0 in (i, j)])
    matrix = consensus_matrix("fdla", 6, *pairs.T)

    assert matrix.min() < -1e-3
    assert matrix.sum(axis=1) == pytest.approx(np.ones(6), abs=1e-12)


def test_an_enriched_overlay_says_that_weights_may_be_negative(graph):
    tree = design("mst", graph, WORK)

    assert enrich(tree, consensus="fdla").overlay.negative_weights
    assert not enrich(tree, consensus="metropolis").overlay.negative_weights


class Drawn:
    """An overlay of someone else: the ring in every round, with any weights."""

    kind = "drawn"
    work = WORK

    def __init__(self, graph, matrix, negative_weights=False):
        self.graph, self.matrix, self.negative_weights = graph, np.asarray(matrix), negative_weights

    def draw(self, rng, round_):
        del rng, round_
        return np.zeros(1, dtype=np.int64)

    def arcs(self, choice):
        del choice
        return tuple(np.array(sorted(RING)).T)

    def consensus(self, source, target):
        del source, target
        return self.matrix


def test_weights_of_drawn_rounds_are_checked(graph):
    assert np.array_equal(make_schedule(Drawn(graph, HALF), 0, 3).consensus(2), HALF)
    for matrix, message in (
        (np.full((4, 4), 0.25), "drawn: .*r0 gives the model of r1 must be 0: there is no arc r1 -> r0"),
        (with_row([2, 0, 0, -1]), "drawn: .*must be >= 0, or negative_weights=True"),
        (with_row([0.5, 0, 0, 0.4]), "drawn: .*row of r0 sums to 0.9"),
        (np.eye(3), r"drawn: consensus has shape \(3, 3\); it must be \(4, 4\)"),
    ):
        with pytest.raises(InputError, match=message):
            make_schedule(Drawn(graph, matrix), 0, 3).consensus(0)
    signed = Drawn(graph, with_row([2, 0, 0, -1]), negative_weights=True)
    assert make_schedule(signed, 0, 1).consensus(0)[0, 0] == 2

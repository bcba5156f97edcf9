"""Base-(k + 1) graphs: exact averages, published periods, edges."""

import math

import numpy as np
import pytest

from topologies import InputError
from topologies.consensus import check_consensus
from topologies.periodic.base import base

PERIODS = {
    11: (7, 5, 4, 4),
    22: (8, 6, 5, 4),
    40: (8, 6, 5, 3),
    79: (13, 8, 7, 6),
    87: (13, 8, 6, 6),
    25: (9, 6, 5, 2),
    24: (6, 4, 3, 3),
    6: (4, 2, 2, 2),
    5: (5, 3, 3, 1),
}
"""By silos: of degree 1, 2, 3, 4."""
DEGREES = (1, 2, 3, 4, 5)
QUICK = (*range(2, 18), 22, 29, 40, 79, 87, 129)
"""Numbers of silos of the quick test; the slow one has all others."""


def check(silos, degree):
    """Averages exactly, with few enough arcs and rounds."""
    product = np.eye(silos)
    states = base(silos, degree)
    for state in states:
        matrix = check_consensus(state.consensus(silos), columns=True)
        assert np.array_equal(matrix, matrix.T)
        assert np.bincount(state.source, minlength=silos).max() <= degree
        assert np.bincount(state.target, minlength=silos).max() <= degree
        assert (state.lag == 1).all()
        assert (state.weight > 0).all()
        product = matrix @ product
    assert np.abs(product - 1 / silos).max() <= 1e-12
    assert len(states) <= 2 * math.log(silos, degree + 1) + 2


@pytest.mark.parametrize("silos", QUICK)
def test_the_product_of_a_period_is_the_average(silos):
    for degree in DEGREES:
        check(silos, degree)


@pytest.mark.slow
@pytest.mark.parametrize("silos", sorted({*range(2, 130)} - {*QUICK}))
def test_the_product_of_a_period_is_the_average_for_every_number_of_silos(silos):
    for degree in DEGREES:
        check(silos, degree)


@pytest.mark.parametrize("silos", PERIODS)
def test_periods(silos):
    assert tuple(len(base(silos, degree)) for degree in DEGREES[:4]) == PERIODS[silos]


def weights_of_pairs(silos, degree):
    """Of each round; both directions weigh the same."""
    return [
        {
            (int(i), int(j)): float(w)
            for i, j, w in zip(state.source, state.target, state.weight, strict=True)
            if i < j
        }
        for state in base(silos, degree)
    ]


def test_five_silos_of_degree_one_as_worked_out_by_hand():
    """Blocks 0..3 and 4: two rounds of H(4) while 4 waits, then 4 meets the last of the first block, and the rest."""
    assert weights_of_pairs(5, 1) == [
        {(0, 1): 0.5, (2, 3): 0.5},
        {(0, 2): 0.5, (1, 3): 0.5},
        {(3, 4): 0.8, (0, 1): 0.5},
        {(0, 1): 0.5, (2, 3): 0.5},
        {(0, 2): 0.5, (1, 3): 0.5},
    ]


def test_five_silos_of_degree_two_as_worked_out_by_hand():
    """Blocks 0..2 and 3, 4, each averaged; 3 and 4 meet one of the first block each; then both average once more.

    The last block goes on with its own rounds when all others do, although it holds the average by then.
    """
    third = pytest.approx(1 / 3)
    in_blocks = {(0, 1): third, (0, 2): third, (1, 2): third, (3, 4): 0.5}
    assert weights_of_pairs(5, 2) == [in_blocks, {(1, 4): 0.6, (2, 3): 0.6}, in_blocks]


@pytest.mark.parametrize("silos", [2, 4, 8, 16, 64])
def test_powers_of_two_are_hypercubes(silos):
    for k, state in enumerate(base(silos, 1)):
        assert np.array_equal(state.source ^ state.target, np.full(silos, 1 << k))
        assert state.weight.tolist() == [0.5] * silos


@pytest.mark.parametrize("silos", [2, 3, 7, 10])
@pytest.mark.parametrize("more", [0, 1, 10**9])
def test_one_round_suffices_where_all_may_talk_to_all(silos, more):
    (state,) = base(silos, silos - 1 + more)
    assert state.consensus(silos) == pytest.approx(np.full((silos, silos), 1 / silos), abs=1e-15)


@pytest.mark.parametrize("degree", DEGREES)
def test_a_thousand_silos_take_two_seconds_at_most(degree, processor_time_below):
    with processor_time_below(2):
        states = base(1000, degree)
    assert len(states) <= 2 * math.log(1000, degree + 1) + 2


def test_powers_beyond_the_precision_of_logarithms():
    """``log(243, 3)`` is below 5 in floating point."""
    check(243, 2)
    assert len(base(243, 2)) == 5


def test_one_silo_has_no_arcs_and_bad_numbers_are_errors():
    (state,) = base(1, 3)
    assert len(state.source) == 0
    for silos, degree, message in (
        (0, 1, r"^silos\(=0\) must be >= 1\.$"),
        (5, 0, r"^degree\(=0\) must be >= 1\.$"),
        (5, 1.5, r"^degree\(=1\.5\) must be an integer\.$"),
    ):
        with pytest.raises(InputError, match=message):
            base(silos, degree)

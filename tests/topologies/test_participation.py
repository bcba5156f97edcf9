import numpy as np
import pytest

from topologies import InputError
from topologies.participation import PARTICIPATION_STREAM, Participation


@pytest.mark.parametrize("participation", [Participation(share=0.3), Participation(count=2)])
def test_a_round_is_the_same_in_whatever_order_and_number_it_is_asked_for(participation):
    whole = participation.rows(0, 2500, silos=5, seed=9)
    assert whole.shape == (2500, 5)
    for first, count in ((0, 1), (1023, 2), (1024, 1024), (2000, 500), (7, 0)):
        assert np.array_equal(participation.rows(first, count, silos=5, seed=9), whole[first : first + count])
    assert not np.array_equal(participation.rows(0, 2500, silos=5, seed=10), whole)


def test_shares_are_those_of_independent_draws():
    rows = Participation(share=0.3).rows(0, 20_000, silos=4, seed=1)
    # Five standard deviations of a share of 20,000 draws, and of the product of two.
    assert rows.mean(axis=0) == pytest.approx([0.3] * 4, abs=5 * (0.21 / 20_000) ** 0.5)
    assert (rows[:, 0] & rows[:, 1]).mean() == pytest.approx(0.09, abs=5 * (0.0819 / 20_000) ** 0.5)
    assert Participation(share=1.0).rows(0, 100, silos=3, seed=1).all()


def test_so_many_silos_take_part_each_as_often_as_any_other():
    rows = Participation(count=2).rows(0, 20_000, silos=5, seed=1)
    assert (rows.sum(axis=1) == 2).all()
    assert rows.mean(axis=0) == pytest.approx([0.4] * 5, abs=5 * (0.24 / 20_000) ** 0.5)
    # Each of the 10 pairs: without replacement two of them have 1/10.
    assert (rows[:, 0] & rows[:, 4]).mean() == pytest.approx(0.1, abs=5 * (0.09 / 20_000) ** 0.5)
    assert Participation(count=5).rows(0, 100, silos=5, seed=1).all()


@pytest.mark.parametrize(
    "wrong",
    [{}, {"share": 0.5, "count": 2}, {"share": 0.0}, {"share": 1.1}, {"share": float("nan")}, {"count": 0}],
)
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(InputError, match="participation"):
        Participation(**wrong)


@pytest.mark.parametrize(("first", "count"), [(0, 1), (1022, 4), (2047, 1), (2048, 0)])
def test_rounds_come_from_the_blocks_of_1024_that_are_documented(first, count):
    def numbers(block):
        seed = np.random.SeedSequence(9, spawn_key=(PARTICIPATION_STREAM, block))
        return np.random.default_rng(seed).random((1024, 3))

    drawn = np.concatenate([numbers(block) for block in range(3)])[first : first + count]

    assert np.array_equal(Participation(share=0.4).rows(first, count, silos=3, seed=9), drawn < 0.4)
    fewest = Participation(count=1).rows(first, count, silos=3, seed=9)
    assert np.array_equal(fewest, drawn == drawn.min(axis=1, keepdims=True))

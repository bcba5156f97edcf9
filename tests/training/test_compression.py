"""Compressors: contraction, sizes of messages, ties and edges."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from training.compression import BUCKET, Qsgd, RandomK, Sign, TopK, compressor_of, kept_numbers
from training.config import TrainingConfig

ALL = (TopK(0.01), TopK(0.3), RandomK(0.01), RandomK(0.3), Qsgd(1), Qsgd(4), Qsgd(16), Qsgd(255), Sign())


def row_of(numbers: int, seed: int = 0, spread: float = 1.0) -> torch.Tensor:
    draws = np.random.default_rng(seed)
    return torch.from_numpy(
        draws.standard_normal(numbers) * np.exp(spread * draws.standard_normal(numbers))
    ).float()


def lost(compressor, row: torch.Tensor, times: int = 1) -> float:
    """Mean share of the squared norm that messages leave out."""
    return float(shares_lost(compressor, row, times).mean())


def shares_lost(compressor, row: torch.Tensor, times: int) -> np.ndarray:
    found = [compressor.compress(row, np.random.default_rng(seed)) - row for seed in range(times)]
    return np.array([float((each.double() ** 2).sum() / (row.double() ** 2).sum()) for each in found])


@pytest.mark.parametrize("compressor", ALL, ids=str)
@pytest.mark.parametrize("numbers", [1, 2, 511, 513, 3000])
def test_no_message_loses_more_than_the_published_share(compressor, numbers):
    """E |C(x) - x|^2 <= (1 - delta) |x|^2; the mean of 60 messages is within four standard errors of it."""
    delta = compressor.contraction(numbers)
    assert 0 < delta <= 1
    for spread in (0.0, 2.0):
        shares = shares_lost(compressor, row_of(numbers, spread=spread), times=60)
        assert shares.mean() <= 1 - delta + 4 * shares.std() / math.sqrt(60) + 1e-6


@pytest.mark.parametrize("ratio", [0.01, 0.25, 1.0])
def test_random_k_loses_exactly_its_share_in_the_mean(ratio):
    assert lost(RandomK(ratio), row_of(400), times=2000) == pytest.approx(1 - ratio, abs=0.01)


def test_top_k_loses_the_share_of_delta_where_all_numbers_are_equal_in_size():
    row = torch.tensor([1.0, -1.0]).repeat(50)
    assert lost(TopK(0.1), row) == pytest.approx(0.9, abs=1e-6)


def test_top_k_keeps_the_largest_and_of_equal_ones_the_first():
    row = torch.tensor([1.0, -3.0, 2.0, -2.0, 2.0, 0.0])
    generator = np.random.default_rng(0)
    assert TopK(0.5).compress(row, generator).tolist() == [0, -3, 2, -2, 0, 0]
    assert TopK(1 / 6).compress(row, generator).tolist() == [0, -3, 0, 0, 0, 0]
    assert TopK(1.0).compress(row, generator).tolist() == row.tolist()
    assert TopK(0.5).compress(torch.zeros(4), generator).tolist() == [0] * 4


def test_sign_has_the_published_loss():
    """|C(x) - x|^2 = (1 - |x|_1^2 / (b |x|^2)) |x|^2."""
    row = row_of(300, spread=1.0)
    expected = 1 - float(row.abs().sum() ** 2 / (300 * (row**2).sum()))
    assert lost(Sign(), row) == pytest.approx(expected, rel=1e-5)


def test_sign_scales_each_bucket_by_its_own_mean():
    row = torch.cat((torch.full((BUCKET,), -2.0), torch.tensor([1.0, 5.0])))
    found = Sign().compress(row, np.random.default_rng(0)).tolist()
    assert found == [-2.0] * BUCKET + [3.0, 3.0]


def test_sign_loses_036_of_normal_numbers():
    assert lost(Sign(), row_of(100 * BUCKET, spread=0.0)) == pytest.approx(1 - 2 / math.pi, abs=0.01)


@pytest.mark.parametrize("levels", [1, 4, 16])
def test_qsgd_is_unbiased_but_for_its_factor(levels):
    """The mean of many messages is x / tau, within four standard errors."""
    row, compressor = row_of(200, spread=0.5), Qsgd(levels)
    found = torch.stack(
        [compressor.compress(row, np.random.default_rng(seed)) for seed in range(3000)]
    ).double()
    tau = 1 + min(200 / levels**2, math.sqrt(200) / levels)
    error = (found.mean(dim=0) - row / tau).abs()
    assert compressor.contraction(200) == pytest.approx(1 / tau)
    assert (error <= 4.5 * found.std(dim=0) / math.sqrt(3000) + 1e-7).all()


def test_qsgd_sends_levels_of_the_norm():
    row = torch.tensor([3.0, -4.0])
    tau = 1 + min(2 / 25, math.sqrt(2) / 5)
    found = Qsgd(5).compress(row, np.random.default_rng(0)).double() * tau
    # |x| = 5 and 5 levels: both numbers are levels, whatever is drawn.
    assert found.tolist() == pytest.approx([3.0, -4.0])


@pytest.mark.parametrize("compressor", ALL, ids=str)
def test_zeros_stay_zeros(compressor):
    assert not compressor.compress(torch.zeros(700), np.random.default_rng(0)).any()


@pytest.mark.parametrize("compressor", ALL, ids=str)
def test_the_row_is_unchanged(compressor):
    row = row_of(700)
    before = row.clone()
    compressor.compress(row, np.random.default_rng(0))
    assert torch.equal(row, before)


def test_sizes_of_messages_by_hand():
    """Of 1,000 numbers: places take 10 bits; 2 buckets."""
    assert TopK(0.01).bits(1000) == 10 * (32 + 10)
    assert RandomK(0.01).bits(1000) == 10 * 32
    assert Qsgd(1).bits(1000) == 2 * 32 + 2 * 1000
    assert Qsgd(16).bits(1000) == 2 * 32 + 6 * 1000
    assert Sign().bits(1000) == 2 * 32 + 1000


@pytest.mark.parametrize(("numbers", "buckets"), [(64, 1), (512, 1), (513, 2), (1024, 2), (1025, 3)])
def test_a_bucket_has_512_numbers(numbers, buckets):
    assert Sign().bits(numbers) == 32 * buckets + numbers
    assert Qsgd(3).bits(numbers) == 32 * buckets + 3 * numbers
    # In a bucket all numbers get the same size.
    row = torch.arange(1.0, numbers + 1)
    assert len(Sign().compress(row, np.random.default_rng(0)).unique()) == buckets


def test_a_message_is_never_larger_than_the_model():
    assert Qsgd(2**20).bits(1000) == 22 * 1000 + 64
    assert [each.bits(1) for each in ALL] == [32] * len(ALL)
    assert TopK(1.0).bits(1000) == 32_000
    assert TopK(0.9).bits(1000) == 32_000
    assert TopK(1.0).bits(1) == 32


@given(numbers=st.integers(1, 10**8), ratio=st.floats(1e-9, 1))
def test_a_share_is_at_least_one_number_and_at_most_all(numbers, ratio):
    kept = kept_numbers(ratio, numbers)
    assert 1 <= kept <= numbers
    assert abs(kept - ratio * numbers) <= 1


@pytest.mark.parametrize("compressor", ALL, ids=str)
def test_default_steps_are_steps(compressor):
    assert all(0 < compressor.consensus_step(numbers) <= 1 for numbers in (1, 100, 10**8))


def test_default_steps_by_hand():
    """Of 100 numbers 9 are a share of 0.09, whose root is 0.3."""
    assert TopK(0.09).consensus_step(100) == pytest.approx(0.09)
    assert RandomK(0.09).consensus_step(100) == pytest.approx(0.3**3)
    # sqrt(100) / 4 = 2.5 is less than 100 / 16; for 4 levels of 4 numbers it is 4 / 16 in place of 2 / 4.
    assert Qsgd(4).contraction(100) == pytest.approx(1 / 3.5)
    assert Qsgd(4).consensus_step(100) == pytest.approx(1 / 7)
    assert Qsgd(4).consensus_step(4) == pytest.approx(1 / 2.5)
    assert Qsgd(1).contraction(10**6) == pytest.approx(1 / (1 + math.sqrt(BUCKET)))
    assert [Sign().consensus_step(numbers) for numbers in (1, 10**6)] == [0.05, 0.05]
    assert [Sign().contraction(numbers) for numbers in (1, 4, BUCKET, 10**6)] == [
        1,
        1 / 4,
        1 / BUCKET,
        1 / BUCKET,
    ]


def test_half_a_number_is_rounded_to_the_even_one():
    found = [kept_numbers(ratio, numbers) for ratio, numbers in ((0.5, 5), (0.5, 7), (0.1, 4), (1.0, 1))]
    assert found == [2, 4, 1, 1]


def test_with_all_numbers_the_step_is_that_without_compression():
    assert TopK(1.0).consensus_step(10) == RandomK(1.0).consensus_step(10) == 1


def test_the_compressor_of_a_training():
    made = {name: compressor_of(TrainingConfig(compression=name)) for name in ("none", "sign", "qsgd")}
    assert made == {"none": None, "sign": Sign(), "qsgd": Qsgd(16)}
    few = TrainingConfig(compression="top_k", compression_ratio=0.25)
    assert compressor_of(few) == TopK(0.25)
    assert compressor_of(TrainingConfig(compression="random_k")) == RandomK(0.01)

"""Whole writers, roles or accounts to silos, in lognormal numbers."""

import numpy as np
import pytest
from scipy.stats import kstest

from topologies.errors import InputError
from training.data.partitions import split
from training.data.partitions.by_group import apportion


def shares(groups, silos, seed=0):
    return split("groups", np.zeros(len(groups)), silos=silos, alpha=1.0, seed=seed, groups=np.array(groups))


def test_a_group_is_never_split():
    # Samples of a group lie anywhere in the file, and numbers of groups have gaps.
    groups = np.random.default_rng(5).integers(0, 60, 2000) * 7
    owners = {}
    for silo, share in enumerate(shares(groups, silos=9)):
        for group in np.unique(groups[share]):
            assert owners.setdefault(int(group), silo) == silo
    assert len(owners) == np.unique(groups).size


def test_numbers_of_groups_are_lognormal_with_standard_deviation_one_and_a_half():
    # With a group for each sample the sizes are the numbers; so many groups that rounding does not matter.
    sizes = np.array([share.size for share in shares(np.arange(2_000_000), silos=600, seed=4)])
    logarithms = np.log(sizes)
    deviation = logarithms.std(ddof=1)
    # The standard error of a normal sample's standard deviation is sigma / sqrt(2 n).
    assert deviation == pytest.approx(1.5, abs=3 * 1.5 / np.sqrt(1200))
    assert kstest((logarithms - logarithms.mean()) / 1.5, "norm").pvalue > 0.05


def test_all_groups_are_given_away_in_the_ratios_that_were_drawn():
    mean_logarithms = [
        np.mean(np.log([part.size for part in shares(np.arange(40_000), silos=20, seed=seed)]))
        for seed in range(30)
    ]
    # The drawn numbers are scaled to the sum of all groups: E log(size) = log(total) - E log(sum of the weights) + 5.
    draws = np.random.default_rng(1).lognormal(5.0, 1.5, (20_000, 20))
    expected = np.log(40_000) + 5.0 - np.log(draws.sum(axis=1)).mean()
    assert np.mean(mean_logarithms) == pytest.approx(expected, abs=0.2)


def test_largest_remainders():
    assert apportion(np.array([1.0, 1.0, 1.0]), 4).tolist() == [2, 1, 1]
    assert apportion(np.array([21.0, 53.0, 26.0]), 10).tolist() == [2, 5, 3]
    assert apportion(np.array([1e-9, 1.0]), 3).tolist() == [0, 3]


def test_one_silo_has_all_and_as_many_silos_as_groups_have_one_each():
    groups = [4, 4, 9, 2, 9, 9]
    assert shares(groups, silos=1)[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert sorted(share.tolist() for share in shares(groups, silos=3)) == [[0, 1], [2, 4, 5], [3]]


def test_more_silos_than_groups_is_an_error():
    with pytest.raises(InputError, match=r"silos\(=4\) must be <= 3, the number of groups \(writers, roles"):
        shares([0, 1, 2, 0, 1, 2], silos=4)


def test_data_without_groups_are_an_error():
    with pytest.raises(InputError, match=r"partition\(='groups'\) must have data with groups"):
        split("groups", np.zeros(5), silos=2, alpha=1.0, seed=0)

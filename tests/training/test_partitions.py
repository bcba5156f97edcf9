import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies.errors import InputError
from training.datasets import digits
from training.partitions import PARTITIONS, split


@given(
    name=st.sampled_from(sorted(PARTITIONS)),
    classes=st.integers(1, 6),
    samples=st.integers(1, 120),
    data=st.data(),
    alpha=st.sampled_from([1e-6, 1e-2, 0.5, 10.0, 1e9]),
    seed=st.integers(0, 2**32),
)
@settings(deadline=None, max_examples=80)
def test_shares_are_disjoint_complete_nonempty_and_seeded(name, classes, samples, data, alpha, seed):
    labels = np.array(data.draw(st.lists(st.integers(0, classes - 1), min_size=samples, max_size=samples)))
    silos = data.draw(st.integers(1, samples))
    shares = split(name, labels, silos=silos, alpha=alpha, seed=seed)
    assert len(shares) == silos
    assert all(share.size >= 1 for share in shares)
    np.testing.assert_array_equal(np.sort(np.concatenate(shares)), np.arange(samples))
    again = split(name, labels, silos=silos, alpha=alpha, seed=seed)
    assert all(np.array_equal(a, b) for a, b in zip(shares, again, strict=True))


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_two_hundred_silos_share_the_digits(alpha):
    labels = digits().train_labels
    shares = split("dirichlet", labels, silos=200, alpha=alpha, seed=1)
    assert min(share.size for share in shares) >= 1
    assert sum(share.size for share in shares) == labels.size


def test_small_alpha_separates_the_classes_and_large_alpha_mixes_them():
    labels = np.repeat(np.arange(10), 1000)

    def largest_class_share(alpha: float) -> float:
        shares = split("dirichlet", labels, silos=10, alpha=alpha, seed=3)
        counts = np.array([np.bincount(labels[share], minlength=10) for share in shares])
        return float(np.average(counts.max(axis=1) / counts.sum(axis=1), weights=counts.sum(axis=1)))

    # One silo holds a class (or several) almost alone, against one tenth of every class in each silo.
    assert largest_class_share(1e-3) > 0.5
    assert largest_class_share(1e6) == pytest.approx(0.1, abs=0.01)


def test_iid_sizes_differ_by_at_most_one():
    sizes = [share.size for share in split("iid", np.zeros(103), silos=10, alpha=0.5, seed=0)]
    assert sorted(sizes) == [10] * 7 + [11] * 3


def test_another_seed_is_another_split():
    labels = digits().train_labels
    first, second = (split("dirichlet", labels, silos=5, alpha=0.5, seed=seed) for seed in (0, 1))
    assert any(not np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_more_silos_than_samples_is_an_error():
    with pytest.raises(InputError, match=r"silos\(=4\) must be <= 3, the number of training samples\."):
        split("dirichlet", np.array([0, 1, 0]), silos=4, alpha=1.0, seed=0)

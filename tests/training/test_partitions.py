import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies.errors import InputError
from training.data.datasets import load_dataset
from training.data.partitions import PARTITIONS, split
from training.data.partitions.request import shares_of, without_empty_silos


@given(
    name=st.sampled_from(sorted(PARTITIONS)),
    classes=st.integers(1, 6),
    samples=st.integers(1, 120),
    data=st.data(),
    alpha=st.sampled_from([1e-6, 1e-2, 0.5, 10.0, 1e9]),
    seed=st.integers(0, 2**32),
)
def test_shares_are_disjoint_complete_nonempty_and_seeded(name, classes, samples, data, alpha, seed):
    labels = np.array(data.draw(st.lists(st.integers(0, classes - 1), min_size=samples, max_size=samples)))
    groups = data.draw(st.lists(st.integers(0, 9), min_size=samples, max_size=samples))
    silos = data.draw(st.integers(1, len(set(groups)) if name == "groups" else samples))
    earth = np.random.default_rng(seed)
    given_to_all = {
        "silos": silos,
        "alpha": alpha,
        "seed": seed,
        "groups": np.array(groups),
        "places": earth.uniform((-90, -180), (90, 180), (samples, 2)),
        "silo_places": earth.uniform((-90, -180), (90, 180), (silos, 2)),
    }
    shares = split(name, labels, **given_to_all)
    assert len(shares) == silos
    assert all(share.size >= 1 for share in shares)
    assert all(np.all(np.diff(share) > 0) for share in shares)
    np.testing.assert_array_equal(np.sort(np.concatenate(shares)), np.arange(samples))
    again = split(name, labels, **given_to_all)
    assert all(np.array_equal(a, b) for a, b in zip(shares, again, strict=True))


@pytest.mark.parametrize(
    ("name", "silos", "alpha", "seed", "digest"),
    [
        ("iid", 11, 0.5, 0, "b19a2cc504417d4c"),
        ("iid", 200, 0.05, 1, "ede8108852ee797f"),
        ("dirichlet", 11, 0.5, 0, "b7e4279cf75f5c2e"),
        ("dirichlet", 200, 0.05, 1, "8fb3e85a2350734e"),
    ],
)
def test_splits_of_the_digits_stay_as_they_were_recorded(name, silos, alpha, seed, digest):
    labels = load_dataset("digits").train_labels
    found = hashlib.sha256()
    for share in split(name, labels, silos=silos, alpha=alpha, seed=seed):
        found.update(np.int64(share.size).tobytes() + share.astype(np.int64).tobytes())
    assert found.hexdigest()[:16] == digest


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_two_hundred_silos_share_the_digits(alpha):
    labels = load_dataset("digits").train_labels
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


@pytest.mark.parametrize("name", sorted(PARTITIONS))
def test_another_seed_is_another_split(name):
    labels = load_dataset("digits").train_labels
    places = np.random.default_rng(0).uniform((-90, -180), (90, 180), (labels.size + 5, 2))
    first, second = (
        split(
            name,
            labels,
            silos=5,
            alpha=0.5,
            seed=seed,
            groups=np.arange(labels.size) // 20,
            places=places[:-5],
            silo_places=places[-5:],
        )
        for seed in (0, 1)
    )
    assert any(not np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("name", sorted(PARTITIONS))
def test_more_silos_than_samples_is_an_error(name):
    rule = r"^silos\(=4\) must be <= 3, the number of training samples; .* \(silo_at, --silo-at\), takes fewer\.$"
    with pytest.raises(InputError, match=rule):
        split(name, np.array([0, 1, 0]), silos=4, alpha=1.0, seed=0)


def test_sequences_have_no_class_of_their_own_so_dirichlet_deals_out_their_groups():
    roles = np.repeat(np.arange(3), 50)
    by_role = split("dirichlet", np.zeros((150, 7)), silos=4, alpha=0.3, seed=2, groups=roles)
    as_class = split("dirichlet", roles, silos=4, alpha=0.3, seed=2)
    assert all(np.array_equal(a, b) for a, b in zip(by_role, as_class, strict=True))
    with pytest.raises(InputError, match="must have data with one label per sample, or with groups"):
        split("dirichlet", np.zeros((150, 7)), silos=4, alpha=0.3, seed=2)
    assert [part.size for part in split("iid", np.zeros((10, 7)), silos=2, alpha=1, seed=0)] == [5, 5]


def test_an_empty_silo_gets_one_sample_of_the_silo_that_has_most_at_that_moment():
    class First:
        """Takes the first of what there is to choose from."""

        def __init__(self):
            self.asked = []

        def choice(self, samples):
            self.asked.append(samples.tolist())
            return samples[0]

    draws, owner = First(), np.array([3, 1, 1, 3, 1, 3])
    filled = without_empty_silos(owner, 5, draws)
    # Silos 0, 2 and 4 are empty; 1 and 3 have three each, so the lower one gives first, then 3, then 1 again.
    assert draws.asked == [[1, 2, 4], [0, 3, 5], [2, 4]]
    assert filled.tolist() == [2, 0, 4, 3, 1, 3]
    assert owner.tolist() == [3, 1, 1, 3, 1, 3]
    full = np.array([1, 0])
    assert without_empty_silos(full, 2, First()).tolist() == [1, 0]


def test_shares_are_in_ascending_order_and_may_be_empty():
    found = shares_of(np.array([3, 1, 3, 1, 1]), 5)
    assert [share.tolist() for share in found] == [[], [1, 3, 4], [], [0, 2], []]

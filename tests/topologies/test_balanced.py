"""Doubly stochastic weights: sums, no negative weight, gaps, on any strong digraph."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies.balanced import balanced, fast_balanced, rebuilt
from topologies.consensus import check_consensus, spectral_gap
from topologies.weights import local_degree


def strong_digraph(rng, silos):
    order = rng.permutation(silos)
    arcs = set(zip(order.tolist(), np.roll(order, -1).tolist(), strict=True)) if silos > 1 else set()
    arcs |= {(int(i), int(j)) for i, j in rng.integers(silos, size=(rng.integers(3 * silos), 2)) if i != j}
    return np.array(sorted(arcs), dtype=np.int64).reshape(-1, 2).T


def ladder(silos):
    """Each silo sends to the next one and to the first: a walk reaches silo k with probability 2^-k."""
    arcs = {(i, i + 1) for i in range(silos - 1)} | {(i, 0) for i in range(1, silos)}
    return np.array(sorted(arcs)).T


@pytest.mark.parametrize("rule", [balanced, fast_balanced])
@given(seed=st.integers(0, 2**32 - 1), silos=st.integers(1, 30))
def test_doubly_stochastic_on_the_arcs(rule, seed, silos):
    source, target = strong_digraph(np.random.default_rng(seed), silos)
    weights = check_consensus(rule(silos, source, target), columns=True)
    others = weights.copy()
    np.fill_diagonal(others, 0.0)
    others[target, source] = 0.0

    assert weights.min() >= 0
    assert not others.any()
    assert spectral_gap(weights) > 0


@given(seed=st.integers(0, 2**32 - 1), silos=st.integers(2, 30))
def test_the_search_never_mixes_slower(seed, silos):
    source, target = strong_digraph(np.random.default_rng(seed), silos)

    fast, plain = (spectral_gap(rule(silos, source, target)) for rule in (fast_balanced, balanced))
    assert fast >= plain * (1 - 1e-6)


@pytest.mark.parametrize("silos", [3, 4, 50])
def test_a_directed_ring_has_one_half(silos):
    source = np.arange(silos)
    weights = fast_balanced(silos, source, np.roll(source, -1))

    assert spectral_gap(weights) == pytest.approx(1 - np.cos(np.pi / silos))
    assert np.diag(weights) == pytest.approx(0.5)


def test_two_silos_agree_at_once():
    weights = fast_balanced(2, np.array([0, 1]), np.array([1, 0]))

    assert weights == pytest.approx(np.full((2, 2), 0.5))


@pytest.mark.parametrize("silos", [60, 200])
def test_frequencies_that_underflow(silos):
    source, target = ladder(silos)
    local = local_degree(silos, source, target)

    weights = check_consensus(fast_balanced(silos, source, target), columns=True)
    assert weights.min() >= 0
    assert np.abs(local.sum(axis=0) - 1).max() > 0.9  # the local-degree rule is far from balanced here


def test_many_silos_take_the_walk():
    source, target = strong_digraph(np.random.default_rng(1), 400)

    assert np.array_equal(fast_balanced(400, source, target), balanced(400, source, target))


@pytest.mark.parametrize(("silos", "searched"), [(300, True), (301, False)])
def test_better_weights_are_searched_for_on_300_silos(monkeypatch, silos, searched):
    class SearchedError(Exception):
        """Instead of the search, which takes long."""

    def search(*_):
        raise SearchedError

    monkeypatch.setattr("topologies.balanced._sinkhorn", search)
    ring = np.arange(silos)
    with pytest.raises(SearchedError) if searched else nullcontext():
        fast_balanced(silos, ring, np.roll(ring, -1))


@pytest.mark.parametrize("silos", [2, 4, 5, 10])
def test_all_pairs_give_the_plain_average(silos):
    # Of what each silo gives away at most, (n - 1) / n is best, here a whole number of hundredths.
    source, target = np.nonzero(~np.eye(silos, dtype=bool))

    assert fast_balanced(silos, source, target) == pytest.approx(
        np.full((silos, silos), 1 / silos), abs=1e-11
    )
    assert fast_balanced(silos, source, target).diagonal().min() >= 0


def test_a_random_walk_by_hand():
    # 0 sends to 1 and 2, 1 to 2, 2 to 0: the walk is at 0 and 2 for two steps of five, at 1 for one.
    weights = balanced(3, np.array([0, 0, 1, 2]), np.array([1, 2, 2, 0]))

    assert weights == pytest.approx(np.array([[0.5, 0, 0.5], [0.25, 0.75, 0], [0.25, 0.25, 0.5]]))
    assert balanced(1, np.empty(0, dtype=int), np.empty(0, dtype=int)).tolist() == [[1.0]]


def test_a_rounding_error_of_a_silo_s_own_weight_is_none():
    source, target = np.array([0, 1]), np.array([1, 0])
    eps = np.finfo(float).eps

    assert rebuilt(2, source, target, np.array([1 + 4 * eps, 1 - 4 * eps])).diagonal().tolist() == [0.0, 0.0]
    assert rebuilt(2, source, target, np.array([1 + 16 * eps, 0.25])).diagonal().tolist() == [0.75, -16 * eps]


@pytest.mark.parametrize("silos", range(3, 13))
def test_on_a_path_inner_silos_give_away_all_and_never_more(silos):
    """Of equal weights on the edges of a path the largest mix best: 1/2, which leaves inner ones nothing."""
    ends = np.arange(silos - 1)
    source, target = np.concatenate((ends, ends + 1)), np.concatenate((ends + 1, ends))
    weights = fast_balanced(silos, source, target)

    assert weights.diagonal()[1:-1].min() >= 0
    assert weights[target, source].max() == pytest.approx(0.5, abs=1e-11)

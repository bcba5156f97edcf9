"""Orders of the silos for overlays that come without a network."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, design, load_underlay
from topologies.designers.node_order import node_order, reordered, searched_order
from topologies.periodic.base import base
from topologies.periodic.exponential import exponential
from topologies.periodic.multigraph import multigraph

WORK = Workload(model_bits=1e8, compute_s=0.01)


@pytest.fixture(scope="module")
def gaia():
    return connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e10, down_bps=1e10))


def cycle_time_s(graph, states):
    (state,) = states
    arcs = np.column_stack((state.source, state.target))
    return build_overlay(
        "test", graph, WORK, arcs, consensus=state.consensus(graph.silos)
    ).closed_forms.paper_s


def length(costs, order):
    return float(costs[order, np.roll(order, -1)].sum())


def test_reordered_states_are_the_same_under_other_numbers():
    order = np.array([2, 0, 3, 1])
    states = multigraph(np.arange(4), np.array([1, 2, 3, 0]), np.array([1.0, 2.0, 3.0, 1.0]))
    for old, new in zip(states, reordered(states, order), strict=True):
        assert np.array_equal(np.lexsort((new.target, new.source)), np.arange(len(new.source)))
        assert new.consensus(4)[np.ix_(order, order)] == pytest.approx(old.consensus(4), abs=0)
        lag = {
            (int(order[i]), int(order[j])): n for i, j, n in zip(old.source, old.target, old.lag, strict=True)
        }
        assert [
            lag[i, j] for i, j in zip(new.source.tolist(), new.target.tolist(), strict=True)
        ] == new.lag.tolist()


def test_in_another_order_a_period_still_averages():
    order = np.random.default_rng(0).permutation(11)
    product = np.eye(11)
    for state in reordered(base(11, 2), order):
        product = state.consensus(11) @ product
    assert product == pytest.approx(np.full((11, 11), 1 / 11), abs=1e-12)


def test_without_an_order_silos_go_by_label_whatever_their_numbers(gaia):
    turned = connectivity(
        gaia.underlay, access=AccessLinks(up_bps=1e10, down_bps=1e10), routers=gaia.router[::-1].tolist()
    )
    for how in ("none", "tour"):
        one = [gaia.labels[silo] for silo in node_order(how, gaia, WORK)]
        assert [turned.labels[silo] for silo in node_order(how, turned, WORK)] == one
        assert one[0] == min(gaia.labels)


def test_a_tour_is_the_best_ring(gaia):
    order = node_order("tour", gaia, WORK)
    short = design("ring", gaia, WORK)
    assert sorted(zip(order.tolist(), np.roll(order, -1).tolist(), strict=True)) == sorted(
        zip(short.source.tolist(), short.target.tolist(), strict=True)
    )


def test_a_searched_order_is_the_best_of_all(gaia):
    def objective(order):
        return cycle_time_s(gaia, reordered(exponential(11), order))

    plain, tour, searched = (
        objective(node_order(how, gaia, WORK, cycle_time_s=objective, evaluations=300))
        for how in ("none", "tour", "searched")
    )
    assert searched <= min(plain, tour)
    assert searched < 0.97 * max(plain, tour)


@given(st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_no_exchange_betters_a_searched_order(silos, seed):
    rng = np.random.default_rng(seed)
    costs = rng.random((silos, silos))
    starts = [rng.permutation(silos) for _ in range(2)]
    order = searched_order(starts, lambda order: length(costs, order), seed=seed % 5, evaluations=10**6)
    value = length(costs, order)
    assert sorted(order.tolist()) == list(range(silos))
    assert value <= min(length(costs, start) for start in starts)
    for a, b in itertools.combinations(range(silos), 2):
        other = order.copy()
        other[[a, b]] = other[[b, a]]
        assert length(costs, other) >= value - 1e-11
    if silos <= 3:
        assert value == pytest.approx(
            min(length(costs, np.array(order)) for order in itertools.permutations(range(silos)))
        )


def test_a_search_is_bounded_and_repeats_itself():
    costs = np.random.default_rng(3).random((9, 9))
    calls = []

    def objective(order):
        calls.append(order.tolist())
        return length(costs, order)

    found = [searched_order([np.arange(9)], objective, seed=1, evaluations=20).tolist() for _ in range(2)]
    assert len(calls) == 40
    assert calls[:20] == calls[20:]
    assert found[0] == found[1] in calls


def test_exchanges_are_tried_in_the_order_of_seed_0_unless_another_is_given(gaia):
    def tried(search, **options):
        calls = []
        search(lambda order: calls.append(order.tolist()) or 1.0, evaluations=12, **options)
        return calls

    def from_labels(objective, **options):
        node_order("searched", gaia, WORK, cycle_time_s=objective, **options)

    def from_one(objective, **options):
        searched_order([np.arange(9)], objective, **options)

    for search in (from_labels, from_one):
        assert tried(search) == tried(search, seed=0) != tried(search, seed=1)
        assert len(tried(search)) == 12


def test_orders_that_cannot_be_are_left():
    def objective(order):
        return np.inf if order[0] != 2 else float(order[1])

    assert searched_order([np.arange(3)], objective).tolist() == [2, 0, 1]


@pytest.mark.parametrize("silos", [1, 2])
@pytest.mark.parametrize("how", ["none", "tour", "searched"])
def test_few_silos(few_silos, silos, how):
    order = node_order(how, few_silos(silos), WORK, cycle_time_s=lambda _: 1.0)
    assert order.tolist() == list(range(silos))


def test_bad_input(gaia):
    with pytest.raises(
        InputError, match=r"^order\(='tours'\) must be one of none, searched, tour \(did you mean 'tour'"
    ):
        node_order("tours", gaia, WORK)
    with pytest.raises(InputError, match=r"^order\(='searched'\) needs a cycle time to search for\.$"):
        node_order("searched", gaia, WORK)
    with pytest.raises(InputError, match=r"^evaluations\(=1\) must be >= 2\.$"):
        node_order("none", gaia, WORK, evaluations=1)
    with pytest.raises(InputError, match=r"^seed\(=-1\) must be >= 0\.$"):
        node_order("none", gaia, WORK, seed=-1)

"""Silos in the order of labels: what is renumbered, and what a designer that goes by numbers makes of it."""

import numpy as np
import pytest

from topologies import AccessLinks, Workload, build_overlay, connectivity
from topologies.label_order import by_label, in_silo_order, renumbered, silo_order

WORK = Workload(model_bits=1e6, compute_s=[0.1, 0.2, 0.3])


@pytest.fixture
def network(make_underlay):
    """A triangle whose links differ, so that each router is told apart from the others."""

    def make(labels, **options):
        underlay = make_underlay(3, [(0, 1, 100.0), (1, 2, 200.0), (2, 0, 400.0)], labels=labels)
        access = AccessLinks(up_bps=[1e6, 2e6, 3e6], down_bps=[4e6, 5e6, 6e6])
        return connectivity(underlay, access=access, **options)

    return make


def test_silos_go_by_label_and_those_of_one_router_stay_in_their_order(network):
    assert silo_order(network("cab")).tolist() == [1, 2, 0]
    assert silo_order(network("cab", routers=[2, 0, 2])).tolist() == [0, 2, 1]


def test_all_that_is_of_silos_gets_their_new_numbers(network):
    graph = network("cab", blocked=[(0, 1)])
    ordered, work, order = in_silo_order(graph, WORK)

    assert order.tolist() == [1, 2, 0]
    assert ordered.labels == ("a", "b", "c")
    assert ordered.router.tolist() == [1, 2, 0]
    assert ordered.up_bps.tolist() == [2e6, 3e6, 1e6]
    assert ordered.down_bps.tolist() == [5e6, 6e6, 4e6]
    assert work.compute_s.tolist() == [0.2, 0.3, 0.1]
    for i in range(3):
        for j in range(3):
            assert ordered.latency_s[i, j] == graph.latency_s[order[i], order[j]]
            assert ordered.available_bps[i, j] == graph.available_bps[order[i], order[j]]
    assert np.argwhere(ordered.available_bps == 0).tolist() == [[2, 0]]
    assert not ordered.latency_s.flags.writeable
    assert ordered.underlay is graph.underlay


def test_nothing_is_made_anew_where_the_order_is_right(network):
    graph = network("abc")
    same, work, order = in_silo_order(graph, WORK)

    assert same is graph
    assert work is WORK
    assert order.tolist() == [0, 1, 2]
    equal = Workload(model_bits=1e6, compute_s=0.1)
    assert in_silo_order(network("cab"), equal)[1] is equal


@pytest.mark.parametrize("hub", [None, 0])
def test_an_overlay_under_other_numbers_is_the_same(hub, network):
    graph = network("cab")
    ordered, work, order = in_silo_order(graph, WORK)
    arcs = [(0, 1), (1, 0), (0, 2), (2, 0)]
    matrix = np.array([[0.5, 0.3, 0.2], [0.1, 0.9, 0.0], [0.4, 0.0, 0.6]])
    there = build_overlay("tree", ordered, work, arcs, hub=hub, consensus=matrix)
    here = renumbered(there, graph, WORK, order)

    assert sorted(zip(here.source.tolist(), here.target.tolist(), strict=True)) == [
        (0, 1),
        (1, 0),
        (1, 2),
        (2, 1),
    ]
    assert here.hub == (None if hub is None else 1)
    assert here.kind == "tree"
    # "a" has the number 0 there and 1 here, "b" 1 and 2, "c" 2 and 0.
    assert here.consensus.tolist() == [[0.6, 0.4, 0.0], [0.2, 0.5, 0.3], [0.0, 0.1, 0.9]]
    assert here.closed_forms.paper_s == pytest.approx(there.closed_forms.paper_s, rel=1e-12)


def test_a_designer_by_numbers_becomes_one_by_labels(network):
    @by_label
    def from_the_first(graph, work, /, kind, *, negative=False):
        """A star around silo 0."""
        arcs = [pair for silo in (1, 2) for pair in ((0, silo), (silo, 0))]
        matrix = np.array([[1.5, -0.25, -0.25], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]) if negative else None
        return build_overlay(kind, graph, work, arcs, consensus=matrix, negative_weights=negative)

    assert from_the_first.__doc__ == "A star around silo 0."
    for labels, center in (("abc", 0), ("cab", 1), ("bca", 2)):
        overlay = from_the_first(network(labels), WORK, "mine")
        others = [silo for silo in range(3) if silo != center]
        assert overlay.kind == "mine"
        assert set(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)) == {
            pair for silo in others for pair in ((center, silo), (silo, center))
        }
        assert overlay.graph.labels == tuple(labels)
        assert not overlay.negative_weights
        below = from_the_first(network(labels), WORK, "mine", negative=True)
        assert below.negative_weights
        assert below.consensus[center, center] == 1.5

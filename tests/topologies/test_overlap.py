"""Eq. 3 where models leave layer by layer during the backward pass of the last local step."""

from dataclasses import replace

import numpy as np
import pytest

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, design
from topologies.analysis import UpgradeTerms, upgrade_links
from topologies.bounds import lower_bound_s
from topologies.delays import delays
from topologies.designers import trees
from topologies.designers.trees import TreeTimes

pytestmark = pytest.mark.usefixtures("compiled_designs")


def last_bit_s(layers, compute_s, pass_s, sending_s):
    """Layers that become ready one after the other, and are sent one after the other."""
    free_s = 0.0
    for layer in range(1, layers + 1):
        ready_s = compute_s - pass_s + layer * pass_s / layers
        free_s = max(free_s, ready_s) + sending_s / layers
    return free_s


@pytest.mark.parametrize("sending_s", [0.0, 0.1, 0.6, 0.7, 5.0])
def test_the_delay_is_that_of_many_layers(sending_s):
    compute_s, pass_s = 1.0, 0.6
    for layers in (1, 2, 7):
        by_formula_s = compute_s + sending_s - min(pass_s, sending_s) * (1 - 1 / layers)
        assert last_bit_s(layers, compute_s, pass_s, sending_s) == pytest.approx(by_formula_s, rel=1e-12)
    ours_s = float(delays(np.array(compute_s), np.array(0.0), sending_s, np.array(1.0), 0.6))

    assert last_bit_s(100_000, compute_s, pass_s, sending_s) == pytest.approx(ours_s, rel=1e-4)
    assert ours_s == pytest.approx(compute_s + max(0.0, sending_s - pass_s), rel=1e-15)


def test_only_the_last_step_hides_and_a_hub_hides_nothing(published_graph):
    graph = published_graph("gaia", 1e10)
    plain = Workload(model_bits=4e8, compute_s=0.3, local_steps=4)
    work = replace(plain, overlap=0.5)
    before, star = (design("star", graph, each) for each in (plain, work))
    hidden_s = np.where(star.tokens == 1, np.minimum(0.15, before.transmission_s), 0.0)

    assert before.delay_s - star.delay_s == pytest.approx(hidden_s, abs=1e-12)
    assert hidden_s.max() == 0.15
    assert star.leaving_s == pytest.approx(np.where(star.tokens == 1, 3.5 * 0.3, 0.0))


@pytest.mark.parametrize("many", [0, 10**9])
def test_trees_are_measured_as_they_are_built(published_graph, monkeypatch, many):
    monkeypatch.setattr(trees, "takes_compiled", lambda silos: silos >= many)
    for overlap in (0.0, 0.5, 0.99):
        for access_bps in (1e8, 1e10):
            graph = published_graph("gaia", access_bps)
            work = Workload(model_bits=4e7, compute_s=np.linspace(0.01, 2.0, graph.silos), overlap=overlap)
            tree = design("mst", graph, work)
            edges = np.array(
                [pair for pair in zip(tree.source, tree.target, strict=True) if pair[0] < pair[1]]
            )
            assert TreeTimes.of(graph, work)(edges) == pytest.approx(tree.proof.cycle_time_s, rel=1e-12)


@pytest.mark.parametrize("kind", ["ring", "mst", "delta_mbst", "christofides", "star"])
def test_designs_gain_and_respect_the_bound(published_graph, kind):
    graph = published_graph("gaia", 1e10)
    work = Workload(model_bits=4e7, compute_s=0.05)
    early = replace(work, overlap=2 / 3)
    before_s, after_s = (design(kind, graph, each).proof.cycle_time_s for each in (work, early))

    assert lower_bound_s(graph, early) * (1 - 1e-9) <= after_s < before_s


def test_best_searches_by_the_shorter_delays(published_graph):
    graph = published_graph("gaia", 1e9)
    work = Workload(model_bits=4e7, compute_s=np.linspace(0.01, 0.2, graph.silos), overlap=0.9)
    best_s = design("best", graph, work, criterion="paper", iterations=200).proof.cycle_time_s

    assert best_s <= min(
        design(kind, graph, work).proof.cycle_time_s for kind in ("ring", "mst", "delta_mbst")
    )


def test_what_is_hidden_needs_no_faster_link(make_underlay):
    graph = connectivity(make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    for compute_s, wanted in ((1.0, []), (0.01, ["r0 uplink"])):
        work = Workload(model_bits=1e8, compute_s=compute_s, overlap=0.5)
        pair = build_overlay("pair", graph, work, [(0, 1), (1, 0)])
        terms = UpgradeTerms.of(pair, upgrade_links(pair, factor=10.0), "paper")
        assert bool(terms.links) == bool(wanted)
        assert terms.cycle_time_s(np.zeros(len(terms.links), dtype=bool)) == pair.proof.cycle_time_s


@pytest.mark.parametrize("overlap", [-0.1, 1.0, float("nan")])
def test_a_share_that_is_none_is_refused(overlap):
    with pytest.raises(InputError, match="overlap"):
        Workload(model_bits=1.0, compute_s=1.0, overlap=overlap)

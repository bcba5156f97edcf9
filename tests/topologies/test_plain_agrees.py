"""Designs and cycle times against plain implementations of the same algorithms, which the benchmarks time."""

import importlib.util
from pathlib import Path
from types import ModuleType

import networkx as nx
import numpy as np
import pytest

from topologies import EventGraph, Workload, cycle_time, design
from topologies.designers.activation import Matchings, activation_probabilities, best_alpha


def load(name: str) -> ModuleType:
    path = Path(__file__).parents[1] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


plain, plain_cycle_time, plain_matcha = map(load, ("plain", "plain_cycle_time", "plain_matcha"))


def test_the_four_designers_on_gaia(published_graph):
    graph, work = published_graph("gaia", 1e10), Workload.preset("inaturalist", variant="published")
    underlay = graph.underlay
    links = [
        (a, b, km) for (a, b), km in zip(underlay.ends.tolist(), underlay.length_km.tolist(), strict=True)
    ]
    # The plain designers take the first silo for the hub and break ties by number: in the published order.
    number = graph.underlay.rank.tolist()
    links = [(number[a], number[b], km) for a, b, km in links]
    complete = plain.connectivity_graph(11, links, 1e10, work.model_bits, 0.0254)
    kinds = ("star", "mst", "delta_mbst", "christofides")

    assert [design(kind, graph, work).closed_forms.paper_s for kind in kinds] == pytest.approx(
        plain.four_designers(complete, 1e10, work.model_bits, 0.0254, range(3, 12)), rel=1e-9
    )


@pytest.mark.parametrize("seed", range(5))
def test_cycle_time_of_a_random_digraph(seed):
    rng = np.random.default_rng(seed)
    source, target = (
        np.concatenate((np.arange(50), rng.integers(0, 50, (150)))),
        np.roll(np.arange(200) % 50, -1),
    )
    delay_s = rng.random(200)
    ours = cycle_time(
        EventGraph(
            nodes=50, source=source, target=target, delay_s=delay_s, tokens=np.ones(200, dtype=np.int64)
        )
    )
    arcs = list(zip(source.tolist(), target.tolist(), delay_s.tolist(), strict=True))

    assert ours.cycle_time_s == pytest.approx(plain_cycle_time.cycle_time(arcs), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_matcha_on_a_random_graph(seed):
    graph = nx.gnp_random_graph(10, 0.4, seed=seed)
    nx.add_path(graph, range(10))
    found, probability, connectivity, alpha, norm = plain_matcha.matcha(graph)
    edges = [edge for matching in found for edge in matching]
    matchings = Matchings(
        nodes=10,
        edges=np.array(edges),
        number=np.repeat(np.arange(len(found)), [len(matching) for matching in found]),
        count=len(found),
    )
    _, best, bound = activation_probabilities(matchings, 0.5)
    our_alpha, our_norm = best_alpha(matchings, probability)

    # Of the rounds that have a matching.
    some = 1 - np.prod(1 - probability)
    assert sorted(edges) == sorted((min(edge), max(edge)) for edge in graph.edges)
    assert len(found) <= max(degree for _, degree in graph.degree) + 1
    assert all(nx.is_matching(graph, set(matching)) for matching in found)
    assert best == pytest.approx(connectivity, rel=1e-2)
    assert connectivity <= bound * (1 + 1e-2)
    assert our_alpha == pytest.approx(alpha, rel=1e-2)
    assert 1 - (1 - our_norm) * some == pytest.approx(norm, abs=1e-3)

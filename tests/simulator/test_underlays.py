"""On every shipped network, ``equal`` simulations are the max-plus recurrences, round by round."""

import numpy as np
import pytest

from simulator import simulate
from topologies import (
    AccessLinks,
    Workload,
    connectivity,
    design,
    load_underlay,
    recurrence,
    shipped_underlays,
)
from topologies.closed_forms import serialized_event_graph

ROUNDS = 60
KINDS = ("star", "mst", "delta_mbst", "ring", "underlay")


@pytest.fixture(params=shipped_underlays())
def graph(request):
    underlay = load_underlay(request.param)
    rng = np.random.default_rng(7)
    up, down = 10 ** rng.uniform(7, 10, (2, underlay.routers))
    return connectivity(underlay, access=AccessLinks(up_bps=up, down_bps=down))


@pytest.fixture
def work(graph):
    compute_s = np.random.default_rng(8).uniform(0.01, 0.2, graph.silos)
    return Workload(model_bits=45e6, compute_s=compute_s, local_steps=2)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_overlap_is_the_recurrence_of_equation_4(graph, work, kind):
    overlay = design(kind, graph, work)
    timeline = simulate(overlay, ROUNDS, sharing="equal", queueing="overlap")

    np.testing.assert_allclose(
        timeline.round_start_s, recurrence(overlay.event_graph, ROUNDS), rtol=1e-9, atol=0
    )


@pytest.mark.parametrize("kind", KINDS)
def test_equal_fifo_is_the_serialized_recurrence(graph, work, kind):
    overlay = design(kind, graph, work)
    timeline = simulate(overlay, ROUNDS, sharing="equal", queueing="fifo")
    serialized, initial_s = serialized_event_graph(
        overlay.event_graph, overlay.compute_s, overlay.latency_s, overlay.transmission_s
    )
    expected = recurrence(serialized, ROUNDS, initial_s)[:, : graph.silos]

    np.testing.assert_allclose(timeline.round_start_s, expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_no_link_carries_more_than_its_capacity(graph, work, kind):
    overlay = design(kind, graph, work)
    timeline = simulate(overlay, ROUNDS)

    # All rounds' models have crossed the busiest link by the last arrival.
    assert timeline.arrival_s.max() >= ROUNDS * overlay.closed_forms.load_bound_s * (1 - 1e-9)


def test_the_slow_silo_settles_at_the_time_of_one_model():
    underlay = load_underlay("geant", variant="published")
    access_bps = np.full(40, 1e10)
    access_bps[underlay.labels.index("DE")] = 1e7
    graph = connectivity(
        underlay,
        access=AccessLinks(up_bps=access_bps, down_bps=access_bps),
    )
    ring = design("christofides", graph, Workload.preset("inaturalist", variant="published"))

    assert ring.closed_forms.paper_s == pytest.approx(0.33, abs=0.005)
    assert ring.closed_forms.serialized_s == pytest.approx(4.4961717, rel=1e-9)
    for sharing in ("equal", "maxmin"):
        assert simulate(ring, 200, sharing=sharing).cycle_time_s == pytest.approx(4.4961717, rel=1e-9)

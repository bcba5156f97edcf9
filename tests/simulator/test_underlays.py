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
    published_underlays,
    recurrence,
)
from topologies.closed_forms import before_any, serialized_event_graph

ROUNDS = 60
KINDS = ("star", "mst", "delta_mbst", "ring", "underlay")


SLOW = ("aws_na", "exodus", "ebone")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((name, kind), id=f"{name}-{kind}", marks=[pytest.mark.slow] if name in SLOW else [])
        for name in published_underlays()
        for kind in KINDS
    ],
)
def overlay(request):
    """Each kind on each network, designed once for all tests."""
    name, kind = request.param
    underlay = load_underlay(name)
    rng = np.random.default_rng(7)
    up, down = 10 ** rng.uniform(7, 10, (2, underlay.routers))
    graph = connectivity(underlay, access=AccessLinks(up_bps=up, down_bps=down))
    compute_s = np.random.default_rng(8).uniform(0.01, 0.2, graph.silos)
    return design(kind, graph, Workload(model_bits=45e6, compute_s=compute_s, local_steps=2))


def test_equal_overlap_is_the_recurrence_of_equation_4(overlay):
    timeline = simulate(overlay, ROUNDS, sharing="equal", queueing="overlap")

    np.testing.assert_allclose(
        timeline.round_start_s, recurrence(overlay.event_graph, ROUNDS), rtol=1e-9, atol=0
    )


def test_equal_fifo_is_the_serialized_recurrence(overlay):
    timeline = simulate(overlay, ROUNDS, sharing="equal", queueing="fifo")
    silos, computing_s = overlay.graph.silos, overlay.tokens * overlay.compute_s[overlay.source]
    serialized = serialized_event_graph(
        overlay.event_graph, computing_s, overlay.latency_s, overlay.transmission_s, direct=False
    )
    expected = recurrence(serialized, ROUNDS, before_any(silos, serialized.nodes))[:, :silos]

    np.testing.assert_allclose(timeline.round_start_s, expected, rtol=1e-9, atol=0)


def test_no_link_carries_more_than_its_capacity(overlay):
    timeline = simulate(overlay, ROUNDS, engine="compiled")

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

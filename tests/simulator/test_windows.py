"""Windows in both engines: one link that only its pair's models cross."""

from dataclasses import replace

import numpy as np
import pytest
from small_networks import random_network, triangle_network

from simulator import LinkFailure, simulate
from topologies import Workload, build_overlay, design
from topologies.windows import with_windows

BOTH = pytest.mark.parametrize("engine", ["simpy", "compiled"])


@BOTH
def test_a_message_takes_the_time_of_its_window(engine):
    """Two silos, 1 MB each way: 4 windows of 2 Mbit per round trip would do 2 Mbit in 4.85 ms each."""
    graph = triangle_network()
    bits, window = 8.0, 0.02
    windowed = with_windows(graph, window)
    overlay = build_overlay(
        "test", windowed, Workload(model_bits=bits, compute_s=1.0), [(0, 1), (1, 0), (1, 2), (2, 1)]
    )
    found = simulate(overlay, 6, engine=engine, messages=True)

    sending_s = found.messages.last_bit_s - found.messages.start_s
    trip_s = 2 * graph.latency_s[overlay.source, overlay.target]
    np.testing.assert_allclose(
        sending_s, np.broadcast_to(bits / (window / trip_s), sending_s.shape), rtol=1e-9
    )


@BOTH
def test_what_a_window_leaves_goes_to_others(engine):
    """Max-min with a cap: of an uplink of 4 bit/s that two models share one takes 1, by its window, the other 3."""
    graph = triangle_network()
    slow = graph.up_bps.copy()
    slow[0] = 4.0

    graph = replace(graph, up_bps=slow)
    window = np.full((3, 3), np.inf)
    window[0, 1] = 1.0 * 2 * graph.latency_s[0, 1]
    overlay = build_overlay(
        "test",
        with_windows(graph, window),
        Workload(model_bits=6.0, compute_s=1.0),
        [(0, 1), (0, 2), (1, 0), (2, 0)],
    )
    found = simulate(overlay, 1, engine=engine, messages=True)

    sending_s = (found.messages.last_bit_s - found.messages.start_s)[0]
    assert sending_s[0] == pytest.approx(6.0, rel=1e-9)
    assert sending_s[1] == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("seed", range(6))
def test_both_engines_have_the_same_dates(seed, queueing):
    graph, work = random_network(seed, 5)
    rng = np.random.default_rng(seed)
    window = rng.uniform(0.1, 4, (5, 5)) * 1e6
    overlay = design(
        ["ring", "mst", "star"][seed % 3], with_windows(graph, window, rng.integers(1, 4, 5)), work
    )
    simpy, compiled = (
        simulate(overlay, 12, engine=engine, queueing=queueing, messages=True)
        for engine in ("simpy", "compiled")
    )

    for name in ("start_s", "last_bit_s", "arrival_s"):
        np.testing.assert_allclose(
            getattr(simpy.messages, name), getattr(compiled.messages, name), rtol=1e-9, atol=1e-9
        )


def test_a_simulation_is_never_faster_than_its_bounds():
    for seed in range(8):
        graph, work = random_network(seed, 4)
        overlay = design("ring", with_windows(graph, 1e6), work)
        forms = overlay.closed_forms
        assert simulate(overlay, 200).cycle_time_s >= max(forms.load_bound_s, 0) * (1 - 1e-9)


def test_a_longer_route_has_a_longer_round_trip():
    """While A - C is down, models go by B: 200 km in place of 150, so the window is sent less often."""
    graph = triangle_network()
    windowed = with_windows(graph, 0.02)
    overlay = build_overlay(
        "test", windowed, Workload(model_bits=8.0, compute_s=1.0), [(0, 2), (2, 0), (1, 0), (0, 1)]
    )
    plain, down = (
        simulate(overlay, 3, messages=True, events=events)
        for events in ((), [LinkFailure(link="A - C", from_s=0.0, until_s=1e6)])
    )

    arc = [tuple(pair) for pair in np.column_stack((overlay.source, overlay.target)).tolist()].index((0, 2))
    lasted = [(each.messages.last_bit_s - each.messages.start_s)[0, arc] for each in (plain, down)]
    by_b_s = 2 * (0.0085e-3 * 200 + 4e-3)
    assert lasted[0] == pytest.approx(8.0 / (0.02 / (2 * graph.latency_s[0, 2])), rel=1e-9)
    assert lasted[1] == pytest.approx(8.0 / (0.02 / by_b_s), rel=1e-9)

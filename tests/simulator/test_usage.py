"""Links that carry another number of bits than the messages have: dates by hand, both engines, and rates."""

import math
from dataclasses import replace

import numpy as np
import pytest
from engine_agreement import check_both_engines_agree
from hypothesis import given
from hypothesis import strategies as st
from small_networks import silos_of, strong_digraphs, untied_values

from simulator import FlowArc, simulate_flows
from simulator.compute_times import Constant, Trace
from simulator.job import make_job
from simulator.progressive_filling import max_min_rates
from simulator.reduction import limiting_links
from simulator.rtt_weights import rtt_weights
from simulator.sharing import SharingModel
from simulator.simpy_engine.fluid import FluidNetwork
from topologies import InputError

ENGINES = pytest.mark.parametrize("engine", ["simpy", "compiled"])
USAGE = st.sampled_from([0.0184, 0.5, 1.0, 2.0]) | st.floats(0.01, 4.0)


@ENGINES
def test_acknowledgements_slow_the_other_direction_down(engine):
    """Each link has 10 bit/s: 100 bits and a fifth of the other's 100 take 12 s instead of 10."""
    arcs = [
        FlowArc(source=0, target=1, latency_s=0.5, links=(0, 1), usage=(1.0, 0.2), hops=1),
        FlowArc(source=1, target=0, latency_s=0.5, links=(1, 0), usage=(1.0, 0.2), hops=1),
    ]
    timeline = simulate_flows(
        arcs,
        link_capacity_bps=[10.0, 10.0],
        message_bits=100.0,
        compute_s=[1.0, 1.0],
        rounds=3,
        engine=engine,
    )
    np.testing.assert_allclose(timeline.round_start_s[:, 0], [0.0, 13.5, 27.0, 40.5], rtol=1e-12)
    # Three messages each way, and a fifth of three.
    np.testing.assert_allclose(timeline.link_bits, [360.0, 360.0], rtol=1e-12)


@ENGINES
def test_a_message_that_is_split_leaves_twice_as_fast(engine):
    """Half of each bit takes either link of 3 bit/s; the way back is free."""
    arcs = [
        FlowArc(source=0, target=1, latency_s=0.0, links=(0, 1), usage=(0.5, 0.5)),
        FlowArc(source=1, target=0, latency_s=0.0, links=()),
    ]
    timeline = simulate_flows(
        arcs, link_capacity_bps=[3.0, 3.0], message_bits=12.0, compute_s=[1.0, 1.0], rounds=2, engine=engine
    )
    np.testing.assert_allclose(timeline.round_start_s[:, 1], [0.0, 3.0, 5.0], rtol=1e-12)
    np.testing.assert_allclose(timeline.link_bits, [12.0, 12.0], rtol=1e-12)


@st.composite
def jobs(draw):
    job = draw(strong_digraphs(st.sampled_from([0.5, 1.0, 3.0, math.inf]) | st.floats(0.05, 5.0)))
    arcs = [
        replace(
            arc,
            usage=tuple(draw(USAGE) for _ in arc.links),
            hops=draw(st.integers(min(1, len(arc.links)), len(arc.links))),
        )
        for arc in job["arcs"]
    ]
    silos = silos_of(job)
    seconds = st.sampled_from([0.5, 1.0]) | st.floats(0.01, 2.0)
    times = draw(st.lists(seconds, min_size=silos, max_size=silos))
    return job | {"arcs": arcs, "compute": Constant(compute_s=times)}


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@given(values=jobs(), rounds=st.integers(1, 12), sharing=st.sampled_from(["maxmin", "rtt_weighted"]))
def test_both_engines_agree_on_random_jobs(values, rounds, sharing, queueing):
    check_both_engines_agree(**values, rounds=rounds, sharing=sharing, queueing=queueing)


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("seed", range(4))
def test_both_engines_name_the_link_that_bound_longest(seed, queueing):
    rng = np.random.default_rng(seed)
    values = untied_values(rng)
    values |= {
        "arcs": [
            replace(arc, usage=tuple(rng.uniform(0.02, 2.0, len(arc.links)).tolist()))
            for arc in values["arcs"]
        ],
        "compute": Trace(table_s=rng.uniform(0.1, 1.0, (12, 8))),
        "rounds": 12,
        "queueing": queueing,
    }
    slow, fast = check_both_engines_agree(**values)
    np.testing.assert_array_equal(fast.messages.bound_link, slow.messages.bound_link)


@st.composite
def allocations(draw):
    """Routes, capacities, weights and usage of some flows."""
    links = draw(st.integers(1, 6))
    routes = draw(
        st.lists(
            st.lists(st.integers(0, links - 1), unique=True, min_size=1, max_size=links),
            min_size=1,
            max_size=6,
        )
    )
    capacity_bps = draw(
        st.lists(st.sampled_from([1.0, 2.0]) | st.floats(0.1, 9.0), min_size=links, max_size=links)
    )
    weight = draw(st.lists(st.sampled_from([1.0, 2.0]), min_size=len(routes), max_size=len(routes)))
    return routes, capacity_bps, weight, [{link: draw(USAGE) for link in route} for route in routes]


@given(allocations())
def test_rates_fit_and_every_flow_has_a_bottleneck(case):
    routes, capacity_bps, weight, usage = case
    rate_bps = max_min_rates(routes, capacity_bps, weight, usage)
    level_bps = rate_bps / weight
    load_bps = np.zeros(len(capacity_bps))
    for flow, used in enumerate(usage):
        for link, bits in used.items():
            load_bps[link] += rate_bps[flow] * bits
    assert (load_bps <= np.array(capacity_bps) * (1 + 1e-9)).all()
    for flow, route in enumerate(routes):
        assert any(
            load_bps[link] >= capacity_bps[link] * (1 - 1e-9)
            and all(
                level_bps[other] <= level_bps[flow] * (1 + 1e-9)
                for other, way in enumerate(routes)
                if link in way
            )
            for link in route
        )


@given(allocations())
def test_links_that_are_left_out_limit_nothing(case):
    routes, capacity_bps, weight, usage = case
    kept = limiting_links(routes, capacity_bps, usage)
    np.testing.assert_allclose(
        max_min_rates(kept, capacity_bps, weight, usage),
        max_min_rates(routes, capacity_bps, weight, usage),
        rtol=1e-9,
    )


def test_a_link_protects_another_only_with_the_bits_on_it():
    assert limiting_links([[0, 1]], [2.0, 1.0], [{0: 2.0}]) == [(1,)]
    assert limiting_links([[0, 1]], [2.0, 1.0], [{0: 2.5}]) == [(0,)]


def test_only_the_links_of_the_route_count_in_its_weight():
    """1 s of latency, and 164,296 bits at 164,296 bit/s on one link, half of them at as much on another."""
    arcs = [
        FlowArc(source=0, target=1, latency_s=1.0, links=(0, 1, 2), usage=(1.0, 0.5, 0.3), hops=2),
        FlowArc(source=1, target=0, latency_s=1.0, links=()),
    ]
    job = make_job(
        arcs,
        link_capacity_bps=[164_296.0] * 3,
        message_bits=8.0,
        compute=Constant(compute_s=[1.0, 1.0]),
        rounds=1,
    )
    assert rtt_weights(job) == [pytest.approx(1 / 2.5), 1.0]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"usage": (1.0,)}, r"^arc 0 -> 1: usage\(of 1 numbers\) must hold 2\.$"),
        ({"usage": (1.0, 0.0)}, r"^arc 0 -> 1: usage\(=0\.0\) must be finite and > 0\.$"),
        ({"usage": (1.0, math.inf)}, r"^arc 0 -> 1: usage\(=inf\) must be finite and > 0\.$"),
        ({"hops": 3}, r"^arc 0 -> 1: hops\(=3\) must be >= 0 and <= 2\.$"),
    ],
)
def test_wrong_usage_is_an_error(wrong, error):
    with pytest.raises(InputError, match=error):
        FlowArc(source=0, target=1, latency_s=0.0, links=(0, 1), **wrong)


def test_a_sharing_model_that_is_not_told_of_usage_is_an_error():
    model = SharingModel(
        name="own",
        network=lambda setup: FluidNetwork(setup, share=lambda *flows: dict.fromkeys(flows[1], (1.0, 0))),
    )
    arcs = [FlowArc(source=i, target=1 - i, latency_s=0.5, links=(i,), usage=(0.5,)) for i in (0, 1)]
    values = {"link_capacity_bps": [1.0, 1.0], "message_bits": 1.0, "compute_s": [1.0, 1.0], "rounds": 1}
    with pytest.raises(
        InputError, match=r"^sharing\(='own'\) must be a model that knows of acknowledgements"
    ):
        simulate_flows(arcs, **values, sharing=model)

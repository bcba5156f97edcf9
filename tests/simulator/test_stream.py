"""Blocks of rounds, and the record of every message."""

import tracemalloc
from itertools import islice

import numpy as np
import pytest

from simulator import (
    Constant,
    Exponential,
    FlowArc,
    Lognormal,
    Observer,
    make_job,
    overlay_job,
    simulate,
    simulate_flows,
    stream,
)
from topologies import AccessLinks, InputError, Workload, connectivity, design, design_random, load_underlay

FIELDS = ("start_s", "last_bit_s", "arrival_s", "bound_link")


@pytest.fixture(scope="module")
def graph():
    up, down = 10 ** np.random.default_rng(3).uniform(7, 10, (2, 11))
    return connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=up, down_bps=down))


def cases(graph, rounds):
    work = Workload.preset("inaturalist")
    random_times = Lognormal(mean_s=np.full(graph.silos, 0.5), cv=1.0, seed=1)
    for kind in ("ring", "mst", "star"):
        for sharing in ("maxmin", "equal"):
            yield overlay_job(design(kind, graph, work), rounds, sharing=sharing, compute=random_times)
    yield overlay_job(design("mst", graph, work), rounds, queueing="overlap")
    yield overlay_job(design_random("matcha", graph, work), rounds, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_the_size_of_the_blocks_changes_nothing(graph, engine):
    # Compiled rounds that are known to repeat are copies of earlier ones: the last digit depends on which.
    rtol = 0 if engine == "simpy" else 1e-13
    for job in cases(graph, 40):
        whole = next(stream(job, block_rounds=256, engine=engine))
        for size in (1, 7, 40):
            firsts = list(range(0, 40, size))
            blocks = list(stream(job, block_rounds=size, engine=engine))
            assert [block.first_round for block in blocks] == firsts
            assert [block.rounds for block in blocks] == [min(size, 40 - first) for first in firsts]
            assert [len(block.round_start_s) for block in blocks[:-1]] == [size] * (len(blocks) - 1)
            starts = np.concatenate([block.round_start_s for block in blocks])
            np.testing.assert_allclose(starts, whole.round_start_s, rtol=rtol, atol=0)
            for field in FIELDS:
                joined = np.concatenate([getattr(block.messages, field) for block in blocks])
                np.testing.assert_allclose(joined, getattr(whole.messages, field), rtol=rtol, atol=0)
            np.testing.assert_allclose(blocks[-1].link_bits, whole.link_bits, rtol=rtol)
            ends = [*firsts[1:], 40]
            assert [block.now_s for block in blocks] == starts[ends].max(axis=1).tolist()


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_silos_may_be_far_more_rounds_ahead_than_a_block_holds(engine, sharing):
    # On a ring where silo 0 takes 10 s and the others 0.1 s, silo i feels it after i rounds.
    silos, rounds = 40, 60
    arcs = [FlowArc(source=i, target=(i + 1) % silos, latency_s=0.0, links=()) for i in range(silos)]
    compute_s = np.array([10.0, *[0.1] * (silos - 1)])
    job = make_job(
        arcs,
        link_capacity_bps=[],
        message_bits=0,
        compute=Constant(compute_s=compute_s),
        rounds=rounds,
        sharing=sharing,
    )
    k, i = np.arange(rounds + 1)[:, np.newaxis], np.arange(1, silos)
    felt_s = np.where(k >= i, 10 * (k - i + 1) + 0.1 * (i - 1), 0.0)
    start_s = np.hstack((10.0 * k, np.maximum(0.1 * k, felt_s)))
    blocks = list(stream(job, block_rounds=1, engine=engine))

    assert [block.rounds for block in blocks] == [1] * rounds
    np.testing.assert_allclose(np.concatenate([block.round_start_s for block in blocks]), start_s, rtol=1e-12)
    for name in ("start_s", "last_bit_s", "arrival_s"):
        dates_s = np.concatenate([getattr(block.messages, name) for block in blocks])
        np.testing.assert_allclose(dates_s, start_s[:-1] + compute_s, rtol=1e-12, err_msg=name)
    assert all((block.messages.bound_link == -1).all() for block in blocks)


@pytest.mark.slow
def test_messages_start_leave_and_arrive_in_order_and_know_their_bottleneck(graph):
    for job in cases(graph, 30):
        previous_bits = np.zeros(len(job.link_capacity_bps))
        for block in stream(job, block_rounds=8, engine="simpy"):
            messages, bits = block.messages, np.zeros_like(previous_bits)
            latency_s = np.array([arc.latency_s for arc in job.arcs])
            sent = ~np.isnan(messages.start_s)
            assert (messages.start_s[sent] < messages.last_bit_s[sent]).all()
            np.testing.assert_array_equal(messages.arrival_s, messages.last_bit_s + latency_s)
            for arc, route in enumerate(job.routes):
                count = np.count_nonzero(sent[:, arc])
                bits[list(route)] += count * job.message_bits[arc]
                bound = set(messages.bound_link[sent[:, arc], arc].tolist())
                assert bound <= ({-1} if job.sharing.constant_rates else set(route))
                if count:
                    fastest_bps = min(job.link_capacity_bps[link] for link in route)
                    mean_bps = job.message_bits[arc] / (messages.last_bit_s - messages.start_s)[:, arc]
                    if not job.sharing.constant_rates:
                        assert mean_bps[sent[:, arc]].max() <= fastest_bps * (1 + 1e-9)
            if job.fifo:
                one_at_a_time = messages.start_s[1:] >= messages.last_bit_s[:-1]
                assert one_at_a_time[sent[1:] & sent[:-1]].all()
            assert (messages.bound_link[~sent] == -1).all()
            np.testing.assert_allclose(block.link_bits - previous_bits, bits, rtol=1e-9)
            previous_bits = block.link_bits


def test_the_link_that_bound_a_message_for_the_longest_time():
    # Message 0 is alone on link 0 (bound 1 s at 4 bit/s by link 1), then shares link 0 with message 1.
    timeline = simulate_flows(
        [
            FlowArc(source=0, target=2, latency_s=0.0, links=(0, 1)),
            FlowArc(source=1, target=2, latency_s=0.0, links=(0,)),
            FlowArc(source=2, target=0, latency_s=0.0, links=()),
            FlowArc(source=2, target=1, latency_s=0.0, links=()),
        ],
        link_capacity_bps=[5.0, 4.0],
        message_bits=[10.0, 10.0, 0.0, 0.0],
        compute_s=[1.0, 2.0, 0.0],
        rounds=1,
        messages=True,
    )
    # 4 bits by 2 s, the other 6 at 2.5 bit/s until 4.4 s; then message 1 has 4 left, at 5 bit/s.
    assert timeline.messages.start_s.tolist() == [[1.0, 2.0, 0.0, 0.0]]
    np.testing.assert_allclose(timeline.messages.last_bit_s, [[4.4, 5.2, 0.0, 0.0]], rtol=1e-14)
    assert timeline.messages.bound_link.tolist() == [[0, 0, -1, -1]]


def test_a_stream_may_be_left_at_any_time():
    pair = [FlowArc(source=i, target=1 - i, latency_s=0.5, links=()) for i in range(2)]
    job = make_job(
        pair,
        link_capacity_bps=[],
        message_bits=0,
        compute=Exponential(mean_s=[1.0, 1.0], seed=1),
        rounds=10**9,
    )
    blocks = list(islice(stream(job, block_rounds=5, engine="simpy"), 3))
    assert [block.first_round for block in blocks] == [0, 5, 10]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_memory_does_not_grow_with_the_rounds(engine):
    silos = 3
    job = make_job(
        [FlowArc(source=i, target=(i + 1) % silos, latency_s=0.1, links=(i, silos)) for i in range(silos)],
        link_capacity_bps=[1.0] * silos + [2.0],
        message_bits=1.0,
        compute=Exponential(mean_s=[1.0] * silos, seed=1),
        rounds=6000,
    )
    running = stream(job, block_rounds=100, engine=engine)
    for _ in islice(running, 20):
        pass
    tracemalloc.start()
    try:
        for _ in running:
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4000 * (silos * 8 + silos * 28) * 0.6  # of what the 4,000 rounds hold


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_an_observer_hears_of_every_round(engine, graph):
    told = []
    ring = design("ring", graph, Workload.preset("inaturalist"))
    watch = Observer(on_round=lambda k, now_s: told.append((k, now_s)))
    timeline = simulate(ring, 300, engine=engine, observer=watch)
    assert told == list(enumerate(timeline.round_start_s.max(axis=1).tolist()))


def test_messages_are_kept_only_if_asked_for(graph):
    ring = design("ring", graph, Workload.preset("inaturalist"))
    assert simulate(ring, 3).messages is None
    timeline = simulate(ring, 3, messages=True)
    assert np.array_equal(timeline.messages.arrival_s, timeline.arrival_s)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"block_rounds": 0}, "block_rounds(=0) must be >= 1."),
        ({"block_rounds": 1.5}, "block_rounds(=1.5) must be an integer."),
        ({"engine": "fast"}, "engine(='fast') must be 'auto', 'simpy' or 'compiled'."),
    ],
)
def test_a_bad_argument_is_named(arguments, message, graph):
    job = overlay_job(design("ring", graph, Workload.preset("inaturalist")), 3)
    with pytest.raises(InputError) as caught:
        next(stream(job, **arguments))
    assert str(caught.value) == message


def test_rates_can_only_be_watched_where_they_are_events(graph):
    ring = design("ring", graph, Workload.preset("inaturalist"))
    watch = Observer(on_rates=lambda *_: None)
    with pytest.raises(
        InputError, match=r"engine\(='compiled'\) must be 'auto' or 'simpy' here: it calls no on_rates"
    ):
        simulate(ring, 3, engine="compiled", observer=watch)

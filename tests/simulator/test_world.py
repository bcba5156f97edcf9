"""Simulated events: hand-computed dates on a triangle, and what must hold for any events."""

import numpy as np
import pytest
from small_networks import triangle_network

from simulator import (
    CapacityTrace,
    ConstantShare,
    LinkFailure,
    OnOffFlow,
    overlay_job,
    simulate,
)
from simulator.compiled.engine import unsupported
from topologies import (
    AccessLinks,
    InputError,
    Workload,
    build_overlay,
    connectivity,
    design,
    load_underlay,
)

NEAR, FAR, FARTHER = (0.0085e-3 * km + 0.004 for km in (100.0, 150.0, 250.0))
"""Latencies of A - B and B - C, of A - C, and of A - C - B."""


@pytest.fixture
def ring():
    """A -> B -> C -> A, 100 bits, 1 s of computing."""
    return triangle([(0, 1), (1, 2), (2, 0)])


def triangle(arcs):
    work = Workload(model_bits=100.0, compute_s=1.0)
    return build_overlay("test", triangle_network(), work, arcs)


def messages(overlay, *events, rounds=1):
    timeline = simulate(overlay, rounds, events=events, messages=True)
    return timeline, timeline.messages


def test_without_events(ring):
    timeline, sent = messages(ring)
    assert sent.last_bit_s.tolist() == [[11.0, 21.0, 6.0]]
    assert sent.arrival_s.tolist() == [[11.0 + NEAR, 21.0 + NEAR, 6.0 + FAR]]
    assert timeline.round_start_s.tolist() == simulate(ring, 1).round_start_s.tolist()


def test_a_capacity_halves_under_way(ring):
    trace = CapacityTrace(link="A -> B", date_s=[6.0], capacity_bps=[5.0])
    _, sent = messages(ring, trace)
    # 50 bits by 6 s, the others at 5 bit/s.
    assert sent.last_bit_s.tolist() == [[16.0, 21.0, 6.0]]


def test_time_of_day(ring):
    # 10 bit/s for 4 s, 2 bit/s for 6 s, and so on; the job starts 3 s into the day.
    day = CapacityTrace(
        link="A -> B", date_s=[0.0, 4.0], capacity_bps=[10.0, 2.0], period_s=10.0, job_start_s=3.0
    )
    _, sent = messages(ring, day)
    # From 1 s to 7 s: 12 bits; to 11 s: 40; to 17 s: 12; then the other 36 at 10 bit/s.
    assert sent.last_bit_s[0, 0] == pytest.approx(20.6, rel=1e-14)
    assert sent.last_bit_s[0, 1:].tolist() == [21.0, 6.0]


def test_an_access_link_has_a_trace_too(ring):
    trace = CapacityTrace(link="A uplink", date_s=[6.0], capacity_bps=[4.0])
    _, sent = messages(ring, trace)
    assert sent.last_bit_s[0, 0] == 18.5


def test_a_failed_link_moves_the_rest_of_a_message(ring):
    timeline, sent = messages(ring, LinkFailure(link="A - B", from_s=6.0))
    # 50 bits by 6 s; the others over A -> C -> B at the 5 bit/s of C -> B, with the longer latency.
    assert sent.last_bit_s.tolist() == [[16.0, 21.0, 6.0]]
    assert sent.arrival_s.tolist() == [[16.0 + FARTHER, 21.0 + NEAR, 6.0 + FAR]]
    # A -> B, B -> A, B -> C, C -> B, A -> C, C -> A; then uplinks and downlinks.
    assert timeline.link_bits.tolist() == [50, 0, 100, 50, 50, 100] + [100] * 6
    assert sent.bound_link.tolist() == [[3, 2, 5]]


def test_routes_return_with_the_link(ring):
    timeline, sent = messages(ring, LinkFailure(link=0, from_s=6.0, until_s=14.0))
    # 50 bits, 40 by 14 s over C, 10 more at 10 bit/s.
    assert sent.last_bit_s[0, 0] == 15.0
    assert sent.arrival_s[0, 0] == 15.0 + NEAR
    assert timeline.link_bits.tolist() == [60, 0, 100, 40, 40, 100] + [100] * 6


def test_a_message_whose_last_bit_left_arrives_as_ever(ring):
    # C -> A ends at 6 s: the failure at that very date comes after it.
    for from_s in (6.0, 6.0 + 1e-14, 6.001):
        _, sent = messages(ring, LinkFailure(link="A - C", from_s=from_s))
        assert sent.last_bit_s[0, 2] == pytest.approx(6.0, rel=1e-13)
        assert sent.arrival_s[0, 2] == pytest.approx(6.0 + FAR, rel=1e-13)


def test_a_message_without_a_route_waits_for_the_link(ring):
    failures = [
        LinkFailure(link="A - B", from_s=6.0, until_s=30.0),
        LinkFailure(link="A - C", from_s=2.0, until_s=40.0),
    ]
    timeline, sent = messages(ring, *failures)
    # A -> B: 50 bits by 6 s and none until 30 s. C -> A: 20 bits by 2 s, then over B at the 5 bit/s of C -> B until
    # 6 s, none until 30 s, 50 more over B by 40 s, and the last 10 at 20 bit/s.
    assert sent.last_bit_s.tolist() == [[35.0, 21.0, 40.5]]
    assert sent.arrival_s.tolist() == [[35.0 + NEAR, 21.0 + NEAR, 40.5 + FAR]]
    assert sent.bound_link.tolist() == [[0, 2, 5]]
    assert timeline.link_bits.tolist() == [100, 70, 100, 70, 0, 30] + [100] * 6


def test_a_link_that_never_comes_back_must_leave_a_route():
    pair = triangle([(0, 1), (1, 2), (2, 0)])
    failures = [LinkFailure(link=link, from_s=6.0) for link in ("A - B", "A - C")]
    with pytest.raises(
        InputError, match=r"^events\[0\].until_s must be a date: .* no route is left between A and B\.$"
    ):
        simulate(pair, 1, events=failures)


def test_the_failure_of_a_link_that_nobody_uses_changes_nothing():
    overlay = triangle([(0, 1), (1, 0), (1, 2), (2, 1)])
    plain, failed = (
        simulate(overlay, 5, engine="simpy", messages=True, events=events)
        for events in ((), [LinkFailure(link="A - C", from_s=6.0, until_s=50.0)])
    )
    assert plain.round_start_s.tolist() == failed.round_start_s.tolist()
    assert plain.arrival_s.tolist() == failed.arrival_s.tolist()
    assert plain.link_bits.tolist() == failed.link_bits.tolist()


@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
def test_a_constant_share_is_a_smaller_capacity(kind):
    underlay = load_underlay("gaia")
    access = AccessLinks(up_bps=1e8, down_bps=1e8)
    work = Workload.preset("inaturalist")
    full, rest = (connectivity(underlay, access=access, core=core) for core in (1e8, 1e8 * (1.0 - 0.3)))
    arcs = design(kind, full, work)
    hub = arcs.hub
    pairs = list(zip(arcs.source.tolist(), arcs.target.tolist(), strict=True))
    shared = simulate(
        build_overlay(kind, full, work, pairs, hub=hub),
        20,
        events=[ConstantShare(share=0.3)],
    )
    smaller = simulate(build_overlay(kind, rest, work, pairs, hub=hub), 20)
    assert shared.round_start_s.tolist() == smaller.round_start_s.tolist()
    assert shared.steady == smaller.steady


def test_no_events_change_nothing(ring):
    job = overlay_job(ring, 3, events=[])
    assert job.changes is None
    assert job.plan is None
    assert job.compute.period == 1
    assert not unsupported(job)
    failing = overlay_job(ring, 3, events=[LinkFailure(link=0, from_s=1.0)])
    assert unsupported(failing) == "it simulates no network that changes"


def test_on_off_flows_are_flow_changes(ring):
    entry = OnOffFlow(peak_bps=4.0, mean_on_s=3.0, mean_off_s=2.0, seed=1)
    first, again, other = (
        simulate(ring, 30, events=[on_off]).round_start_s
        for on_off in (entry, entry, OnOffFlow(peak_bps=4.0, mean_on_s=3.0, mean_off_s=2.0, seed=2))
    )
    assert first.tolist() == again.tolist()
    assert first[-1, 0] != other[-1, 0]
    plain = simulate(ring, 30).round_start_s
    least = simulate(ring, 30, events=[ConstantShare(share=0.8)]).round_start_s
    assert np.all(plain <= first)
    assert np.all(first <= least)  # a fair share of half of 5 to 20 bit/s, or all but 4 bit/s
    assert first[-1, 0] > plain[-1, 0]


@pytest.mark.parametrize(
    "event",
    [
        ConstantShare(share=0.1),
        CapacityTrace(link=0, date_s=[1.0], capacity_bps=[1.0]),
        LinkFailure(link=0, from_s=1.0, until_s=2.0),
    ],
)
def test_constant_rates_know_no_events_on_the_network(ring, event):
    message = r"^sharing\(='equal'\) must be a model whose network can change, such as 'maxmin', where"
    with pytest.raises(InputError, match=message):
        simulate(ring, 1, sharing="equal", events=[event])


def test_the_compiled_engine_knows_no_changes(ring):
    events = [LinkFailure(link=0, from_s=1.0, until_s=2.0)]
    with pytest.raises(
        InputError,
        match=r"^engine\(='compiled'\) must be 'auto' or 'simpy' here: it simulates no network that changes\.$",
    ):
        simulate(ring, 1, engine="compiled", events=events)

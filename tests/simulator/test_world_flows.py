"""Changes of a network under way, and what must hold whatever changes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import (
    CapacityChange,
    FlowArc,
    FlowChange,
    LinkFailure,
    Observer,
    RouteChange,
    max_min_rates,
    simulate,
    simulate_flows,
)
from topologies import (
    AccessLinks,
    InputError,
    Workload,
    connectivity,
    design,
    load_underlay,
)

LONE = (
    FlowArc(source=0, target=1, latency_s=0.0, links=(0,)),
    FlowArc(source=1, target=0, latency_s=0.0, links=(1,)),
)


def lone(*changes, **how):
    """Silo 0 sends 40 bits at up to 10 bit/s over link 0, after 1 s of computing."""
    return simulate_flows(
        LONE,
        link_capacity_bps=[10.0, math.inf],
        message_bits=40.0,
        compute_s=[1.0, 1.0],
        rounds=1,
        messages=True,
        changes=lambda: iter(changes),
        **how,
    )


def flow(date_s, peak_bps, number=0):
    return FlowChange(date_s=date_s, flow=number, links=(0,), peak_bps=peak_bps)


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
def test_a_flow_of_others_takes_its_fair_share(queueing):
    # 10 bits by 2 s, 10 by 4 s at half the capacity, 20 more by 6 s.
    timeline = lone(flow(2.0, 100.0), flow(4.0, 0.0), queueing=queueing)
    assert timeline.messages.last_bit_s[0, 0] == 6.0
    assert timeline.link_bits[0] == 40.0  # of the messages only
    # At most its peak rate: 10, then 16 at 8 bit/s.
    assert lone(flow(2.0, 2.0), flow(4.0, 0.0)).messages.last_bit_s[0, 0] == pytest.approx(5.4, rel=1e-14)
    # Two of them, on from the start, and a new peak rate: 4 bit/s until 2 s, 5 afterwards.
    timeline = lone(flow(0.0, 3.0), flow(0.0, 3.0, 1), flow(2.0, 2.0))
    assert timeline.messages.last_bit_s[0, 0] == pytest.approx(2.0 + 36.0 / 5.0, rel=1e-14)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            [flow(3.0, 1.0), flow(2.0, 0.0)],
            "date_s(=2.0) of a change must be >= 3.0, that of the one before.",
        ),
        (
            [CapacityChange(date_s=2.0, link=2, capacity_bps=1.0)],
            "links of route 0(=(2,)) must be >= 0 and < 2, the link count.",
        ),
        (
            [CapacityChange(date_s=2.0, link=1, capacity_bps=1.0)],
            "capacity of link 1(=inf) must be finite to change.",
        ),
        (
            [RouteChange(date_s=2.0, arc=2, links=(), latency_s=0.0)],
            "arc(=2) of a change must be >= 0 and < 2.",
        ),
        (
            [CapacityChange(date_s=2.0, link=0, capacity_bps=0.0)],
            "round 0 never ends: its messages are on links of capacity 0.",
        ),
    ],
)
def test_bad_changes(changes, message):
    with pytest.raises(InputError) as caught:
        lone(*changes)
    assert str(caught.value) == message


def test_changes_after_the_end_do_not_matter():
    def endless():
        for date_s in range(1, 10**9):
            yield FlowChange(date_s=float(date_s), flow=0, links=(0,), peak_bps=1.0)

    timeline = simulate_flows(
        LONE,
        link_capacity_bps=[10.0, 10.0],
        message_bits=40.0,
        compute_s=[1.0, 1.0],
        rounds=1,
        changes=endless,
    )
    assert timeline.round_start_s[1].tolist() == [5.0, pytest.approx(1.0 + 40.0 / 9.0, rel=1e-14)]


@given(data=st.data(), seed=st.integers(0, 1000))
def test_rates_are_max_min_fair_among_flows_and_messages(data, seed):
    rng = np.random.default_rng(seed)
    links = data.draw(st.integers(2, 5))
    silos = data.draw(st.integers(2, 5))
    capacity_bps = rng.integers(1, 20, links).astype(float)

    def route():
        return tuple(rng.permutation(links)[: rng.integers(1, links + 1)].tolist())

    arcs = [FlowArc(source=i, target=(i + 1) % silos, latency_s=0.1, links=route()) for i in range(silos)]
    changes = []
    for date_s in np.sort(rng.uniform(0.0, 60.0, data.draw(st.integers(1, 30)))).tolist():
        match rng.integers(3):
            case 0:
                link = int(rng.integers(links))
                changes.append(
                    CapacityChange(date_s=date_s, link=link, capacity_bps=float(rng.integers(0, 20)))
                )
            case 1:
                changes.append(
                    RouteChange(date_s=date_s, arc=int(rng.integers(silos)), links=route(), latency_s=0.2)
                )
            case 2:
                peak_bps = float(rng.choice([0.0, 2.0, 50.0]))
                changes.append(
                    FlowChange(date_s=date_s, flow=int(rng.integers(3)), links=route(), peak_bps=peak_bps)
                )
    changes += [CapacityChange(date_s=61.0, link=link, capacity_bps=5.0) for link in range(links)]
    carried = np.zeros(links)
    last = {"now_s": 0.0, "arcs": [], "rates_bps": [], "routes": []}

    def on_rates(now_s, numbers, rates_bps):
        # Bits since the last instant, over the routes of then.
        for arc_route, rate_bps in zip(last["routes"], last["rates_bps"], strict=True):
            carried[list(arc_route)] += rate_bps * (now_s - last["now_s"])
        now_bps, routes, flows = capacity_bps.copy(), [arc.links for arc in arcs], {}
        for change in changes:
            if change.date_s <= now_s:
                match change:
                    case CapacityChange():
                        now_bps[change.link] = change.capacity_bps
                    case RouteChange():
                        routes[change.arc] = change.links
                    case FlowChange():
                        flows[change.flow] = change
        on = [change for change in flows.values() if change.peak_bps]
        current = [routes[number] for number in numbers]
        last.update(now_s=now_s, rates_bps=rates_bps, routes=current)
        # A link of capacity 0 stops all its flows; the checked function wants capacities > 0.
        every = [*current, *((*change.links, links + n) for n, change in enumerate(on))]
        tiny = np.where(now_bps > 0, now_bps, 1e-9)
        expected = max_min_rates(every, np.concatenate((tiny, [change.peak_bps for change in on])))
        np.testing.assert_allclose(rates_bps, expected[: len(numbers)], rtol=1e-9, atol=1e-8)

    timeline = simulate_flows(
        arcs,
        link_capacity_bps=capacity_bps,
        message_bits=30.0,
        compute_s=np.ones(silos),
        rounds=4,
        observer=Observer(on_rates=on_rates),
        changes=lambda: iter(changes),
    )
    np.testing.assert_allclose(timeline.link_bits, carried, rtol=1e-9, atol=1e-7)


def test_bits_are_conserved_over_many_failures():
    graph = connectivity(load_underlay("geant"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    overlay = design("ring", graph, Workload.preset("inaturalist"))
    used = sorted({direction // 2 for route in overlay.routes for direction in route[1:-1]})
    failures = [
        LinkFailure(link=link, from_s=3.0 * n + 1.0, until_s=3.0 * n + 9.0) for n, link in enumerate(used)
    ]
    timeline = simulate(overlay, 20, events=failures)
    bits = 20 * overlay.work.model_bits
    core = 2 * graph.underlay.links
    np.testing.assert_allclose(timeline.link_bits[core:], bits, rtol=1e-9)
    # At every router: what comes in is what goes out.
    net = np.zeros(graph.underlay.routers)
    tail, head = graph.underlay.ends.T
    for direction, sent_bits in enumerate(timeline.link_bits[:core]):
        a, b = (tail, head) if direction % 2 == 0 else (head, tail)
        net[a[direction // 2]] -= sent_bits
        net[b[direction // 2]] += sent_bits
    np.testing.assert_allclose(net, 0.0, atol=1e-6 * bits)
    assert not timeline.cycle_time_is_exact
    plain = simulate(overlay, 20)
    assert timeline.link_bits[:core][plain.link_bits[:core] == 0].sum() > 0


def test_constant_rates_know_no_changes():
    with pytest.raises(
        InputError,
        match=r"^sharing\(='equal'\) must be a model whose network can change, such as 'maxmin', where",
    ):
        lone(flow(1.0, 1.0), sharing="equal")

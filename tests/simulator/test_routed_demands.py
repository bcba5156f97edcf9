"""Demands as background traffic: closed forms on a line and a triangle, in both engines."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import network, random_network, triangle_network

from simulator import CapacityTrace, ConstantShare, LinkFailure, RoutedDemands, overlay_job, simulate
from simulator.world.checks import check_events
from topologies import InputError, Workload, build_overlay, design
from topologies.link_rules import LinkRules
from topologies.networks.traffic_matrices import TrafficMatrices
from topologies.traffic_loads import link_loads

WORK = Workload(model_bits=100.0, compute_s=1.0)


def demands(pairs, *by_date, date_s=None, **how):
    """Demands of pairs such as ``"AC"``, in bit/s, by date."""
    labels = tuple(sorted(set("".join(pairs))))
    return RoutedDemands(
        matrices=TrafficMatrices(
            labels=labels,
            places=tuple(f"tm.csv: row {row}" for row in range(2, 2 + len(labels))),
            date_s=np.array(date_s or range(len(by_date)), dtype=np.float64),
            source=np.array([labels.index(pair[0]) for pair in pairs]),
            target=np.array([labels.index(pair[1]) for pair in pairs]),
            demand_bps=np.array(by_date, dtype=np.float64).reshape(len(by_date), len(pairs)),
        ),
        **how,
    )


@pytest.fixture
def line():
    """A - B - C, 10 bit/s each; a model from A to C takes 10 s."""
    graph = network([(0, 1), (1, 2)], [100.0, 100.0], [10.0, 10.0])
    return build_overlay("line", graph, WORK, [(0, 1), (1, 2), (2, 0)])


@pytest.fixture
def ring():
    """A -> B -> C -> A on the triangle: 10 s, 20 s and 5 s."""
    return build_overlay("ring", triangle_network(), WORK, [(0, 1), (1, 2), (2, 0)])


def sent(overlay, *events, **how):
    return simulate(overlay, 1, events=events, messages=True, **how).messages.last_bit_s[0].tolist()


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_half_of_the_capacity_makes_a_message_take_exactly_twice_as_long(line, engine):
    assert sent(line, engine=engine) == [11.0, 11.0, 11.0]
    assert sent(line, demands(["AC"], [5.0]), engine=engine) == [21.0, 21.0, 11.0]
    assert sent(line, demands(["AC"], [1.0], scale=5.0), engine=engine) == [21.0, 21.0, 11.0]
    assert sent(line, demands(["AC", "BC"], [2.5, 2.5]), engine=engine) == pytest.approx([43 / 3, 21.0, 11.0])


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_a_step_at_a_known_date_is_piecewise(line, engine):
    # 25 bits at 5 bit/s by 6 s, the other 75 at 7.5 bit/s.
    steps = demands(["AC"], [5.0], [2.5], date_s=[0.0, 6.0])
    assert sent(line, steps, engine=engine) == [16.0, 16.0, 11.0]
    # The job starts 2 s into the matrices: 15 bits by 4 s, 85 at 7.5 bit/s.
    event = demands(["AC"], [5.0], [2.5], date_s=[0.0, 6.0], job_start_s=2.0)
    assert sent(line, event, engine=engine) == pytest.approx([4 + 85 / 7.5] * 2 + [11.0])
    # After the last date the last matrix holds, here of no demand, in both directions.
    ends = demands(["CA"], [9.0], [0.0], date_s=[0.0, 6.0])
    assert sent(line, ends, engine=engine) == [11.0, 11.0, 15.5]


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_matrices_that_repeat_begin_again_after_the_last_one(line, engine):
    # Free for 2 s, half taken for 2 s, and so on: from 1 s on 10, 10, 20, 10, 20, 10 and 20 bits by 13 s.
    event = demands(["AB"], [0.0], [5.0], date_s=[0.0, 2.0], repeat=True)
    assert sent(line, event, engine=engine)[0] == 14.0
    later = demands(["AB"], [0.0], [5.0], date_s=[0.0, 2.0], repeat=True, job_start_s=402.0)
    # Half taken until 2 s: 5, 20, 10, 20, 10, 20, 10 bits by 14 s, the last 5 in 0.5 s.
    assert sent(line, later, engine=engine)[0] == 14.5


def test_a_steady_load_leaves_the_network_unchanging(line):
    assert overlay_job(line, 5, events=[demands(["AC"], [5.0])]).changes is None
    assert overlay_job(line, 5, events=[demands(["AC"], [5.0], [5.0])]).changes is None
    assert overlay_job(line, 5, events=[demands(["AC"], [5.0], [5.0], repeat=True)]).changes is None
    assert overlay_job(line, 5, events=[demands(["AC"], [5.0], [0.0], job_start_s=1.0)]).changes is None
    changes = overlay_job(line, 5, events=[demands(["AC", "CA"], [5.0, 1.0], [4.0, 1.0])]).changes
    # A -> B and B -> C step; their ways back do not.
    assert [(change.date_s, change.link, change.capacity_bps) for change in changes()] == [
        *((0.0, link, 5.0) for link in (0, 2)),
        *((1.0, link, 6.0) for link in (0, 2)),
    ]


def test_a_simulation_takes_no_more_dates_than_it_needs(line):
    event = demands(["AC"], *([[5.0], [4.0]] * 10), repeat=True)
    changes = overlay_job(line, 1, events=[event]).changes()

    assert [next(changes).date_s for _ in range(90)][-1] > 40
    assert len(sent(line, event)) == 3


def test_it_goes_with_shares_and_traces(ring):
    load = demands(["AB"], [3.0])
    assert sent(ring, load, ConstantShare(share=0.2, link="A -> B"))[0] == 21.0
    # 35 bits at 7 bit/s by 6 s, then 65 at 5.
    assert sent(ring, load, CapacityTrace(link="A -> B", date_s=[6.0], capacity_bps=[8.0]))[0] == 19.0
    # No capacity is left from 6 to 8 s.
    dip = CapacityTrace(link="A -> B", date_s=[6.0, 8.0], capacity_bps=[2.0, 10.0])
    assert sent(ring, load, dip)[0] == pytest.approx(8 + 65 / 7)
    forever = CapacityTrace(link="A -> B", date_s=[6.0], capacity_bps=[2.0])
    with pytest.raises(InputError, match="round 0 never ends: its messages are on links of capacity 0"):
        sent(ring, load, forever)


def test_demands_keep_their_routes_while_a_link_is_down(ring):
    # 25 bits by 6 s at 5 bit/s; 50 over A -> C -> B until 16 s, where no demand goes; 25 at 5 bit/s again.
    failure = LinkFailure(link="A - B", from_s=6.0, until_s=16.0)
    assert sent(ring, demands(["AB"], [5.0]), failure)[0] == 21.0


def test_an_unlimited_link_has_as_much_as_ever():
    graph = network([(0, 1)], [100.0], [1.0], up_bps=10.0, core=np.inf)
    overlay = build_overlay("pair", graph, WORK, [(0, 1), (1, 0)])

    assert sent(overlay, demands(["AB"], [1e12], [0.0])) == [11.0, 11.0]


def test_a_load_must_leave_something_of_a_link_at_any_date(ring):
    graph = ring.graph
    check_events([demands(["AB"], [9.0])], graph, rounds=1)
    rule = (
        r"events\[1\] must leave something of B -> C, but at 7 s they are 15 bps of its 5 bps, and one more link is "
        r"full: with a scale of at most 0.3333 they leave something of every link\."
    )
    both = demands(["AB", "BC"], [1.0, 1.0], [10.0, 2.0], [5.0, 15.0], date_s=[0.0, 5.0, 7.0])
    with pytest.raises(InputError, match=rule):
        check_events([LinkFailure(link="A - B", from_s=1.0, until_s=2.0), both], graph, rounds=1)
    shared = [ConstantShare(share=0.5, link="A - B"), demands(["AB"], [5.0])]
    with pytest.raises(
        InputError, match=r"at 0 s they are 5 bps of its 5 bps: with a scale of at most 0.9999 "
    ):
        check_events(shared, graph, rounds=1)
    # Over before the job starts.
    check_events([demands(["AB"], [20.0], [5.0], job_start_s=1.0)], graph, rounds=1)


def test_a_link_has_the_demands_of_one_event(ring):
    with pytest.raises(
        InputError, match=r"events\[1\] must not name A -> B again: events\[0\] is its demands."
    ):
        check_events([demands(["AB"], [1.0]), demands(["AB"], [1.0])], ring.graph, rounds=1)
    check_events([demands(["AB"], [1.0]), demands(["BA"], [1.0])], ring.graph, rounds=1)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), silos=st.integers(2, 6))
def test_matrices_are_as_traces_of_what_they_leave_and_one_matrix_is_the_same_in_both_engines(seed, silos):
    rng = np.random.default_rng(seed)
    graph, work = random_network(seed, silos)
    overlay = design("ring", graph, work)
    labels = graph.underlay.labels
    source, target = np.nonzero(~np.eye(len(labels), dtype=bool))
    matrices = TrafficMatrices(
        labels=labels,
        places=labels,
        date_s=np.array([0.0, 0.3, 0.7]),
        source=source,
        target=target,
        demand_bps=rng.integers(0, 3, (3, len(source))) * 1e6,
    )
    event = RoutedDemands(matrices=matrices, repeat=bool(seed % 2), job_start_s=0.4)
    left_bps = np.repeat(graph.core_bps, 2) - link_loads(matrices, graph)
    traces = [
        CapacityTrace(
            link=direction,
            date_s=[0.0, 0.3, 0.7] if event.repeat else [0.0, 0.3],
            capacity_bps=bps if event.repeat else bps[1:],
            period_s=matrices.period_s if event.repeat else None,
            job_start_s=0.4 if event.repeat else 0.0,
        )
        for direction, bps in enumerate(left_bps.T)
    ]

    def starts(*events, **how):
        return simulate(overlay, 20, events=events, **how).round_start_s

    np.testing.assert_allclose(starts(event), starts(*traces), rtol=1e-9)
    for queueing in ("fifo", "overlap"):
        slow, fast = (starts(event, queueing=queueing, engine=engine) for engine in ("simpy", "compiled"))
        np.testing.assert_allclose(fast, slow, rtol=1e-9)
    steady = RoutedDemands(matrices=matrices, job_start_s=1.0)
    np.testing.assert_allclose(starts(steady, engine="simpy"), starts(steady, engine="compiled"), rtol=1e-9)


@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
def test_long_jobs_under_changing_demands_are_the_same_in_both_engines(kind):
    """Four windows of rounds, with matrices that never end; all messages, and the bits on links."""
    graph, work = random_network(5, 6)
    overlay = design(kind, graph, work)
    labels = graph.underlay.labels
    source, target = np.nonzero(~np.eye(len(labels), dtype=bool))
    demand_bps = np.random.default_rng(5).uniform(0, 8e6, (7, len(source)))
    event = RoutedDemands(
        matrices=TrafficMatrices(
            labels=labels, places=labels, date_s=np.cumsum([0, 1, 2, 1, 3, 1, 1]) * 0.37, source=source, target=target,
            demand_bps=demand_bps,
        ),
        repeat=True,
    )  # fmt: skip
    slow, fast = (
        simulate(overlay, 1100, events=[event], engine=engine, messages=True)
        for engine in ("simpy", "compiled")
    )
    assert (slow.engine, fast.engine) == ("simpy", "compiled")
    np.testing.assert_allclose(fast.round_start_s, slow.round_start_s, rtol=1e-9)
    np.testing.assert_allclose(fast.messages.last_bit_s, slow.messages.last_bit_s, rtol=1e-9)
    np.testing.assert_allclose(fast.link_bits, slow.link_bits, rtol=1e-12)
    assert not fast.steady.is_exact
    assert not slow.steady.is_exact


def test_weights_follow_changes_in_simpy_alone(line):
    event = demands(["AC"], [5.0], [2.5], date_s=[0.0, 6.0])
    assert simulate(line, 2, events=[event], sharing="rtt_weighted").engine == "simpy"
    with pytest.raises(InputError, match="it simulates no network that changes with weights of its arcs"):
        simulate(line, 2, events=[event], sharing="rtt_weighted", engine="compiled")


@pytest.mark.parametrize(("field", "value"), [("scale", 0.0), ("scale", np.inf), ("job_start_s", -1.0)])
def test_values_out_of_range(field, value):
    with pytest.raises(InputError, match=field):
        demands(["AB"], [1.0], **{field: value})


def test_links_that_others_share_or_nobody_does_take_no_demands():
    plain = network([(0, 1), (1, 2)], [100.0, 100.0], [10.0, 10.0])
    graph = replace(plain, rules=LinkRules(fat_pipes=(1,)))
    check_events([demands(["AB"], [1.0])], graph, rounds=1)
    with pytest.raises(InputError, match=r"events\[0\] must not be on B -> C, which is a fat pipe\."):
        check_events([demands(["AC"], [1.0])], graph, rounds=1)

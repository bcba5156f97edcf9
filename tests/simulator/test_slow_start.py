"""Messages that start slowly, in both engines: held back at the first one and after idle times."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measured_network import measured_like
from test_compiled import assert_like_simpy, assert_same, jobs, run
from test_compiled_plan import assert_like_simpy as planned_like_simpy
from test_compiled_plan import jobs as planned_jobs
from test_periodic import overlays

from simulator import FlowArc, LinkFailure, simulate, simulate_flows
from simulator.activity import activity, start_error
from simulator.compiled.engine import CompiledEngine
from simulator.compute_times import Constant
from simulator.job import make_job
from simulator.overlay_jobs import overlay_job
from simulator.random_compute_times import Lognormal
from simulator.rounds import RoundPlan
from simulator.simpy_engine.engine import SimpyEngine
from topologies import Workload, design
from topologies.slow_start import with_slow_start

BOTH = pytest.mark.parametrize("engine", ["simpy", "compiled"])


@st.composite
def slow_jobs(draw):
    """Jobs on whose arcs some messages start slowly."""
    job = draw(jobs())
    after_s = st.sampled_from([math.inf, -math.inf]) | st.floats(0.0, 4.0)
    slow = [(draw(st.just(0.0) | st.floats(0.01, 2.0)), draw(after_s)) for _ in job["arcs"]]
    arcs = [
        replace(arc, slow_start_s=slow_s, slow_start_after_s=idle_s + (0.00137 if idle_s >= 0 else 0.0))
        for arc, (slow_s, idle_s) in zip(job["arcs"], slow, strict=True)
    ]
    return job | {"arcs": arcs}


def pair(**how):
    """Two silos, each of which computes for 1 s, sends 8 bits at 2 bit/s, and starts slowly: 3 s."""
    arcs = [
        FlowArc(source=0, target=1, latency_s=0.5, links=(0,), rate_bps=2.0, slow_start_s=3.0, **how),
        FlowArc(source=1, target=0, latency_s=0.5, links=(1,), rate_bps=2.0, slow_start_s=3.0, **how),
    ]
    return {
        "arcs": arcs,
        "link_capacity_bps": [2.0, 2.0],
        "message_bits": 8.0,
        "compute_s": [1.0, 1.0],
        "rounds": 4,
    }


@BOTH
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize(
    ("after_s", "starts"),
    [
        (math.inf, [0.0, 8.5, 14.0, 19.5]),  # the first message only: 1 + 3 + 4 + 0.5, then 5.5
        (1.4, [0.0, 8.5, 17.0, 25.5]),  # idle for 1.5: the latency and computing
        (1.5, [0.0, 8.5, 14.0, 19.5]),  # just as long
        (1.6, [0.0, 8.5, 14.0, 19.5]),
        (-math.inf, [0.0, 8.5, 17.0, 25.5]),
    ],
)
def test_idle_times_decide_which_messages_start_slowly(engine, sharing, queueing, after_s, starts):
    found = simulate_flows(
        **pair(slow_start_after_s=after_s), sharing=sharing, queueing=queueing, engine=engine, messages=True
    )
    np.testing.assert_allclose(found.round_start_s[:4, 0], starts, rtol=1e-12)
    # What is recorded is when links are taken, so that bits are rates times times.
    np.testing.assert_allclose(found.messages.last_bit_s - found.messages.start_s, 4.0, rtol=1e-12)
    assert found.messages.start_s[0, 0] == 4.0
    assert found.steady.is_exact
    assert found.cycle_time_s == pytest.approx(starts[3] - starts[2], rel=1e-12)


@BOTH
def test_a_held_message_leaves_its_links_to_others(engine):
    """Of two messages on a link of 2 bit/s, the one that starts at once has it alone until it has left."""
    values = pair()
    arcs = [
        FlowArc(source=0, target=1, latency_s=0.0, links=(0,)),
        FlowArc(source=0, target=2, latency_s=0.0, links=(0,), slow_start_s=3.0),
        FlowArc(source=1, target=0, latency_s=0.0, links=()),
        FlowArc(source=2, target=0, latency_s=0.0, links=()),
    ]
    values |= {"arcs": arcs, "compute_s": [1.0, 1.0, 1.0], "rounds": 1, "link_capacity_bps": [2.0]}
    found = simulate_flows(**values, engine=engine, messages=True).messages
    # Alone for 3 s: 2 bits are left of 8, which take 2 s at half the rate; the other then has 6 left, for 3 s.
    np.testing.assert_allclose(found.start_s[0, :2], [1.0, 4.0])
    np.testing.assert_allclose(found.last_bit_s[0, :2], [6.0, 9.0])


@BOTH
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@pytest.mark.parametrize("after_s", [0.0, 0.5, math.inf])
def test_messages_behind_one_that_is_held_back_come_after_it(engine, sharing, after_s):
    """Silo 0 hands over models at 1 s and 2 s, and a third one a second after the first has arrived."""
    held = {"slow_start_s": 3.5, "slow_start_after_s": after_s}
    arcs = [
        FlowArc(source=0, target=1, latency_s=0.0, links=(0,), rate_bps=8.0, **held),
        FlowArc(source=1, target=0, latency_s=0.0, links=(), rate_bps=math.inf),
    ]
    values = {
        "arcs": arcs,
        "link_capacity_bps": [8.0],
        "message_bits": [8.0, 0.0],
        "compute_s": [1.0, 0.0],
        "rounds": 3,
        "sharing": sharing,
        "engine": engine,
        "messages": True,
    }
    queued = simulate_flows(**values, queueing="fifo").messages
    np.testing.assert_allclose(queued.start_s[:, 0], [4.5, 5.5, 6.5])
    shared = simulate_flows(**values, queueing="overlap").messages
    # Two share the link from 4.5 s to 6.5 s; at constant rates they do not share it. The third comes a second later.
    third_s = (7.5 if sharing == "maxmin" else 6.5) + (3.5 if after_s < 1.0 else 0.0)
    np.testing.assert_allclose(shared.start_s[:, 0], [4.5, 4.5, third_s])


@BOTH
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_many_messages_that_are_held_back_take_their_links_at_once(engine, sharing):
    """Silo 0 hands over a model each second from 1 s on; around the circle, it misses none before 9 s."""
    arcs = [FlowArc(source=0, target=1, latency_s=0.0, links=(0,), rate_bps=1.0, slow_start_s=8.5)]
    arcs += [FlowArc(source=i, target=(i + 1) % 10, latency_s=0.0, links=()) for i in range(1, 10)]
    found = simulate_flows(
        arcs,
        link_capacity_bps=[1.0],
        message_bits=[1.0] + [0.0] * 9,
        compute_s=[1.0] * 10,
        rounds=9,
        sharing=sharing,
        queueing="overlap",
        engine=engine,
        messages=True,
    ).messages
    assert found.start_s[:, 0].tolist() == [9.5] * 9
    np.testing.assert_allclose(found.last_bit_s[:, 0], 9.5 + (9.0 if sharing == "maxmin" else 1.0))


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@given(values=slow_jobs(), rounds=st.integers(1, 25), block_rounds=st.sampled_from([1, 5, 64]))
def test_both_engines_have_the_same_dates(values, rounds, block_rounds, sharing, queueing):
    assert_like_simpy(
        values | {"rounds": rounds, "sharing": sharing, "queueing": queueing}, block_rounds=block_rounds
    )


@st.composite
def slow_plans(draw):
    """Jobs with arcs of each round's own, on which some messages start slowly, some after idle times."""
    job = draw(planned_jobs())
    slow = st.sampled_from([(0.0, math.inf), (0.7, math.inf), (1.9, -math.inf), (0.7, 0.37), (2.6, 3.1)])
    arcs = [
        replace(arc, slow_start_s=slow_s, slow_start_after_s=after_s)
        for arc, (slow_s, after_s) in zip(
            job["arcs"], draw(st.lists(slow, min_size=12, max_size=12)), strict=False
        )
    ]
    return job | {"arcs": arcs}


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@given(values=slow_plans(), block_rounds=st.sampled_from([1, 2, 3, 64]))
def test_both_engines_have_the_same_dates_where_arcs_change(values, block_rounds, sharing, queueing):
    planned_like_simpy(make_job(**values, sharing=sharing, queueing=queueing), block_rounds=block_rounds)


@BOTH
def test_an_arc_idles_once_its_longest_message_has_left(engine):
    """The first takes 5 s, until 6.5 s: what is sent at 7 s comes 0.5 s after it, but 2.75 s after the one before."""

    class Longest(RoundPlan):
        rounds = 7

        def active(self, round_):
            return np.array([0] if round_ not in (4, 5) else [], dtype=np.int64)

        def sending_s(self, round_):
            return np.full(len(self.active(round_)), 5.0 if round_ == 0 else 0.25)

    job = make_job(
        arcs=[FlowArc(source=0, target=1, latency_s=0.0, links=(), slow_start_s=0.5, slow_start_after_s=2.0)],
        link_capacity_bps=[1.0],
        message_bits=1.0,
        compute=Constant(compute_s=np.ones(2)),
        rounds=7,
        sharing="equal",
        queueing="overlap",
        plan=Longest(),
    )
    made = SimpyEngine(job, block_rounds=64) if engine == "simpy" else CompiledEngine(job, 64)
    start_s = made.advance().messages.start_s[:, 0]
    np.testing.assert_allclose(start_s, [1.5, 2.0, 3.0, 4.0, np.nan, np.nan, 7.0])


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@given(overlay=overlays(), rounds=st.integers(1, 30), block_rounds=st.sampled_from([1, 3, 64]))
@settings(max_examples=10)
def test_both_engines_have_the_same_dates_with_lags(overlay, rounds, block_rounds, sharing, queueing):
    job = overlay_job(overlay, rounds, sharing=sharing, queueing=queueing)
    how = [(0.7, math.inf), (0.0, math.inf), (0.7, 0.37), (1.9, -math.inf)]
    arcs = [
        replace(arc, slow_start_s=slow_s, slow_start_after_s=after_s)
        for arc, (slow_s, after_s) in zip(job.arcs, itertools.cycle(how), strict=False)
    ]
    planned_like_simpy(
        replace(job, arcs=tuple(arcs), backward_share=0.0), block_rounds=block_rounds, repeats=True
    )


@pytest.mark.parametrize("when", ["first", "idle", "always"])
@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
@pytest.mark.parametrize(
    ("queueing", "sharing"), [("fifo", "maxmin"), ("overlap", "maxmin"), ("fifo", "equal")]
)
def test_exact_periods_are_those_of_the_full_simulation(when, kind, queueing, sharing):
    overlay = design(kind, with_slow_start(measured_like(), when), Workload(model_bits=8e6, compute_s=0.22))
    job = overlay_job(overlay, 400, queueing=queueing, sharing=sharing)
    full, _, _ = run(job, fast_forward=False)
    copied, _, engine = run(job)
    assert_same(copied, full)

    simpy = simulate(overlay, 400, queueing=queueing, sharing=sharing, engine="simpy")
    assert engine.steady.is_exact
    assert simpy.steady.is_exact
    assert simpy.steady.period_rounds == engine.steady.period_rounds
    assert simpy.cycle_time_s == pytest.approx(engine.steady.cycle_time_s, rel=1e-9)
    starts_s, period = full["round_start_s"][:-50], engine.steady.period_rounds
    starts_s = starts_s[engine.steady.transient_rounds :]
    np.testing.assert_allclose(starts_s[period:] - starts_s[:-period], engine.steady.period_s, rtol=1e-9)


@BOTH
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@pytest.mark.parametrize(("slow_start_s", "grows"), [(0.0, 15), (0.05, 30)])
def test_no_period_is_proven_while_a_queue_at_constant_rates_grows(engine, sharing, slow_start_s, grows):
    """Rounds start every 0.95 s or so until the arc that takes 1.01 s is the latest; its queue is what changes.

    Each arc has a link of its own.
    """
    arcs = [
        FlowArc(source=0, target=1, latency_s=0.0, links=(0,), rate_bps=1 / 1.01),
        FlowArc(source=1, target=0, latency_s=0.3, links=(1,), rate_bps=10.0),
        FlowArc(
            source=1,
            target=2,
            latency_s=0.0,
            links=(2,),
            rate_bps=10.0,
            slow_start_s=slow_start_s,
            slow_start_after_s=0.2,
        ),
        FlowArc(source=2, target=3, latency_s=0.0, links=(3,), rate_bps=10.0),
        FlowArc(source=3, target=1, latency_s=1.5, links=(4,), rate_bps=10.0),
    ]
    found = simulate_flows(
        arcs,
        link_capacity_bps=[1 / 1.01, *[10.0] * 4],
        message_bits=1.0,
        compute_s=[0.0, 0.2, 0.0, 0.95],
        rounds=200,
        sharing=sharing,
        engine=engine,
    )
    assert found.steady.is_exact
    assert found.steady.transient_rounds > grows
    assert found.cycle_time_s == pytest.approx(1.01, rel=1e-9)
    assert found.round_start_s[-1, 0] - found.round_start_s[-2, 0] == pytest.approx(1.01, rel=1e-9)


@given(values=slow_jobs(), queueing=st.sampled_from(["fifo", "overlap"]))
def test_at_every_message_slow_start_is_a_longer_sending(values, queueing):
    """Constant rates: a max-plus linear system, of which the closed form is exact."""
    arcs = [
        replace(arc, slow_start_after_s=-math.inf, rate_bps=min(arc.rate_bps, 5.0)) for arc in values["arcs"]
    ]
    compute = Constant(compute_s=values["compute"].rows(0, 1)[0])
    bits = np.broadcast_to(values["message_bits"], len(arcs))
    values = values | {"compute": compute, "rounds": 30, "queueing": queueing, "sharing": "equal"}
    slower = [
        replace(
            arc,
            rate_bps=size / (size / arc.rate_bps + arc.slow_start_s) if size else arc.rate_bps,
            latency_s=arc.latency_s if size else arc.latency_s + arc.slow_start_s,
            slow_start_s=0.0,
        )
        for arc, size in zip(arcs, bits.tolist(), strict=True)
    ]
    if queueing == "fifo" and not bits.all():
        return  # a message of no bits holds its arc while it is held back
    slow, plain = (simulate_flows(**values | {"arcs": each}) for each in (arcs, slower))
    np.testing.assert_allclose(slow.round_start_s, plain.round_start_s, rtol=1e-9)
    assert slow.cycle_time_s == pytest.approx(plain.cycle_time_s, rel=1e-8)


def test_a_failure_under_way_leaves_the_time_as_it_was():
    """A link goes down while messages are held back: they take the detour at the date at which they were to start."""
    graph = with_slow_start(measured_like(), "always")
    overlay = design("ring", graph, Workload(model_bits=8e6, compute_s=0.5))
    down = LinkFailure(link="A - B", from_s=0.501, until_s=1e6)
    plain, changed = (simulate(overlay, 3, messages=True, events=events) for events in ((), [down]))

    np.testing.assert_allclose(changed.messages.start_s[0], plain.messages.start_s[0], rtol=1e-12)
    assert changed.cycle_time_s > plain.cycle_time_s


def start_errors(found, arcs, compute_s, *, fifo):
    """Of the rounds from 1 on: of these, and of the messages of all rounds and of these alone."""
    source, target, tokens = np.array([(arc.source, arc.target, arc.tokens) for arc in arcs]).T
    rounds = len(found.messages.start_s)
    shown = activity(1, found.round_start_s[1:], compute_s[1:], found.messages.arrival_s[1:], target)
    errors = [
        start_error(
            shown,
            source,
            tokens,
            found.messages.part(begin, rounds),
            begin,
            fifo=fifo,
            slow_arcs=arcs,
            backward_share=0.0,
        )
        for begin in (0, 1)
    ]
    return [shown.error, *errors]


@given(
    job=slow_jobs(),
    fifo=st.booleans(),
    sharing=st.sampled_from(["maxmin", "equal"]),
    seed=st.integers(0, 9),
)
def test_start_dates_follow_from_computing_and_slow_start(job, fifo, sharing, seed):
    silos = 1 + max(max(arc.source, arc.target) for arc in job["arcs"])
    compute = Lognormal(mean_s=np.linspace(0.5, 2.0, silos), cv=0.5, seed=seed)
    network = {name: job[name] for name in ("arcs", "link_capacity_bps", "message_bits")}
    how = {"sharing": sharing, "queueing": "fifo" if fifo else "overlap", "messages": True}
    found = simulate_flows(**network, compute=compute, rounds=6, **how)
    shown, whole, _ = start_errors(found, job["arcs"], compute.rows(0, 6), fifo=fifo)
    assert max(shown, whole) < 1e-12


@pytest.mark.parametrize("moved_s", [0.5, 3.0])
def test_a_start_that_follows_from_no_slow_start_is_an_error(moved_s):
    # Each message starts slowly, 3 s late, so that one that takes its links at once is wrong.
    job, compute_s = pair(slow_start_after_s=-math.inf), np.ones((4, 2))
    found = simulate_flows(**job, messages=True)
    assert max(start_errors(found, job["arcs"], compute_s, fifo=True)) < 1e-12
    found.messages.start_s[2, 0] -= moved_s
    shown, whole, cut = start_errors(found, job["arcs"], compute_s, fifo=True)
    assert shown < 1e-12
    assert min(whole, cut) > 1e-3

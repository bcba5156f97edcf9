"""Periodic overlays in both engines: the recurrence, its closed forms, static overlays, and each other."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from periodic_cases import lagged_states, multigraph, starts
from small_networks import network

from simulator import (
    Absence,
    CapacityTrace,
    ConstantShare,
    FlowArc,
    Lognormal,
    Pause,
    RoundPlan,
    SteadyState,
    simulate,
    simulate_flows,
)
from simulator.activity import activity, start_error
from simulator.compiled.engine import CompiledEngine
from simulator.overlay_jobs import overlay_job
from simulator.simpy_engine.engine import SimpyEngine
from simulator.statistics.steady_state import within
from simulator.stream import stream
from topologies import (
    AccessLinks,
    InputError,
    Workload,
    build_periodic,
    connectivity,
    design,
    load_underlay,
    state_of,
)

BOTH = pytest.mark.parametrize("engine", ["simpy", "compiled"])
QUEUEINGS = pytest.mark.parametrize("queueing", ["fifo", "overlap"])
TABLES = ("start_s", "last_bit_s", "arrival_s")
ENDS = [(0, 1), (1, 2), (2, 3), (3, 0)]


@st.composite
def overlays(draw, *, lags=True):
    """Any states on four silos, some of whose links are slow and shared."""
    speeds = st.sampled_from([2.0, 5.0, 10.0]) | st.floats(1.0, 20.0)
    lengths = st.sampled_from([10.0, 100.0]) | st.floats(1.0, 5000.0)
    graph = network(
        ENDS,
        draw(st.lists(lengths, min_size=4, max_size=4)),
        draw(st.lists(speeds, min_size=4, max_size=4)),
        up_bps=draw(st.sampled_from([5.0, 1000.0])),
    )
    times = st.sampled_from([0.25, 0.5, 1.0]) | st.floats(0.05, 2.0)
    work = Workload(
        model_bits=draw(st.sampled_from([0.0, 1.0, 4.0])),
        compute_s=draw(st.lists(times, min_size=4, max_size=4)),
        name="test",
        overlap=draw(st.sampled_from([0.0, 0.0, 0.75])),
    )
    return build_periodic("test", graph, work, draw(lagged_states(4, lags=lags, pauses=draw(st.booleans()))))


def gaia(access_bps=1e10):
    underlay = load_underlay("gaia", variant="published")
    return connectivity(underlay, access=AccessLinks(up_bps=access_bps, down_bps=access_bps))


@pytest.fixture(scope="module", params=["femnist", "inaturalist"])
def gaia_multigraph(request):
    """60 states, or 2."""
    work = Workload.preset(request.param, variant="published")
    return multigraph(design("christofides", gaia(), work))[0]


@pytest.fixture(scope="module")
def early_multigraph():
    """One that repeats early: every 20 rounds from round 3 on."""
    work = Workload.preset("inaturalist", variant="published")
    return multigraph(design("christofides", gaia(), work))[0]


def run(job, engine, *, block_rounds=16, **how):
    engines = {"simpy": SimpyEngine, "compiled": CompiledEngine}
    running, blocks = engines[engine](job, block_rounds=block_rounds, **how), []
    while (block := running.advance()) is not None:
        blocks.append(block)
    tables = {name: np.concatenate([getattr(block.messages, name) for block in blocks]) for name in TABLES}
    tables["round_start_s"] = np.concatenate([block.round_start_s for block in blocks])
    return tables, blocks, running.steady


@BOTH
@QUEUEINGS
@given(overlay=overlays(), rounds=st.integers(1, 40))
@settings(max_examples=10)
def test_constant_rates_are_the_recurrence(engine, queueing, overlay, rounds):
    timeline = simulate(overlay, rounds, sharing="equal", queueing=queueing, engine=engine, messages=True)
    expected = starts(overlay, rounds, fifo=queueing == "fifo")
    np.testing.assert_allclose(timeline.round_start_s, expected, rtol=1e-9, atol=0)
    # One message for each round in whose state its arc is, if the round of sending exists.
    for k in range(rounds):
        state = overlay.states[k % overlay.period]
        sent = state.lag <= k + 1
        arcs = overlay.numbers.of(state.source, state.target)[sent]
        assert np.flatnonzero(~np.isnan(timeline.arrival_s[k])).tolist() == arcs.tolist()
        sent_s = expected[k + 1 - state.lag[sent], state.source[sent]]
        sent_s += (1 - overlay.work.overlap) * overlay.computing_s[k % overlay.period][sent]
        assert (timeline.messages.start_s[k, arcs] >= sent_s * (1 - 1e-9)).all()


@BOTH
@QUEUEINGS
@given(overlay=overlays(), rounds=st.sampled_from([1, 7, 200]))
@settings(max_examples=15)
def test_the_steady_state_is_the_closed_form_however_few_rounds_are_simulated(
    engine, queueing, overlay, rounds
):
    timeline = simulate(overlay, rounds, sharing="equal", queueing=queueing, engine=engine)
    forms = overlay.closed_forms
    assume(timeline.cycle_time_is_exact)  # some come to repeat after very long only
    expected_s = forms.serialized_s if queueing == "fifo" else forms.paper_s
    assert timeline.cycle_time_s == pytest.approx(expected_s, rel=2e-9)
    assert timeline.steady.period_rounds % overlay.period == 0
    # Rounds beyond the simulated ones are those of the recurrence.
    expected = starts(overlay, 230, fifo=queueing == "fifo")
    for k in (rounds + 1, 223, 230):
        np.testing.assert_allclose(timeline.start_s(k), expected[k], rtol=1e-8)


@QUEUEINGS
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@given(overlay=overlays(), rounds=st.integers(1, 60), block_rounds=st.sampled_from([1, 7, 100]))
@settings(max_examples=10)
def test_both_engines_have_the_same_dates(queueing, sharing, overlay, rounds, block_rounds):
    job = overlay_job(overlay, rounds, sharing=sharing, queueing=queueing)
    slow, slow_blocks, _ = run(job, "simpy", block_rounds=block_rounds)
    disturbed = overlay_job(
        overlay, rounds, sharing=sharing, queueing=queueing, compute=_later(overlay, 1e-13)
    )
    assume(
        np.allclose(run(disturbed, "simpy")[0]["round_start_s"], slow["round_start_s"], rtol=1e-11, atol=0)
    )
    fast, fast_blocks, _ = run(job, "compiled", block_rounds=block_rounds)
    for table, expected in slow.items():
        np.testing.assert_allclose(fast[table], expected, rtol=1e-9, atol=0, err_msg=table)
    np.testing.assert_allclose(fast_blocks[-1].link_bits, slow_blocks[-1].link_bits, rtol=1e-12)


def _later(overlay, part):
    return Lognormal(mean_s=overlay.compute_s * (1 + part), cv=0.0, seed=0)


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_the_multigraph_has_the_same_dates_in_both_engines(gaia_multigraph, sharing):
    for rounds, block_rounds in ((150, 32), (61, 1), (3, 256)):
        job = overlay_job(gaia_multigraph, rounds, sharing=sharing)
        slow, _, _ = run(job, "simpy", block_rounds=block_rounds)
        fast, _, _ = run(job, "compiled", block_rounds=block_rounds)
        for table, expected in slow.items():
            np.testing.assert_allclose(fast[table], expected, rtol=1e-9, atol=0, err_msg=table)


@QUEUEINGS
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@pytest.mark.parametrize("kind", ["ring", "mst", "underlay"])
@BOTH
def test_one_state_without_lags_has_the_bits_of_the_static_overlay(engine, kind, sharing, queueing):
    graph, work = gaia(1e9), Workload.preset("inaturalist")
    static = design(kind, graph, work)
    state = state_of(static.source, static.target, static.consensus[static.target, static.source])
    periodic = build_periodic(kind, graph, work, [state])
    how = {"sharing": sharing, "queueing": queueing, "engine": engine, "messages": True}
    one, other = simulate(static, 40, **how), simulate(periodic, 40, **how)
    assert np.array_equal(one.round_start_s, other.round_start_s)
    assert one.steady == other.steady
    assert np.array_equal(one.further_start_s, other.further_start_s)
    for table in (*TABLES, "bound_link"):
        assert np.array_equal(getattr(one.messages, table), getattr(other.messages, table)), table
    np.testing.assert_allclose(one.link_bits, other.link_bits, rtol=1e-15)
    # A state twice is a period of 2 with the same dates.
    double = simulate(build_periodic(kind, graph, work, [state, state]), 40, **how)
    assert np.array_equal(one.round_start_s, double.round_start_s)


@BOTH
def test_a_period_is_proven_with_shared_links(early_multigraph, engine):
    timeline = simulate(early_multigraph, 300, engine=engine)
    steady = timeline.steady
    assert steady.is_exact
    assert (steady.period_rounds, steady.transient_rounds) == (20, 3)
    first, period = steady.transient_rounds, steady.period_rounds
    # Far from the end, whose last messages have the links for themselves.
    start_s = timeline.round_start_s[first:250]
    np.testing.assert_allclose(start_s[period:] - start_s[:-period], steady.period_s, rtol=1e-9)
    assert steady.cycle_time_s >= early_multigraph.closed_forms.load_bound_s


@QUEUEINGS
@pytest.mark.parametrize("rounds", [700, 733])
def test_rounds_that_repeat_are_those_of_the_full_simulation(early_multigraph, queueing, rounds):
    graph = network([(0, 1), (1, 2), (2, 0)], [100.0, 300.0, 50.0], [10.0, 5.0, 20.0])
    ring = state_of([0, 1, 2], [1, 2, 0], np.full(3, 0.5), [6, 1, 2])
    late = build_periodic("late", graph, Workload(model_bits=4.0, compute_s=0.9, name="test"), [ring])
    for overlay in (early_multigraph, late):
        job = overlay_job(overlay, rounds, queueing=queueing)
        full, _, _ = run(job, "compiled", fast_forward=False)
        copied, blocks, steady = run(job, "compiled")
        assert steady is not None
        assert steady.is_exact
        for table, expected in full.items():
            np.testing.assert_allclose(copied[table], expected, rtol=1e-9, atol=0, err_msg=table)
        sent = np.count_nonzero(~np.isnan(full["start_s"]), axis=0)
        bits = np.zeros(len(job.link_capacity_bps))
        for route, count in zip(job.routes, sent.tolist(), strict=True):
            bits[list(route)] += count * job.message_bits[0]
        np.testing.assert_allclose(blocks[-1].link_bits, bits, rtol=1e-12)


@given(overlay=overlays(), rounds=st.integers(1, 300), block_rounds=st.sampled_from([1, 16, 100]))
@settings(max_examples=10)
def test_copied_rounds_equal_simulated_ones(overlay, rounds, block_rounds):
    job = overlay_job(overlay, rounds)
    full, _, _ = run(job, "compiled", fast_forward=False)
    disturbed = overlay_job(overlay, rounds, compute=_later(overlay, 1e-13))
    assume(
        np.allclose(run(disturbed, "compiled")[0]["round_start_s"], full["round_start_s"], rtol=1e-11, atol=0)
    )
    copied, _, _ = run(job, "compiled", block_rounds=block_rounds)
    for table, expected in full.items():
        np.testing.assert_allclose(copied[table], expected, rtol=1e-9, atol=0, err_msg=table)


def pair(lags, *, states=1):
    """Two silos that compute for 1 s and send 4 bits over 1 bit/s to each other, with each of some lags in turn."""
    graph = network([(0, 1)], [0.0], [1.0])
    work = Workload(model_bits=4.0, compute_s=1.0, name="test")
    both = [state_of([0, 1], [1, 0], [0.5, 0.5], [lag, lag]) for lag in lags]
    nobody = [state_of([], [], [])] * (states - len(lags))
    return build_periodic("pair", graph, work, [*both, *nobody])


@BOTH
def test_dates_by_hand(engine):
    # Latency of a pair of 0 km is 4 ms. Round 0 sends at 1, for round 1; so round 1 is not delayed, 2 starts at 5.004.
    timeline = simulate(pair([2]), 4, engine=engine, messages=True)
    start_s, messages = timeline.round_start_s[:, 0], timeline.messages
    np.testing.assert_allclose(start_s, [0.0, 1.0, 5.004, 9.004, 13.004], rtol=1e-12)
    assert np.isnan(messages.start_s[0]).all()
    np.testing.assert_allclose(messages.start_s[1:, 0], [1.0, 5.0, 9.0], rtol=1e-12)
    np.testing.assert_allclose(messages.arrival_s[1:, 0], [5.004, 9.004, 13.004], rtol=1e-12)
    assert timeline.link_bits[[0, 1]].tolist() == [12.0, 12.0]


@BOTH
def test_silos_without_arcs_in_a_state_wait_for_nobody(engine):
    # Every third round is awaited: 1 + 4.004 s, then twice 1 s.
    timeline = simulate(pair([1], states=3), 6, engine=engine)
    np.testing.assert_allclose(timeline.round_start_s[:, 1], [0, 5.004, 6.004, 7.004, 12.008, 13.008, 14.008])
    assert timeline.link_bits[[0, 1]].tolist() == [8.0, 8.0]


@BOTH
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_lags_longer_than_the_simulated_rounds_are_not_taken_for_a_steady_state_without_them(engine, sharing):
    # 50 rounds compute only; from round 300 on all wait for a link that needs 4 s for each round.
    timeline = simulate(pair([300]), 50, engine=engine, sharing=sharing)
    np.testing.assert_allclose(np.diff(timeline.round_start_s, axis=0), 1.0, rtol=1e-12)
    if timeline.cycle_time_is_exact:
        assert sharing == "equal"
        assert timeline.cycle_time_s == pytest.approx(4.0, rel=1e-9)


class EveryOther(RoundPlan):
    """Both arcs in even rounds."""

    rounds, period = 60, 2

    def active(self, round_):
        return np.arange(0 if round_ % 2 else 2)

    def sending_s(self, round_):
        return np.full(len(self.active(round_)), 4.0)


@BOTH
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_a_plan_that_repeats_is_proven_to(engine, sharing):
    arcs = [
        FlowArc(source=0, target=1, latency_s=0.5, links=(0,), rate_bps=1.0),
        FlowArc(source=1, target=0, latency_s=0.5, links=(1,), rate_bps=1.0, tokens=0),
    ]
    timeline = simulate_flows(
        arcs,
        link_capacity_bps=[1.0, 1.0],
        message_bits=4.0,
        compute_s=[1.0, 2.0],
        rounds=60,
        plan=EveryOther(),
        sharing=sharing,
        engine=engine,
    )
    # Silo 1 starts round 1 at 1 + 4.5 s and answers at once, so that silo 0 starts it at 10 s; each then computes.
    assert timeline.round_start_s[:4].tolist() == [[0, 0], [10, 5.5], [11, 7.5], [21, 16.5]]
    assert timeline.steady == SteadyState(
        cycle_time_s=5.5, is_exact=True, period_rounds=2, period_s=11.0, transient_rounds=1
    )


def test_a_simulation_shorter_than_the_lags_shows_what_it_can():
    proven = SteadyState(cycle_time_s=1.0, is_exact=True, period_rounds=1, period_s=1.0, transient_rounds=0)
    start_s = np.arange(3.0)[:, np.newaxis]
    assert within(proven, start_s, longest_lag=1) == proven
    # All three starts may be of rounds in which messages are omitted; the first is undisturbed in any case.
    assert within(proven, start_s, longest_lag=9) == proven


@BOTH
@given(overlay=overlays(), seed=st.integers(0, 9))
@settings(max_examples=15)
def test_random_computing_times_come_round_by_round(engine, overlay, seed):
    compute = Lognormal(mean_s=overlay.compute_s, cv=0.7, seed=seed)
    timeline = simulate(overlay, 25, sharing="equal", queueing="fifo", compute=compute, engine=engine)
    expected = starts(overlay, 25, fifo=True, compute_s=compute.rows(0, 25))
    np.testing.assert_allclose(timeline.round_start_s, expected, rtol=1e-9, atol=0)
    assert not timeline.cycle_time_is_exact


@QUEUEINGS
@given(overlay=overlays())
@settings(max_examples=15)
def test_activity_tells_why_each_message_starts_when_it_does(queueing, overlay):
    rounds, fifo = 12, queueing == "fifo"
    timeline = simulate(overlay, rounds, queueing=queueing, messages=True)
    job = overlay_job(overlay, rounds)
    lags = np.ones((rounds, len(job.arcs)), dtype=np.int64)
    for k in range(rounds):
        lags[k, job.plan.active(k)] = job.plan.lags(k)
    compute_s = job.compute.rows(0, rounds)
    target = np.array([arc.target for arc in job.arcs])
    found = activity(0, timeline.round_start_s, compute_s, timeline.arrival_s, target)
    assert found.error < 1e-12
    source, tokens = np.array([(arc.source, arc.tokens) for arc in job.arcs]).T
    how = {"fifo": fifo, "backward_share": overlay.work.overlap}
    assert start_error(found, source, tokens, timeline.messages, 0, lags=lags, **how) < 1e-12
    late = activity(6, timeline.round_start_s[6:], compute_s[6:], timeline.arrival_s[6:], target)
    assert start_error(late, source, tokens, timeline.messages, 0, lags=lags[6:], **how) < 1e-12
    if (lags > 1).any() and not fifo and all(overlay.computes):  # they would start later
        assert start_error(found, source, tokens, timeline.messages, 0, **how) > 1e-6


def test_blocks_do_not_depend_on_their_length(gaia_multigraph):
    job = overlay_job(gaia_multigraph, 100)
    whole = np.concatenate([block.round_start_s for block in stream(job, engine="simpy")])
    for length in (1, 9):
        parts = list(stream(job, block_rounds=length, engine="simpy"))
        assert np.array_equal(np.concatenate([block.round_start_s for block in parts]), whole)


def test_absences_go_with_lags_of_1_only():
    away = Absence(silo=0, first_round=2, rounds=1)
    timeline = simulate(pair([1], states=2), 6, events=[away])
    # In round 2 silo 1 goes on alone; its model brings silo 0 back 4.004 s after it is sent, which round 4 waits for.
    np.testing.assert_allclose(np.diff(timeline.round_start_s[:, 1]), [5.004, 1, 1, 1, 9.008, 1])
    with pytest.raises(InputError) as caught:
        simulate(pair([2]), 6, events=[away])
    rule = "must not be an absence where arcs have lags above 1, here up to 2."
    assert str(caught.value) == f"events[0] {rule}"


@BOTH
def test_pauses_go_with_lags(engine):
    timeline = simulate(pair([2]), 4, engine=engine, events=[Pause(silo=0, first_round=0, duration_s=7.0)])
    # Silo 0 sends at 8 s instead of 1 s.
    np.testing.assert_allclose(timeline.round_start_s[:3, 1], [0.0, 1.0, 12.004], rtol=1e-12)


def test_events_on_the_network_go_with_lags():
    busy = simulate(pair([2]), 4, events=[ConstantShare(share=0.5, link="A -> B")])
    np.testing.assert_allclose(busy.round_start_s[:3, 1], [0.0, 1.0, 9.004], rtol=1e-12)
    slower = CapacityTrace(link="A -> B", date_s=[0.0, 3.0], capacity_bps=[1.0, 0.5])
    # 2 bits until 3 s, 2 more until 7 s.
    timeline = simulate(pair([2]), 4, events=[slower])
    np.testing.assert_allclose(timeline.round_start_s[:3, 1], [0.0, 1.0, 7.004], rtol=1e-12)


def test_a_seed_is_for_randomized_overlays():
    with pytest.raises(InputError, match=r"seed\(=1\) must be left out"):
        simulate(pair([1]), 5, seed=1)

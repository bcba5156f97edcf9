"""Computing times by round: streams of random numbers, traces, and what they do to a job."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import (
    Constant,
    Empirical,
    Exponential,
    FlowArc,
    Lognormal,
    Trace,
    simulate,
    simulate_flows,
)
from topologies import AccessLinks, InputError, Workload, connectivity, design, load_underlay

MEAN_S = np.array([0.5, 2.0, 0.0, 1e-3])


def drawn(kind, silos=4, seed=7):
    mean_s = np.resize(MEAN_S, silos)
    return {
        "lognormal": lambda: Lognormal(mean_s=mean_s, cv=0.6, seed=seed),
        "exponential": lambda: Exponential(mean_s=mean_s, seed=seed),
        "empirical": lambda: Empirical(samples_s=[0.1, 0.2, 0.7], silos=silos, seed=seed),
    }[kind]()


KINDS = ("lognormal", "exponential", "empirical")


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(first=st.integers(0, 3000), count=st.integers(1, 1500))
def test_a_round_has_the_same_times_whichever_rounds_are_asked_for(kind, first, count):
    whole = drawn(kind).rows(0, 4500)
    assert np.array_equal(drawn(kind).rows(first, count), whole[first : first + count])


@pytest.mark.parametrize("kind", KINDS)
def test_more_silos_change_no_other_silo(kind):
    assert np.array_equal(drawn(kind, silos=9).rows(0, 2000)[:, :4], drawn(kind).rows(0, 2000))


@pytest.mark.parametrize("kind", KINDS)
def test_silos_blocks_and_seeds_have_streams_of_their_own(kind):
    times = drawn(kind, silos=8).rows(0, 2048)
    first, other = times[:, 0], times[:, 4]  # of equal distribution
    assert not np.array_equal(first, other)
    assert not np.array_equal(first[:1024], first[1024:])
    assert not np.array_equal(first, drawn(kind, seed=8).rows(0, 2048)[:, 0])


def test_an_exponential_time_has_its_mean_its_variance_and_its_tail():
    count = 200_000
    times = Exponential(mean_s=[3.0], seed=1).rows(0, count)[:, 0]
    # Each within 4 standard errors.
    assert times.mean() == pytest.approx(3.0, abs=4 * 3 / math.sqrt(count))
    assert times.var() == pytest.approx(9.0, abs=4 * 9 * math.sqrt(8 / count))
    assert (times > 6.0).mean() == pytest.approx(math.exp(-2), abs=4 * math.sqrt(0.117 / count))


def test_a_lognormal_time_has_its_mean_its_variation_and_its_median():
    count = 200_000
    times = Lognormal(mean_s=[2.0], cv=0.5, seed=1).rows(0, count)[:, 0]
    assert times.mean() == pytest.approx(2.0, abs=4 * 1.0 / math.sqrt(count))
    assert times.std() / times.mean() == pytest.approx(0.5, abs=0.01)
    assert np.median(times) == pytest.approx(2.0 / math.sqrt(1.25), abs=0.01)


def test_without_variation_a_lognormal_time_is_its_mean():
    assert np.array_equal(Lognormal(mean_s=MEAN_S, cv=0.0, seed=3).rows(5, 3), np.tile(MEAN_S, (3, 1)))


@pytest.mark.parametrize("cv", [1e99, 1e100, 1e200, 1e308])
def test_a_huge_variation_is_finite(cv):
    # The logarithm of a time is normal with this mean and variance, ln(1 + cv^2).
    rows_s = Lognormal(mean_s=[1.0], cv=cv, seed=1).rows(0, 1024)[:, 0]
    variance = 2 * math.log(cv)
    assert np.all(np.isfinite(rows_s))
    assert np.log(np.median(rows_s)) == pytest.approx(
        -variance / 2, abs=4 * math.sqrt(math.pi * variance / 2048)
    )


def test_an_empirical_time_is_one_of_the_samples_each_as_often():
    count = 30_000
    times = Empirical(samples_s=[0.1, 0.2, 0.7], silos=1, seed=1).rows(0, count)
    values, often = np.unique(times, return_counts=True)
    assert values.tolist() == [0.1, 0.2, 0.7]
    assert often / count == pytest.approx([1 / 3] * 3, abs=4 * math.sqrt(2 / 9 / count))


def test_one_silo_ends_its_rounds_at_the_sums_of_its_computing_times():
    compute = Exponential(mean_s=[2.0], seed=5)
    timeline = simulate_flows([], link_capacity_bps=[], message_bits=0, compute=compute, rounds=2500)
    expected = np.concatenate(([0.0], np.cumsum(compute.rows(0, 2500)[:, 0])))
    np.testing.assert_allclose(timeline.round_start_s[:, 0], expected, rtol=1e-12)
    assert not timeline.cycle_time_is_exact
    assert timeline.cycle_time_s == pytest.approx(2.0, abs=4 * 2 / math.sqrt(1250))


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_the_slower_of_two_silos_sets_the_pace_of_each_round(engine):
    compute = Exponential(mean_s=[1.0, 1.0], seed=2)
    pair = [FlowArc(source=i, target=1 - i, latency_s=0.0, links=()) for i in range(2)]
    timeline = simulate_flows(
        pair, link_capacity_bps=[], message_bits=0, compute=compute, rounds=3000, engine=engine
    )
    expected = np.cumsum(compute.rows(0, 3000).max(axis=1))
    np.testing.assert_allclose(timeline.round_start_s[1:, 0], expected, rtol=1e-12)
    assert expected[-1] / 3000 == pytest.approx(1.5, abs=4 * math.sqrt(1.25 / 3000))  # of two: 1 + 1/2


def test_overlays_see_the_same_draws():
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=math.inf, down_bps=math.inf))
    work = Workload(model_bits=0.0, compute_s=0.1)
    compute = Lognormal(mean_s=np.full(graph.silos, 0.1), cv=1.0, seed=4)
    ring, mst = (simulate(design(kind, graph, work), 5, compute=compute) for kind in ("ring", "mst"))
    # A neighbour's model is there after its computing and the latency; own computing is waited for on both.
    own_s = compute.rows(0, 1)[0]
    assert (ring.round_start_s[1] >= own_s).all()
    assert (mst.round_start_s[1] >= own_s).all()
    slowest = int(np.argmax(own_s))
    assert ring.round_start_s[1, slowest] == mst.round_start_s[1, slowest] == own_s[slowest]


def test_a_trace_gives_its_rows():
    table_s = np.arange(1.0, 7.0).reshape(3, 2)
    assert Trace(table_s=table_s).rows(1, 2).tolist() == [[3.0, 4.0], [5.0, 6.0]]
    assert Trace(table_s=table_s, repeat=True).rows(2, 3).tolist() == [[5.0, 6.0], [1.0, 2.0], [3.0, 4.0]]
    pair = [FlowArc(source=i, target=1 - i, latency_s=0.5, links=()) for i in range(2)]
    timeline = simulate_flows(
        pair, link_capacity_bps=[], message_bits=0, compute=Trace(table_s=table_s), rounds=3
    )
    assert timeline.round_start_s.tolist() == [[0.0, 0.0], [2.5, 2.0], [6.5, 6.0], [12.5, 12.0]]


def test_a_trace_of_one_row_that_repeats_is_constant():
    row, rows = [[1.0, 3.0]], [[1.0, 3.0], [1.0, 3.0]]
    found = [
        Trace(table_s=table_s, repeat=repeat).period
        for table_s, repeat in ((row, True), (row, False), (rows, True), (rows, False))
    ]
    assert found == [1, None, None, None]
    assert Constant(compute_s=[1.0]).period == 1
    assert [drawn(kind).period for kind in KINDS] == [None] * 3


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_a_constant_trace_has_the_exact_cycle_time_of_constant_times(engine, sharing):
    pair = [FlowArc(source=i, target=1 - i, latency_s=0.5, links=(), rate_bps=1.0) for i in range(2)]
    settings = {"link_capacity_bps": [], "message_bits": 0, "rounds": 9, "sharing": sharing, "engine": engine}
    traced, constant = (
        simulate_flows(pair, compute=compute, **settings)
        for compute in (Trace(table_s=[[1.0, 3.0]], repeat=True), Constant(compute_s=[1.0, 3.0]))
    )

    # Silo 1 never waits: the other's model is there 1.5 s after the other's start, before its own 3 s are over.
    assert traced.steady == constant.steady
    assert traced.cycle_time_is_exact
    assert traced.cycle_time_s == 3.0


def test_what_is_given_is_neither_kept_nor_changed():
    table_s = np.ones((2, 3))
    trace, constant = Trace(table_s=table_s), Constant(compute_s=table_s[0])
    table_s[:] = 9.0
    assert trace.rows(0, 2).tolist() == [[1.0] * 3] * 2
    assert constant.rows(7, 1).tolist() == [[1.0] * 3]


class Faulty:
    """Computing times that go wrong in round 2,000."""

    silos = 1
    period = None

    def __init__(self, wrong_s=math.nan):
        self.wrong_s = wrong_s

    def rows(self, first, count, /):
        times = np.ones((count, 1))
        times[first + np.arange(count) == 2000] = self.wrong_s
        return times


class Narrow(Faulty):
    """Times of a silo fewer than stated."""

    silos = 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Constant(compute_s=[-1.0]), "compute_s[0](=-1.0) must be finite and >= 0."),
        (lambda: Exponential(mean_s=[1.0, math.nan], seed=0), "mean_s[1](=nan) must be finite and >= 0."),
        (lambda: Exponential(mean_s=[1.0], seed=-1), "seed(=-1) must be >= 0."),
        (
            lambda: Lognormal(mean_s=[], cv=1.0, seed=0),
            "mean_s(=[]) must hold one number per silo, for 1 or more silos.",
        ),
        (lambda: Lognormal(mean_s=[1.0], cv=-0.1, seed=0), "cv(=-0.1) must be finite and >= 0."),
        (lambda: Empirical(samples_s=[], silos=1, seed=0), "samples_s(=[]) must hold one or more samples."),
        (
            lambda: Empirical(samples_s=[-2.0], silos=1, seed=0),
            "samples_s[0](=-2.0) must be finite and >= 0.",
        ),
        (lambda: Empirical(samples_s=[2.0], silos=0, seed=0), "silos(=0) must be >= 1."),
        (
            lambda: Trace(table_s=[[1.0, 2.0], [3.0, math.inf]]),
            "table_s[1, 1](=inf) must be finite and >= 0.",
        ),
        (lambda: Trace(table_s=[[1.0, -2.0]]), "table_s[0, 1](=-2.0) must be finite and >= 0."),
        (lambda: Trace(table_s=[1.0]), "table_s(of shape (1,)) must have one or more rows and columns."),
        (
            lambda: Trace(table_s=np.empty((0, 2))),
            "table_s(of shape (0, 2)) must have one or more rows and columns.",
        ),
    ],
)
def test_bad_times_are_named(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"compute": Trace(table_s=[[1.0]] * 3)},
            "computing times of round 2499 are missing: the trace has 3 rounds and does not repeat.",
        ),
        ({"compute": Faulty()}, "computing time of silo 0 in round 2000(=nan s) must be finite and >= 0."),
        (
            {"compute": Faulty(math.inf)},
            "computing time of silo 0 in round 2000(=inf s) must be finite and >= 0.",
        ),
        (
            {"compute": Faulty(-1e-3)},
            "computing time of silo 0 in round 2000(=-0.001 s) must be finite and >= 0.",
        ),
        ({"compute": Narrow()}, "computing times of 1 rounds(of shape (1, 1)) must have shape (1, 2)."),
        ({}, "compute_s or compute must be given."),
        (
            {"compute": Exponential(mean_s=[1.0], seed=0), "compute_s": [1.0]},
            "compute_s and compute must not both be given.",
        ),
    ],
)
def test_times_must_cover_the_job(changes, message):
    with pytest.raises(InputError) as caught:
        simulate_flows([], link_capacity_bps=[], message_bits=0, rounds=2500, **changes)
    assert str(caught.value) == message

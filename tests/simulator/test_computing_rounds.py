"""Jobs whose silos compute in some states only: times, dates, cycle times per round in which they do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_networks import network

from simulator import Absence, Constant, Lognormal, Trace, simulate
from simulator.computing_rounds import (
    StateTimes,
    are_computing,
    computing_before,
    in_states,
    nth_computing,
    rounds_to_compute,
)
from simulator.overlay_jobs import overlay_job
from simulator.statistics.confidence import cycle_time_interval
from simulator.world.counted_silos import Starts
from topologies import (
    AccessLinks,
    InputError,
    Workload,
    build_periodic,
    connectivity,
    design,
    design_periodic,
    load_underlay,
    state_of,
)

BOTH = pytest.mark.parametrize("engine", ["simpy", "compiled"])
SHARINGS = pytest.mark.parametrize("sharing", ["maxmin", "equal"])
WORK = Workload.preset("inaturalist", local_steps=2)


def gaia(access_bps=1e9):
    return connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=access_bps, down_bps=access_bps))


@pytest.fixture(scope="module")
def star_and_region():
    """The STAR, and hierarchical FedAvg of a single region, which is the same in two states."""
    graph = gaia(1e8)
    star = design("star", graph, WORK, hub="closeness")
    return star, design_periodic("hierarchical", graph, WORK, regions=1, cloud_every=1)


@given(st.lists(st.booleans(), min_size=1, max_size=7).filter(any), st.integers(0, 40), st.integers(1, 30))
def test_rounds_are_numbered(computes, first, count):
    rounds = np.resize(computes, 400)
    assert are_computing(computes, first, count).tolist() == rounds[first : first + count].tolist()
    assert computing_before(computes, first) == rounds[:first].sum()
    assert nth_computing(computes, first) == np.flatnonzero(rounds)[first]
    assert rounds[: rounds_to_compute(computes, first)].sum() >= min(first, rounds.sum())


@given(st.lists(st.booleans(), min_size=1, max_size=5).filter(any), st.integers(0, 40), st.integers(1, 30))
def test_each_round_that_computes_has_the_times_of_its_own_number(computes, first, count):
    drawn = Lognormal(mean_s=np.ones(3), cv=0.5, seed=4)
    times, expected_s = in_states(drawn, computes), np.zeros((80, 3))
    expected_s[np.resize(computes, 80)] = drawn.rows(0, int(np.resize(computes, 80).sum()))
    np.testing.assert_array_equal(times.rows(first, count), expected_s[first : first + count])
    assert times.silos == 3
    assert times.period is None


def test_periods_of_times():
    constant = Constant(compute_s=[1.0, 2.0])
    assert in_states(constant, (True, True)) is constant
    times = in_states(constant, (True, False, False))
    assert (times.period, times.rows(2, 2).tolist()) == (3, [[0.0, 0.0], [1.0, 2.0]])
    assert (
        StateTimes(compute=Trace(table_s=[[1.0], [1.0]], repeat=True), computes=(True, False)).period is None
    )


@BOTH
@SHARINGS
def test_on_the_same_random_times_one_region_has_the_dates_of_the_star(star_and_region, sharing, engine):
    star, region = star_and_region
    compute = Lognormal(mean_s=WORK.round_compute_s(11), cv=0.5, seed=1)
    given = {"sharing": sharing, "engine": engine, "compute": compute}
    rounds = 450 if engine == "compiled" else 60
    expected, found = simulate(star, rounds, **given), simulate(region, 2 * rounds, **given)

    np.testing.assert_allclose(found.round_start_s[::2], expected.round_start_s, rtol=1e-9, atol=1e-9)
    assert found.cycle_time_s == pytest.approx(expected.cycle_time_s, rel=1e-9)
    one, other = expected.confidence_interval(), found.confidence_interval()
    if rounds < 400:
        assert one is other is None
        return
    assert (other.mean, other.half_width) == pytest.approx((one.mean, one.half_width), rel=1e-6)


@BOTH
@SHARINGS
def test_one_region_is_proven_to_repeat_as_the_star_is(star_and_region, sharing, engine):
    star, region = star_and_region
    expected, found = (
        simulate(each, rounds, sharing=sharing, engine=engine).steady
        for each, rounds in ((star, 200), (region, 400))
    )

    assert found.is_exact
    assert found.cycle_time_s == pytest.approx(expected.cycle_time_s, rel=1e-9)
    assert (found.period_s, found.period_rounds) == pytest.approx(
        (expected.period_s, 2 * expected.period_rounds), rel=1e-9
    )
    assert found.computing_rounds == expected.computing_rounds == expected.period_rounds
    if sharing == "equal":
        assert found.cycle_time_s == pytest.approx(star.closed_forms.serialized_s, rel=1e-9)


@BOTH
@pytest.mark.parametrize(("regions", "cloud_every"), [(3, 4), (2, 1), (11, 3)])
def test_constant_rates_are_the_closed_form(engine, regions, cloud_every):
    overlay = design_periodic("hierarchical", gaia(), WORK, regions=regions, cloud_every=cloud_every)
    timeline = simulate(overlay, 12, sharing="equal", engine=engine)

    assert timeline.cycle_time_is_exact
    assert timeline.cycle_time_s == pytest.approx(overlay.closed_forms.serialized_s, rel=1e-9)
    assert timeline.steady.computing_rounds % cloud_every == 0
    assert timeline.steady.period_rounds % overlay.period == 0


@BOTH
def test_dates_by_hand(engine):
    # Two silos 0 km apart, 4 ms of latency: compute for 1 s, send 4 bits over 1 bit/s to and fro.
    graph = network([(0, 1)], [0.0], [1.0])
    states = [state_of([0], [1], [0.5]), state_of([1], [0], [1.0], computes=False)]
    overlay = build_periodic("pair", graph, Workload(model_bits=4.0, compute_s=1.0, name="test"), states)
    timeline = simulate(overlay, 4, engine=engine, messages=True)

    np.testing.assert_allclose(
        timeline.round_start_s, [[0, 0], [1, 5.004], [9.008, 5.004], [10.008, 14.012], [18.016, 14.012]]
    )
    np.testing.assert_allclose(timeline.messages.start_s[:2, [0, 1]], [[1, np.nan], [np.nan, 5.004]])
    assert timeline.cycle_time_s == pytest.approx(9.008)
    assert str(simulate(overlay, 4, engine=engine, sharing="equal").steady) == "9008 ms / round"
    assert overlay.closed_forms.paper_s == pytest.approx(9.008)
    # One round that does not end with its last state: its own length is all there is to see.
    assert simulate(overlay, 1, engine=engine, sharing="maxmin").cycle_time_s == pytest.approx(5.004)


def test_random_times_of_few_rounds_are_counted_per_round_in_which_silos_compute(star_and_region):
    star, region = star_and_region
    compute = Lognormal(mean_s=WORK.round_compute_s(11), cv=0.5, seed=1)
    expected, found = simulate(star, 30, compute=compute), simulate(region, 60, compute=compute)

    assert found.cycle_time_s == pytest.approx(expected.cycle_time_s, rel=1e-9)
    assert found.confidence_interval() is None


def test_absences_are_numbered_by_the_rounds_in_which_silos_compute():
    start_s = np.arange(13.0)[:, np.newaxis] + [0.0, 0.5]
    starts = Starts.of(start_s, [(0, 4, 6), (1, 9, 10)]).computing((True, False, False), regular_from=0)

    assert starts.last_s.max(axis=1).tolist() == [0.5, 3.5, 6.5, 9.5, 12.5]
    # Round 1 is the states 3 to 5, round 3 the states 9 to 11.
    assert starts.presence.missed == (((1, 2),), ((3, 4),))
    assert starts.rounds == 4
    assert starts.computing((True,), regular_from=0) is starts


def test_batches_of_an_interval_are_whole_periods():
    # Of 4 rounds of two states each the last takes five times as long.
    growth_s = np.tile([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 2.5, 2.5], 150)
    start_s = np.concatenate(([0.0], np.cumsum(growth_s)))[:, np.newaxis]
    for rows in (1201, 1000):
        starts = Starts.of(start_s[:rows]).computing((True, False) * 4, regular_from=0)
        interval = cycle_time_interval(starts, silos=1)
        assert (interval.mean, interval.half_width) == pytest.approx((2.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("trial", range(6))
def test_with_silos_away_one_region_has_the_dates_and_intervals_of_the_star(star_and_region, trial):
    star, region = star_and_region
    rng = np.random.default_rng(trial)
    compute = Lognormal(mean_s=WORK.round_compute_s(11), cv=0.5, seed=trial)
    rounds = (40, 60, 450)[trial % 3]
    engine = "compiled" if rounds == 450 else ("simpy", "compiled")[trial // 3]
    once, twice = [], []
    for silo in rng.choice(np.delete(np.arange(11), star.hub), rng.integers(1, 4), replace=False).tolist():
        first = int(rng.integers(1, rounds - 2))
        missed = int(rng.integers(1, rounds - first))
        once.append(Absence(silo=silo, first_round=first, rounds=missed))
        twice.append(Absence(silo=silo, first_round=2 * first, rounds=2 * missed))
    expected = simulate(star, rounds, events=once, engine=engine, compute=compute)
    found = simulate(region, 2 * rounds, events=twice, engine=engine, compute=compute)

    np.testing.assert_allclose(found.round_start_s[::2], expected.round_start_s, rtol=1e-9, atol=1e-9)
    assert found.cycle_time_s == pytest.approx(expected.cycle_time_s, rel=1e-9)
    one, other = expected.confidence_interval(), found.confidence_interval()
    assert (one is None) == (rounds < 400)
    if one is None:
        assert other is None
    else:
        assert (other.mean, other.half_width) == pytest.approx((one.mean, one.half_width), rel=1e-6)


@BOTH
def test_a_silo_that_is_away_from_one_state_misses_that_round(star_and_region, engine):
    _, region = star_and_region
    compute = Lognormal(mean_s=WORK.round_compute_s(11), cv=0.5, seed=1)
    hub = int(region.states[1].source[0])
    away = Absence(silo=(hub + 1) % 11, first_round=7, rounds=1)
    timeline = simulate(region, 40, events=[away], engine=engine, compute=compute)
    starts = Starts.of(timeline.round_start_s, timeline.absences).computing(timeline.computes, regular_from=0)
    assert np.isfinite(timeline.round_start_s).all()
    assert {missed for missed in starts.presence.missed if missed} == {((3, 4),)}


def test_some_state_must_compute():
    graph = network([(0, 1)], [0.0], [1.0])
    states = [state_of([0, 1], [1, 0], [0.5, 0.5], computes=False)]
    with pytest.raises(InputError) as caught:
        build_periodic("idle", graph, Workload(model_bits=4.0, compute_s=1.0), states)
    rule = "silos must compute in one state or more: cycle times are per round in which they do."
    assert str(caught.value) == f"idle: {rule}"
    assert overlay_job(design("ring", gaia(), WORK), 3).computes == (True,)


@BOTH
@pytest.mark.parametrize("computes", [(False, True), (False, False, True)])
def test_a_job_that_ends_before_silos_compute_has_the_time_of_its_rounds(engine, computes):
    # Messages of 4 s and latencies of 4 ms pass both ways before any silo computes.
    graph = network([(0, 1)], [0.0], [1.0])
    states = [state_of([0, 1], [1, 0], [0.5, 0.5], computes=each) for each in computes]
    overlay = build_periodic("test", graph, Workload(model_bits=4.0, compute_s=1.0), states)
    rounds = len(computes) - 1
    found = simulate(overlay, rounds, engine=engine)

    assert found.cycle_time_s == pytest.approx(4.004 * rounds, rel=1e-9)
    assert not found.cycle_time_is_exact

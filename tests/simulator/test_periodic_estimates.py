"""Cycle times of periodic overlays that are not known to repeat: whole periods, and no rounds before lags end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import Lognormal, simulate
from simulator.statistics.confidence import (
    BATCHES,
    _batches,
    counted_rounds,
    cycle_time_interval,
    estimated_cycle_time,
    interval_rounds,
    least_rounds,
    paired_difference,
    rounds_for_interval,
)
from simulator.statistics.steady_state import estimated_steady_state
from simulator.world.counted_silos import Starts
from topologies import (
    AccessLinks,
    Workload,
    build_periodic,
    connectivity,
    design_periodic,
    load_underlay,
    state_of,
)

WORK = Workload.preset("femnist", variant="published")


def gaia(access_bps=1e10):
    access = AccessLinks(up_bps=access_bps, down_bps=access_bps)
    return connectivity(load_underlay("gaia", variant="published"), access=access)


def start_s(growth_s, rounds):
    """Starts of two silos, the second half a second later, of rounds that take these times in turn."""
    return np.concatenate(([0.0], np.cumsum(np.resize(growth_s, rounds))))[:, np.newaxis] + [0.0, 0.5]


@given(st.lists(st.sampled_from([1.0, 2.0, 8.0]), min_size=1, max_size=9), st.integers(1, 60))
def test_an_estimate_is_the_mean_of_whole_periods(growth_s, rounds):
    computes, mean_s = (True,) * len(growth_s), np.mean(growth_s)
    dates_s = start_s(growth_s, rounds)
    counted = Starts.of(dates_s).computing(computes, regular_from=0).latest(last=True)

    assert counted.lacks_period == (len(growth_s) > 1 and rounds < 2 * len(growth_s))
    if rounds >= len(growth_s):
        assert counted.rounds % len(growth_s) == 0
        assert counted.cycle_time_s == pytest.approx(mean_s)
        assert estimated_steady_state(dates_s[:, :1], (), computes, 0).cycle_time_s == pytest.approx(mean_s)
    if rounds >= 2 * len(growth_s):
        assert rounds // 2 <= counted.first_round
        assert rounds - counted.first_round > rounds - rounds // 2 - len(growth_s)


def test_of_one_state_it_is_the_last_half_as_ever():
    dates_s = start_s(np.random.default_rng(0).random(37), 37)
    counted = Starts.of(dates_s).computing((True,), regular_from=0).latest(last=True)

    assert (counted.first_round, counted.rounds, counted.lacks_period) == (18, 19, False)
    assert counted.cycle_time_s == (dates_s[-1, 1] - dates_s[18, 1]) / 19


@given(st.integers(1, 2000))
def test_batches_are_whole_periods_and_leave_out_few(periods):
    batches = _batches(periods)
    assert batches == periods if periods < BATCHES else BATCHES // 2 <= batches <= BATCHES
    assert 10 * (periods % batches) <= periods
    if periods % BATCHES == 0:
        assert batches == BATCHES


@pytest.mark.parametrize("period", [1, 3, 7, 12, 25, 60])
def test_an_interval_of_rounds_that_repeat_has_no_width(period):
    growth_s = np.ones(period)
    growth_s[-1] = 1.0 + period
    computes, least = (True,) * period, least_rounds(2, period)
    for rounds in (least, least + 1, rounds_for_interval(2, period), 3 * least + 17):
        starts = Starts.of(start_s(growth_s, rounds)).computing(computes, regular_from=0)
        found = estimated_cycle_time(starts, silos=2)
        assert (found.interval.mean, found.interval.half_width) == pytest.approx((2.0, 0.0), abs=1e-9)
        assert found.counted.rounds % period == 0
        assert not found.counted.lacks_period
        assert interval_rounds([starts], silos=2)[0].first_round >= rounds - counted_rounds(rounds)
    assert least == 400 or cycle_time_interval(starts.until(least // 2), silos=2) is None


def test_the_difference_of_two_periods_is_over_both_or_over_parts():
    one, other, odd = (
        Starts.of(start_s(np.append(np.ones(period - 1), 1.0 + period), 1000)).computing(
            (True,) * period, regular_from=0
        )
        for period in (4, 6, 77)
    )
    found = paired_difference(one, other, silos=2)
    assert (found.mean, found.half_width) == pytest.approx((0.0, 0.0), abs=1e-9)
    # 308 rounds until both repeat: too long for batches.
    assert paired_difference(one, odd, silos=2).mean == pytest.approx(0.0, abs=0.2)


@pytest.mark.parametrize("kind", ["multigraph", "base", "hierarchical"])
def test_both_engines_find_the_same_period_in_the_same_rounds(kind):
    overlay = design_periodic(kind, gaia(), Workload.preset("inaturalist", variant="published"))
    found = []
    for rounds in range(8, 81, 3):
        one, other = (simulate(overlay, rounds, engine=engine).steady for engine in ("simpy", "compiled"))
        assert one.is_exact == other.is_exact
        assert one.cycle_time_s == pytest.approx(other.cycle_time_s, rel=1e-9)
        found.append(one.is_exact)
    assert found == sorted(found)
    assert not found[0]
    assert found[-1]


def test_estimates_of_random_times_are_not_biased_by_parts_of_periods():
    overlay = design_periodic("hierarchical", gaia(1e9), WORK, cloud_every=10)
    compute = Lognormal(mean_s=WORK.round_compute_s(11), cv=0.05, seed=1)
    long = simulate(overlay, 100 * overlay.period, compute=compute, engine="compiled").cycle_time_s
    for rounds in (61, 70, 85, 90):
        found = simulate(overlay, rounds, compute=compute, engine="compiled").cycle_time_s
        assert found == pytest.approx(long, rel=0.005)


def test_long_lags_need_as_many_rounds_after_the_warm_up():
    assert [least_rounds(11, 1, lag) for lag in (0, 50, 51, 300)] == [400, 400, 402, 900]
    late = Starts.of(start_s([1.0], 900)).computing((True,), 300)
    assert interval_rounds([late], silos=11)[0].first_round == 600
    assert interval_rounds([late.until(900)], silos=11) is None


@pytest.fixture(scope="module")
def late():
    """A ring whose silos take models of forty rounds before, through access links that take longer than computing."""
    ends = np.arange(11)
    state = state_of(ends, np.roll(ends, -1), np.full(11, 0.5), np.full(11, 40))
    return build_periodic("late", gaia(1e8), WORK, [state])


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_rounds_before_lags_end_do_not_count(late, engine):
    load_s = late.closed_forms.load_bound_s
    compute = Lognormal(mean_s=WORK.round_compute_s(11), cv=0.05, seed=1)
    assert load_s > 5 * compute.rows(0, 1).max()
    few = simulate(late, 30, compute=compute, engine=engine)
    assert few.confidence_interval() is None
    assert few.cycle_time_s < load_s / 5
    for rounds in (60, 100, rounds_for_interval(11, 1, 39)):
        found = simulate(late, rounds, compute=compute, engine=engine)
        assert found.cycle_time_s == pytest.approx(load_s, rel=0.05)
    interval = found.confidence_interval()
    assert interval.mean == pytest.approx(load_s, rel=0.02)
    assert interval.half_width < 0.05 * load_s


def test_of_rounds_before_lags_end_only_it_is_said():
    growth_s = np.repeat([1.0, 5.0], 40)
    starts = Starts.of(start_s(growth_s, 80)).computing((True,), 40)
    assert not starts.latest().lacks_waiting
    assert starts.until(51).latest().cycle_time_s == 5.0
    assert starts.until(51).latest().first_round == 40
    few = starts.until(41).latest()
    assert few.lacks_waiting
    assert (few.first_round, few.cycle_time_s) == (20, 1.0)

"""Confidence intervals of cycle times, and the rule that stops a simulation."""

import numpy as np
import pytest

from simulator.statistics.confidence import (
    StopRule,
    _batches,
    counted_rounds,
    cycle_time_interval,
    estimated_cycle_time,
    interval_rounds,
    least_rounds,
    paired_difference,
    rounds_for_interval,
)
from simulator.world.counted_silos import Starts
from topologies import InputError
from topologies.statistics import correlated_batch_means


def starts(growth_s):
    return np.concatenate(([0.0], np.cumsum(growth_s)))


def test_a_constant_growth_is_known_exactly_and_the_warm_up_does_not_count():
    growth_s = np.full(1000, 0.25)
    growth_s[:200] = 7.0
    interval = cycle_time_interval(starts(growth_s), silos=3)

    assert interval.mean == pytest.approx(0.25, rel=1e-12)
    assert interval.half_width < 1e-9


def ring_starts(silos, rounds, *, runs, seed):
    """Mean round starts (runs, rounds + 1) of a directed ring with lognormal computing times (cv 0.5) and no delays."""
    rng = np.random.default_rng(seed)
    spread = np.float32(np.sqrt(np.log(1.25)))
    start_s, means_s = np.zeros((runs, silos)), np.zeros((runs, rounds + 1))
    for k in range(rounds):
        start_s += np.exp(spread * rng.standard_normal((runs, silos), dtype=np.float32) - spread**2 / 2)
        start_s = np.maximum(start_s, np.roll(start_s, 1, axis=1))
        means_s[:, k + 1] = start_s.mean(axis=1)
    return means_s


# The cycle time of that ring: slope of 400 runs of 20,000 rounds, to 0.01 %. One silo: the mean computing time.
RING_S = {1: 1.0, 11: 1.44826, 40: 1.47922, 87: 1.48554}


@pytest.mark.slow
@pytest.mark.parametrize("silos", RING_S)
def test_nine_of_ten_intervals_of_a_ring_with_random_computing_times_hold_its_cycle_time(silos):
    least = least_rounds(silos)
    runs_s = ring_starts(silos, 3 * least, runs=300, seed=silos)

    for rounds in (least, 3 * least):
        intervals = [cycle_time_interval(run_s[: rounds + 1], silos=silos) for run_s in runs_s]
        holds = np.mean([interval.low <= RING_S[silos] <= interval.high for interval in intervals])
        # 95 % have a standard deviation of 1.3 % over 300 intervals.
        assert 0.90 <= holds <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize(("silos", "relative"), [(11, 0.02), (40, 0.01), (87, 0.01)])
def test_nine_of_ten_intervals_that_stop_a_simulation_hold_its_cycle_time(silos, relative):
    runs_s = ring_starts(silos, 7000, runs=300, seed=100 + silos)
    held = []
    for run_s in runs_s:
        rule = StopRule(relative, silos=silos)
        stop = next((n for n in range(100, 7001, 100) if rule.is_met(run_s[: n + 1])), None)
        if stop is not None:
            interval = cycle_time_interval(run_s[: stop + 1], silos=silos)
            assert interval.half_width <= relative * interval.mean
            held.append(interval.low <= RING_S[silos] <= interval.high)

    assert len(held) >= 270
    assert np.mean(held) >= 0.90


def test_rounds_that_are_few_for_the_silos_have_no_interval():
    assert [least_rounds(silos) for silos in (1, 20, 21, 87)] == [400, 400, 420, 1740]
    for silos in (1, 87):
        least = least_rounds(silos)
        assert cycle_time_interval(starts(np.ones(least - 1)), silos=silos) is None
        assert cycle_time_interval(starts(np.ones(least)), silos=silos) is not None


def test_ten_periods_after_the_warm_up_and_as_many_rounds_after_lags_became_long():
    # (10 * 60 + 20) / 0.75 is 826.7; of 27 states that is less than 400.
    assert [least_rounds(1, period) for period in (1, 28, 29, 60)] == [400, 400, 414, 827]
    assert least_rounds(87, 60) == 1740
    # Three quarters of 400, and of 827 the last 620, after what is twice as long as lags take.
    assert [least_rounds(1, 1, regular) for regular in (0, 50, 51, 1000)] == [400, 400, 402, 2300]
    assert least_rounds(1, 60, 1000) == 2620
    assert [rounds_for_interval(silos) for silos in (1, 21, 87)] == [500, 525, 2175]


def test_batches_are_twenty_or_so_many_that_few_periods_are_left_out():
    batches = {periods: _batches(periods) for periods in (9, 19, 20, 22, 23, 39, 40, 199, 219)}

    # Of 22 two are a tenth or less; of 23 eleven batches leave one out, of 39 thirteen none.
    assert batches == {9: 9, 19: 19, 20: 20, 22: 20, 23: 11, 39: 13, 40: 20, 199: 20, 219: 20}


def test_the_mean_is_over_the_counted_rounds():
    growth_s = np.random.default_rng(5).exponential(1.0, 1013)
    counted = counted_rounds(1013)

    assert counted == 740
    assert [counted_rounds(rounds) for rounds in (1, 2, 20, 27, 100)] == [1, 1, 15, 20, 60]
    assert cycle_time_interval(starts(growth_s), silos=2).mean == pytest.approx(growth_s[-counted:].mean())


def test_common_random_numbers_show_a_difference_that_independent_ones_hide():
    rng = np.random.default_rng(2)
    shared, other = rng.exponential(1.0, (2, 2000))
    paired = paired_difference(starts(shared + 0.01), starts(shared), silos=4)
    apart = paired_difference(starts(other + 0.01), starts(shared), silos=4)

    assert paired.mean == pytest.approx(0.01, rel=1e-9)
    assert paired.half_width < 1e-9 < 0.01 < apart.half_width
    assert paired_difference(starts(shared + 0.01), starts(shared[:500]), silos=4).mean == pytest.approx(0.01)
    assert paired_difference(starts(shared + 0.01), starts(shared[:500]), silos=40) is None


def rounds_until(rule, growth_s, block=50):
    start_s = starts(growth_s)
    return next((n for n in range(block, len(growth_s) + 1, block) if rule.is_met(start_s[: n + 1])), None)


def test_a_narrower_interval_needs_more_rounds_and_is_as_narrow_as_asked():
    growth_s = np.random.default_rng(3).lognormal(0.0, 0.3, 100_000)
    stops = [rounds_until(StopRule(relative, silos=1), growth_s) for relative in (0.05, 0.01, 0.005)]

    assert stops[0] < stops[1] < stops[2]
    for stop, relative in zip(stops, (0.05, 0.01, 0.005), strict=True):
        interval = cycle_time_interval(starts(growth_s[:stop]), silos=1)
        assert interval.half_width <= relative * interval.mean
    assert rounds_until(StopRule(1e-6, silos=1), growth_s) is None


def test_it_never_stops_before_the_least_rounds_nor_at_the_first_look():
    growth_s = np.ones(5000)

    assert rounds_until(StopRule(0.1, silos=1), growth_s) == 500
    assert rounds_until(StopRule(0.1, silos=1, least=2000), growth_s) == 2500
    assert rounds_until(StopRule(0.1, silos=87), growth_s) == 2200


@pytest.mark.parametrize("relative", [0.0, -1.0, float("nan"), float("inf")])
def test_a_width_that_is_none(relative):
    with pytest.raises(InputError, match="until_ci"):
        StopRule(relative, silos=1)


def test_a_correlation_counts_as_nine_tenths_and_three_degrees_of_freedom_at_most():
    # Batch means that rise have a lag-one correlation of 0.925; a fortieth of bias more is above 0.9.
    rising = correlated_batch_means(np.arange(40.0), batches=40)
    squares = 40 * (40**2 - 1) / 12

    # (1 + 0.9) / (1 - 0.9) = 19 times the variance; Student's quantile of 3 degrees of freedom.
    assert rising.half_width == pytest.approx(3.182446305284263 * (19 * squares / 39 / 40) ** 0.5, rel=1e-9)
    # Two batches leave one degree, of which the quantile is 12.7: means 0 and 1 have r = -1/2 + 1/2.
    assert correlated_batch_means([0.0, 1.0], batches=2).half_width == pytest.approx(
        12.706204736 * 0.5, rel=1e-9
    )


def test_where_20_batches_leave_out_a_tenth_there_are_ten_or_more():
    # Of 27 periods 9 batches would leave none out, and of 49 seven; of 49 both 12 and 16 leave out one.
    assert (_batches(27), _batches(49)) == (13, 16)


def test_a_stop_does_not_depend_on_the_unit_of_time():
    growth_s = np.random.default_rng(3).lognormal(0.0, 0.3, 20_000)
    stops = [rounds_until(StopRule(0.02, silos=1), unit * growth_s) for unit in (1.0, 1024.0, 1 / 1024)]
    assert stops[0] == stops[1] == stops[2] > 500


def test_an_interval_just_as_narrow_as_asked_stops_the_simulation():
    start_s = starts(np.random.default_rng(1).lognormal(0.0, 0.3, 500))
    interval = cycle_time_interval(start_s, silos=1)
    relative = interval.half_width / interval.mean
    found = []
    for asked in (relative * (1 + 1e-12), relative * (1 - 1e-9)):
        rule = StopRule(asked, silos=1)
        # The first look only counts as one that was narrow.
        found += [rule.is_met(starts(np.ones(399))), rule.is_met(starts(np.ones(400))), rule.is_met(start_s)]
    assert found == [False, False, True, False, False, False]


def test_of_few_rounds_the_slowest_silo_tells_the_cycle_time():
    start_s = np.outer(np.arange(11.0), [1.0, 2.0])
    found = estimated_cycle_time(Starts.of(start_s), silos=2)
    assert (found.cycle_time_s, found.interval) == (2.0, None)


def test_a_difference_of_periods_too_long_together_is_over_20_batches_of_all_rounds():
    jobs = [
        Starts.of(np.ones((1001, 2)).cumsum(axis=0)).computing((True,) * period, regular_from=0)
        for period in (4, 77)
    ]
    found = interval_rounds(jobs, silos=2)
    assert [(one.first_round, one.rounds) for one in found] == [(260, 740), (260, 740)]
    assert interval_rounds(jobs[1:], silos=2) is None

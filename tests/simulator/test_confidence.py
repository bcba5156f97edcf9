"""Confidence intervals of cycle times, and the rule that stops a simulation."""

import numpy as np
import pytest

from simulator.confidence import LEAST_ROUNDS, StopRule, cycle_time_interval, paired_difference
from topologies import InputError


def starts(growth_s):
    return np.concatenate(([0.0], np.cumsum(growth_s)))


def test_a_constant_growth_is_known_exactly_and_the_warm_up_does_not_count():
    growth_s = np.full(1000, 0.25)
    growth_s[:200] = 7.0
    interval = cycle_time_interval(starts(growth_s))

    assert interval.mean == pytest.approx(0.25, rel=1e-12)
    assert interval.half_width < 1e-9


def test_nine_of_ten_intervals_hold_the_mean():
    rng = np.random.default_rng(1)
    intervals = [cycle_time_interval(starts(rng.exponential(2.0, 800))) for _ in range(400)]
    holds = np.mean([interval.low <= 2.0 <= interval.high for interval in intervals])

    # 95 % with a standard deviation of 1.1 % over 400 intervals.
    assert 0.91 <= holds <= 0.99


def test_fewer_rounds_than_batches_need_have_no_interval():
    assert cycle_time_interval(starts(np.ones(LEAST_ROUNDS - 1))) is None
    assert cycle_time_interval(starts(np.ones(LEAST_ROUNDS))) is not None


def test_common_random_numbers_show_a_difference_that_independent_ones_hide():
    rng = np.random.default_rng(2)
    shared, other = rng.exponential(1.0, (2, 2000))
    paired = paired_difference(starts(shared + 0.01), starts(shared))
    apart = paired_difference(starts(other + 0.01), starts(shared))

    assert paired.mean == pytest.approx(0.01, rel=1e-9)
    assert paired.half_width < 1e-9 < 0.01 < apart.half_width
    assert paired_difference(starts(shared + 0.01), starts(shared[:500])).mean == pytest.approx(0.01)


def rounds_until(rule, growth_s, block=50):
    start_s = starts(growth_s)
    return next((n for n in range(block, len(growth_s) + 1, block) if rule.is_met(start_s[: n + 1])), None)


def test_a_narrower_interval_needs_more_rounds_and_is_as_narrow_as_asked():
    growth_s = np.random.default_rng(3).lognormal(0.0, 0.3, 100_000)
    stops = [rounds_until(StopRule(relative), growth_s) for relative in (0.05, 0.01, 0.005)]

    assert stops[0] < stops[1] < stops[2]
    for stop, relative in zip(stops, (0.05, 0.01, 0.005), strict=True):
        interval = cycle_time_interval(starts(growth_s[:stop]))
        assert interval.half_width <= relative * interval.mean
    assert rounds_until(StopRule(1e-6), growth_s) is None


def test_it_never_stops_before_the_least_rounds_nor_at_the_first_look():
    growth_s = np.ones(5000)

    assert rounds_until(StopRule(0.1), growth_s) == 500
    assert rounds_until(StopRule(0.1, least_rounds=2000), growth_s) == 2500


@pytest.mark.parametrize("relative", [0.0, -1.0, float("nan"), float("inf")])
def test_a_width_that_is_none(relative):
    with pytest.raises(InputError, match="until_ci"):
        StopRule(relative)

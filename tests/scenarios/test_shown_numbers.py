"""Numbers as tables and notes show them, at the bounds between their forms."""

import math

import pytest

from scenarios.config.quantities import (
    digits,
    format_interval,
    format_long,
    format_mean,
    format_ratio,
    half_width_digits,
    time_unit,
)
from scenarios.validation.circuit_table import _count


def below(number):
    return math.nextafter(number, 0.0)


@pytest.mark.parametrize(
    ("half", "text"),
    [
        (0.0, "0"),
        (0.064, "0.064"),
        (9.96, "10"),
        (99.4, "99"),
        (99.5, "99.50"),
        (99.9, "99.90"),
        (100.0, "100.0"),
        (999.96, "1000"),
        (12_345.0, "12345"),
    ],
)
def test_half_widths_have_no_exponent(half, text):
    assert half_width_digits(half) == text


def test_a_half_width_is_within_its_second_digit():
    for power in range(1500):
        half = 0.001 * 1.01**power
        assert float(half_width_digits(half)) == pytest.approx(half, rel=0.05)
        assert "e" not in half_width_digits(half)


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.0, "1.00x"),
        (9.99, "9.99x"),
        (below(9.995), "9.99x"),
        (9.995001, "10.0x"),
        (99.9, "99.9x"),
        (99.951, "100x"),
        (123.4, "123x"),
        (999.6, "1000x"),
        (1234.4, "1234x"),
    ],
)
def test_ratios_have_three_digits(ratio, text):
    assert format_ratio(ratio) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.000"),
        (9.994e-4, "9.99e-4"),
        (1e-3, "0.001000"),
        (999.94, "999.9"),
        (999.96, "1000"),
        (1000.0, "1000"),
        (-1000.0, "-1000"),
        (9.9994e6, "9999400"),
        (9.9996e6, "1.00e7"),
        (1e7, "1.00e7"),
        (math.inf, "inf"),
    ],
)
def test_numbers_have_four_digits(number, text):
    assert digits(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (below(120.0), "120.0 s"),
        (120.0, "2.000 min"),
        (below(7200.0), "120.0 min"),
        (7200.0, "2.000 h"),
        (below(172_800.0), "48.00 h"),
        (172_800.0, "2.000 d"),
    ],
)
def test_long_durations_change_their_unit_at_twice_it(seconds, text):
    assert format_long(seconds) == text


@pytest.mark.parametrize(("bound_s", "unit", "lower"), [(1e-4, "ms", "µs"), (1e-7, "µs", "ns")])
def test_a_unit_of_a_table_begins_at_its_bound(bound_s, unit, lower):
    assert time_unit(bound_s) == unit
    assert time_unit(below(bound_s)) == lower
    assert (time_unit(10.0), time_unit(math.nextafter(10.0, 11.0))) == ("ms", "s")


@pytest.mark.parametrize(
    ("number", "text"), [(0.0, "0.00"), (1.234, "1.23"), (99.99, "99.99"), (100.0, "100"), (1234.5, "1234")]
)
def test_numbers_of_models_under_way_have_two_decimals_below_100(number, text):
    assert _count(number) == text


@pytest.mark.parametrize(
    ("half", "text"),
    [
        (None, "2.000"),
        (0.0, "2.000 +- 0"),
        (2e-8, "2.000 +- 0"),
        (2.1e-8, "2.000 +- 2.1e-08"),
        (0.25, "2.000 +- 0.25"),
    ],
)
def test_a_rounding_error_is_no_half_width(half, text):
    assert format_mean(2.0, half) == text
    assert format_mean(-2.0, half) == f"-{text}"


@pytest.mark.parametrize(
    ("half_s", "text"),
    [
        (1.0, "2.000 s +- 1 s"),
        (1e-3, "2.000 s +- 1 ms"),
        (2e-8, "2.000 s +- 0 s"),
    ],
)
def test_a_half_width_is_in_the_largest_unit_of_which_it_is_one(half_s, text):
    assert format_interval(2.0, half_s) == text


def test_ratios_at_their_bounds_have_the_digits_of_what_is_above():
    assert [format_ratio(ratio) for ratio in (9.995, below(99.95), 99.95)] == ["10.0x", "99.9x", "100x"]

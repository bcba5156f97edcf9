"""Quantities: bits and bytes, prefixes, and every way to get them wrong."""

import pytest

from scenarios.units import digits, format_bits, format_rate, format_s, parse_quantity, time_unit
from topologies import InputError


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("10 Gbps", "bit/s", 1e10),
        ("10Gbps", "bit/s", 1e10),
        ("100 Mbit/s", "bit/s", 1e8),
        ("1e3 kbps", "bit/s", 1e6),
        ("1 GB/s", "bit/s", 8e9),
        ("2 MBps", "bit/s", 16e6),
        ("inf bps", "bit/s", float("inf")),
        ("42.9 MB", "bit", 343.2e6),
        ("1 MiB", "bit", 8 * 2**20),
        ("1 Mbit", "bit", 1e6),
        ("1 megabit", "bit", 1e6),
        ("1 mebibyte", "bit", 8 * 2**20),
        ("0 bit", "bit", 0.0),
        ("25.4 ms", "s", 0.0254),
        ("2 min", "s", 120.0),
        ("3 µs", "s", 3e-6),
    ],
)
def test_quantities(text, unit, value):
    assert parse_quantity("x", text, unit, zero=value == 0) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit", "rule"),
    [
        ("10", "bit/s", "must be a number with a unit"),
        (10, "bit/s", "must be a number with a unit"),
        (True, "bit/s", "must be a number with a unit"),
        ("Gbps", "bit/s", "must be a number with a unit"),
        ("", "bit/s", "must be a number with a unit"),
        ("1 Gbps + 1 Gbps", "bit/s", "must be a number with a unit"),
        ("9 ** 9 bps", "bit/s", "must be a number with a unit"),
        ("10 Gigs", "bit/s", "has the unit 'Gigs'"),
        ("10 MB", "bit/s", "has the unit 'MB'"),
        ("1 GHz", "bit/s", "has the unit 'GHz'"),
        ("10 Mbps", "bit", "has the unit 'Mbps'"),
        ("10 ms", "bit", "has the unit 'ms'"),
        ("0 bps", "bit/s", "must be > 0"),
        ("-1 Gbps", "bit/s", "must be > 0"),
        ("nan Gbps", "bit/s", "must be finite"),
        ("-1 s", "s", "must be > 0"),
        ("inf s", "s", "must be finite"),
        ("1e400 Gbps", "bit/s", "must be finite"),
        ("10 mbps", "bit/s", "m means milli"),
        ("1000 mbps", "bit/s", "m means milli"),
        ("100000 mbps", "bit/s", "m means milli"),
        ("5000 mbit/s", "bit/s", "m means milli"),
        ("1e12 µbps", "bit/s", "fraction of a bit"),
        ("1e12 ubit", "bit", "fraction of a bit"),
        ("5000 mbit", "bit", "m means milli"),
        ("42000 mB", "bit", "m means milli"),
        ("42000 millibyte", "bit", "m means milli"),
        ("0.5 bps", "bit/s", "must be >= 1 bit/s"),
        ("10 mb", "bit", "has the unit 'mb'"),
    ],
)
def test_wrong_quantities_say_field_value_and_rule(text, unit, rule):
    with pytest.raises(InputError) as caught:
        parse_quantity("access", text, unit)

    assert str(caught.value).startswith(f"access(={text!r}) ")
    assert rule in str(caught.value)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (format_rate(1e10), "10 Gbps"),
        (format_rate(float("inf")), "unlimited"),
        (format_rate(999_999), "1 Mbps"),
        (format_rate(999_949), "999.9 kbps"),
        (format_rate(99_999_999_999), "100 Gbps"),
        (format_bits(358_961_664), "359 Mbit"),
        (format_bits(0), "0 bit"),
        (format_s(0.1181), "118.1 ms"),
        (format_s(4.496), "4.496 s"),
        (format_s(12345.6), "12346 s"),
        (format_s(0.99999), "1.000 s"),
        (format_s(0.99994), "999.9 ms"),
        (format_s(999.97), "1000 s"),
        (format_s(0), "0 s"),
        (format_s(float("inf")), "-"),
        (digits(999.97), "1000"),
        (digits(999.94), "999.9"),
        (digits(-999.97), "-1000"),
        (digits(0.04307), "0.04307"),
        (digits(28751.97), "28752"),
    ],
)
def test_numbers_for_people_are_rounded_before_their_unit_is_chosen(shown, text):
    assert shown == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e-9, "1.00e-9"),
        (9.999e-4, "1.00e-3"),
        (1e-3, "0.001000"),
        (9_999_499.0, "9999499"),
        (1e7, "1.00e7"),
        (-3.589e8, "-3.59e8"),
        (0.0, "0.000"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_take_eight_places_at_most(number, text):
    assert digits(number) == text
    assert len(text) <= 8


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1e-9, "1.000 ns"),
        (1e-13, "1.00e-4 ns"),
        (2.5e-6, "2.500 µs"),
        (0.99999, "1.000 s"),
        (1e9, "1.00e9 s"),
    ],
)
def test_durations_have_the_unit_of_their_size(seconds, text):
    assert format_s(seconds) == text


@pytest.mark.parametrize(
    ("longest_s", "unit"), [(11.0, "s"), (10.0, "ms"), (1e-4, "ms"), (9e-5, "µs"), (9e-8, "ns"), (0.0, "ms")]
)
def test_a_tables_unit_suits_its_longest_duration(longest_s, unit):
    assert time_unit(longest_s) == unit

"""Quantities: bits and bytes, prefixes, and every way to get them wrong."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.config.quantities import (
    digits,
    exact_text,
    format_bits,
    format_interval,
    format_rate,
    format_s,
    rounded_up,
    signed_s,
    time_unit,
)
from topologies import InputError
from topologies.quantities import _SPELLINGS, _USUAL, parse_quantity, parse_share


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("10 Gbps", "bit/s", 1e10),
        ("10Gbps", "bit/s", 1e10),
        ("100 Mbit/s", "bit/s", 1e8),
        ("1e3 kbps", "bit/s", 1e6),
        ("100 Mb/s", "bit/s", 1e8),
        ("100 Mbits/s", "bit/s", 1e8),
        ("2500 MBit/s", "bit/s", 2.5e9),
        ("2.5 GBit/s", "bit/s", 2.5e9),
        ("64 kBit/s", "bit/s", 64e3),
        ("10 GBITS/s", "bit/s", 1e10),
        ("10 Mbit/sec", "bit/s", 1e7),
        ("10 MBit/sec", "bit/s", 1e7),
        ("10 Gb/s", "bit/s", 1e10),
        ("10 MByte/s", "bit/s", 8e7),
        ("5 MBit", "bit", 5e6),
        ("5 MBytes", "bit", 4e7),
        ("10 gigabit/second", "bit/s", 1e10),
        ("1 GB/s", "bit/s", 8e9),
        ("12.5 MB/s", "bit/s", 1e8),
        ("1 kB/s", "bit/s", 8e3),
        ("1000 Tbps", "bit/s", 1e15),
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
        ("3 \u00b5s", "s", 3e-6),  # the micro sign
        ("3 \u03bcs", "s", 3e-6),  # the Greek letter
        ("3 us", "s", 3e-6),
        ("70 ns", "s", 7e-8),
        ("250 milliseconds", "s", 0.25),
        ("8 h", "s", 28800.0),
        ("366 d", "s", 366 * 86400.0),
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
        ("1e12 µbps", "bit/s", "must be one like that of '10 Gbps'"),
        ("1e12 ubit", "bit", "must be one like that of '42.9 MB'"),
        ("42000 millibyte", "bit", "must be one like that of '42.9 MB'"),
        ("1 ks", "s", "must be one like that of '25.4 ms'"),
        ("25 Mmin", "s", "must be one like that of '25.4 ms'"),
        ("1 mh", "s", "must be one like that of '25.4 ms'"),
        ("1 Gs", "s", "must be one like that of '25.4 ms'"),
        ("1 Pbps", "bit/s", "must be one like that of '10 Gbps'"),
        ("0.5 bps", "bit/s", "must be >= 1 bit/s"),
    ],
)
def test_wrong_quantities_say_field_value_and_rule(text, unit, rule):
    with pytest.raises(InputError) as caught:
        parse_quantity("access", text, unit)

    assert str(caught.value).startswith(f"access(={text!r}) ")
    assert rule in str(caught.value)


@pytest.mark.parametrize(
    ("text", "unit", "meant"),
    [
        ("25 Ms", "s", "'ms'"),
        ("25 MS", "s", "'ms'"),
        ("25 mS", "s", "'ms'"),
        ("25 Us", "s", "'us'"),
        ("25 nS", "s", "'ns'"),
        ("25 S", "s", "'s'"),
        ("25 Min", "s", "'min'"),
        ("25 H", "s", "'h'"),
        ("25 m", "s", "'ms' or 'min'"),
        ("25 M", "s", "'ms' or 'min'"),
        ("25 Milliseconds", "s", "'milliseconds'"),
        ("10 gbps", "bit/s", "'Gbps' or 'GB/s'"),
        ("10 mbps", "bit/s", "'Mbps' or 'MB/s'"),
        ("10 MBPS", "bit/s", "'Mbps' or 'MB/s'"),
        ("10 Kbps", "bit/s", "'kbps' or 'kB/s'"),
        ("10 KB/s", "bit/s", "'kbps' or 'kB/s'"),
        ("10 mb/s", "bit/s", "'Mbps' or 'MB/s'"),
        ("10 gB/s", "bit/s", "'Gbps' or 'GB/s'"),
        ("10 mbit/s", "bit/s", "'Mbps'"),
        ("10 MBit/S", "bit/s", "'Mbps'"),
        ("10 mByte/s", "bit/s", "'MB/s'"),
        ("10 Mbit/Sec", "bit/s", "'Mbps'"),
        ("10 KBit/s", "bit/s", "'kbps'"),
        ("10 M", "bit/s", "'Mbps' or 'MB/s'"),
        ("10 g", "bit/s", "'Gbps' or 'GB/s'"),
        ("10 MB", "bit/s", "'Mbps' or 'MB/s'"),
        ("10 Mbit", "bit/s", "'Mbps'"),
        ("10 Megabits/s", "bit/s", "'megabits/s'"),
        ("1 mB", "bit", "'MB' or 'Mbit'"),
        ("1 mb", "bit", "'MB' or 'Mbit'"),
        ("1 Mb", "bit", "'MB' or 'Mbit'"),
        ("1 gb", "bit", "'GB' or 'Gbit'"),
        ("5 mbit", "bit", "'Mbit'"),
        ("5 mBit", "bit", "'Mbit'"),
        ("5 mBytes", "bit", "'MB'"),
        ("1 KB", "bit", "'kB' or 'kbit' or 'KiB'"),
        ("1 Kbit", "bit", "'kbit'"),
        ("1 mib", "bit", "'MiB' or 'Mibit'"),
        ("10 M", "bit", "'MB' or 'Mbit'"),
    ],
)
def test_units_that_differ_in_case_only_from_likely_ones_are_answered_with_these(text, unit, meant):
    with pytest.raises(InputError) as caught:
        parse_quantity("x", text, unit)

    assert f"has the unit {text.split()[1]!r}; did you mean {meant}? (m is milli, M mega" in str(caught.value)


@pytest.mark.parametrize("unit", _USUAL)
def test_what_is_suggested_is_taken(unit):
    assert set(_USUAL[unit]) <= _SPELLINGS[unit]


@pytest.mark.parametrize("unit", _SPELLINGS)
def test_every_spelling_that_is_taken_has_one_meaning_in_the_registry(unit):
    values = {name: parse_quantity("x", f"1 {name}", unit) for name in _SPELLINGS[unit]}
    scale = {"k": 3, "M": 6, "G": 9, "T": 12, "n": -9, "u": -6, "m": -3}
    for name, value in values.items():
        usual = re.fullmatch("(Ki|Mi|Gi|[kMGTnum]?)(B|bit|bps|B/s|s)", name)
        if usual is not None:
            prefix, base = usual.groups()
            factor = 2 ** (10 * (1 + "KMG".index(prefix[0]))) if prefix[1:] else 10.0 ** scale.get(prefix, 0)
            assert value == pytest.approx((8 if "B" in base else 1) * factor, rel=1e-15)
    assert all(0 < value < math.inf for value in values.values())


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


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.03826, "+38.26 ms"), (-0.03826, "-38.26 ms"), (0.0, "+0 s"), (-2.0, "-2.000 s")]
)
def test_differences_have_a_sign(seconds, text):
    assert signed_s(seconds) == text


@pytest.mark.parametrize(
    ("mean_s", "half_s", "sign", "text"),
    [
        (0.08631, 1.2e-4, "", "86.31 ms +- 120.0 µs"),
        (0.08631, 1.2e-4, "+", "+86.31 ms +- 120.0 µs"),
        (-0.08631, 1.2e-4, "", "-86.31 ms +- 120.0 µs"),
        (0.0, 0.5, "+", "0 s +- 500.0 ms"),
        (20.0, 1.26, "", "20.00 s +- 1.3 s"),
        (500.0, 99.4, "", "500.0 s +- 99 s"),
        (500.0, 100.4, "", "500.0 s +- 100.4 s"),
        (2.0, 1.9e-8, "", "2.000 s +- 0 s"),
        (2.0, 2.1e-8, "", "2.000 s +- 21 ns"),
        (1e-9, 1e-13, "", "1.000 ns +- 0.0001 ns"),
    ],
)
def test_an_interval_has_its_half_width_in_a_unit_of_its_own(mean_s, half_s, sign, text):
    assert format_interval(mean_s, half_s, sign=sign) == text


@pytest.mark.parametrize(("text", "share"), [("0 %", 0.0), ("30%", 0.3), (" 99.9 % ", 0.999)])
def test_shares(text, share):
    assert parse_share("x", text) == pytest.approx(share, rel=1e-15)


@pytest.mark.parametrize("text", ["100 %", "-1 %", "30", "0.3", 30, None])
def test_a_share_is_a_percentage_below_100(text):
    with pytest.raises(InputError, match=r"^x\("):
        parse_share("x", text)


@given(number=st.floats(1e-307, 1e300), significant=st.integers(1, 9))
def test_a_limit_is_rounded_up_by_less_than_its_last_digit(number, significant):
    rounded = rounded_up(number, significant=significant)

    assert number * (1 - 1e-11) <= rounded <= number * (1 + 10 ** (1 - significant)) * (1 + 1e-11)
    # What is shown is what it is, and rounding again leaves it.
    assert float(f"{rounded:.{significant - 1}e}") == rounded
    assert rounded_up(rounded, significant=significant) == rounded


@pytest.mark.parametrize("number", [0.0, math.inf])
def test_a_limit_of_nothing_or_none_stays(number):
    assert rounded_up(number) == number


@pytest.mark.parametrize(
    ("number", "limit"), [(0.89740416, 0.8975), (0.8974, 0.8974), (123_410.0, 123_500.0), (9.9991, 10.0)]
)
def test_a_limit_has_four_digits_as_durations_that_are_shown(number, limit):
    assert rounded_up(number) == limit
    assert parse_quantity("x", format_s(rounded_up(number)), "s") >= number


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1e10, "bps", "10 Gbps"),
        (123_456_789.0, "bit", "123456789.0 bit"),
        (0.0046, "s", "4.600 ms"),
        (0.0, "s", "0 s"),
        (math.inf, "bps", "unlimited"),
        (math.inf, "s", "-"),
        (1 / 3, "s", "0.3333333333333333 s"),
    ],
)
def test_an_exact_text_means_this_very_number(value, unit, text):
    assert exact_text(value, unit) == text
    if math.isfinite(value):
        kind = {"bps": "bit/s"}.get(unit, unit)
        assert parse_quantity("x", text, kind, zero=True) == value

"""Quantities with units, where they are made anew and at the ends of their rules."""

import math

import pytest

from topologies import InputError
from topologies.quantities import _registry, parse_quantity, parse_share, with_prefix


@pytest.mark.parametrize(
    ("unit", "si", "factor"),
    [
        ("byte", "bit", 8),
        ("KiB", "bit", 8 * 1024),
        ("MiB", "bit", 8 * 1024**2),
        ("GiB", "bit", 8 * 1024**3),
        ("TB", "bit", 8e12),
        ("kbps", "bit/s", 1e3),
        ("MB/s", "bit/s", 8e6),
        ("μs", "s", 1e-6),
        ("us", "s", 1e-6),
        ("ns", "s", 1e-9),
        ("min", "s", 60),
        ("d", "s", 86_400),
    ],
)
def test_units_of_a_new_registry(unit, si, factor):
    made = _registry.__wrapped__()
    assert made.Quantity(1.0, unit).to(si).magnitude == pytest.approx(factor, rel=1e-15)
    assert made is not _registry()


@pytest.mark.parametrize(
    ("text", "unit", "zero", "value"),
    [
        ("1 bit", "bit", False, 1.0),
        ("0 B", "bit", True, 0.0),
        ("0 s", "s", True, 0.0),
        ("0.5 ns", "s", False, 5e-10),
        ("inf bps", "bit/s", False, math.inf),
        ("+inf Gbps", "bit/s", False, math.inf),
        (" 1e3 kbit ", "bit", False, 1e6),
        (".5 Mbps", "bit/s", False, 5e5),
    ],
)
def test_quantities_at_the_ends_of_their_rules(text, unit, zero, value):
    assert parse_quantity("x", text, unit, zero=zero) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit", "zero", "rule"),
    [
        ("0.5 bit", "bit", False, "must be >= 1 bit."),
        ("0.1 bps", "bit/s", True, "must be >= 1 bit/s."),
        ("0 s", "s", False, "must be > 0."),
        ("-1 s", "s", False, "must be > 0."),
        ("-1 s", "s", True, "must be >= 0."),
        ("nan s", "s", True, "must be finite."),
        ("inf s", "s", False, "must be finite."),
        ("inf B", "bit", False, "must be finite."),
        ("1e400 bps", "bit/s", False, "must be finite."),
        ("-inf bps", "bit/s", True, "must be >= 0."),
    ],
)
def test_quantities_beyond_the_ends_of_their_rules(text, unit, zero, rule):
    with pytest.raises(InputError) as caught:
        parse_quantity(("network", "x"), text, unit, zero=zero)
    assert str(caught.value) == f"network.x(={text!r}) {rule}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 b"),
        (999.4, "999.4 b"),
        (999.94, "999.9 b"),
        (999.96, "1 kb"),
        (1e3, "1 kb"),
        (999_960.0, "1 Mb"),
        (1e9, "1 Gb"),
        (1.2346e12, "1.235 Tb"),
        (math.inf, "unlimited"),
        (math.nan, "unlimited"),
    ],
)
def test_four_digits_and_a_prefix(value, text):
    assert with_prefix(value, "b") == text


def test_shares_from_0_on_below_100_percent():
    assert [parse_share("x", text) for text in ("0 %", "12.5%", "99.9 %")] == pytest.approx([0, 0.125, 0.999])
    for text in ("100 %", "-1 %", "1e3 %"):
        with pytest.raises(InputError, match=r"^x\(='.*'\) must be >= 0 % and < 100 %\.$"):
            parse_share("x", text)
    for text in ("30", 0.3, "x %", None):
        with pytest.raises(InputError, match=r"must be a share in percent, for instance '30 %'\.$"):
            parse_share("x", text)


def test_nothing_is_a_quantity_only_where_that_is_asked_for():
    for unit in ("s", "bit", "bit/s"):
        with pytest.raises(InputError, match=r"must be > 0\.$"):
            parse_quantity("x", f"0 {unit}", unit)
        assert parse_quantity("x", f"0 {unit}", unit, zero=True) == 0.0

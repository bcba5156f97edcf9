"""Types of quantities in scenarios, and how quantities are written for people."""

import math
from decimal import ROUND_CEILING, Context
from typing import Annotated

import pydantic
from pydantic_core import PydanticCustomError

from topologies.quantities import parse_quantity, with_prefix

RULE = "rule"
"""Type of an error of pydantic whose message is a rule, ``must be`` and so on."""


def _text(rule: str) -> pydantic.BeforeValidator:
    """Validator that accepts a text; `rule` is the message."""

    def check(value: object) -> object:
        if not isinstance(value, str):
            raise PydanticCustomError(RULE, rule)
        return value

    return pydantic.BeforeValidator(check)


Rate = Annotated[str, _text('must be a text with a unit, as in "10 Gbps"')]
"""Field of a scenario that holds a data rate; only that it is a text is checked by the type."""
Size = Annotated[str, _text('must be a text with a unit, as in "42.9 MB"')]
Duration = Annotated[str, _text('must be a text with a unit, as in "5 s"')]
Share = Annotated[str, _text('must be a text in percent, as in "30 %"')]


def format_rate(bps: float) -> str:
    """Data rate with a decimal prefix: ``10 Gbps``."""
    return with_prefix(bps, "bps")


def format_bits(bits: float) -> str:
    """Model size in bits with a decimal prefix: ``359 Mbit``."""
    return with_prefix(bits, "bit")


def exact_text(value: float, unit: str) -> str:
    """A quantity in bps, bit or s as a text that means this very number.

    Examples
    --------
    >>> exact_text(1e10, "bps"), exact_text(123456789.0, "bit"), exact_text(0.0046, "s")
    ('10 Gbps', '123456789.0 bit', '4.600 ms')
    """
    text = format_s(value) if unit == "s" else with_prefix(value, unit)
    is_exact = math.isfinite(value) and parse_quantity("", text, _KINDS[unit], zero=True) == value
    return text if is_exact or not math.isfinite(value) else f"{value!r} {unit}"


_KINDS = {"bps": "bit/s", "bit": "bit", "s": "s"}
"""Units as `topologies.quantities.parse_quantity` calls them."""


def format_s(seconds: float) -> str:
    """Duration with four significant digits: ``118.1 ms``, ``4.496 s``."""
    if not math.isfinite(seconds):
        return "-"
    if seconds == 0:
        return "0 s"
    unit = next((unit for unit in TIME_UNITS if in_unit(float(f"{seconds:.4g}"), unit) >= 1), "ns")
    return f"{digits(in_unit(seconds, unit))} {unit}"


_LONG = {"d": 86_400.0, "h": 3600.0, "min": 60.0}
"""Units of long durations, each for twice its length and more."""


def format_long(seconds: float) -> str:
    """Duration with four significant digits, from two minutes on in minutes, hours or days: ``38.60 min``."""
    unit = next((unit for unit, unit_s in _LONG.items() if seconds >= 2 * unit_s), None)
    return format_s(seconds) if unit is None else f"{digits(seconds / _LONG[unit])} {unit}"


def signed_s(seconds: float) -> str:
    """Duration with its sign, also a plus: ``+38.26 ms``."""
    return f"{'-' if seconds < 0 else '+'}{format_s(abs(seconds))}"


def half_width_digits(half: float) -> str:
    """Half width of an interval with two digits, and with all before the point."""
    return f"{half:.2g}" if half < 99.5 else digits(half)


def format_interval(mean_s: float, half_s: float, *, sign: str = "") -> str:
    """Duration with the half width of its interval, each in its unit: ``86.31 ms +- 120 µs``.

    Parameters
    ----------
    mean_s, half_s : float
    sign : str
        In front of a mean above 0, where the duration is a difference.

    Returns
    -------
    str
    """
    plus = sign if mean_s > 0 else "-" if mean_s < 0 else ""
    unit = next((unit for unit in TIME_UNITS if in_unit(half_s, unit) >= 1), "ns")
    half = half_width_digits(in_unit(half_s, unit))
    return (
        f"{plus}{format_s(abs(mean_s))} +- {f'{half} {unit}' if half_s > _ROUNDING * abs(mean_s) else '0 s'}"
    )


def format_mean(mean: float, half: float | None) -> str:
    """Number with the half width of its interval, where there is one: ``0.9417 +- 0.064``."""
    if half is None:
        return digits(mean)
    return f"{digits(mean)} +- {half_width_digits(half if half > _ROUNDING * abs(mean) else 0.0)}"


_ROUNDING = 1e-8
"""Part of a mean up to which the half width of its interval is a rounding error, and no uncertainty."""
TIME_UNITS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
"""Units of durations, the longest first, with how many of them are a second."""


def time_unit(longest_s: float) -> str:
    """Unit for all durations of a table: ``ms``, but ``s`` where the longest is over 10 s, and less below 0.1 ms."""
    if longest_s > 10:
        return "s"
    return "ms" if longest_s >= 1e-4 or longest_s == 0 else "µs" if longest_s >= 1e-7 else "ns"


def in_unit(seconds: float, unit: str) -> float:
    """A duration as a number of units."""
    return TIME_UNITS[unit] * seconds


def digits(number: float) -> str:
    """Four significant digits, or all those before the point; three and an exponent where that takes over 7 places."""
    # Rounded first: 999.97 has as many digits as 1000.
    size = abs(float(f"{number:.4g}"))
    if 0 < size < 1e-3 or 1e7 <= size < math.inf:
        mantissa, exponent = f"{number:.2e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{number:.0f}" if size >= 1e3 else f"{number:#.4g}"


def format_ratio(ratio: float) -> str:
    """A ratio with three digits, and with all those before the point.

    Examples
    --------
    >>> format_ratio(2.0), format_ratio(38.826), format_ratio(1234.5)
    ('2.00x', '38.8x', '1234x')
    """
    decimals = 2 if ratio < 9.995 else 1 if ratio < 99.95 else 0
    return f"{ratio:.{decimals}f}x"


def rounded_up(number: float, *, significant: int = 4) -> float:
    """The least number of so many digits that is not smaller: a limit that a user who types it again keeps to.

    Examples
    --------
    >>> format_s(0.89740416), format_s(rounded_up(0.89740416))
    ('897.4 ms', '897.5 ms')
    """
    # What was computed as a number of few digits may lie a rounding error above it.
    return float(Context(significant, ROUND_CEILING).create_decimal_from_float(number * (1 - 1e-12)))

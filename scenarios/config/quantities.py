"""Quantities with units in TOML files and on the command line."""

import functools
import math
import re
from typing import Annotated

import pint
import pydantic
from pydantic_core import PydanticCustomError

from topologies.errors import Field, InputError

# Bits are a dimension of their own here: pint's default registry holds them dimensionless, so that a frequency or
# a bare number would pass for a data rate.
_DEFINITIONS = """
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
tera- = 1e12 = T-
milli- = 1e-3 = m-
micro- = 1e-6 = μ- = u-
nano- = 1e-9 = n-
kibi- = 1024 = Ki-
mebi- = 1048576 = Mi-
gibi- = 1073741824 = Gi-
second = [time] = s
minute = 60 second = min
hour = 60 minute = h
day = 24 hour = d
bit = [information] = b
byte = 8 bit = B
bit_per_second = bit / second = bps
byte_per_second = byte / second = Bps
"""
_QUANTITY = re.compile(
    r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf|nan)\s*([A-Za-zµμ]+(?:/[A-Za-z]+)?)\s*"
)
_SHARE = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*%\s*")
_PREFIXES = ("", "k", "M", "G", "T", "Ki", "Mi", "Gi")
_LONG_PREFIXES = ("", "kilo", "mega", "giga", "tera", "kibi", "mebi", "gibi")
_BIT_NAMES = ("bit", "bits", "byte", "bytes")
_SIZES = (
    *(prefix + name for prefix in _PREFIXES for name in ("B", *_BIT_NAMES)),
    *(prefix + name for prefix in _LONG_PREFIXES for name in _BIT_NAMES),
)
_SPELLINGS = {
    # A size in "Mb" may be one in MB as well as in Mbit; a rate in "Mb/s" is one in bits.
    "bit": frozenset(_SIZES),
    "bit/s": frozenset(
        (
            *(f"{size}/{second}" for size in _SIZES for second in ("s", "second")),
            *(prefix + name for prefix in _PREFIXES for name in ("bps", "Bps", "b/s")),
        )
    ),
    "s": frozenset(
        (
            *("ns", "μs", "us", "ms", "s", "min", "mins", "h", "d"),
            *(prefix + "second" for prefix in ("", "nano", "micro", "milli")),
            *(prefix + "seconds" for prefix in ("", "nano", "micro", "milli")),
            *("minute", "minutes", "hour", "hours", "day", "days"),
        )
    ),
}
"""Accepted units, as they must be written: of all that pint knows, those in use."""
_USUAL = {
    "bit": [prefix + name for prefix in _PREFIXES for name in ("B", "bit")],
    "bit/s": [prefix + name for prefix in _PREFIXES for name in ("bps", "B/s")],
    "s": ["ns", "us", "ms", "s", "min", "h", "d"],
}
"""Suggested in place of another spelling."""
_OMITTED = {"bit": ("", "b"), "bit/s": ("", "ps", "bps"), "s": ("", "s", "in")}
"""Ends that a spelling, as `_folded` writes it, may lack."""
_EXAMPLES = {"bit/s": "10 Gbps", "bit": "42.9 MB", "s": "25.4 ms"}


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

Path = tuple[str | int, ...]
"""Names of a field and its tables, as in `topologies.errors.Field`."""


@functools.cache
def _registry() -> pint.UnitRegistry[float]:
    """Registry of the few units of this field; made once, when the first quantity is read."""
    return pint.UnitRegistry(_DEFINITIONS.strip().splitlines(), cache_folder=None)


def parse_quantity(field: str | Path, text: object, unit: str, *, zero: bool = False) -> float:
    """Number of SI units in a text such as ``"10 Gbps"``.

    Parameters
    ----------
    field : str or tuple
        The name for the error message, with the tables and lists around it.
    text : object
        What the user wrote.
    unit : {"bit/s", "bit", "s"}
        The unit of the result.
    zero : bool, default False
        Whether 0 is allowed; negative and NaN never are, infinity only for rates (no limit).

    Returns
    -------
    float

    Raises
    ------
    InputError
        If the text is no quantity of that kind, lacks its unit, or breaks the rule. Where a unit differs in upper and
        lower case from likely ones, these are named.

    Examples
    --------
    >>> parse_quantity("access", "10 Gbps", "bit/s")
    10000000000.0
    >>> parse_quantity("model_size", "1.5 MB", "bit")
    12000000.0
    """
    shown = _field(field, text)
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise InputError(f"must be a number with a unit, for instance '{_EXAMPLES[unit]}'.", field=shown)
    number, written = match.groups()
    one_mu = written.replace("µ", "μ")
    if one_mu not in _SPELLINGS[unit]:
        raise InputError(f"has the unit {written!r}; {_meant(written, unit)}", field=shown)
    factor = float(_registry().Quantity(1.0, one_mu).to(unit).magnitude)
    value = float(number) * factor
    if math.isnan(value):
        raise InputError("must be finite.", field=shown)
    if value < 0 or (value == 0 and not zero):
        raise InputError(f"must be {'>= 0' if zero else '> 0'}.", field=shown)
    if math.isinf(value) and (unit != "bit/s" or "inf" not in number):
        raise InputError("must be finite.", field=shown)
    if 0 < value < 1 and unit != "s":
        raise InputError(f"must be >= 1 {unit}.", field=shown)
    return value


def _field(name: str | Path, text: object) -> Field:
    """The field that holds a text."""
    return Field(*((name,) if isinstance(name, str) else name), value=text)


def _meant(written: str, unit: str) -> str:
    """The rule that a unit breaks, with the usual spellings that it may stand for."""
    keys = [_folded(written) + end for end in _OMITTED[unit]]
    found = [usual for usual in _USUAL[unit] if _folded(usual) in keys]
    for name, other in (("bit", "B"), ("byte", "b")):
        if name in written.lower():
            found = [usual for usual in found if other not in usual]
    if unit == "bit" and _folded(written) in ("k", "kb") and "b" not in written:
        found.append("KiB")  # which many write KB
    if not found and written.lower() in _SPELLINGS[unit]:
        found = [written.lower()]
    if not found:
        return f"it must be one like that of '{_EXAMPLES[unit]}'."
    case = "m is milli, M mega" + ("" if unit == "s" else "; b is bit, B byte")
    return f"did you mean {' or '.join(map(repr, found))}? ({case})"


def _folded(written: str) -> str:
    """A unit in lower case, with one sign for bits and bytes, and one way to write rates."""
    short = re.sub("bits?|bytes?", "b", written.lower().replace("µ", "u").replace("μ", "u"))
    return re.sub("/s(ec|ecs|econd|econds)?$", "ps", short)


def parse_share(field: str | Path, text: object) -> float:
    """Fraction in [0, 1) of a text in percent.

    Parameters
    ----------
    field : str or tuple
        The name for the error message, with the tables and lists around it.
    text : object
        What the user wrote.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If the text is no number with a percent sign, or not below 100 %.

    Examples
    --------
    >>> parse_share("share", "30 %")
    0.3
    """
    match = _SHARE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise InputError("must be a share in percent, for instance '30 %'.", field=_field(field, text))
    share = float(match[1]) / 100
    if not 0 <= share < 1:
        raise InputError("must be >= 0 % and < 100 %.", field=_field(field, text))
    return share


def format_rate(bps: float) -> str:
    """Data rate with a decimal prefix: ``10 Gbps``."""
    return _with_prefix(bps, "bps")


def format_bits(bits: float) -> str:
    """Model size in bits with a decimal prefix: ``359 Mbit``."""
    return _with_prefix(bits, "bit")


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
    half = f"{in_unit(half_s, unit):.2g}" if in_unit(half_s, unit) < 100 else digits(in_unit(half_s, unit))
    # Rounding errors are no uncertainty.
    return f"{plus}{format_s(abs(mean_s))} +- {f'{half} {unit}' if half_s > 1e-8 * abs(mean_s) else '0 s'}"


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


def _with_prefix(value: float, unit: str) -> str:
    """Number with a decimal prefix, at most four significant digits."""
    if not math.isfinite(value):
        return "unlimited"
    rounded = float(f"{value:.4g}")
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rounded >= factor:
            return f"{rounded / factor:.4g} {prefix}{unit}"
    return f"{rounded:.4g} {unit}"

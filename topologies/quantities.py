"""Quantities with units, as texts: ``"10 Gbps"``, ``"42.9 MB"``, ``"25 ms"``, ``"30 %"``."""

import functools
import math
import re
from typing import TYPE_CHECKING

from topologies.errors import Field, InputError

if TYPE_CHECKING:
    import pint

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
second = [time] = s = sec
minute = 60 second = min
hour = 60 minute = h
day = 24 hour = d
bit = [information] = b
byte = 8 bit = B
bit_per_second = bit / second = bps
byte_per_second = byte / second = Bps
"""
_QUANTITY = re.compile(
    r"\s*([-+]?(?:\d++\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf|nan)\s*([A-Za-zµμ]+(?:/[A-Za-z]+)?)\s*"
)
_SPELLED_OUT = re.compile("bits?|bytes?", re.IGNORECASE)
"""What is clear in any case, unlike b and B: ``MBit/s`` is what Germans write."""
_SHARE = re.compile(r"\s*([-+]?(?:\d++\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*%\s*")
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
            *(f"{size}/{second}" for size in _SIZES for second in ("s", "sec", "second")),
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
"""Accepted units, as they must be written, but for bits and bytes spelled out: of all that pint knows, those in use."""
_USUAL = {
    "bit": [prefix + name for prefix in _PREFIXES for name in ("B", "bit")],
    "bit/s": [prefix + name for prefix in _PREFIXES for name in ("bps", "B/s")],
    "s": ["ns", "us", "ms", "s", "min", "h", "d"],
}
"""Suggested in place of another spelling."""
_OMITTED = {"bit": ("", "b"), "bit/s": ("", "ps", "bps"), "s": ("", "s", "in")}
"""Ends that a spelling, as `_folded` writes it, may lack."""
_EXAMPLES = {"bit/s": "10 Gbps", "bit": "42.9 MB", "s": "25.4 ms"}


Path = tuple[str | int, ...]
"""Names of a field and its tables, as in `topologies.errors.Field`."""


@functools.cache
def _registry() -> "pint.UnitRegistry[float]":
    """Registry of the few units of this field; made once, when the first quantity is read."""
    # Here since it takes long to import, and MPI ranks read no quantity.
    import pint

    return pint.UnitRegistry(_DEFINITIONS.strip().splitlines(), cache_folder=None)


@functools.cache
def _factor(written: str, unit: str) -> float:
    """How many of the SI unit a unit is."""
    return float(_registry().Quantity(1.0, written).to(unit).magnitude)


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
    name = _SPELLED_OUT.sub(lambda found: found[0].lower(), written.replace("µ", "μ"))
    if name not in _SPELLINGS[unit]:
        raise InputError(f"has the unit {written!r}; {_meant(written, unit)}", field=shown)
    value = float(number) * _factor(name, unit)
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


def with_prefix(value: float, unit: str) -> str:
    """Number with a decimal prefix, at most four significant digits.

    Examples
    --------
    >>> with_prefix(1e10, "bps"), with_prefix(359.2e6, "bit")
    ('10 Gbps', '359.2 Mbit')
    """
    if not math.isfinite(value):
        return "unlimited"
    rounded = float(f"{value:.4g}")
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rounded >= factor:
            return f"{rounded / factor:.4g} {prefix}{unit}"
    return f"{rounded:.4g} {unit}"


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

"""Columns of the table of a study in words: names, values, axes with their units."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

from scenarios.config.published_figure import UNITS
from scenarios.config.quantities import (
    format_bits,
    format_long,
    format_rate,
    in_unit,
    time_unit,
)

_WORDS = {
    "access_bps": "access capacity",
    "access_up_bps": "uplink capacity",
    "access_down_bps": "downlink capacity",
    "core_bps": "core capacity",
    "model_bits": "model size",
    "compute_s": "computing time of a local step",
    "local_steps": "local steps per round",
    "max_degree": "largest degree",
    "paper_s": "cycle time, paper",
    "serialized_s": "cycle time, serialized",
    "load_bound_s": "cycle time, load bound",
    "simulated_s": "cycle time",
    "simulated_half_width_s": "half width of the 95 % interval",
    "over_paper": "simulated over paper",
    "rounds": "simulated rounds",
    "speedup": "speed-up over the STAR",
    "underlay": "network",
    "ranges": "differs between silos or links",
}
"""What the names of columns do not say by themselves."""
_FRACTIONS = ("over_paper",)
"""Columns that are shown in percent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnAxis:
    """How the numbers of a column are shown on an axis.

    Attributes
    ----------
    label : str
        In words, with the unit where the ticks have none.
    factor : float
        What numbers are multiplied by.
    show : callable
        Label of a tick, of a number that is multiplied already.
    """

    label: str
    factor: float
    show: Callable[[float], str]


def words_of(column: str) -> str:
    """Name of a column in words, without its unit.

    Examples
    --------
    >>> words_of("access_bps"), words_of("time_to_target_s"), words_of("overlays_matcha_budget")
    ('access capacity', 'time to target', 'matcha budget')
    >>> words_of("overlays_0_budget")
    'budget'
    """
    if column in _WORDS:
        return _WORDS[column]
    for ending in UNITS:
        column = column.removesuffix(ending)
    # The place of an overlay in a list says nothing.
    return re.sub(r"^overlays_(\d+_)?", "", column).replace("_", " ")


def value_text(column: str, value: object) -> str:
    """One value of a column, or the two ends of a range, with its unit.

    Examples
    --------
    >>> value_text("core_bps", 1e9), value_text("compute_s", 0.0046), value_text("local_steps", 5)
    ('1 Gbps', '4.6 ms', '5')
    >>> value_text("core_bps", [155e6, 1e10])
    '155 Mbps to 10 Gbps'
    """
    if isinstance(value, list):
        return " to ".join(value_text(column, each) for each in value)
    if isinstance(value, bool) or not isinstance(value, Real):
        return str(value)
    value = float(value)
    if math.isnan(value):
        return "none"
    if column.endswith("_bps"):
        return format_rate(value)
    if column.endswith("_bits"):
        return format_bits(value)
    if column.endswith("_s"):
        number, unit = format_long(value).split(" ")
        return f"{float(number):.10g} {unit}"
    return f"{100 * value:.4g} %" if column in _FRACTIONS else _plain(value)


def column_axis(column: str, low: float, high: float, *, is_log: bool) -> ColumnAxis:
    """How to show the numbers of a column.

    Parameters
    ----------
    column : str
    low, high : float
        Least and largest number that is drawn: times are in the unit in which they are readable.
    is_log : bool
        Whether the axis is logarithmic, so that small numbers count as much as large ones.

    Returns
    -------
    ColumnAxis
        Rates and sizes have their units at the ticks, 100 Mbps and 1 Gbps; times have one in the label, ``(ms)``.
    """
    label = words_of(column)
    if column.endswith("_bps"):
        return ColumnAxis(label=label, factor=1.0, show=format_rate)
    if column.endswith("_bits"):
        return ColumnAxis(label=label, factor=1.0, show=format_bits)
    if column.endswith("_s"):
        seconds, unit = long_time_unit(high, low if is_log else high)
        factor = 1 / seconds
        if factor == 1:
            unit = time_unit(high)
            factor = in_unit(1.0, unit)
        return ColumnAxis(label=f"{label} ({unit})", factor=factor, show=_plain)
    if column in _FRACTIONS:
        return ColumnAxis(label=f"{label} (%)", factor=100.0, show=_plain)
    return ColumnAxis(label=label, factor=1.0, show=_plain)


def long_time_unit(longest_s: float, least_s: float = math.inf) -> tuple[float, str]:
    """Seconds of the unit in which some times are readable numbers, and its name; of short ones ``s``.

    Parameters
    ----------
    longest_s : float
        The longest time.
    least_s : float
        The shortest, on a logarithmic axis: no number is to be below a tenth.

    Examples
    --------
    >>> long_time_unit(200.0), long_time_unit(2.0), long_time_unit(200.0, 1.0)
    ((60.0, 'min'), (1.0, 's'), (1.0, 's'))
    """
    longest_s = min(longest_s, 30 * least_s)
    for seconds, unit in ((86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if longest_s > 3 * seconds:
            return seconds, unit
    return 1.0, "s"


def _plain(number: float) -> str:
    """A number without digits that come from its binary form."""
    return f"{number:.10g}"

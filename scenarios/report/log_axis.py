"""Logarithmic axes whose ticks have plain numbers and do not collide, however short the axis is."""

import math
from collections.abc import Callable, Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullLocator

_MARGIN, _LEAST_SPAN, _LEAST_MARGIN = 0.04, 1e-3, 0.02
"""Part of the axis beyond the first and the last value; the decades from which on it is taken, and the margin in
decades around values that are closer to each other."""
_STEPS = ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))
"""Mantissas of ticks, the most first."""


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers between two values, at most so many.

    Parameters
    ----------
    low, high : float
        Both positive, `high` at least `low`.
    most : int
        At least 2.

    Returns
    -------
    list of float
        In ascending order: 1, 2 and 5 times powers of ten, or 1 and 3 times, or each power or one in several; within
        less than that, multiples of a round number.

    Examples
    --------
    >>> log_ticks(30.0, 700.0, 6)
    [50.0, 100.0, 200.0, 500.0]
    >>> log_ticks(1.1, 1.32, 6)
    [1.1, 1.15, 1.2, 1.25, 1.3]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in _STEPS:
        ticks = [
            float(f"{step}e{power}")
            for power in range(first, last + 1)
            for step in steps
            if low <= float(f"{step}e{power}") <= high
        ]
        if len(ticks) <= most:
            break
    if len(ticks) < 3:
        # Rounded, as multiples of 0.05 are not exact.
        even = MaxNLocator(most - 1, steps=[1, 2, 5, 10]).tick_values(low, high)
        # Those of equal values are one.
        rounded = dict.fromkeys(float(f"{tick:.12g}") for tick in even)
        within = [tick for tick in rounded if low <= tick <= high]
        ticks = within if len(within) > len(ticks) else ticks
    return ticks[:: -(-len(ticks) // most) or 1]


def spaced(places: Sequence[float], low: float, high: float, most: int) -> list[float]:
    """Of places on a logarithmic axis, those whose labels have room: the first, the last, and what lies between.

    Parameters
    ----------
    places : sequence of float
        Ascending, from `low` to `high`; at least one.
    low, high : float
        Ends of the axis, positive.
    most : int
        Labels that have room side by side.

    Returns
    -------
    list of float
        Two of them are at least the axis' length divided by `most` apart, in logarithms.

    Examples
    --------
    >>> spaced([1.0, 2.0, 100.0], 1.0, 100.0, 4)
    [1.0, 100.0]
    """
    least = math.log(high / low) / most
    kept = [places[0]]
    for place in places[1:-1]:
        if min(math.log(place / kept[-1]), math.log(places[-1] / place)) >= least:
            kept.append(place)
    return [*kept, places[-1]] if math.log(places[-1] / kept[-1]) >= least else kept


def set_log(
    panel: Axes,
    direction: Literal["x", "y"],
    values: Sequence[float],
    *,
    most: int,
    ticks: Sequence[float] | None = None,
    show: Callable[[float], str] = "{:g}".format,
) -> None:
    """Make an axis of a panel logarithmic around some values.

    Parameters
    ----------
    panel : matplotlib Axes
    direction : {"x", "y"}
    values : sequence of float
        What is drawn; without a positive finite one the axis stays as it is.
    most : int
        Ticks that have room.
    ticks : sequence of float, optional
        Where ticks may be, in ascending order; by default where `log_ticks` puts them.
    show : callable, optional
        The label of a tick; by default the plain number.
    """
    drawn = [value for value in values if value > 0 and math.isfinite(value)]
    if not drawn:
        return
    span = math.log10(max(drawn) / min(drawn))
    margin = 10 ** (_MARGIN * span if span > _LEAST_SPAN else _LEAST_MARGIN)
    low, high = min(drawn) / margin, max(drawn) * margin
    set_scale, set_limits, axis = (
        (panel.set_xscale, panel.set_xlim, panel.xaxis)
        if direction == "x"
        else (panel.set_yscale, panel.set_ylim, panel.yaxis)
    )
    set_scale("log")
    places = log_ticks(low, high, most) if ticks is None else spaced(ticks, low, high, most)
    axis.set_minor_locator(NullLocator())
    axis.set_ticks(places, [show(place) for place in places])
    set_limits(low, high)

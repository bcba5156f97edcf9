"""Checks of the simulator's input; each failure is one line that names field, value and rule."""

from collections.abc import Callable, Sequence
from math import isfinite
from operator import index

import numpy as np
from numpy.typing import ArrayLike

from simulator.arc import FlowArc
from topologies.arrays import FloatArray
from topologies.errors import Field, InputError

QUEUEINGS = ("fifo", "overlap")
ENGINES = ("auto", "simpy", "compiled")


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Accept one of some names."""
    if not isinstance(value, str) or value not in choices:
        *others, last = map(repr, choices)
        raise InputError(f"must be {', '.join(others)} or {last}.", field=Field(name, value=value))


def check_at_least(least: int, name: str, value: int) -> int:
    """Accept an integer that is not too small."""
    number = _integer(name, value)
    if number < least:
        raise InputError(f"must be >= {least}.", field=Field(name, value=number))
    return number


def check_not_negative(name: str, value: float) -> None:
    """Accept a finite number >= 0."""
    if not _finite_not_negative(value):
        raise InputError("must be finite and >= 0.", field=Field(name, value=value))


def check_share(name: str, value: float) -> None:
    """Accept a share of at least 0 and below 1."""
    if not 0 <= value < 1:
        raise InputError("must be at least 0 and below 1.", field=Field(name, value=value))


def check_capacities(link_capacity_bps: ArrayLike) -> list[float]:
    """Accept a vector of numbers > 0; infinity is allowed."""
    values = _vector("link_capacity_bps", link_capacity_bps)
    return _accepted("link_capacity_bps", values, lambda value: value > 0, "must be > 0.")


def check_weights(name: str, weights: ArrayLike, count: int) -> list[float]:
    """Accept finite numbers > 0, so many."""
    values = _vector(name, weights)
    if len(values) != count:
        raise InputError(f"{name}(of {len(values)} numbers) must hold {count}.")
    return _accepted(name, values, lambda value: isfinite(value) and value > 0, "must be finite and > 0.")


def check_compute(
    compute_s: ArrayLike, name: str = "compute_s", what: str = "one number per silo, for 1 or more silos"
) -> list[float]:
    """Accept a vector of one or more finite numbers >= 0."""
    values = _vector(name, compute_s)
    if not values:
        raise InputError(f"{name}(=[]) must hold {what}.")
    return _accepted(name, values, _finite_not_negative, "must be finite and >= 0.")


def check_table(name: str, values: ArrayLike) -> FloatArray:
    """Accept a table of finite numbers >= 0 with one or more rows and columns, and copy it."""
    table = np.array(_array(name, values))
    if table.ndim != 2 or not table.size:
        raise InputError(f"{name}(of shape {table.shape}) must have one or more rows and columns.")
    bad = ~(np.isfinite(table) & (table >= 0))
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        raise InputError(f"{name}[{row}, {column}](={table[row, column]}) must be finite and >= 0.")
    return table


def check_message_bits(message_bits: ArrayLike, arcs: int) -> list[float]:
    """Accept finite numbers >= 0: one for all arcs, or one per arc."""
    values = _array("message_bits", message_bits)
    if values.ndim == 0:
        check_not_negative("message_bits", float(values))
        return [float(values)] * arcs
    if values.shape != (arcs,):
        raise InputError(
            f"message_bits(of shape {values.shape}) must be one number, or one per arc ({arcs})."
        )
    return _accepted("message_bits", values.tolist(), _finite_not_negative, "must be finite and >= 0.")


def check_routes(routes: Sequence[Sequence[int]], links: int) -> list[tuple[int, ...]]:
    """Accept routes over existing links that cross no link twice."""
    checked = []
    for number, route in enumerate(routes):
        crossed = tuple(_integer(f"links of route {number}", link) for link in route)
        for link in crossed:
            if not 0 <= link < links:
                raise InputError(
                    f"links of route {number}(={crossed}) must be >= 0 and < {links}, the link count."
                )
        if len(set(crossed)) < len(crossed):
            raise InputError(f"links of route {number}(={crossed}) must not repeat.")
        checked.append(crossed)
    return checked


def check_silos(arcs: Sequence[FlowArc], silos: int) -> None:
    """Accept arcs between existing silos."""
    for number, arc in enumerate(arcs):
        for name, silo in (("source", arc.source), ("target", arc.target)):
            if not 0 <= _integer(f"{name} of arc {number}", silo) < silos:
                raise InputError(
                    f"{name} of arc {number}(={silo}) must be >= 0 and < {silos}, the silo count."
                )


def check_rates(arcs: Sequence[FlowArc], message_bits: Sequence[float]) -> None:
    """Accept arcs whose constant rate is > 0 wherever there is something to send."""
    for number, (arc, bits) in enumerate(zip(arcs, message_bits, strict=True)):
        if bits > 0 and not arc.rate_bps > 0:
            raise InputError(f"rate_bps of arc {number}(={arc.rate_bps}) must be > 0.")


def _integer(name: str, value: int) -> int:
    try:
        return index(value)
    except TypeError:
        raise InputError("must be an integer.", field=Field(name, value=value)) from None


def _finite_not_negative(value: float) -> bool:
    return isfinite(value) and value >= 0


def _array(name: str, values: ArrayLike) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}(={values!r:.60}) must hold numbers.") from None


def _vector(name: str, values: ArrayLike) -> list[float]:
    array = _array(name, values)
    if array.ndim != 1:
        raise InputError(f"{name}(of shape {array.shape}) must have one dimension.")
    numbers: list[float] = array.tolist()
    return numbers


def _accepted(name: str, values: list[float], accept: Callable[[float], bool], rule: str) -> list[float]:
    for position, value in enumerate(values):
        if not accept(value):
            raise InputError(rule, field=Field(name, position, value=value))
    return values

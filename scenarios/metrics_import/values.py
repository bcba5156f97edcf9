"""Values of metrics by the number in the column of the round, checked."""

import math
from dataclasses import dataclass

from scenarios.metrics_import.rows import MetricsRow
from topologies import InputError
from topologies.arrays import FloatArray
from topologies.errors import quoted

_MOST_ROUNDS = 2**31 - 1


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Measured:
    """Values of one metric, or of one silo's.

    Parameters
    ----------
    numbers : array of float, shape (n,)
        In the column of the round, ascending.
    values : array of float, shape (n,)
    """

    numbers: FloatArray
    values: FloatArray


def round_number(row: MetricsRow, name: str, shift: int, *, whole: bool) -> float:
    """The number in the column of the round.

    Parameters
    ----------
    row : MetricsRow
    name : str
        The column.
    shift : int
        Added to the number, which must not be negative then.
    whole : bool
        Whether it must be whole.

    Raises
    ------
    InputError
        If it is missing or no such number.
    """
    value = row.values.get(name)
    if value is None:
        raise InputError(f"{name} is missing.", source=row.source)
    number = number_of(value)
    is_right = number is not None and (number.is_integer() or not whole)
    if number is None or not is_right or not 0 <= number + shift <= _MOST_ROUNDS:
        shifted = f" with the shift of {shift}" if shift else ""
        raise InputError(
            f"{name}(={quoted(value)}) must be a {'whole ' if whole else ''}number >= 0 and <= {_MOST_ROUNDS}"
            f"{shifted}.",
            source=row.source,
        )
    return number


def metric_value(row: MetricsRow, metric: str, name: str, *, percent: bool) -> float:
    """A metric of a row; accuracies as fractions.

    Parameters
    ----------
    row : MetricsRow
    metric : str
        Field of `HistoryRow`.
    name : str
        The column.
    percent : bool
        Whether accuracies are in percent.

    Raises
    ------
    InputError
        If it is no finite number, or an accuracy not between 0 and 1.
    """
    value = row.values[name]
    number = number_of(value)
    if number is None or not math.isfinite(number):
        raise InputError(f"{name}(={quoted(value)}) must be a finite number.", source=row.source)
    if not metric.endswith("accuracy"):
        return number
    most, hint = (100, "") if percent else (1, "; --percent says that accuracies are in percent")
    if not 0 <= number <= most:
        raise InputError(f"{name}(={quoted(value)}) must be >= 0 and <= {most}{hint}.", source=row.source)
    return number / most


def place_of(source: str) -> str:
    """The line of a source, where the file is known."""
    return source.rpartition(", ")[2]


def number_of(value: object) -> float | None:
    """A number, or a text that is one; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None

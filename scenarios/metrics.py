"""Training history from the rows of a foreign file."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from scenarios.metrics_columns import DRAWN, ColumnNames, Columns, find_columns
from scenarios.metrics_rows import MetricsRow
from topologies import InputError
from topologies.arrays import FloatArray
from topologies.errors import quoted
from training import HistoryRow
from training.history import PER_SILO

_MOST_ROUNDS = 2**31 - 1


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ForeignHistory:
    """What a foreign file says.

    Parameters
    ----------
    columns : Columns
        Where it says it.
    history : mapping from HistoryRow's fields to arrays
        Ascending in the round; NaN where the file has no value.
    """

    columns: Columns
    history: dict[str, FloatArray]

    @property
    def last_round(self) -> int:
        """The last round of the history."""
        return int(self.history["round"][-1])


def read_history(
    rows: Iterable[MetricsRow],
    names: ColumnNames,
    labels: Sequence[str],
    *,
    source: str,
    shift: int = 0,
    percent: bool = False,
) -> ForeignHistory:
    """Training history of a foreign file.

    Parameters
    ----------
    rows : iterable of MetricsRow
    names : ColumnNames
    labels : sequence of str
        The silos'.
    source : str
        The file, for error messages.
    shift : int
        Added to every round; a round is the number of rounds that were done before the measurement.
    percent : bool
        Whether accuracies are in percent.

    Returns
    -------
    ForeignHistory

    Raises
    ------
    InputError
        One line with file, line, column, value and rule: a round is missing, no whole number, not ascending or given
        twice for a column; a metric is no finite number; an accuracy is not between 0 and 1.

    Notes
    -----
    Some programs write training and test metrics on different lines of one round: these are joined. Per column, rounds
    must ascend.
    """
    kept = list(rows)
    known = list(dict.fromkeys(name for row in kept for name in row.values))
    if not known:
        raise InputError("has no rows.", source=source)
    columns = find_columns(known, names, labels, source=source)
    keys: list[tuple[str, int, str]] = [(metric, 0, name) for metric, name in columns.metrics.items()]
    keys += [("silo_loss", silo, name) for silo, name in enumerate(columns.silo_loss)]
    table: dict[int, dict[tuple[str, int], float]] = {}
    before: dict[str, tuple[int, str]] = {}
    for row in kept:
        present = [key for key in keys if row.values.get(key[2]) is not None]
        if not present:
            continue
        round_ = _round(row, columns.round, shift)
        for metric, silo, name in present:
            _check_ascends(row, columns.round, name, round_ - shift, before.get(name))
            before[name] = (round_ - shift, row.source)
            table.setdefault(round_, {})[metric, silo] = _metric(row, metric, name, percent)
    if not any(columns.metrics.get(metric) in before for metric in DRAWN):
        raise InputError("has no row with a loss or a test accuracy.", source=source)
    accuracies = [
        x for row in table.values() for (metric, _), x in row.items() if metric.endswith("accuracy")
    ]
    if percent and accuracies and max(accuracies) <= 0.01:
        raise InputError("has no accuracy above 1; without --percent they are fractions.", source=source)
    rounds = sorted(table)
    history: dict[str, Any] = {"round": np.array(rounds, dtype=np.int64)}
    for field in fields(HistoryRow):
        if field.name in PER_SILO:
            values = [[table[k].get((field.name, i), math.nan) for i in range(len(labels))] for k in rounds]
            history[field.name] = np.array(values)
        elif field.name != "round":
            history[field.name] = np.array([table[k].get((field.name, 0), math.nan) for k in rounds])
    return ForeignHistory(columns=columns, history=history)


def _round(row: MetricsRow, name: str, shift: int) -> int:
    """The round of a row."""
    value = row.values.get(name)
    if value is None:
        raise InputError(f"{name} is missing.", source=row.source)
    number = _number(value)
    if number is None or not number.is_integer() or not 0 <= number + shift <= _MOST_ROUNDS:
        shifted = f" with the shift of {shift}" if shift else ""
        raise InputError(
            f"{name}(={quoted(value)}) must be a whole number >= 0 and <= {_MOST_ROUNDS}{shifted}.",
            source=row.source,
        )
    return int(number) + shift


def _check_ascends(
    row: MetricsRow, name: str, column: str, value: int, before: tuple[int, str] | None
) -> None:
    """Raise an error for a round that a column has had or has passed."""
    if before is None or value > before[0]:
        return
    if value == before[0]:
        raise InputError(
            f"{name}(={value}) must not be given twice for {column}; see {_place(before[1])}.",
            source=row.source,
        )
    raise InputError(
        f"{name}(={value}) must ascend for {column}: {_place(before[1])} has {before[0]}.", source=row.source
    )


def _place(source: str) -> str:
    """The line of a source, which is of the same file."""
    return source.rpartition(", ")[2]


def _metric(row: MetricsRow, metric: str, name: str, percent: bool) -> float:
    """A metric of a row; accuracies as fractions."""
    value = row.values[name]
    number = _number(value)
    if number is None or not math.isfinite(number):
        raise InputError(f"{name}(={quoted(value)}) must be a finite number.", source=row.source)
    if not metric.endswith("accuracy"):
        return number
    most, hint = (100, "") if percent else (1, "; --percent says that accuracies are in percent")
    if not 0 <= number <= most:
        raise InputError(f"{name}(={quoted(value)}) must be >= 0 and <= {most}{hint}.", source=row.source)
    return number / most


def _number(value: object) -> float | None:
    """A number, or a text that is one; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None

"""Training history from the rows of another program's file of metrics."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from scenarios.metrics_import.columns import DRAWN, ColumnNames, Columns, find_columns
from scenarios.metrics_import.readers import MetricsRow
from scenarios.metrics_import.rounds import Counting, counts_from_0
from topologies import InputError
from topologies.arrays import FloatArray
from topologies.errors import quoted
from training import HistoryRow
from training.history import PER_SILO

_MOST_ROUNDS = 2**31 - 1


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ForeignHistory:
    """Training history of another program.

    Parameters
    ----------
    columns : Columns
        Columns that it was read from.
    rows : mapping
        Field to its number of values in the file.
    counting : Counting
        How the column of the round was read.
    first, last : float
        Smallest and largest number in that column.
    history : mapping from HistoryRow's fields to arrays
        Ascending in the round; NaN where the file has no value.
    """

    columns: Columns
    rows: Mapping[str, int]
    counting: Counting
    first: float
    last: float
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
    local_steps: int | None = 1,
    shift: int | None = None,
    percent: bool = False,
) -> ForeignHistory:
    """Training history of another program's file of metrics.

    Parameters
    ----------
    rows : iterable of MetricsRow
    names : ColumnNames
    labels : sequence of str
        The silos'.
    source : str
        The file, for error messages.
    local_steps : int, optional
        Of a round; None where unknown.
    shift : int, optional
        Added to every number in the column of the round, so that it says how many rounds, steps or epochs were done
        before the measurement. By default 1 where steps or epochs are seen to be counted from 0, else 0.
    percent : bool
        Whether accuracies are in percent.

    Returns
    -------
    ForeignHistory

    Raises
    ------
    InputError
        If the unit of the column of the round is not clear; a round is missing, no whole number, not ascending or given
        twice for a column; a metric is no finite number; or an accuracy is not between 0 and 1.

    Notes
    -----
    Some programs write training and test metrics on different lines of one round: these are joined. Per column, rounds
    must ascend. A value that was measured within a round, after some of its local steps, holds at the end of the round;
    of several such values the last one does.
    """
    lines = list(rows)
    known: Counter[str] = Counter()
    for row in lines:
        known.update({name: int(value is not None) for name, value in row.values.items()})
    if not known:
        raise InputError("has no rows.", source=source)
    columns = find_columns(known, names, labels, source=source, local_steps=local_steps)
    measured = _measured(lines, columns, shift or 0, percent)
    if not any((metric, 0) in measured for metric in DRAWN):
        raise InputError("has no row with a loss or a test accuracy.", source=source)
    if shift is None:
        # A silo's losses are of the rows that the training's are of.
        shift = int(counts_from_0(columns.unit, {metric: [*some] for (metric, _), some in measured.items()}))
    per_round = (local_steps or 1) if columns.unit == "steps" else 1
    counting = Counting(column=columns.round, unit=columns.unit, shift=shift, per_round=per_round)
    table: dict[int, dict[tuple[str, int], float]] = {}
    for key, values in measured.items():
        for number, x in values.items():
            table.setdefault(counting.round_of(number), {})[key] = x
    accuracies = [
        x for row in table.values() for (metric, _), x in row.items() if metric.endswith("accuracy")
    ]
    if percent and accuracies and max(accuracies) <= 0.01:
        raise InputError("has no accuracy above 1; without --percent they are fractions.", source=source)
    rounds = sorted(table)
    history: dict[str, Any] = {"round": np.array(rounds, dtype=np.int64)}
    for field in fields(HistoryRow):
        if field.name in PER_SILO:
            by_silo = [[table[k].get((field.name, i), math.nan) for i in range(len(labels))] for k in rounds]
            history[field.name] = np.array(by_silo)
        elif field.name != "round":
            history[field.name] = np.array([table[k].get((field.name, 0), math.nan) for k in rounds])
    numbers = [number for values in measured.values() for number in values]
    return ForeignHistory(
        columns=columns,
        rows={metric: len(values) for (metric, _), values in measured.items()},
        counting=counting,
        first=min(numbers),
        last=max(numbers),
        history=history,
    )


def _measured(
    rows: Sequence[MetricsRow], columns: Columns, shift: int, percent: bool
) -> dict[tuple[str, int], dict[float, float]]:
    """Values of each metric, and silo, by the number in the column of the round, ascending; without empty ones."""
    keys: list[tuple[str, int, str]] = [(metric, 0, name) for metric, name in columns.metrics.items()]
    keys += [("silo_loss", silo, name) for silo, name in enumerate(columns.silo_loss)]
    measured: dict[tuple[str, int], dict[float, float]] = {}
    before: dict[str, tuple[float, str]] = {}
    for row in rows:
        present = [key for key in keys if row.values.get(key[2]) is not None]
        if not present:
            continue
        number = _round(row, columns.round, shift, whole=columns.unit != "epochs")
        for metric, silo, name in present:
            _check_ascends(row, columns.round, name, number, before.get(name))
            before[name] = (number, row.source)
            measured.setdefault((metric, silo), {})[number] = _metric(row, metric, name, percent)
    return measured


def _round(row: MetricsRow, name: str, shift: int, *, whole: bool) -> float:
    """The number in the column of the round."""
    value = row.values.get(name)
    if value is None:
        raise InputError(f"{name} is missing.", source=row.source)
    number = _number(value)
    is_right = number is not None and (number.is_integer() or not whole)
    if number is None or not is_right or not 0 <= number + shift <= _MOST_ROUNDS:
        shifted = f" with the shift of {shift}" if shift else ""
        raise InputError(
            f"{name}(={quoted(value)}) must be a {'whole ' if whole else ''}number >= 0 and <= {_MOST_ROUNDS}"
            f"{shifted}.",
            source=row.source,
        )
    return number


def _check_ascends(
    row: MetricsRow, name: str, column: str, value: float, before: tuple[float, str] | None
) -> None:
    """Raise an error for a round that does not follow the last one of a column."""
    if before is None or value > before[0]:
        return
    if value == before[0]:
        raise InputError(
            f"{name}(={value:.15g}) must not be given twice for {column}; see {_place(before[1])}.",
            source=row.source,
        )
    raise InputError(
        f"{name}(={value:.15g}) must ascend for {column}: {_place(before[1])} has {before[0]:.15g}.",
        source=row.source,
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

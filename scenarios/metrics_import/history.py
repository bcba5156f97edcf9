"""Training history from the rows of another program's file of metrics."""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from scenarios.metrics_import.clients import client_means
from scenarios.metrics_import.columns import DRAWN, ColumnNames, Columns, find_columns
from scenarios.metrics_import.rounds import Counting, counts_from_0
from scenarios.metrics_import.rows import MetricsRow, MetricsRows
from scenarios.metrics_import.values import Measured, metric_value, place_of, round_number
from topologies import InputError
from topologies.arrays import FloatArray
from training import HistoryRow
from training.history import PER_SILO


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
    notes : tuple of str
        Sentences on how the file was read.
    """

    columns: Columns
    rows: Mapping[str, int]
    counting: Counting
    first: float
    last: float
    history: dict[str, FloatArray]
    notes: tuple[str, ...]

    @property
    def last_round(self) -> int:
        """The last round of the history."""
        return int(self.history["round"][-1])


def read_history(
    rows: MetricsRows,
    names: ColumnNames,
    labels: Sequence[str],
    *,
    source: str,
    local_steps: int | None,
    shift: int | None = None,
    percent: bool,
) -> ForeignHistory:
    """Training history of another program's file of metrics.

    Parameters
    ----------
    rows : MetricsRows
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
    of several such values the last one does. Where a column names clients, a round has a row for each of them, in any
    order; see `scenarios.metrics_import.clients.client_means`. Time is linear in the rows, which are gone through
    twice; memory is 16 bytes for each value that is used.
    """
    known: Counter[str] = Counter()
    for row in rows:
        for name, value in row.values.items():
            known[name] += value is not None
    if not known:
        raise InputError("has no rows.", source=source)
    columns = find_columns(
        known, names, labels, source=source, local_steps=local_steps, usual_columns=rows.columns
    )
    notes: tuple[str, ...] = ()
    if not any(known[columns.metrics[metric]] for metric in DRAWN if metric in columns.metrics):
        raise InputError("has no row with a loss or a test accuracy.", source=source)
    if columns.client is None:
        measured = _measured(rows, columns, shift or 0, percent)
    else:
        measured, notes = client_means(
            rows, columns, labels, source=source, shift=shift or 0, percent=percent
        )
    means = {metric: some for (metric, _), some in measured.items() if metric not in PER_SILO}
    if shift is None:
        # A silo's losses are of the rows that the training's are of.
        numbers = {metric: some.numbers.tolist() for metric, some in means.items()}
        shift = int(counts_from_0(columns.unit, numbers))
    per_round = (local_steps or 1) if columns.unit == "steps" else 1
    counting = Counting(column=columns.round, unit=columns.unit, shift=shift, per_round=per_round)
    accuracies = [some.values.max() for (metric, _), some in measured.items() if metric.endswith("accuracy")]
    if percent and accuracies and max(accuracies) <= 0.01:
        raise InputError("has no accuracy above 1; without --percent they are fractions.", source=source)
    return ForeignHistory(
        columns=columns,
        rows={metric: len(some.values) for metric, some in means.items()},
        counting=counting,
        first=min(float(some.numbers[0]) for some in measured.values()),
        last=max(float(some.numbers[-1]) for some in measured.values()),
        history=_history(measured, counting, len(labels)),
        notes=(*rows.notes, *notes),
    )


def _history(
    measured: Mapping[tuple[str, int], Measured], counting: Counting, silos: int
) -> dict[str, FloatArray]:
    """Columns of `HistoryRow`: of several values within a round the last one."""
    rounds = {key: counting.rounds_of(some.numbers) for key, some in measured.items()}
    all_rounds = np.unique(np.concatenate([*rounds.values()]))
    history: dict[str, Any] = {"round": all_rounds}
    for field in fields(HistoryRow):
        if field.name == "round":
            continue
        of_silos = field.name in PER_SILO
        table = np.full((len(all_rounds), silos if of_silos else 1), math.nan)
        for (metric, silo), some in measured.items():
            if metric == field.name:
                table[np.searchsorted(all_rounds, rounds[metric, silo]), silo] = some.values
        history[field.name] = table if of_silos else table[:, 0]
    return history


def _measured(
    rows: Iterable[MetricsRow], columns: Columns, shift: int, percent: bool
) -> dict[tuple[str, int], Measured]:
    """Values of each metric, and silo, of a file with one value of it for a round; without empty ones."""
    keys: list[tuple[str, int, str]] = [(metric, 0, name) for metric, name in columns.metrics.items()]
    keys += [("silo_loss", silo, name) for silo, name in enumerate(columns.silo_loss)]
    cells: dict[tuple[str, int], tuple[array[float], array[float]]] = {}
    before: dict[str, tuple[float, str]] = {}
    whole = columns.unit != "epochs"
    for row in rows:
        present = [key for key in keys if row.values.get(key[2]) is not None]
        if not present:
            continue
        number = round_number(row, columns.round, shift, whole=whole)
        for metric, silo, name in present:
            _check_ascends(row, columns.round, name, number, before.get(name))
            before[name] = (number, row.source)
            numbers, values = cells.setdefault((metric, silo), (array("d"), array("d")))
            numbers.append(number)
            values.append(metric_value(row, metric, name, percent=percent))
    return {
        key: Measured(numbers=np.frombuffer(numbers), values=np.frombuffer(values))
        for key, (numbers, values) in cells.items()
    }


def _check_ascends(
    row: MetricsRow, name: str, column: str, value: float, before: tuple[float, str] | None
) -> None:
    """Raise an error for a round that does not follow the last one of a column."""
    if before is None or value > before[0]:
        return
    if value == before[0]:
        raise InputError(
            f"{name}(={value:.15g}) must not be given twice for {column}; see {place_of(before[1])}.",
            source=row.source,
        )
    raise InputError(
        f"{name}(={value:.15g}) must ascend for {column}: {place_of(before[1])} has {before[0]:.15g}.",
        source=row.source,
    )

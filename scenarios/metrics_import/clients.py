"""Means of the network, and values of silos, from a file with a row for each round and client."""

import math
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NoReturn

import numpy as np

from scenarios.metrics_import.columns import Columns
from scenarios.metrics_import.metric_names import plain_name
from scenarios.metrics_import.rows import MetricsRow
from scenarios.metrics_import.values import Measured, metric_value, number_of, place_of, round_number
from topologies import InputError
from topologies.arrays import IntArray
from topologies.errors import Field, quoted, unknown_name

_OF_SILOS = {"silo_loss": ("train_loss", "test_loss"), "silo_accuracy": ("train_accuracy", "test_accuracy")}
"""Metrics that a silo's values are of, the preferred first: what it measured on its own training data."""


@dataclass(slots=True, eq=False)
class _Cells:
    """Values of all rows, in the order of the file; 8 bytes for each."""

    numbers: "array[float]" = field(default_factory=lambda: array("d"))
    names: dict[str, int] = field(default_factory=dict)
    clients: "array[int]" = field(default_factory=lambda: array("q"))
    examples: "array[float]" = field(default_factory=lambda: array("d"))
    places: "array[int]" = field(default_factory=lambda: array("q"))
    metrics: "dict[str, array[float]]" = field(default_factory=dict)


def client_means(
    rows: Iterable[MetricsRow],
    columns: Columns,
    labels: Sequence[str],
    *,
    source: str,
    shift: int,
    percent: bool,
) -> tuple[dict[tuple[str, int], Measured], tuple[str, ...]]:
    """Means over the clients of each round, and the clients' own values where they are silos.

    Parameters
    ----------
    rows : iterable of MetricsRow
        Gone through again for the line of an error.
    columns : Columns
        With a client.
    labels : sequence of str
        The silos'.
    source : str
        The file, for error messages.
    shift, percent
        As `scenarios.metrics_import.history.read_history` takes them.

    Returns
    -------
    measured : dict from (field of HistoryRow, silo) to Measured
        Means have silo 0.
    notes : tuple of str
        How many took part in a round, how they were weighed, and which silos they are.

    Raises
    ------
    InputError
        If a client or its number of examples is missing or wrong, a client is given twice in a round for a column, a
        round has no examples, some clients are silos by their label and others are not, or their numbers may be
        counted from 0 as well as from 1.

    Notes
    -----
    The mean is ``sum_i n_i x_i / sum_i n_i`` over the clients with a value in that round, where ``n_i`` are their
    examples: Flower's ``weighted_loss_avg``. Rows may stand in any order; sums are in the order of the clients. Memory
    is 8 bytes for each cell that is used, time that of a sort.
    """
    cells = _cells(rows, columns, shift, percent)
    order = sorted(cells.names, key=_number_first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[[cells.names[name] for name in order]] = np.arange(len(order))
    clients, numbers = rank[np.frombuffer(cells.clients, dtype=np.int64)], np.frombuffer(cells.numbers)
    examples = np.frombuffer(cells.examples)
    silos, note = _silos_of(order, columns.client or "", labels, first=columns.first_silo, source=source)
    fields = _fields_of_silos(cells.metrics)
    measured: dict[tuple[str, int], Measured] = {}
    counts: list[IntArray] = []
    for metric, cell in cells.metrics.items():
        column = np.frombuffer(cell)
        there = np.flatnonzero(np.isfinite(column))
        there = there[np.lexsort((clients[there], numbers[there]))]
        same = (np.diff(numbers[there]) == 0) & (np.diff(clients[there]) == 0)
        if same.any():
            first = np.flatnonzero(same)[0]
            _raise_twice(rows, columns, metric, sorted(cells.places[i] for i in there[first : first + 2]))
        rounds, starts = np.unique(numbers[there], return_index=True)
        counts.append(np.diff(np.append(starts, len(there))))
        weights = np.add.reduceat(examples[there], starts)
        if not weights.all():
            raise InputError(
                f"{columns.examples} must be > 0 for a client of {columns.round} {rounds[weights == 0][0]:.15g}.",
                source=source,
            )
        means = np.add.reduceat(examples[there] * column[there], starts) / weights
        measured[metric, 0] = Measured(numbers=rounds, values=means)
        if silos and metric in fields:
            for client, silo in enumerate(silos):
                own = there[clients[there] == client]
                if len(own):
                    measured[fields[metric], silo] = Measured(numbers=numbers[own], values=column[own])
    if silos:
        taken = " and ".join(f"{field} from {columns.metrics[metric]}" for metric, field in fields.items())
        note = f"{note}: {taken}." if taken else f"{note}."
    return measured, (_participation(counts, len(order), columns), note)


def _cells(rows: Iterable[MetricsRow], columns: Columns, shift: int, percent: bool) -> _Cells:
    """Checked values of all rows that have one."""
    cells = _Cells(metrics={metric: array("d") for metric in columns.metrics})
    client, round_ = columns.client or "", columns.round
    whole = columns.unit != "epochs"
    for place, row in enumerate(rows):
        present = {metric for metric, name in columns.metrics.items() if row.values.get(name) is not None}
        if not present:
            continue
        cells.places.append(place)
        cells.numbers.append(round_number(row, round_, shift, whole=whole))
        cells.clients.append(cells.names.setdefault(_client(row, client), len(cells.names)))
        cells.examples.append(1.0 if columns.examples is None else _examples(row, columns.examples))
        for metric, cell in cells.metrics.items():
            is_there = metric in present
            cell.append(
                metric_value(row, metric, columns.metrics[metric], percent=percent) if is_there else math.nan
            )
    for metric in [metric for metric, cell in cells.metrics.items() if not any(map(math.isfinite, cell))]:
        del cells.metrics[metric]
    return cells


def _client(row: MetricsRow, name: str) -> str:
    """Name of a row's client; a whole number may have a point."""
    value = row.values.get(name)
    if value is None:
        raise InputError(f"{name} is missing.", source=row.source)
    return re.sub(r"^(\d+)\.0+$", r"\1", str(value).strip())


def end_number(client: str) -> int | None:
    """The number at the end of a name, behind a letter or underscore and other signs, or alone; None without one."""
    # From the end on: from the begin, each of many underscores might be the letter.
    found = re.match(r"(\d{1,9})(?:\Z|[\W_]*[^\W\d])", client[::-1])
    return int(found[1][::-1]) if found else None


def _examples(row: MetricsRow, name: str) -> float:
    """A client's number of examples."""
    value = row.values.get(name)
    if value is None:
        raise InputError(f"{name} is missing.", source=row.source)
    number = number_of(value)
    if number is None or not 0 <= number < math.inf:
        raise InputError(f"{name}(={quoted(value)}) must be a number >= 0.", source=row.source)
    return number


def _number_first(name: str) -> tuple[bool, int, str, str]:
    """Key that orders numbers as such, of any length, other names after them."""
    digits = name.lstrip("0") if name.isascii() and name.isdigit() else None
    return (True, 0, name, name) if digits is None else (False, len(digits), digits, name)


def _fields_of_silos(metrics: Mapping[str, object]) -> dict[str, str]:
    """Metric to the field of silos that it is of."""
    found = {field: next((m for m in some if m in metrics), None) for field, some in _OF_SILOS.items()}
    return {metric: field for field, metric in found.items() if metric is not None}


def _silos_of(
    clients: Sequence[str], column: str, labels: Sequence[str], *, first: int | None, source: str
) -> tuple[Sequence[int], str]:
    """Each client's silo, or none of all where they are others, and a sentence on it.

    Numbers are counted from 0 where one of them is 0. Else they are from 1, of which only the number of the last silo
    is proof.
    """
    by_label = {plain_name(label): silo for silo, label in enumerate(labels)}
    found = [by_label.get(plain_name(client)) for client in clients]
    if any(silo is not None for silo in found):
        how = "labels"
        other = next((client for client, silo in zip(clients, found, strict=True) if silo is None), None)
        if other is not None:
            raise unknown_name(column, other, labels, source=source)
        if first is not None:
            raise InputError(
                f"goes with numbers of silos, but {column} has their labels.",
                field=Field("first_silo", value=first),
                source=source,
            )
    else:
        # Flower's own identifiers have 19 digits; such numbers are of no silo.
        numbers = [end_number(client) for client in clients]
        begin = first if first is not None else 0 if 0 in numbers else 1
        how = f"numbers from {begin}"
        found = [None if number is None else number - begin for number in numbers]
        other = next(
            (
                c
                for c, silo in zip(clients, found, strict=True)
                if silo is None or not 0 <= silo < len(labels)
            ),
            None,
        )
        if other is not None:
            known = f"number ({begin} to {begin + len(labels) - 1}) of a silo"
            if first is not None:
                raise InputError(f"must be a {known}.", field=Field(column, value=other), source=source)
            return (), f"{column} {other} is neither label nor {known}: without values of silos."
        if first is None and begin == 1 and len(labels) - 1 not in found:
            raise InputError(
                f"{column} has neither 0 nor {len(labels)}, so the {len(labels)} silos may be counted from 0 or from "
                "1: --first-silo must be 0 or 1.",
                source=source,
            )
    silos = [silo for silo in found if silo is not None]
    twice = next((place for place, silo in enumerate(silos) if silo in silos[:place]), None)
    if twice is not None:
        before = clients[silos.index(silos[twice])]
        raise InputError(
            f"{column}(={quoted(clients[twice])}) must not be the silo that {quoted(before)} is too: "
            f"{labels[silos[twice]]}.",
            source=source,
        )
    return silos, f"{len(silos)} of {len(labels)} silos by their {how} in {column}"


def _participation(counts: Sequence[IntArray], clients: int, columns: Columns) -> str:
    """Sentence on the clients of a round and their weights."""
    least, most = min(int(count.min()) for count in counts), max(int(count.max()) for count in counts)
    took = (
        f"all {clients}"
        if least == clients
        else f"{least} to {most} of {clients}"
        if least < most
        else f"{most} of {clients}"
    )
    how = "each counted once" if columns.examples is None else f"weighted by {columns.examples}"
    return f"means over the clients of a round, {took}, {how}."


def _raise_twice(
    rows: Iterable[MetricsRow], columns: Columns, metric: str, places: Sequence[int]
) -> NoReturn:
    """Raise the error for a client with two values of a metric in one round."""
    first, second = (next(islice(rows, place, None)) for place in places)
    assert columns.client is not None
    raise InputError(
        f"{columns.client}(={quoted(_client(second, columns.client))}) must not be given twice for "
        f"{columns.metrics[metric]} in {columns.round} {second.values[columns.round]}; "
        f"see {place_of(first.source)}.",
        source=second.source,
    )

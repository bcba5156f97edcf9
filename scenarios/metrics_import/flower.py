"""Rows of Flower's own records of a training: ``History`` and ``Result``, dumped as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from scenarios.metrics_import.metric_names import BARE, SYNONYMS, plain_name
from scenarios.metrics_import.rows import MetricsRow, MetricsRows
from topologies import InputError
from topologies.errors import quoted

ROUND = "round"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    """One attribute of Flower's objects.

    Parameters
    ----------
    key : str
    measured_by : {"train", "server", "clients"}
        In training, at the server's test, or at the clients' one.
    """

    key: str
    measured_by: str


_LOSSES = (
    _Part(key="losses_centralized", measured_by="server"),
    _Part(key="losses_distributed", measured_by="clients"),
)
"""``History``'s pairs of round and loss."""
_METRICS = (
    _Part(key="metrics_distributed_fit", measured_by="train"),
    _Part(key="metrics_centralized", measured_by="server"),
    _Part(key="metrics_distributed", measured_by="clients"),
)
"""``History``'s pairs of round and value, by the metric's name."""
_RESULTS = (
    _Part(key="train_metrics_clientapp", measured_by="train"),
    _Part(key="evaluate_metrics_serverapp", measured_by="server"),
    _Part(key="evaluate_metrics_clientapp", measured_by="clients"),
)
"""``Result``'s values by the metric's name, by the round."""
FLOWER_KEYS = tuple(part.key for part in (*_LOSSES, *_METRICS, *_RESULTS))
_PLACES = frozenset(
    (
        *("centralized", "centralised", "central", "cen", "distributed", "federated", "fed", "global"),
        *("server", "client", "clients", "fit", "evaluate", "evaluation"),
    )
)
"""Words in front of a metric's name that say where it was measured, which the part says already."""


def is_of_flower(found: Mapping[str, object]) -> bool:
    """Whether a JSON object is one of Flower's."""
    return any(key in found for key in FLOWER_KEYS)


def flower_rows(found: Mapping[str, object], source: str) -> MetricsRows:
    """Rows of a dumped ``History`` or ``Result``.

    Parameters
    ----------
    found : mapping
        ``vars(history)``: lists of ``[round, value]``, or of objects with ``round`` and one value. ``vars(result)`` or
        a part of it: objects of metrics by round. Other keys are passed over, such as ``arrays``.
    source : str
        The file, for error messages.

    Returns
    -------
    MetricsRows
        With a column for each list, such as ``losses_distributed`` and ``metrics_centralized/accuracy``.

    Raises
    ------
    InputError
        If there is no round, or a part has another form.

    Notes
    -----
    Read in Flower's sources: ``flwr/server/history.py`` of 2023 and 2025, ``flwr/serverapp/strategy/result.py`` and
    ``strategy.py`` of 2025 and of version 1.43. Distributed losses are
    means over the clients that evaluated, weighted by their examples (``weighted_loss_avg``); metrics of clients are
    what the strategy's aggregation function makes of them, in ``Result`` by default the same mean. Centralized ones are
    of the server's ``evaluate_fn``, before the first round too. The test's metrics are the server's where it measured
    an accuracy, or the clients did not, else the clients'.
    """
    series = [*_history_series(found, source), *_result_series(found, source)]
    if not any(pairs for _, _, pairs in series):
        there = ", ".join(key for key in FLOWER_KEYS if key in found)
        raise InputError(f"has no rounds: no values in {there}.", source=source)
    return MetricsRows(
        start=partial(_rows, series, source),
        columns=_columns([(part, column) for part, column, pairs in series if pairs]),
    )


_Series = tuple[_Part, str, Sequence[tuple[object, object]]]


def _rows(series: Sequence[_Series], source: str) -> Iterator[MetricsRow]:
    """A row for each value."""
    for _, column, pairs in series:
        for number, (round_, value) in enumerate(pairs, start=1):
            yield MetricsRow(
                source=f"{source}, {column}, entry {number}", values={ROUND: round_, column: value}
            )


def _history_series(found: Mapping[str, object], source: str) -> Iterator[_Series]:
    """Lists of ``History``."""
    for part in _LOSSES:
        yield part, part.key, _pairs(found.get(part.key), f"{source}, {part.key}")
    for part in _METRICS:
        for name, entries in _object(found.get(part.key), f"{source}, {part.key}").items():
            column = f"{part.key}/{name}"
            yield part, column, _pairs(entries, f"{source}, {column}")


def _pairs(entries: object, source: str) -> list[tuple[object, object]]:
    """Pairs of round and value."""
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise InputError(f"(={quoted(entries)}) must be a list of [round, value].", source=source)
    return [_pair(entry, f"{source}, entry {number}") for number, entry in enumerate(entries, start=1)]


def _pair(entry: object, source: str) -> tuple[object, object]:
    """One pair of round and value."""
    if isinstance(entry, dict) and len(entry) == 2 and ROUND in entry:
        return entry[ROUND], next(value for key, value in entry.items() if key != ROUND)
    if isinstance(entry, list) and len(entry) == 2:
        return entry[0], entry[1]
    raise InputError(f"(={quoted(entry)}) must be [round, value].", source=source)


def _result_series(found: Mapping[str, object], source: str) -> Iterator[_Series]:
    """Records of ``Result``, as lists by the metric's name; texts of rounds are in the order of their numbers."""
    for part in _RESULTS:
        by_name: dict[str, list[tuple[object, object]]] = {}
        records = _object(found.get(part.key), f"{source}, {part.key}")
        for round_, record in sorted(records.items(), key=_number_first):
            place = f"{source}, {part.key}, round {round_}"
            for name, value in _object(record, place).items():
                by_name.setdefault(name, []).append((round_, value))
        yield from ((part, f"{part.key}/{name}", pairs) for name, pairs in by_name.items())


def _number_first(item: tuple[str, object]) -> tuple[bool, float, str]:
    """Key that orders numbers as such, other texts after them."""
    text = item[0]
    return (False, float(text), text) if text.isdecimal() else (True, 0.0, text)


def _object(found: object, source: str) -> Mapping[str, object]:
    """A JSON object, or an empty one for nothing."""
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InputError(f"(={quoted(found)}) must be an object of names and values.", source=source)
    return found


def _columns(there: Sequence[tuple[_Part, str]]) -> dict[str, list[str]]:
    """Columns of each field of `HistoryRow`, the preferred first."""
    by_place: dict[str, dict[str, list[str]]] = {"train": {}, "server": {}, "clients": {}}
    for part, column in there:
        phase = "train" if part.measured_by == "train" else "test"
        field = f"{phase}_loss" if part in _LOSSES else _field(column.removeprefix(f"{part.key}/"), phase)
        if field is not None:
            by_place[part.measured_by].setdefault(field, []).append(column)
    tests = sorted(("server", "clients"), key=lambda place: "test_accuracy" not in by_place[place])
    columns: dict[str, list[str]] = {}
    for place in ("train", *tests):
        for field, names in by_place[place].items():
            columns.setdefault(field, []).extend(names)
    return columns


def _field(name: str, phase: str) -> str | None:
    """Field of `HistoryRow` of a metric that was measured in one phase; None where the name is not a usual one."""
    words = plain_name(name).split("_")
    while words and words[0] in _PLACES:
        words = words[1:]
    plain = "_".join(words)
    return next(
        (
            f"{phase}_{kind}"
            for kind, bare in BARE.items()
            if plain in bare or plain in SYNONYMS[f"{phase}_{kind}"]
        ),
        None,
    )

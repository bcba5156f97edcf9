"""Networks of measured pairs: a long table of pairs, or matrices."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.errors import InputError, quoted, unknown_name
from topologies.latency_rule import S_PER_KM, S_PER_PATH
from topologies.measured_pairs import MeasuredPairs
from topologies.networks.csv_table import Table
from topologies.networks.geodesics import geodesics_km
from topologies.networks.labels import one_line
from topologies.networks.site_tables import (
    CAPACITY_NAMES,
    FROM,
    LATENCY,
    RTT,
    TO,
    Sites,
    check_has_coordinates,
    label_indices,
    link_latency,
)
from topologies.networks.stated_network import StatedNetwork
from topologies.networks.table_columns import (
    Role,
    cell_numbers,
    column_name,
    find_columns,
    missing_column,
    numbers,
    origins,
    unit_kind,
)
from topologies.underlay import label_order

_PAIR_ROLES: Mapping[str, Role] = {
    "from": FROM,
    "to": TO,
    "bandwidth": Role(title="bandwidth", names=CAPACITY_NAMES, kind="bit/s"),
    "latency": LATENCY,
    "rtt": RTT,
}
ROUND_TRIP = r"(?:rtt|round[\s_-]?trip|(?<![a-z])ping|(?<=latency)ping)"
"""In the corner of a matrix, or the name of its file, in any case."""
_ROUND_TRIP = re.compile(ROUND_TRIP, re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LabelledMatrix:
    """A square table with labels.

    Attributes
    ----------
    table : Table
    labels : tuple of str
        Of its rows.
    values : array of float, (labels, labels)
        In SI units, by rows and columns in the order of `labels`; NaN where a cell states nothing.
    note : str
    """

    table: Table
    labels: tuple[str, ...]
    values: FloatArray
    note: str


def stated_pairs(table: Table, sites: Sites | None = None) -> StatedNetwork:
    """What a table with a row for each pair states.

    Parameters
    ----------
    table : Table
        Columns of sender, receiver and bandwidth, and of latency or round-trip time, half of which is taken for the
        latency. A pair without a row, or a row without a bandwidth, cannot talk.
    sites : Sites, optional
        By default the names in the table.

    Returns
    -------
    StatedNetwork

    Raises
    ------
    InputError
        If a column is missing or there twice, a pair has two rows, a site is unknown, a value breaks its rule, or a
        latency is stated nowhere and follows from no coordinates.
    """
    found, ignored = find_columns(table, _PAIR_ROLES)
    for key, purpose in (("from", "the sender"), ("to", "the receiver"), ("bandwidth", "the bandwidth")):
        if key not in found:
            raise missing_column(table, _PAIR_ROLES[key], purpose)
    labels = sites.labels if sites is not None else _names(table, found["from"].index, found["to"].index)
    source, target = (label_indices(table, found[key], labels) for key in ("from", "to"))
    _check_once(table, source, target, labels)
    bandwidth = np.full((len(labels), len(labels)), np.nan)
    latency = bandwidth.copy()
    stated_bps = numbers(table, found["bandwidth"])
    for row in np.flatnonzero(stated_bps < 0).tolist():
        column = found["bandwidth"]
        raise table.error(row, column.header, table.rows[row][column.index], "must be >= 0.")
    bandwidth[source, target] = stated_bps
    latency[source, target] = link_latency(table, found)
    notes = [] if sites is None else [sites.note]
    notes.append(origins(table, found, ignored))
    if "rtt" in found and "latency" not in found:
        notes.append(f"{Path(table.source).name}: the latency is half of {found['rtt'].header!r}.")
    return _stated(table, labels, sites, bandwidth, latency, notes)


def _names(table: Table, *columns: int) -> tuple[str, ...]:
    """Names in some columns, sorted."""
    names = set().union(*(table.labels(column) for column in columns))
    if "" in names:
        column = next(column for column in columns if "" in table.column(column))
        row = table.column(column).index("")
        raise table.error(row, table.header[column], "", "must be the name of a site.")
    return tuple(sorted(names))


def _check_once(table: Table, source: IntArray, target: IntArray, labels: Sequence[str]) -> None:
    """Raise an error for a pair with two rows."""
    key = source * len(labels) + target
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(np.diff(key[order]) == 0)
    if len(again):
        place = again[np.argmin(order[again + 1])]
        first, second = (table.row_numbers[order[at]] for at in (place, place + 1))
        a, b = labels[source[order[place]]], labels[target[order[place]]]
        raise InputError(
            f"rows {first} and {second} are both of {quoted(f'{a} -> {b}')}; a pair must have one row.",
            source=table.source,
        )


def stated_matrices(
    bandwidth: Table, latency: Table | None = None, sites: Sites | None = None
) -> StatedNetwork:
    """What square tables of bandwidth and latency state.

    Parameters
    ----------
    bandwidth, latency : Table
        Labels in the first row and column: from the row's site to the column's. The unit is in the corner, the file's
        name or the cells. A corner or file named rtt holds round-trip times, half of which is taken for the latency.
        A cell without a bandwidth, or with 0, is a pair that cannot talk.
    sites : Sites, optional
        By default the labels of `bandwidth`.

    Returns
    -------
    StatedNetwork

    Raises
    ------
    InputError
        If labels differ, a value breaks its rule, or a latency is stated nowhere and follows from no coordinates.
    """
    given = [labelled_matrix(bandwidth, "bit/s")]
    if latency is not None:
        given.append(labelled_matrix(latency, "s"))
    labels = given[0].labels if sites is None else sites.labels
    values = [np.full((len(labels), len(labels)), np.nan) for _ in range(2)]
    for matrix, whole in zip(given, values, strict=False):
        places = [_place(matrix, label, labels) for label in matrix.labels]
        whole[np.ix_(places, places)] = matrix.values
        if sites is None and len(places) < len(labels):
            odd = next(label for label in labels if label not in matrix.labels)
            raise InputError(
                f"must have a row and a column for {quoted(odd)}, as {Path(bandwidth.source).name} has.",
                source=matrix.table.source,
            )
    notes = [*([] if sites is None else [sites.note]), *(matrix.note for matrix in given)]
    return _stated(bandwidth, labels, sites, values[0], values[1], notes)


def _place(matrix: LabelledMatrix, label: str, labels: Sequence[str]) -> int:
    """Index of a matrix's label among those of the network."""
    if label not in labels:
        raise unknown_name("the label of a row", label, labels, source=matrix.table.source)
    return labels.index(label)


def labelled_matrix(table: Table, kind: str, *, unit: str = "") -> LabelledMatrix:
    """Read a square table with labels.

    Parameters
    ----------
    table : Table
        The same labels in the first row and column, in any order.
    kind : {"bit/s", "s"}
    unit : str
        Of cells whose table names none.

    Raises
    ------
    InputError
        If labels differ or occur twice, a value breaks its rule, or the table names a unit beside `unit`.
    """
    columns, rows = tuple(map(one_line, table.header[1:])), tuple(table.labels(0))
    for what, names in (("column", columns), ("row", rows)):
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise InputError(f"the label {quoted(twice)} must be that of one {what}.", source=table.source)
    if set(columns) != set(rows):
        odd = sorted(set(columns) ^ set(rows))[0]
        lacks = "row" if odd in columns else "column"
        raise InputError(
            f"must be a square matrix with the same labels in the first row and the first column; {quoted(odd)} has no "
            f"{lacks}.",
            source=table.source,
        )
    if len(rows) < 2:
        raise InputError("must hold two sites or more.", source=table.source)
    stated, origin = _matrix_unit(table, kind)
    if stated and unit:
        raise InputError(f"has the unit {stated!r}, so that unit must be left out.", source=table.source)
    cells = [cell for row in table.rows for cell in row[1:]]
    width = len(columns)
    values = cell_numbers(
        cells,
        kind=kind,
        unit=stated or unit,
        decimal_comma=table.decimal_comma,
        error=lambda i, rule: table.error(i // width, columns[i % width], cells[i], rule),
        where="neither in the corner cell, nor in the file's name, nor in the cell",
        place="'{unit}' in the corner cell",
    ).reshape(width, width)
    place = {label: i for i, label in enumerate(columns)}
    values = values[:, [place[label] for label in rows]]
    allowed = values >= 0 if kind == "bit/s" else (values >= 0) & np.isfinite(values)
    for i, j in np.argwhere(~(allowed | np.isnan(values))).tolist():
        cell = table.rows[i][1 + place[rows[j]]]
        raise table.error(
            i, rows[j], cell, "must be >= 0." if kind == "bit/s" else "must be finite and >= 0."
        )
    what = "bandwidth"
    if kind == "s":
        is_round_trip = _ROUND_TRIP.search(table.header[0]) or _ROUND_TRIP.search(Path(table.source).stem)
        what = "latency, half of the round-trip time" if is_round_trip else "latency"
        values = values / 2 if is_round_trip else values
    return LabelledMatrix(
        table=table,
        labels=rows,
        values=values,
        note=f"{Path(table.source).name}: {what} from the row's site to the column's{origin}.",
    )


def _matrix_unit(table: Table, kind: str) -> tuple[str, str]:
    """Unit of a matrix's cells, empty if neither corner nor file name has one, and what to say of it."""
    corner = table.header[0]
    for text, place in ((corner, "the corner cell"), (Path(table.source).stem, "the file's name")):
        unit = column_name(text)[1]
        if unit and unit_kind(unit) == kind:
            return unit, f", in {unit} by {place}"
    return "", ""


def _stated(
    table: Table,
    labels: tuple[str, ...],
    sites: Sites | None,
    bandwidth_bps: FloatArray,
    latency_s: FloatArray,
    notes: Sequence[str],
) -> StatedNetwork:
    """The network of measured pairs; NaN is what the tables do not state."""
    diagonal = np.eye(len(labels), dtype=bool)
    inside_bps = np.where(np.diag(bandwidth_bps) > 0, np.diag(bandwidth_bps), np.inf)
    bandwidth_bps = np.nan_to_num(bandwidth_bps, nan=0.0, posinf=np.inf)
    np.fill_diagonal(bandwidth_bps, inside_bps)
    latency_s[diagonal & np.isnan(latency_s)] = 0.0
    lacking = (bandwidth_bps > 0) & np.isnan(latency_s)
    if lacking.any():
        computed = _by_distance(table, labels, sites, lacking)
        latency_s = np.where(lacking, computed, latency_s)
        notes = (
            *notes,
            f"{Path(table.source).name}: the latency of {int(lacking.sum())} pairs is not stated, but computed from "
            f"the sites' distance: {S_PER_KM * 1e3:g} ms/km and {S_PER_PATH * 1e3:g} ms.",
        )
    nowhere = np.full(len(labels), np.nan)
    return StatedNetwork(
        labels=labels,
        latitude_deg=nowhere if sites is None else sites.latitude_deg,
        longitude_deg=nowhere if sites is None else sites.longitude_deg,
        ends=np.empty((0, 2), dtype=np.int64),
        distance_km=np.empty(0),
        published_distance_km=np.empty(0),
        capacity_bps=np.empty(0),
        measured=_measured(table, bandwidth_bps, latency_s),
        sites=None if sites is None else sites.values,
        notes=tuple(notes),
    )


def _measured(table: Table, bandwidth_bps: FloatArray, latency_s: FloatArray) -> MeasuredPairs:
    """The matrices, checked."""
    try:
        return MeasuredPairs(bandwidth_bps=bandwidth_bps, latency_s=latency_s)
    except InputError as error:
        raise error.located(table.source) from None


def _by_distance(table: Table, labels: Sequence[str], sites: Sites | None, lacking: BoolArray) -> FloatArray:
    """Latency of some pairs by the rule of a routed path that is as short as can be."""
    latency_s = np.full(lacking.shape, np.nan)
    talks = lacking | lacking.T
    i, j = np.nonzero(np.triu(talks, 1))
    has_place = np.zeros(len(labels), dtype=bool) if sites is None else sites.has_place
    for pair in np.flatnonzero(~(has_place[i] & has_place[j]))[:1].tolist():
        one, other = int(i[pair]), int(j[pair])
        site = other if has_place[one] else one
        sender, receiver = (one, other) if lacking[one, other] else (other, one)
        title = quoted(f"{labels[sender]} -> {labels[receiver]}")
        if sites is not None:
            check_has_coordinates(
                sites, f"{title} of {Path(table.source).name} has a bandwidth, but no latency"
            )
        where = "a table of sites" if sites is None else Path(sites.table.source).name
        raise InputError(
            f"{title} has a bandwidth, but no latency, and {where} must give the latitude and longitude of "
            f"{quoted(labels[site])} to compute it from.",
            source=table.source,
        )
    assert sites is not None  # where it is None, no pair has places
    # From the label that comes first: the way back may differ in the last bit.
    rank = np.argsort(label_order(labels))
    swapped = rank[i] > rank[j]
    a, b = np.where(swapped, j, i), np.where(swapped, i, j)
    place = sites.latitude_deg, sites.longitude_deg
    pair_s = S_PER_KM * geodesics_km(place[0][a], place[1][a], place[0][b], place[1][b]) + S_PER_PATH
    latency_s[i, j] = latency_s[j, i] = pair_s
    return latency_s

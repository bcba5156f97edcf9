"""Traffic matrices of CSV tables: a row for each demand, or one square matrix."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import InputError
from topologies.networks.csv_table import Table
from topologies.networks.measured_tables import labelled_matrix
from topologies.networks.site_tables import CAPACITY_NAMES, FROM, TO
from topologies.networks.table_columns import Column, Role, find_columns, missing_column, numbers
from topologies.networks.traffic_dates import looks_like_date, parse_date
from topologies.networks.traffic_matrices import DemandRows, TrafficMatrices, matrices_of, numbered

_ROLES: Mapping[str, Role] = {
    "time": Role(
        title="time", names=(("time", "timestamp", "date", "datetime"), ("zeit", "datum")), kind="s"
    ),
    "source": FROM,
    "target": TO,
    "demand": Role(
        title="demand",
        names=(("demand", "demand value", "demandvalue", "traffic", "load"), CAPACITY_NAMES[0]),
        kind="bit/s",
    ),
}


def traffic_of_table(table: Table, unit: str) -> TrafficMatrices:
    """Traffic matrices of a CSV table.

    Parameters
    ----------
    table : Table
        Columns of source, target and demand, and perhaps of time: dates, or numbers, in seconds where neither header
        nor cell has a unit. Else a square matrix, from the row's router to the column's.
    unit : str
        Of demands whose table names none; empty where it does.

    Returns
    -------
    TrafficMatrices

    Raises
    ------
    InputError
        If a column is missing or there twice, a value breaks its rule, or as of `matrices_of`.

    Notes
    -----
    A row without a demand is as one that is not there.
    """
    if set(table.header[1:]) == set(table.column(0)):
        return _square(table, unit)
    found, _ = find_columns(table, _ROLES)
    for key in ("source", "target", "demand"):
        if key not in found:
            raise missing_column(table, _ROLES[key], f"the {_ROLES[key].title} of each demand")
    if unit and found["demand"].unit:
        raise InputError(
            f"has a unit in {found['demand'].header!r}, so that unit must be left out.", source=table.source
        )
    column = replace(found["demand"], unit=found["demand"].unit or unit)
    demand_bps = numbers(table, column)
    for row in np.flatnonzero((demand_bps < 0) | np.isinf(demand_bps)).tolist():
        raise table.error(row, column.header, table.rows[row][column.index], "must be finite and >= 0.")
    time_s = _times(table, found["time"]) if "time" in found else np.zeros(len(demand_bps))
    date_s, first, date = np.unique(time_s, return_index=True, return_inverse=True)
    cells = table.column(found["time"].index) if "time" in found else []
    dates = tuple(cells[row] for row in first.tolist()) if cells and looks_like_date(cells[0]) else ()
    known: dict[str, int] = {}
    ends = {key: table.labels(found[key].index) for key in ("source", "target")}
    for key, names in ends.items():
        if "" in names:
            raise table.error(names.index(""), found[key].header, "", "must be the name of a router.")
    indices = {key: np.array(numbered(names, known), dtype=np.int64) for key, names in ends.items()}
    stated = np.flatnonzero(~np.isnan(demand_bps))
    return matrices_of(
        DemandRows(
            labels=tuple(known),
            places=_places(table, found, ends, known),
            date_s=date_s,
            date=date[stated],
            source=indices["source"][stated],
            target=indices["target"][stated],
            demand_bps=demand_bps[stated],
            place=lambda row: f"row {table.row_numbers[stated[row]]}",
            source_name=table.source,
            dates=dates,
        )
    )


def _places(
    table: Table, found: Mapping[str, Column], ends: Mapping[str, list[str]], known: Mapping[str, int]
) -> tuple[str, ...]:
    """Row and column in which each name first stands."""
    first: dict[str, str] = {}
    for key, cells in ends.items():
        for row, cell in enumerate(cells):
            if cell not in first:
                first[cell] = f"{table.source}: row {table.row_numbers[row]}, {found[key].header}"
    return tuple(first[name] for name in known)


def _times(table: Table, column: Column) -> FloatArray:
    """Seconds of each row's time, from any date on."""
    cells = table.column(column.index)
    if "" in cells:
        raise table.error(cells.index(""), column.header, "", "must be a time.")
    if not looks_like_date(cells[0]):
        time_s = numbers(table, replace(column, unit=column.unit or "s"))
        for row in np.flatnonzero(~np.isfinite(time_s)).tolist():
            raise table.error(row, column.header, cells[row], "must be a time.")
        return time_s
    seconds: dict[str, tuple[float, bool]] = {}
    for row, cell in enumerate(cells):
        if cell in seconds:
            continue
        try:
            seconds[cell] = parse_date(cell)
        except InputError as error:
            raise table.error(row, column.header, cell, error.rule) from None
        if seconds[cell][1] != seconds[cells[0]][1]:
            raise table.error(
                row, column.header, cell, "must name a time zone as all others do, or none as they do."
            )
    return np.array([seconds[cell][0] for cell in cells])


def _square(table: Table, unit: str) -> TrafficMatrices:
    """The one matrix of a square table."""
    matrix = labelled_matrix(table, "bit/s", unit=unit)
    labels, stated = matrix.labels, ~np.isnan(matrix.values)
    for i, j in np.argwhere(np.isinf(matrix.values)).tolist():
        raise table.error(i, labels[j], "inf", "must be finite.")
    source, target = np.nonzero(stated)
    return matrices_of(
        DemandRows(
            labels=labels,
            places=tuple(f"{table.source}: row {number}" for number in table.row_numbers),
            date_s=np.zeros(1),
            date=np.zeros(len(source), dtype=np.int64),
            source=source,
            target=target,
            demand_bps=matrix.values[stated],
            place=lambda row: f"row {table.row_numbers[source[row]]}",
            source_name=table.source,
        )
    )

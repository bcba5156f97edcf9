"""Networks of two tables: sites, and the links between them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.errors import InputError, quoted, unknown_name
from topologies.latency_rule import S_PER_KM, S_PER_PATH
from topologies.networks.csv_table import Table
from topologies.networks.link_notes import link_notes
from topologies.networks.stated_network import StatedNetwork
from topologies.networks.table_columns import (
    Column,
    Role,
    find_columns,
    missing_column,
    numbers,
    origins,
    with_statistics,
)
from topologies.site_values import SiteValues

_SITE_NAMES = (
    ("site", "silo", "name", "label", "node", "site name", "silo name", "node name"),
    ("id", "city", "location", "place"),
    ("standort", "nom", "sitio", "nombre"),
    ("stadt", "ort", "ville", "ciudad"),
)
"""German, French and Spanish names, here and below, count where no column has an English one."""
_SITE_ROLES: Mapping[str, Role] = {
    "name": Role(title="name", names=_SITE_NAMES),
    "latitude": Role(
        title="latitude", names=(("latitude", "lat"), ("breitengrad", "breite", "latitud")), kind="deg"
    ),
    "longitude": Role(
        title="longitude",
        names=(
            ("longitude", "lon", "lng", "long"),
            ("längengrad", "laengengrad", "länge", "laenge", "longitud"),
        ),
        kind="deg",
    ),
    "up": Role(title="access up", names=(("uplink", "up", "upload", "access up", "upstream"),), kind="bit/s"),
    "down": Role(
        title="access down",
        names=(("downlink", "down", "download", "access down", "downstream"),),
        kind="bit/s",
    ),
    "both": Role(title="access in both directions", names=(("access", "access link"),), kind="bit/s"),
    "compute": Role(
        title="computing time",
        names=(*with_statistics("compute", "compute time", "computing time"), ("rechenzeit",)),
        kind="s",
    ),
}
FROM = Role(title="sender", names=(("from", "source", "src", "a"), ("von", "origine", "origen")))
TO = Role(title="receiver", names=(("to", "target", "dst", "destination", "b"), ("nach", "destino")))
LATENCY = Role(
    title="latency",
    names=(*with_statistics("latency", "delay", "ms"), ("latenz", "latence", "latencia")),
    kind="s",
)
RTT = Role(
    title="round-trip time", names=with_statistics("rtt", "round trip time", "round trip", "ping"), kind="s"
)
CAPACITY_NAMES = (
    ("bandwidth", "capacity", "speed", "throughput", "rate", "mbps", "gbps", "kbps", "bps"),
    ("bandbreite", "kapazität", "kapazitaet", "débit", "capacité", "capacidad"),
)
_LINK_ROLES: Mapping[str, Role] = {
    "from": replace(FROM, title="one end"),
    "to": replace(TO, title="other end"),
    "capacity": Role(title="capacity", names=CAPACITY_NAMES, kind="bit/s"),
    "length": Role(
        title="length",
        names=(
            ("length", "distance", "dist", "km", "mi", "miles"),
            ("länge", "laenge", "entfernung", "longueur", "longitud", "distancia"),
        ),
        kind="km",
    ),
    "latency": LATENCY,
    "rtt": RTT,
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sites:
    """What a table of sites states.

    Parameters
    ----------
    table : Table
    labels : tuple of str, (sites,)
    latitude_deg, longitude_deg : array of float, (sites,)
        NaN where unknown.
    values : SiteValues or None
        None where no column states one.
    note : str
        Which column was taken for what.
    ignored : tuple of str
        Headers of the columns that were not.
    """

    table: Table
    labels: tuple[str, ...]
    latitude_deg: FloatArray
    longitude_deg: FloatArray
    values: SiteValues | None
    note: str
    ignored: tuple[str, ...] = ()

    def index_of(self, table: Table, column: Column) -> IntArray:
        """Index of the site that each cell of a column of another table names.

        Raises
        ------
        InputError
            If a cell names none.
        """
        return label_indices(table, column, self.labels)

    @property
    def has_place(self) -> BoolArray:
        """Whether the coordinates of each site are known."""
        known: BoolArray = ~np.isnan(self.latitude_deg + self.longitude_deg)
        return known


def label_indices(table: Table, column: Column, labels: Sequence[str]) -> IntArray:
    """Index of the label in each cell of a column.

    Raises
    ------
    InputError
        If a cell holds none of them; the nearest one is named.
    """
    index_of = {label: i for i, label in enumerate(labels)}
    cells = table.labels(column.index)
    indices = np.array([index_of.get(cell, -1) for cell in cells], dtype=np.int64)
    for row in np.flatnonzero(indices < 0).tolist():
        raise unknown_name(
            f"row {table.row_numbers[row]}, {column.header}", cells[row], labels, source=table.source
        )
    return indices


def read_sites(table: Table) -> Sites:
    """Sites of a table.

    Parameters
    ----------
    table : Table
        A column of names, and optional ones of coordinates, access capacities and computing times.

    Returns
    -------
    Sites
        In the order of the table.

    Raises
    ------
    InputError
        If a column is missing or there twice, a name twice, or a value breaks its rule.
    """
    found, ignored = find_columns(table, _SITE_ROLES)
    if "name" not in found:
        if 0 in {column.index for column in found.values()} or not table.header[0]:
            raise missing_column(table, _SITE_ROLES["name"], "the sites' names")
        # People head it by what their sites are: hospital, bank, plant.
        first = Column(index=0, header=table.header[0], unit="", role=_SITE_ROLES["name"])
        found = {"name": first, **found}
        ignored = [header for header in ignored if header != table.header[0]]
    labels = _labels(table, found["name"])
    latitude_deg, longitude_deg = _coordinates(table, found)
    if "both" in found and ("up" in found or "down" in found):
        one = found.get("up") or found["down"]
        raise InputError(
            f"the column {quoted(found['both'].header)} states the access in both directions, "
            f"{quoted(one.header)} in one of them; keep one way.",
            source=table.source,
        )
    nothing = np.full(len(labels), np.nan)
    up_bps, down_bps = (
        _positive(table, found[key]) if key in found else nothing
        for key in (("both", "both") if "both" in found else ("up", "down"))
    )
    compute_s = _at_least_zero(table, found["compute"]) if "compute" in found else nothing
    has_values = {"up", "down", "both", "compute"} & found.keys()
    return Sites(
        table=table,
        labels=labels,
        latitude_deg=latitude_deg,
        longitude_deg=longitude_deg,
        values=SiteValues(up_bps=up_bps, down_bps=down_bps, compute_s=compute_s) if has_values else None,
        note=origins(table, found, ignored),
        ignored=tuple(ignored),
    )


def _labels(table: Table, column: Column) -> tuple[str, ...]:
    """Names of the sites, each once."""
    row_of: dict[str, int] = {}
    for row, label in enumerate(table.labels(column.index)):
        if not label:
            raise table.error(row, column.header, label, "must be the name of a site.")
        if label in row_of:
            raise table.error(
                row,
                column.header,
                label,
                f"must be unique, is in row {table.row_numbers[row_of[label]]}, too.",
            )
        row_of[label] = row
    if len(row_of) < 2:
        raise InputError("must hold two sites or more.", source=table.source)
    return tuple(row_of)


def _coordinates(table: Table, found: Mapping[str, Column]) -> tuple[FloatArray, FloatArray]:
    """Latitudes and longitudes in degrees, NaN where there are none."""
    count = len(table.rows)
    columns = [found.get(key) for key in ("latitude", "longitude")]
    if columns[0] is None or columns[1] is None:
        lacking = next((key for key in ("latitude", "longitude") if key not in found), "")
        if any(columns):
            raise missing_column(table, _SITE_ROLES[lacking], f"the {lacking}, beside the other coordinate")
        return np.full(count, np.nan), np.full(count, np.nan)
    latitude_deg, longitude_deg = (numbers(table, column) for column in columns if column is not None)
    swapped = ""
    if (np.abs(latitude_deg) > 90).any() and not (np.abs(longitude_deg) > 90).any():
        swapped = " (are the columns of latitude and longitude swapped?)"
    for column, values, limit in ((columns[0], latitude_deg, 90), (columns[1], longitude_deg, 180)):
        for row in np.flatnonzero(np.abs(values) > limit).tolist():
            raise table.error(
                row,
                column.header,
                table.rows[row][column.index],
                f"must be degrees in [-{limit}, {limit}]{swapped}.",
            )
    for row in np.flatnonzero(np.isnan(latitude_deg) != np.isnan(longitude_deg)).tolist():
        column = columns[0] if np.isnan(latitude_deg[row]) else columns[1]
        raise table.error(
            row,
            column.header,
            table.rows[row][column.index],
            "must be a number, as the row has the other coordinate.",
        )
    return latitude_deg, longitude_deg


def _positive(table: Table, column: Column) -> FloatArray:
    """Numbers of a column that must be > 0."""
    values = numbers(table, column)
    for row in np.flatnonzero(values <= 0).tolist():
        raise table.error(row, column.header, table.rows[row][column.index], "must be > 0.")
    return values


def _at_least_zero(table: Table, column: Column) -> FloatArray:
    """Numbers of a column that must be finite and >= 0."""
    values = numbers(table, column)
    for row in np.flatnonzero((values < 0) | np.isinf(values)).tolist():
        raise table.error(row, column.header, table.rows[row][column.index], "must be finite and >= 0.")
    return values


def stated_sites_and_links(sites_table: Table, links_table: Table) -> StatedNetwork:
    """What tables of sites and of links state.

    Parameters
    ----------
    sites_table, links_table : Table
        See `read_sites`; of links the columns of both ends, and optional ones of capacity, length and latency.

    Returns
    -------
    StatedNetwork
        Sites and links in the order of the tables. The latency of a link stands in it as the length that has this
        latency. A link that is listed in both directions with the same values is one.

    Raises
    ------
    InputError
        If a column is missing or there twice, a link ends at an unknown site or where it begins, a value breaks its
        rule, a link is listed in both directions with different values, or one has neither length nor latency, and one
        of its ends no coordinates.
    """
    sites = read_sites(sites_table)
    found, ignored = find_columns(links_table, _LINK_ROLES)
    for key in ("from", "to"):
        if key not in found:
            raise missing_column(links_table, _LINK_ROLES[key], "the ends of the links")
    ends = np.stack([sites.index_of(links_table, found[key]) for key in ("from", "to")], axis=1)
    for row in np.flatnonzero(ends[:, 0] == ends[:, 1]).tolist():
        column = found["to"]
        raise links_table.error(
            row,
            column.header,
            links_table.rows[row][column.index],
            "must be another site than the first end.",
        )
    nothing = np.full(len(ends), np.nan)
    capacity_bps = _positive(links_table, found["capacity"]) if "capacity" in found else nothing
    for row in np.flatnonzero(np.isinf(capacity_bps)).tolist():
        column = found["capacity"]
        raise links_table.error(row, column.header, links_table.rows[row][column.index], "must be finite.")
    length_km = _at_least_zero(links_table, found["length"]) if "length" in found else nothing
    latency_s = link_latency(links_table, found)
    has_latency = ~np.isnan(latency_s)
    with np.errstate(over="ignore"):  # the underlay refuses a length that is not finite
        length_km = np.where(has_latency, latency_s / S_PER_KM, length_km)
    _check_lengths(sites, links_table, ends, length_km)
    notes = [sites.note, origins(links_table, found, ignored)]
    kept = _full_duplex(sites, links_table, found, ends, (capacity_bps, length_km))
    if joined := len(ends) - len(kept):
        notes.append(
            f"{Path(links_table.source).name}: joined {2 * joined} rows of links that are listed in both directions to "
            f"{joined} full-duplex ones."
        )
    ends, has_latency = ends[kept], has_latency[kept]
    capacity_bps, length_km = capacity_bps[kept], length_km[kept]
    if has_latency.any():
        notes.append(
            f"{Path(links_table.source).name}: the latency of {int(has_latency.sum())} of {len(ends)} links stands in "
            f"them as the length that has it ({S_PER_KM * 1e3:g} ms/km); the {S_PER_PATH * 1e3:g} ms of each path come "
            "on top."
        )
    network = StatedNetwork(
        labels=sites.labels,
        latitude_deg=sites.latitude_deg,
        longitude_deg=sites.longitude_deg,
        ends=ends,
        distance_km=length_km,
        published_distance_km=np.full(len(ends), np.nan),
        capacity_bps=capacity_bps,
        sites=sites.values,
    )
    notes += (f"{Path(links_table.source).name}: {note}" for note in link_notes(network, has_latency))
    return replace(network, notes=tuple(notes))


def _full_duplex(
    sites: Sites,
    table: Table,
    found: Mapping[str, Column],
    ends: IntArray,
    stated: tuple[FloatArray, ...],
) -> IntArray:
    """Rows without those that are the way back of another one with the same values; of two the first stays.

    Rows that are left, all in one direction, are parallel links.
    """
    waiting: defaultdict[tuple[int, int], defaultdict[tuple[str, ...], list[int]]]
    waiting = defaultdict(lambda: defaultdict(list))
    kept: set[int] = set()
    for row, (a, b) in enumerate(ends.tolist()):
        values = tuple(repr(float(each[row])) for each in stated)  # as texts NaN are equal
        back = waiting[b, a][values]
        if back:
            back.pop(0)
        else:
            waiting[a, b][values].append(row)
            kept.add(row)
    left = {
        way: sorted(row for rows in by_values.values() for row in rows) for way, by_values in waiting.items()
    }
    differ = [sorted((rows[0], left[b, a][0])) for (a, b), rows in left.items() if rows and left.get((b, a))]
    for first, second in sorted(differ)[:1]:
        raise _differing(sites, table, found, ends[first], first, second)
    return np.array(sorted(kept), dtype=np.int64)


def _differing(
    sites: Sites, table: Table, found: Mapping[str, Column], ends: IntArray, first: int, second: int
) -> InputError:
    """Error for a link whose two directions differ."""
    cells = [
        (found[key].header, found[key].index)
        for key in ("capacity", "length", "latency", "rtt")
        if key in found
    ]
    header, one, other = next(
        (header, table.rows[first][i], table.rows[second][i])
        for header, i in cells
        if table.rows[first][i] != table.rows[second][i]
    )
    return InputError(
        f"rows {table.row_numbers[first]} and {table.row_numbers[second]} are both directions of "
        f"{quoted(' - '.join(sites.labels[i] for i in ends))}, but differ: {header}(={quoted(one)}) and "
        f"{header}(={quoted(other)}). Links are full duplex: list each once, parallel ones in one direction; where "
        "directions differ, take a table of pairs.",
        source=table.source,
    )


def link_latency(table: Table, found: Mapping[str, Column]) -> FloatArray:
    """Latency of each row in one direction: as stated, else half of the round-trip time, else NaN."""
    nothing = np.full(len(table.rows), np.nan)
    one_way_s = _at_least_zero(table, found["latency"]) if "latency" in found else nothing
    round_trip_s = _at_least_zero(table, found["rtt"]) if "rtt" in found else nothing
    return np.where(np.isnan(one_way_s), round_trip_s / 2, one_way_s)


def _check_lengths(sites: Sites, table: Table, ends: IntArray, length_km: FloatArray) -> None:
    """Raise an error for a link whose length is neither stated nor follows from coordinates."""
    has_place = sites.has_place
    for row in np.flatnonzero(np.isnan(length_km) & ~has_place[ends].all(axis=1)).tolist():
        end = next(end for end in ends[row] if not has_place[end])
        title = f"row {table.row_numbers[row]} ({quoted(' - '.join(sites.labels[i] for i in ends[row]))})"
        check_has_coordinates(
            sites, f"{title} of {Path(table.source).name} states neither length nor latency"
        )
        raise InputError(
            f"{title} must state a length or latency, as {quoted(sites.labels[end])} has no latitude and longitude in "
            f"{Path(sites.table.source).name}.",
            source=table.source,
        )


def check_has_coordinates(sites: Sites, why: str) -> None:
    """Raise an error for a table of sites without columns of coordinates: most likely they have unknown names.

    Parameters
    ----------
    sites : Sites
    why : str
        What coordinates are needed for, as a clause after "since".

    Raises
    ------
    InputError
        Of the header of the sites, with the columns that are unknown and the names that are known.
    """
    table = sites.table
    roles = (_SITE_ROLES["latitude"], _SITE_ROLES["longitude"])
    if roles[0].is_in(table):
        return
    known = " and ".join(f"{role.title} ({', '.join(role.every_name)})" for role in roles)
    unknown = ", ".join(map(quoted, sites.ignored))
    raise InputError(
        f"the header must have columns of {known}, since {why}; "
        f"{f'unknown in it: {unknown}' if unknown else 'it has no other columns'}.",
        source=table.source,
    )


def is_sites(table: Table) -> bool:
    """Whether a table looks like one of sites."""
    return _SITE_ROLES["latitude"].is_in(table) and not (FROM.is_in(table) or TO.is_in(table))

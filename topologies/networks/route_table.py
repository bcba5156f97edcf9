"""Tables of routes, as traceroutes and controllers give them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from topologies.errors import InputError, quoted, unknown_name
from topologies.input_limits import MOST_PAIRS_BYTES
from topologies.networks.csv_table import Table, read_table
from topologies.networks.files import StrPath, read_file, shown
from topologies.networks.labels import one_line
from topologies.networks.site_tables import FROM, TO, label_indices
from topologies.networks.table_columns import Column, Role, find_columns, missing_column, plain_number
from topologies.stated_routes import StatedRoutes, stated_routes
from topologies.underlay import Underlay

_ROLES: Mapping[str, Role] = {
    "from": replace(FROM, title="the first router"),
    "to": replace(TO, title="the last router"),
    "path": Role(title="the route", names=(("path", "route"),)),
    "hop": Role(title="the place on the route", names=(("hop", "ttl"),)),
    "router": Role(title="the router at a hop", names=(("router", "node"),)),
}
# Each run of blanks is looked at once, from its begin.
_SEPARATORS = tuple(map(re.compile, (r"(?<!\s)\s*+;\s*", r"(?<!\s)\s*+-?>\s*", r"(?<!\s)\s++-\s+")))
"""Between the routers of a path: of several the first, so that labels may hold the others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """The routers that a row adds to the route of a pair."""

    row: int
    source: int
    target: int
    cell: str
    names: Sequence[str]


def with_routes(underlay: Underlay, path: StrPath) -> Underlay:
    """An underlay with the routes that a file states, in place of those that it had.

    Parameters
    ----------
    underlay : Underlay
        With a routed core.
    path : str or path-like
        CSV file that `read_routes` takes.

    Raises
    ------
    InputError
        As `read_routes`, or if the file cannot be read.
    """
    source = shown(path)
    if underlay.measured is not None:
        raise InputError(
            f"routes go with a routed core; the pairs of {underlay.name} are measured.", source=source
        )
    data = read_file(Path(path), source, most_bytes=MOST_PAIRS_BYTES)
    return replace(underlay, stated_routes=read_routes(data, source, underlay))


def read_routes(data: bytes, source: str, underlay: Underlay) -> StatedRoutes:
    """Routes of a table of pairs of routers.

    Parameters
    ----------
    data : bytes
        CSV, see `topologies.networks.csv_table.read_table`, with columns source, target and path: the labels of the
        routers of the route in their order, between them ``;``, ``>``, ``->`` or `` - ``, with its ends or without
        them. Or with columns source, target, hop and router, and a row for each router of a route.
    source : str
        The file, for messages.
    underlay : Underlay

    Returns
    -------
    StatedRoutes
        In the order of the table, then those of the pairs of which the table states only the way back: its reverse.

    Raises
    ------
    InputError
        If a column is missing, a router unknown, a route has a loop or a hop without a link, or a pair several routes.
        The message names file, row, value and rule.
    """
    table = read_table(data, source)
    found, _ = find_columns(table, _ROLES)
    for key in ("from", "to"):
        if key not in found:
            raise missing_column(table, _ROLES[key], _ROLES[key].title)
    if "path" not in found and not {"hop", "router"} <= found.keys():
        raise missing_column(table, _ROLES["path"], "the route, or two columns 'hop' and 'router'")
    column = found["path"] if "path" in found else found["router"]
    routes: dict[tuple[int, int], tuple[int, ...]] = {}
    first_row: dict[tuple[int, int], int] = {}
    linked = {tuple(sorted(ends)) for ends in underlay.ends.tolist()}
    for rows in _by_route(table, found, underlay.labels):
        last = rows[-1]
        pair = last.source, last.target
        route = _checked(table, column, rows, underlay, linked)
        if routes.setdefault(pair, route) != route:
            raise table.error(
                last.row,
                column.header,
                last.cell,
                f"must be the route of row {table.row_numbers[first_row[pair]]}, which is of the same pair.",
            )
        first_row.setdefault(pair, last.row)
    back = {(b, a): route[::-1] for (a, b), route in routes.items()}
    return stated_routes(
        list({**routes, **{pair: back[pair] for pair in back if pair not in routes}}.values())
    )


def _by_route(table: Table, found: Mapping[str, Column], labels: Sequence[str]) -> Iterator[list[_Row]]:
    """Rows of each route, in the order of its routers: one, or one for each router."""
    source, target = (label_indices(table, found[key], labels).tolist() for key in ("from", "to"))
    is_long = "path" not in found
    cells = table.labels(found["router" if is_long else "path"].index)
    known = frozenset(labels)
    rows = [
        _Row(
            row=i,
            source=source[i],
            target=target[i],
            cell=cells[i],
            names=[cells[i]] if is_long else _names(cells[i], known),
        )
        for i in range(len(cells))
    ]
    for row in rows:
        if row.source == row.target:
            column = found["to"]
            raise table.error(
                row.row, column.header, labels[row.target], "must be another router than the first one."
            )
    if not is_long:
        yield from ([row] for row in rows)
        return
    hops = [_hop(table, found["hop"], row) for row in range(len(rows))]
    pairs: dict[tuple[int, int], list[_Row]] = {}
    for row in rows:
        pairs.setdefault((row.source, row.target), []).append(row)
    for own in pairs.values():
        own.sort(key=lambda row: hops[row.row])
        for before, after in pairwise(own):
            if hops[before.row] == hops[after.row]:
                header = found["hop"].header
                cell = table.rows[after.row][found["hop"].index]
                number = table.row_numbers[before.row]
                raise table.error(after.row, header, cell, f"must be another hop than that of row {number}.")
        yield own


def _hop(table: Table, column: Column, row: int) -> float:
    """Number of a hop."""
    cell = table.rows[row][column.index]
    number = plain_number(table, row, column.header, cell)
    if number is None:
        raise table.error(row, column.header, cell, "must be a number.")
    return number


def _names(cell: str, labels: frozenset[str]) -> list[str]:
    """Names of the routers in a cell."""
    if cell in labels:
        return [cell]
    for separator in _SEPARATORS:
        if separator.search(cell):
            return [one_line(name) for name in separator.split(cell)]
    return [cell]


def _checked(
    table: Table, column: Column, rows: Sequence[_Row], underlay: Underlay, linked: set[tuple[int, ...]]
) -> tuple[int, ...]:
    """Routers of a route, with its ends, which the rows may leave out."""
    labels, index_of = underlay.labels, {label: i for i, label in enumerate(underlay.labels)}
    stated = [(index_of.get(name, -1), name, row) for row in rows for name in row.names]
    for router, name, row in stated:
        if not name:
            raise table.error(row.row, column.header, row.cell, "must name the routers of the route.")
        if router < 0:
            place = f"row {table.row_numbers[row.row]}, {column.header}"
            raise unknown_name(place, name, labels, source=table.source)
    ends = rows[0].source, rows[0].target
    begin, end = stated[0][0], stated[-1][0]
    if begin != end and (begin == ends[1] or end == ends[0]):
        rule = f"must run from the source {quoted(labels[ends[0]])} to the target {quoted(labels[ends[1]])}, not back."
        raise table.error(rows[0].row, column.header, rows[0].cell, rule)
    if stated[0][0] != ends[0]:
        stated.insert(0, (ends[0], labels[ends[0]], rows[0]))
    if stated[-1][0] != ends[1]:
        stated.append((ends[1], labels[ends[1]], rows[-1]))
    seen = set()
    for router, name, row in stated:
        if router in seen:
            rule = f"must pass each router once; {quoted(name)} is on the route twice."
            raise table.error(row.row, column.header, row.cell, rule)
        seen.add(router)
    for (a, before, _), (b, after, row) in pairwise(stated):
        if tuple(sorted((a, b))) not in linked:
            rule = f"must follow links; there is none between {quoted(before)} and {quoted(after)}."
            raise table.error(row.row, column.header, row.cell, rule)
    return tuple(router for router, _, _ in stated)

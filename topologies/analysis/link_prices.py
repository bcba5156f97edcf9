"""Price lists of capacity: a table of links, or of all links of a class, with their prices per Gbps."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from topologies.analysis.upgrade_links import LinkClass, UpgradeLink, link_names
from topologies.connectivity import Connectivity
from topologies.errors import InputError, first_names, quoted, unknown_name
from topologies.networks.csv_table import Table, read_table
from topologies.networks.files import read_file
from topologies.networks.table_columns import (
    Column,
    Role,
    column_name,
    find_columns,
    in_brackets,
    missing_column,
    plain_number,
    unit_kind,
    unit_of,
)
from topologies.quantities import parse_quantity

_CLASSES: Mapping[LinkClass, tuple[str, ...]] = {
    "uplink": ("uplink", "access"),
    "downlink": ("downlink", "access"),
    "core": ("core",),
    "measured": ("measured",),
}
"""Classes of a price list that a link is in, the narrower one first."""
CLASS_NAMES = tuple(dict.fromkeys(name for names in _CLASSES.values() for name in names))
_ROLES: Mapping[str, Role] = {
    "link": Role(title="link or class", names=(("link", "class", "link or class", "name"),)),
    "price": Role(
        title="price per Gbps",
        names=(("price per gbps", "price", "price per", "cost", "cost per", "cost per gbps"),),
    ),
}
_PRICE_HEADERS = ("price per Gbps", "price per Mbps (EUR)", "price (EUR/Mbps)")
"""For messages, which show units as they are written."""
_PRICED = re.compile("price|cost", re.IGNORECASE)
_PER = re.compile(r"(?:^|[\s_-])per(?:$|[\s_-])|/", re.IGNORECASE)
_SPEED = re.compile("bps|[kmgt]i?bit", re.IGNORECASE)
"""What no currency has in its name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkPrices:
    """Prices of capacity; made by `read_prices`.

    Attributes
    ----------
    per_gbps : mapping from str to float
        By the name of a link or of a class, see `CLASS_NAMES`.
    currency : str
        As the list states it; empty where it states none.
    note : str
        What was taken from which column, and which were ignored.
    """

    per_gbps: Mapping[str, float]
    currency: str = ""
    note: str = ""

    def price(self, link: UpgradeLink) -> float | None:
        """What raising a link costs; None where the list has no price for it.

        Notes
        -----
        The price per Gbps times `UpgradeLink.added_gbps`: a core link's once, for both directions. A link's own price
        goes before that of its class, an uplink's or downlink's before that of access links.
        """
        for name in (link.name, *_CLASSES[link.link_class]):
            if name in self.per_gbps:
                return self.per_gbps[name] * link.added_gbps
        return None


def read_prices(path: Path, graph: Connectivity) -> LinkPrices:
    """Price list of a network.

    Parameters
    ----------
    path : Path
        CSV with the columns ``link`` (or ``class``) and ``price per Gbps``, to which a currency in brackets may be
        added; or per another rate, as in ``price per Mbps``, ``price (EUR per Mbps)`` and ``cost [EUR/Mbps]``. A plain
        ``price`` is per Gbps, too. A link is called as in tables, ``Dublin uplink``, ``core link A - B``, ``measured
        bandwidth A -> B``; the ends of a core link may stand in either order, and ``core link`` and ``measured
        bandwidth`` may be left out. A class is one of `CLASS_NAMES`. A row without a price is one that cannot be
        bought.
    graph : Connectivity

    Returns
    -------
    LinkPrices

    Raises
    ------
    InputError
        If the file cannot be read, a column is missing or per something else than a rate, a row names no link and no
        class, two rows name the same, or a price is no number, below 0 or not finite: one line with file, row, column,
        value and rule.
    """
    source = str(path)
    written = read_table(read_file(path, source), source)
    table, currency = _without_currency(written)
    _check_price_columns(written, table)
    found, ignored = find_columns(table, _ROLES)
    if "link" not in found:
        raise missing_column(written, _ROLES["link"], "links or classes")
    if "price" not in found:
        raise missing_column(written, Role(title="", names=(_PRICE_HEADERS,)), "the price")
    link, price = found["link"], found["price"]
    header = written.header[price.index]
    gbps = _gbps(table, price)
    names = _known_names(graph)
    row_of: dict[str, int] = {}
    per_gbps: dict[str, float] = {}
    for row, number in enumerate(table.row_numbers):
        cell = table.rows[row][link.index]
        if cell not in names:
            known = (*CLASS_NAMES, *dict.fromkeys(names.values()))
            raise unknown_name(f"row {number}, {link.header}", cell, known, source=source)
        name = names[cell]
        if name in row_of:
            raise table.error(
                row, link.header, cell, f"must be unique, is in row {table.row_numbers[row_of[name]]}, too."
            )
        row_of[name] = row
        text = table.rows[row][price.index]
        value = plain_number(table, row, header, text)
        if value is None:
            continue
        if not 0 <= value < float("inf"):
            raise table.error(row, header, text, "must be finite and >= 0.")
        per_gbps[name] = value / gbps
    in_currency = f" in {currency}" if currency else ""
    assumed = "" if price.unit else ", which states no rate"
    others = f"; ignored: {', '.join(map(quoted, ignored))}" if ignored else ""
    note = f"{path.name}: price per Gbps{in_currency} from {quoted(header)}{assumed}{others}."
    return LinkPrices(per_gbps=per_gbps, currency=currency, note=note)


def _without_currency(table: Table) -> tuple[Table, str]:
    """The table with ``price per Mbps`` for headers such as ``price (EUR per Mbps)``, and the currency."""
    header, currency = [], ""
    for name in table.header:
        found = in_brackets(name)
        if found and _PRICED.match(name):
            before, inside = found
            per = _PER.search(inside)
            currency = inside[: per.start()] if per else inside
            rate = _rate(inside[per.end() :]) if per else ""
            if _SPEED.search(currency) or (per and (not rate or _PER.search(before))):
                raise _no_rate(table, name)
            name = f"{before} per {rate}" if rate else before
        header.append(name)
    return replace(table, header=tuple(header)), currency.strip()


def _check_price_columns(written: Table, table: Table) -> None:
    """Raise an error where a price is in a column whose name says more than a rate, and no other column has one."""
    priced = [k for k, name in enumerate(table.header) if _PRICED.match(name)]
    for k in priced:
        name, unit = column_name(table.header[k])
        if name in _ROLES["price"].every_name and (not unit or unit_kind(unit) == "bit/s"):
            return
    if priced:
        raise _no_rate(written, written.header[priced[0]])


def _rate(text: str) -> str:
    """The data rate that a unit is, as quantities have it; empty if it is none."""
    unit = unit_of(text, fold=text in (text.lower(), text.upper()))
    return unit if unit_kind(unit) == "bit/s" else ""


def _gbps(table: Table, column: Column) -> float:
    """How many Gbps the unit is that prices are per."""
    if not column.unit:
        return 1.0
    if unit_kind(column.unit) != "bit/s":
        raise _no_rate(table, column.header)
    return parse_quantity("unit", f"1 {column.unit}", "bit/s") / 1e9


def _no_rate(table: Table, header: str) -> InputError:
    """Error for prices per something that is no data rate."""
    return InputError(
        f"the column {quoted(header)} must be per a data rate, such as {first_names(_PRICE_HEADERS)}.",
        source=table.source,
    )


def _known_names(graph: Connectivity) -> dict[str, str]:
    """Every name that a row may have, with the one of `link_names` or `CLASS_NAMES` that it stands for."""
    known = {name: name for name in CLASS_NAMES}
    labels = graph.underlay.labels
    for (link_class, index), name in link_names(graph).items():
        spelled = [name]
        if link_class == "measured":
            spelled.append(graph.link_name(index))
        if link_class == "core":
            a, b = (labels[end] for end in graph.underlay.ends[index].tolist())
            spelled += [f"{a} - {b}", f"core link {b} - {a}", f"{b} - {a}"]
        for spelling in spelled:
            known.setdefault(spelling, name)
    return known

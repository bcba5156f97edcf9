"""Demands of a file of SNDlib, in its native format or as XML."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from topologies.errors import Field, InputError, quoted
from topologies.networks.labels import one_line
from topologies.networks.table_columns import unit_kind, unit_of
from topologies.plain_text import utf8_text
from topologies.quantities import parse_quantity

_UNITS = {
    f"{prefix}BITPERSEC": f"{short}bps" for prefix, short in (("", ""), ("K", "k"), ("M", "M"), ("G", "G"))
}
_SECTION = re.compile(r"([A-Z_]+)\s*\(")
_ELEMENTS = ("source", "target", "demandValue")


class SndlibDemand(NamedTuple):
    """One demand, in units of its file; a tuple, as a week of matrices has hundreds of thousands.

    Attributes
    ----------
    source, target : str
    value : float
        Demand times routing unit.
    place : str
        Line or id, for messages.
    """

    source: str
    target: str
    value: float
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SndlibDemands:
    """Demands of a file.

    Attributes
    ----------
    demands : tuple of SndlibDemand
    time : str
        As its meta data state it; empty where they do not.
    unit : str
        Likewise.
    """

    demands: tuple[SndlibDemand, ...]
    time: str
    unit: str

    def unit_bps(self, given: str) -> float:
        """The unit of the demands, in bit/s.

        Parameters
        ----------
        given : str
            The user's, for files that state none that is a data rate; else empty.

        Raises
        ------
        InputError
            If none is known, or both are.
        """
        name = _UNITS.get(self.unit.upper(), unit_of(self.unit))
        own = name if unit_kind(name) == "bit/s" else ""
        if own and given:
            raise InputError(f"states the unit {quoted(self.unit)}, so that unit must be left out.")
        if not own and not given:
            states = (
                f"states the unit {quoted(self.unit)}, which is no data rate"
                if self.unit
                else "states no unit"
            )
            raise InputError(f"{states}: unit must be given, for instance 'Mbps'.")
        return parse_quantity("unit", f"1e6 {own or given}", "bit/s") / 1e6


def parse_sndlib_demands(data: bytes) -> SndlibDemands:
    """Parse the demands of a network file of SNDlib, as of http://sndlib.zib.de/html/docu/io-formats/.

    Parameters
    ----------
    data : bytes
        XML, or the native format; files of a sequence of matrices have META data beside.

    Returns
    -------
    SndlibDemands

    Raises
    ------
    InputError
        If the file is neither, or a demand breaks its rule.

    Notes
    -----
    Nodes, links, admissible paths and the longest path of a demand are not read.
    """
    return _xml(data) if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") else _native(data)


def _native(data: bytes) -> SndlibDemands:
    """Of the native format."""
    try:
        lines = utf8_text(data).splitlines()
    except UnicodeDecodeError:
        lines = data.decode("iso-8859-1").splitlines()
    section, sections, meta, demands = "", set[str](), dict[str, str](), []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if begun := None if section else _SECTION.fullmatch(text):
            section = begun[1]
            sections.add(section)
        elif text == ")":
            section = ""
        elif section == "META":
            key, _, value = text.partition("=")
            meta[key.strip()] = value.strip()
        elif section == "DEMANDS" and text:
            found = _demand(text, f"line {number}")
            if found is None:
                raise InputError(
                    "must be 'id ( source target ) routing_unit demand_value max_path_length'.",
                    field=Field(f"line {number}", value=text),
                )
            demands.append(found)
    if "DEMANDS" not in sections:
        raise InputError("must have a section 'DEMANDS (', as files of SNDlib have.")
    return SndlibDemands(demands=tuple(demands), time=meta.get("time", ""), unit=meta.get("unit", ""))


def _demand(text: str, place: str) -> SndlibDemand | None:
    """The demand ``id ( source target ) routing_unit demand_value max_path_length``; None if the text is none."""
    identity, _, rest = text.partition("(")
    ends, _, numbers = rest.rpartition(")")
    words = [part.split() for part in (identity, ends, numbers)]
    if [len(part) for part in words] != [1, 2, 3] or not numbers[0].isspace():
        return None
    (source, target), (routing_unit, value, _) = words[1:]
    return SndlibDemand(source, target, _product(routing_unit, value, place), place)


def _xml(data: bytes) -> SndlibDemands:
    """Of XML."""
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # the latter two for the encoding
        raise InputError(f"is no XML: {quoted(str(error))}.") from None
    if _tag(root) != "network":
        raise InputError(
            f"its outermost element(={quoted(_tag(root))}) must be 'network', as in files of SNDlib."
        )
    meta: dict[str, str] = {}
    demands: list[SndlibDemand] = []
    for part in root:
        if _tag(part) == "meta":
            meta = {_tag(each): one_line(each.text or "") for each in part}
        elif _tag(part) == "demands":
            demands += _xml_demands(part)
    return SndlibDemands(demands=tuple(demands), time=meta.get("time", ""), unit=meta.get("unit", ""))


def _xml_demands(part: Element) -> Iterator[SndlibDemand]:
    """Demands of the element that holds them."""
    for number, demand in enumerate(part, start=1):
        place = f"demand {demand.get('id') or number}"
        texts = {_tag(each): each.text for each in demand}
        source, target, value = (one_line(texts.get(key) or "") for key in _ELEMENTS)
        for key, text in zip(_ELEMENTS, (source, target, value), strict=True):
            if not text:
                raise InputError(f"must have a {key}.", field=Field(place))
        yield SndlibDemand(source, target, _product(texts.get("routingUnit") or "1", value, place), place)


def _tag(element: Element) -> str:
    """Name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _product(routing_unit: str, value: str, place: str) -> float:
    """Demand times routing unit, both finite numbers >= 0."""
    product = 1.0
    for name, text in (("routing unit", routing_unit), ("demand value", value)):
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not 0 <= number < inf:
            raise InputError("must be a finite number >= 0.", field=Field(f"{place}, {name}", value=text))
        product *= number
    return product

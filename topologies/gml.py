"""Networks from GML text, with the attribute names of the Internet Topology Zoo."""

import difflib
import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError, quoted
from topologies.geodesy import geodesic_km

Block = Mapping[str, object]
_GML_NUMBER = re.compile(r"[+-]?(?:\d+|(?:\d*\.\d+|\d+\.\d*|INF)(?:[eE][+-]?\d+)?)")
"""What GML calls an integer or a real."""
_NODE_FIELDS = ("label", "Latitude", "Longitude")
_LINK_FIELDS = ("capacity", "LinkSpeedRaw", "distance", "published_distance")
"""Optional attributes; one that is misspelt is an error, as it would be ignored."""
_OTHERS = frozenset({"altitude", "labels", "linkspeed", "linklabel"})
"""Attributes of other tools that resemble one of these but mean something else; in lower case."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class GmlNetwork:
    """What a GML file states about a network; NaN where it states nothing.

    Parameters
    ----------
    labels : tuple of str, (nodes,)
        Labels; the id where a node has none.
    latitude_deg, longitude_deg : array of float, (nodes,)
        ``Latitude`` and ``Longitude``.
    ends : array of int, (links, 2)
        Source and target as indices of nodes, in the order of the file.
    distance_km, published_distance_km : array of float, (links,)
        ``distance`` and ``published_distance``.
    capacity_bps : array of float, (links,)
        ``capacity``, else ``LinkSpeedRaw``.
    published_index : array of int, (nodes,), or None
        ``published_index``; None unless all nodes state one.
    """

    labels: tuple[str, ...]
    latitude_deg: FloatArray
    longitude_deg: FloatArray
    ends: IntArray
    distance_km: FloatArray
    published_distance_km: FloatArray
    capacity_bps: FloatArray
    published_index: IntArray | None

    def true_km(self) -> FloatArray:
        """Length of every link as stated, else computed from the coordinates of its ends.

        Returns
        -------
        array of float, (links,)
            Lengths in km.

        Raises
        ------
        InputError
            If a link has no ``distance`` and one of its ends no coordinates.
        """
        length_km = self.distance_km.copy()
        for link in np.flatnonzero(np.isnan(length_km)).tolist():
            a, b = self.ends[link]
            # From the label that comes first: the way back may differ in the last bit.
            a, b = (a, b) if self.labels[a] < self.labels[b] else (b, a)
            unknown = [
                node for node in (a, b) if math.isnan(self.latitude_deg[node] + self.longitude_deg[node])
            ]
            if unknown:
                raise InputError(
                    f"{_link(link, self.labels[a], self.labels[b])} has no distance and node "
                    f"{quoted(self.labels[unknown[0]])} lacks the Latitude and Longitude to compute it from."
                )
            length_km[link] = geodesic_km(
                self.latitude_deg[a], self.longitude_deg[a], self.latitude_deg[b], self.longitude_deg[b]
            )
        return length_km

    def published_km(self) -> FloatArray:
        """Length of every link as published.

        Returns
        -------
        array of float, (links,)
            Lengths in km.

        Raises
        ------
        InputError
            If a link has no ``published_distance``.
        """
        for link in np.flatnonzero(np.isnan(self.published_distance_km)).tolist():
            a, b = self.ends[link]
            raise InputError(
                f"{_link(link, self.labels[a], self.labels[b])} has no published_distance, "
                "which the variant 'published' needs on every link."
            )
        return self.published_distance_km


def parse_network(data: bytes) -> GmlNetwork:
    """Parse the bytes of a GML file.

    Parameters
    ----------
    data : bytes
        UTF-8 text; characters beyond ASCII may also be XML character references.

    Returns
    -------
    GmlNetwork
        Nodes and links in the order of the file.

    Raises
    ------
    InputError
        If the text is no GML, the graph is directed, an id or a label is used twice, a link ends at an
        unknown id, a number is text, a list, NaN or infinite, or an attribute is almost, but not quite, named like
        one that is read and that the node or link lacks. All other attributes are ignored.
    """
    graph = _graph(data)
    if graph.get("directed", 0):
        raise InputError(f"directed(={quoted(graph['directed'])}) must be 0: links are full duplex.")
    nodes, links = _blocks(graph, "node"), _blocks(graph, "edge")
    index_of = _node_ids(nodes)
    for node_id, node in zip(index_of, nodes, strict=True):
        _check_spelling(f"node {quoted(node_id)}", node, _NODE_FIELDS)
    labels = _labels(nodes, tuple(index_of))
    names = [f"node {quoted(node_id)}" for node_id in index_of]
    ends = [_ends(i, link, index_of) for i, link in enumerate(links)]
    link_names = [_link(i, labels[a], labels[b]) for i, (a, b) in enumerate(ends)]
    for name, link in zip(link_names, links, strict=True):
        _check_spelling(name, link, _LINK_FIELDS)
    return GmlNetwork(
        labels=labels,
        latitude_deg=_numbers(nodes, names, "Latitude"),
        longitude_deg=_numbers(nodes, names, "Longitude"),
        ends=np.array(ends, dtype=np.int64).reshape(-1, 2),
        distance_km=_numbers(links, link_names, "distance"),
        published_distance_km=_numbers(links, link_names, "published_distance"),
        capacity_bps=_numbers(links, link_names, "capacity", "LinkSpeedRaw"),
        published_index=_whole(_numbers(nodes, names, "published_index")),
    )


def _link(index: int, source: str, target: str) -> str:
    """How messages call a link."""
    return f"link {index} ({quoted(f'{source} - {target}')})"


def _graph(data: bytes) -> Block:
    """The one graph of a GML text as nested mappings."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"is not a GML file: byte {error.start} is not UTF-8 text.") from None
    if not text.strip():
        raise InputError("is not a GML file: it is empty.")
    _check_numbers(text)
    # networkx fails on blank lines and on trailing blanks within a string of several lines.
    lines = "\n".join(line.rstrip() or " " for line in text.splitlines())
    # As an attribute of an outer graph the file comes back as it stands: networkx would drop the order of the
    # links and which end is the source, and refuse parallel links without a header.
    try:
        content = nx.parse_gml(f"graph [ file [\n{lines}\n] ]", label="id").graph.get("file")
    except Exception as error:  # on arbitrary text the parser raises whatever its string handling does
        raise InputError(f"is not a GML file: {_reason(error)}.") from None
    graph = content.get("graph") if isinstance(content, dict) else None
    if not isinstance(graph, dict):
        raise InputError("is not a GML file: it must hold one 'graph [ ... ]'.")
    return graph


def _check_numbers(text: str) -> None:
    """Raise an error for a word that begins as a number and is none: networkx reads ``1e+9`` as 1 and a key e of 9."""
    for found in re.finditer(r'"[^"]*"|#.*|(?P<word>[^\s\[\]"#]+)', text):
        word = found["word"]
        if word and word[0] in "+-.0123456789" and not _GML_NUMBER.fullmatch(word):
            line = text.count("\n", 0, found.start()) + 1
            column = found.start() - text.rfind("\n", 0, found.start())
            hint = " (an exponent needs a point, as in 1.0e9)" if re.search(r"\d[eE]", word) else ""
            raise InputError(
                f"is not a GML file: {quoted(word)} at line {line}, column {column} must be a number{hint}."
            )


def _reason(error: Exception) -> str:
    """The parser's reason, short, with its line in the file: one above that in the outer graph."""
    place = re.search(r" at \((\d+), (\d+)\)$", str(error))
    if place is None:
        return f"{type(error).__name__} in the parser"
    return f"{quoted(str(error)[: place.start()])} at line {int(place[1]) - 1}, column {place[2]}"


def _blocks(graph: Block, key: str) -> Sequence[Block]:
    """All `key [ ... ]` of the graph."""
    found = graph.get(key, [])
    blocks: list[Any] = found if isinstance(found, list) else [found]
    for i, block in enumerate(blocks):
        if not isinstance(block, dict):
            raise InputError(f"{key} {i} of the file (={quoted(block)}) must be a block '{key} [ ... ]'.")
    return blocks


def _node_ids(nodes: Sequence[Block]) -> dict[object, int]:
    """Index of every node by its id."""
    index_of: dict[object, int] = {}
    for i, node in enumerate(nodes):
        node_id = node.get("id")
        if not isinstance(node_id, int | str):
            raise InputError(f"node {i} of the file: id(={quoted(node_id)}) must be an integer or a text.")
        if node_id in index_of:
            raise InputError(f"node id(={quoted(node_id)}) must be unique.")
        index_of[node_id] = i
    return index_of


def _check_spelling(name: str, block: Block, fields: Sequence[str]) -> None:
    """Raise an error for an attribute that is named almost like one that is read and that the block lacks."""
    meant = {field.lower(): field for field in fields if field not in block}
    for key in block:
        lower = key.lower()
        if key in fields or lower in _OTHERS:
            continue
        if close := difflib.get_close_matches(lower, meant, n=1, cutoff=0.8):
            raise InputError(
                f"{name}: the attribute {quoted(key)} is unknown (did you mean {meant[close[0]]!r}?)."
            )


def _labels(nodes: Sequence[Block], ids: Sequence[object]) -> tuple[str, ...]:
    """Label of every node; Topology Zoo files hold some twice, which would make routers indistinguishable."""
    id_of: dict[str, object] = {}
    for node, node_id in zip(nodes, ids, strict=True):
        label = node.get("label", node_id)
        if not isinstance(label, int | float | str):
            raise InputError(f"node {quoted(node_id)}: label(={quoted(label)}) must be a text.")
        text = str(label)
        if text in id_of:
            nodes_named = f"node {quoted(id_of[text])} and node {quoted(node_id)}"
            raise InputError(f"label(={quoted(text)}) of {nodes_named} must be unique.")
        id_of[text] = node_id
    return tuple(id_of)


def _ends(index: int, link: Block, index_of: Mapping[object, int]) -> tuple[int, int]:
    """Node indices of a link's source and target."""
    found = []
    for field in ("source", "target"):
        node_id = link.get(field)
        if not isinstance(node_id, int | str) or node_id not in index_of:
            raise InputError(f"link {index}: {field}(={quoted(node_id)}) must be the id of a node.")
        found.append(index_of[node_id])
    return found[0], found[1]


def _numbers(blocks: Sequence[Block], names: Sequence[str], *fields: str) -> FloatArray:
    """The first of `fields` that each block states, NaN where it states none."""
    values = np.full(len(blocks), np.nan)
    for i, block in enumerate(blocks):
        for field in fields:
            if field in block:
                values[i] = _number(f"{names[i]}: {field}", block[field])
                break
    return values


def _whole(values: FloatArray) -> IntArray | None:
    """Numbers as integers, None where one is missing or none."""
    whole = np.isfinite(values) & (values == np.round(values)) & (np.abs(values) < 2**53)
    return values.astype(np.int64) if whole.all() else None


def _number(name: str, value: object) -> float:
    """A finite number that is not text, a boolean or a list."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name}(={quoted(value)}) must be a number, unquoted and stated once.")
    if not abs(value) <= sys.float_info.max:  # also holds for integers beyond any float
        raise InputError(f"{name}(={quoted(value)}) must be finite.")
    return float(value)

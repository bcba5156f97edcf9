"""A network of nodes and links with attributes, with the names of the Internet Topology Zoo."""

import difflib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError, quoted
from topologies.networks.stated_network import StatedNetwork, link_title

Attributes = Mapping[str, object]
_NODE_FIELDS = ("label", "Latitude", "Longitude")
_LINK_FIELDS = ("capacity", "LinkSpeedRaw", "distance", "published_distance")
"""Optional attributes; one that is misspelt is an error, as it would be ignored."""
_OTHERS = frozenset({"altitude", "labels", "linkspeed", "linklabel"})
"""Attributes of other tools that resemble one of these but mean something else; in lower case."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Graph:
    """Nodes and links of a file, with attributes as they stand in it.

    Parameters
    ----------
    nodes : sequence of mapping
        Each with ``id``.
    links : sequence of mapping
        Each with ``source`` and ``target``, ids of nodes.
    """

    nodes: Sequence[Attributes]
    links: Sequence[Attributes]


def stated_network(graph: Graph) -> StatedNetwork:
    """What the attributes of nodes and links state.

    Returns
    -------
    StatedNetwork
        Nodes and links in the order of the file.

    Raises
    ------
    InputError
        If an id or a label is used twice, a link ends at an unknown id, a number is text, a list, NaN or infinite, or
        an attribute is almost, but not quite, named like one that is read and that the node or link lacks. All other
        attributes are ignored.
    """
    nodes, links = graph.nodes, graph.links
    index_of = _node_ids(nodes)
    for node_id, node in zip(index_of, nodes, strict=True):
        _check_spelling(f"node {quoted(node_id)}", node, _NODE_FIELDS)
    labels = _labels(nodes, tuple(index_of))
    names = [f"node {quoted(node_id)}" for node_id in index_of]
    ends = [_ends(i, link, index_of) for i, link in enumerate(links)]
    link_names = [link_title(i, labels[a], labels[b]) for i, (a, b) in enumerate(ends)]
    for name, link in zip(link_names, links, strict=True):
        _check_spelling(name, link, _LINK_FIELDS)
    return StatedNetwork(
        labels=labels,
        latitude_deg=_numbers(nodes, names, "Latitude"),
        longitude_deg=_numbers(nodes, names, "Longitude"),
        ends=np.array(ends, dtype=np.int64).reshape(-1, 2),
        distance_km=_numbers(links, link_names, "distance"),
        published_distance_km=_numbers(links, link_names, "published_distance"),
        capacity_bps=_numbers(links, link_names, "capacity", "LinkSpeedRaw"),
        published_index=_whole(_numbers(nodes, names, "published_index")),
    )


def _node_ids(nodes: Sequence[Attributes]) -> dict[object, int]:
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


def _check_spelling(name: str, block: Attributes, fields: Sequence[str]) -> None:
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


def _labels(nodes: Sequence[Attributes], ids: Sequence[object]) -> tuple[str, ...]:
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


def _ends(index: int, link: Attributes, index_of: Mapping[object, int]) -> tuple[int, int]:
    """Node indices of a link's source and target."""
    found = []
    for field in ("source", "target"):
        node_id = link.get(field)
        if not isinstance(node_id, int | str) or node_id not in index_of:
            raise InputError(f"link {index}: {field}(={quoted(node_id)}) must be the id of a node.")
        found.append(index_of[node_id])
    return found[0], found[1]


def _numbers(blocks: Sequence[Attributes], names: Sequence[str], *fields: str) -> FloatArray:
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

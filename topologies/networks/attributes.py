"""A network of nodes and links with attributes, with the names of the Internet Topology Zoo."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError, quoted
from topologies.networks.field_names import (
    CAPACITY,
    DISTANCE,
    LATITUDE,
    LINK_NAMES,
    LONGITUDE,
    NODE_NAMES,
    PUBLISHED_DISTANCE,
    PUBLISHED_INDEX,
    RAW_SPEED,
    Attributes,
    Name,
    check_spelling,
    stated_number,
    stated_text,
)
from topologies.networks.labels import one_line
from topologies.networks.link_speed import link_speed_bps, speeds_note
from topologies.networks.stated_network import StatedNetwork, link_title


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Graph:
    """Nodes and links of a file, with attributes as they stand in it.

    Parameters
    ----------
    nodes : sequence of mapping
        Each with ``id``.
    links : sequence of mapping
        Each with ``source`` and ``target``, ids of nodes.
    directed : object
        What the file says of it: links of a directed graph are one-way.
    """

    nodes: Sequence[Attributes]
    links: Sequence[Attributes]
    directed: object = 0


def stated_network(graph: Graph) -> StatedNetwork:
    """What the attributes of nodes and links state.

    Returns
    -------
    StatedNetwork
        Nodes and links in the order of the file.

    Raises
    ------
    InputError
        If an id is used twice, a link ends at an unknown id, a number is another text, a list, NaN or
        infinite, two names of one thing state different numbers, or an attribute is almost, but not quite, named like
        one that is read and that the node or link lacks. All other attributes are ignored.
    """
    nodes, links = graph.nodes, graph.links
    node_ids(nodes)  # checks them
    names = [node_title(node) for node in nodes]
    for name, node in zip(names, nodes, strict=True):
        check_spelling(name, node, NODE_NAMES)
    labels = node_labels(graph)
    ends = link_ends(graph)
    link_names = [link_title(i, labels[a], labels[b]) for i, (a, b) in enumerate(ends)]
    for name, link in zip(link_names, links, strict=True):
        check_spelling(name, link, LINK_NAMES)
    capacity_bps, notes = _capacities(links, link_names)
    return StatedNetwork(
        labels=labels,
        latitude_deg=_numbers(nodes, names, LATITUDE),
        longitude_deg=_numbers(nodes, names, LONGITUDE),
        ends=np.array(ends, dtype=np.int64).reshape(-1, 2),
        distance_km=_numbers(links, link_names, DISTANCE),
        published_distance_km=_numbers(links, link_names, PUBLISHED_DISTANCE),
        capacity_bps=capacity_bps,
        published_index=_whole(_numbers(nodes, names, PUBLISHED_INDEX)),
        notes=tuple(notes),
    )


def node_ids(nodes: Sequence[Attributes]) -> dict[object, int]:
    """Index of every node by its id.

    Parameters
    ----------
    nodes : sequence of mapping

    Returns
    -------
    dict of int or str to int
        In the order of the nodes.

    Raises
    ------
    InputError
        If an id is used twice, or is neither an integer nor a text.
    """
    index_of: dict[object, int] = {}
    for i, node in enumerate(nodes):
        node_id = node.get("id")
        if not isinstance(node_id, int | str):
            raise InputError(f"node {i} of the file: id(={quoted(node_id)}) must be an integer or a text.")
        if node_id in index_of:
            raise InputError(f"node id(={quoted(node_id)}) must be unique.")
        index_of[node_id] = i
    return index_of


def node_title(node: Attributes) -> str:
    """How messages call a node.

    Parameters
    ----------
    node : mapping
        With ``id``.

    Returns
    -------
    str
        For instance ``node 7`` or ``node 'Paris'``.
    """
    return f"node {quoted(node.get('id'))}"


def node_labels(graph: Graph) -> tuple[str, ...]:
    """Label of every node, which is its name or its id where it has none; not always unique.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    tuple of str, (nodes,)
        As `topologies.networks.labels.one_line` has them.

    Raises
    ------
    InputError
        If a label is no text or number.
    """
    labels = []
    for node in graph.nodes:
        found = (stated_text(node, "label"), stated_text(node, "name"), node.get("id"))
        label = next((value for value in found if value is not None), None)
        if not isinstance(label, int | float | str):
            raise InputError(f"{node_title(node)}: label(={quoted(label)}) must be a text.")
        labels.append(one_line(str(label)))
    return tuple(labels)


def link_ends(graph: Graph) -> list[tuple[int, int]]:
    """Node indices of source and target of every link.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    list of tuple of int

    Raises
    ------
    InputError
        If one is no id of a node.
    """
    index_of = node_ids(graph.nodes)
    return [_ends(i, link, index_of) for i, link in enumerate(graph.links)]


def _ends(index: int, link: Attributes, index_of: Mapping[object, int]) -> tuple[int, int]:
    """Node indices of a link's source and target."""
    found = []
    for field in ("source", "target"):
        node_id = link.get(field)
        if not isinstance(node_id, int | str) or node_id not in index_of:
            raise InputError(f"link {index}: {field}(={quoted(node_id)}) must be the id of a node.")
        found.append(index_of[node_id])
    return found[0], found[1]


def _numbers(blocks: Sequence[Attributes], titles: Sequence[str], name: Name) -> FloatArray:
    """What each block states under a name, NaN where it states nothing."""
    stated = [stated_number(title, block, name) for title, block in zip(titles, blocks, strict=True)]
    return np.array([np.nan if number is None else number for number in stated], dtype=np.float64)


def _capacities(links: Sequence[Attributes], titles: Sequence[str]) -> tuple[FloatArray, list[str]]:
    """The capacity of each link, else its raw speed, else its speed with a unit; and what is to be said of it."""
    capacity_bps = _numbers(links, titles, CAPACITY)
    raw_bps = _numbers(links, titles, RAW_SPEED)
    capacity_bps[np.isnan(capacity_bps)] = raw_bps[np.isnan(capacity_bps)]
    ignored = []
    for i in np.flatnonzero(np.isnan(capacity_bps)).tolist():
        if stated_text(links[i], "LinkSpeed") is not None:
            speed_bps = link_speed_bps(links[i])
            capacity_bps[i] = np.nan if speed_bps is None else speed_bps
            ignored += [links[i]] if speed_bps is None else []
    return capacity_bps, speeds_note(ignored)


def _whole(values: FloatArray) -> IntArray | None:
    """Numbers as integers, None where one is missing or none."""
    whole = np.isfinite(values) & (values == np.round(values)) & (np.abs(values) < 2**53)
    return values.astype(np.int64) if whole.all() else None

"""Nodes and links of node-link JSON, as networkx, D3 and TopoHub write it."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from topologies.errors import InputError, quoted
from topologies.networks.attributes import Graph
from topologies.networks.field_names import Attributes
from topologies.plain_text import utf8_text

_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")


def parse_node_link(data: bytes) -> Graph:
    """Parse the bytes of a node-link JSON file.

    Parameters
    ----------
    data : bytes
        UTF-8 text of an object with ``nodes`` and either ``links`` or ``edges``, lists of objects: a node's ``id``, a
        link's ``source`` and ``target``. A value of null is not stated. Where no node has an id, or all ids are texts
        other than integers and all ends of links are integers, as networkx 1 wrote it, the ends are places in the list
        of nodes, from 0.

    Returns
    -------
    Graph
        Nodes and links in the order of the file.

    Raises
    ------
    InputError
        If the text is no such JSON.

    Notes
    -----
    O(size of the file).
    """
    content = _content(data)
    nodes = _blocks(content, "nodes")
    lists = [key for key in ("links", "edges") if key in content]
    if len(lists) != 1:
        raise InputError(
            f"must be node-link JSON with 'links' or 'edges', has {'both' if lists else 'neither'}."
        )
    links = _blocks(content, lists[0])
    if not any("id" in node for node in nodes):
        nodes = [{**node, "id": i} for i, node in enumerate(nodes)]
    elif _ends_are_places(nodes, links):
        links = [
            {**link, **{field: _id_at(link[field], nodes) for field in ("source", "target")}}
            for link in links
        ]
    return Graph(nodes=nodes, links=links, directed=content.get("directed", 0))


def _content(data: bytes) -> Attributes:
    """The one object of a JSON text."""
    try:
        text = utf8_text(data)
    except UnicodeDecodeError as error:
        raise InputError(f"is not a JSON file: byte {error.start} is not UTF-8 text.") from None
    if not text.strip():
        raise InputError("is not a JSON file: it is empty.")
    try:
        content = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise InputError(
            f"is not a JSON file: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, thousands of brackets
        raise InputError(f"is not a JSON file: {type(error).__name__} in the parser.") from None
    if not isinstance(content, dict):
        raise InputError(f"must be node-link JSON, an object with 'nodes' and 'links', is {quoted(content)}.")
    return content


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object without what is null; a list where a key is stated twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if value is not None:
            found[key] = [found[key], value] if key in found else value
    return found


def _blocks(content: Attributes, key: str) -> list[Attributes]:
    """All objects of a list."""
    blocks = content.get(key)
    if not isinstance(blocks, list):
        raise InputError(f"{key}(={quoted(blocks)}) must be a list of objects: node-link JSON.")
    for i, block in enumerate(blocks):
        if not isinstance(block, Mapping):
            raise InputError(f"{key}[{i}](={quoted(block)}) must be an object: node-link JSON.")
    return blocks


def _ends_are_places(nodes: Sequence[Attributes], links: Sequence[Attributes]) -> bool:
    """Whether all links join places in the list of nodes, and cannot mean ids."""
    ids = [node.get("id") for node in nodes]
    ends = [link.get(field) for link in links for field in ("source", "target")]
    return (
        bool(ends)
        and all(isinstance(node_id, str) and not _INTEGER.fullmatch(node_id) for node_id in ids)
        and all(type(end) is int and 0 <= end < len(nodes) for end in ends)
    )


def _id_at(place: object, nodes: Sequence[Attributes]) -> object:
    """Id of the node at a place."""
    assert isinstance(place, int)
    return nodes[place]["id"]

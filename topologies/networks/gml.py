"""Nodes and links of GML text."""

import re
from collections.abc import Sequence
from typing import Any

import networkx as nx

from topologies.errors import InputError, quoted
from topologies.input_limits import MOST_GML_BYTES, MOST_LINKS, MOST_ROUTERS, check_count, check_size
from topologies.networks.attributes import Graph
from topologies.networks.field_names import Attributes
from topologies.plain_text import utf8_text

_GML_NUMBER = re.compile(r"[+-]?(?:\d+|(?:\d*\.\d+|\d+\.\d*|INF)(?:[eE][+-]?\d+)?)")
"""What GML calls an integer or a real."""

_NODE, _EDGE = (re.compile(rf"(?<![^\s\]]){name}\s*\[", re.IGNORECASE) for name in ("node", "edge"))


def parse_gml(data: bytes) -> Graph:
    """Parse the bytes of a GML file.

    Parameters
    ----------
    data : bytes
        UTF-8 text; characters beyond ASCII may also be XML character references.

    Returns
    -------
    Graph
        Nodes and links in the order of the file.

    Raises
    ------
    InputError
        If the text is no GML.
    """
    graph = _graph(data)
    return Graph(
        nodes=_blocks(graph, "node"), links=_blocks(graph, "edge"), directed=graph.get("directed", 0)
    )


def _graph(data: bytes) -> Attributes:
    """The one graph of a GML text as nested mappings."""
    try:
        text = utf8_text(data)
    except UnicodeDecodeError as error:
        raise InputError(f"is not a GML file: byte {error.start} is not UTF-8 text.") from None
    if not text.strip():
        raise InputError("is not a GML file: it is empty.")
    # Before the parser, which takes a minute for a hundred thousand.
    check_count(len(_NODE.findall(text)), MOST_ROUTERS, "nodes")
    check_count(len(_EDGE.findall(text)), MOST_LINKS, "links")
    check_size(data, MOST_GML_BYTES, None)
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


def _blocks(graph: Attributes, key: str) -> Sequence[Attributes]:
    """All `key [ ... ]` of the graph."""
    found = graph.get(key, [])
    blocks: list[Any] = found if isinstance(found, list) else [found]
    for i, block in enumerate(blocks):
        if not isinstance(block, dict):
            raise InputError(f"{key} {i} of the file (={quoted(block)}) must be a block '{key} [ ... ]'.")
    return blocks

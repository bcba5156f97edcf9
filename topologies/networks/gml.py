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

_END = {"expected EOF, found ']'": "it has a ']' too many"}

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
    lines = [line.rstrip() or " " for line in text.splitlines()]
    joined = "\n".join(lines)
    # As an attribute of an outer graph the file comes back as it stands: networkx would drop the order of the
    # links and which end is the source, and refuse parallel links without a header.
    try:
        content = nx.parse_gml(f"graph [ file [\n{joined}\n] ]", label="id").graph.get("file")
    except Exception as error:  # on arbitrary text the parser raises whatever its string handling does
        raise InputError(f"is not a GML file: {_reason(error, lines)}.") from None
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


def _reason(error: Exception, lines: Sequence[str]) -> str:
    """The parser's reason, short, with the line of the file: one above that in the outer graph."""
    found = re.search(r" at \((\d+), (\d+)\)$", str(error))
    if found is None:
        return f"{type(error).__name__} in the parser"
    said, number = str(error)[: found.start()], int(found[1]) - 1
    if number > len(lines):
        return _END.get(said, "it ends early, a '[' or a quotation mark is not closed")
    line = lines[number - 1]
    # What was found or cannot be read may be as long as the file, so that only what was expected is told.
    expected = f": {said.partition(', found')[0]}" if said.startswith("expected") else ""
    hint = " (a quotation mark within a text is &quot;)" if line.count('"') > 2 else ""
    return f"line {number}, column {found[2]}: {quoted(line.strip())} is no GML there{hint or expected}"


def _blocks(graph: Attributes, key: str) -> Sequence[Attributes]:
    """All `key [ ... ]` of the graph."""
    found = graph.get(key, [])
    blocks: list[Any] = found if isinstance(found, list) else [found]
    for i, block in enumerate(blocks):
        if not isinstance(block, dict):
            raise InputError(f"{key} {i} of the file (={quoted(block)}) must be a block '{key} [ ... ]'.")
    return blocks

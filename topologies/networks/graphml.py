"""Nodes and links of GraphML."""

from collections.abc import Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from topologies.errors import InputError, quoted
from topologies.networks.attributes import Graph
from topologies.plain_text import check_uncompressed

_XMLNS = "{http://graphml.graphdrawing.org/xmlns}"
_LABEL_OF_YED = ".//{http://www.yworks.com/xml/graphml}NodeLabel"


def parse_graphml(data: bytes) -> Graph:
    """Parse the bytes of a GraphML file.

    Parameters
    ----------
    data : bytes
        XML in the encoding that it declares. What is read are the ``key`` elements, with their defaults, and nodes and
        edges of one ``graph``, with their ``data``. The XML attributes ``id``, ``source`` and ``target`` go before data
        of these names. Where a node has no label, yEd's ``NodeLabel`` is one.

    Returns
    -------
    Graph
        Nodes and links in the order of the file; values are texts, as they stand in it.

    Raises
    ------
    InputError
        If the text is no GraphML, or has several graphs, a graph within a node, hyperedges, or links of both kinds,
        directed and not.

    Notes
    -----
    Not by networkx's reader, which loses the order of the links and which end is the source: messages could not name
    a link of the file. O(size of the file).
    """
    root = _root(data)
    graphs = root.findall(f"{_XMLNS}graph")
    if len(graphs) != 1:
        raise InputError(f"must be a GraphML file of one graph, has {len(graphs)}.")
    (graph,) = graphs
    if graph.find(f".//{_XMLNS}graph") is not None:
        raise InputError("must be a GraphML file of one graph, has one within a node or link.")
    if (hyperedge := graph.find(f".//{_XMLNS}hyperedge")) is not None:
        raise InputError(f"hyperedge(={quoted(hyperedge.get('id'))}) must be links of two nodes each.")
    keys = {key.get("id"): key for key in root.findall(f"{_XMLNS}key")}
    of_nodes, of_links = _defaults(keys, "node"), _defaults(keys, "edge")
    edges = graph.findall(f"{_XMLNS}edge")
    return Graph(
        nodes=[_node(node, keys, of_nodes) for node in graph.findall(f"{_XMLNS}node")],
        links=[
            of_links | _values(edge, keys) | {"source": edge.get("source"), "target": edge.get("target")}
            for edge in edges
        ],
        directed=_directed(graph, edges),
    )


def _root(data: bytes) -> Element:
    """The element ``graphml``, all of which is in GraphML's namespace, as some programs leave that out."""
    if not data.strip():
        raise InputError("is not a GraphML file: it is empty.")
    check_uncompressed(data)
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # the latter two for the encoding
        raise InputError(f"is not a GraphML file: {quoted(str(error))}.") from None
    for element in root.iter():
        if not element.tag.startswith("{"):
            element.tag = f"{_XMLNS}{element.tag}"
    if root.tag != f"{_XMLNS}graphml":
        raise InputError(
            f"is not a GraphML file: its outermost element(={quoted(root.tag.removeprefix(_XMLNS))}) must be 'graphml'."
        )
    return root


def _directed(graph: Element, edges: list[Element]) -> object:
    """Whether all links are directed, or none is."""
    default = graph.get("edgedefault", "undirected") == "directed"
    stated = {"true": True, "1": True, "false": False, "0": False}
    each = {stated.get(edge.get("directed", ""), default) for edge in edges} or {default}
    if len(each) > 1:
        raise InputError("directed must be 'true' of all links, or of none.")
    return int(each.pop())


def _node(
    node: Element, keys: Mapping[str | None, Element], defaults: dict[str, object]
) -> dict[str, object]:
    """Attributes of a node."""
    values = defaults | _values(node, keys) | {"id": node.get("id")}
    drawn = node.find(_LABEL_OF_YED)
    if drawn is not None and (text := "".join(drawn.itertext()).strip()):
        values.setdefault("label", text)
    return values


def _defaults(keys: Mapping[str | None, Element], owner: str) -> dict[str, object]:
    """What each node or edge states that has no data of that name."""
    found: dict[str, object] = {}
    for key in keys.values():
        name, text = key.get("attr.name"), key.findtext(f"{_XMLNS}default")
        if name is not None and text and key.get("for") in (owner, "all", None):
            found[name] = text
    return found


def _values(element: Element, keys: Mapping[str | None, Element]) -> dict[str, object]:
    """Data of a node or edge by name; a list where one is stated twice, nothing for empty ones, which yEd writes."""
    found: dict[str, object] = {}
    for data in element.findall(f"{_XMLNS}data"):
        key = keys.get(data.get("key"))
        if key is None:
            raise InputError(f"data key(={quoted(data.get('key'))}) must be the id of a key.")
        name = key.get("attr.name")
        if name is None or len(data):  # drawings of yEd have no name
            continue
        if text := data.text:
            found[name] = [found[name], text] if name in found else text
    return found

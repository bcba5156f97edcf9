"""Networks of the optional package topohub: the Internet Topology Zoo, SNDlib and others."""

import importlib.resources
import importlib.util
import math
from dataclasses import replace
from importlib.resources.abc import Traversable

from topologies.errors import MachineError, unknown_name
from topologies.networks.attributes import Graph
from topologies.networks.field_names import Attributes
from topologies.networks.node_link import parse_node_link

PREFIX = "topohub:"
"""Before the names of its networks."""
_PLANE = "gabriel/"
"""Before those that lie on a plane, not on the globe."""


def topohub_data(name: str) -> bytes:
    """Node-link JSON of a network of topohub.

    Parameters
    ----------
    name : str
        For instance ``sndlib/germany50``.

    Returns
    -------
    bytes

    Raises
    ------
    MachineError
        If the package is not installed.
    InputError
        If it has no such network.
    """
    if importlib.util.find_spec("topohub") is None:
        raise MachineError(
            "networks of topohub need that package, which is not installed; run: pip install 'silosim[topohub]'"
        )
    folder = importlib.resources.files("topohub").joinpath("data")
    known = _names(folder)
    if name not in known:
        raise unknown_name("underlay", f"{PREFIX}{name}", (f"{PREFIX}{other}" for other in sorted(known)))
    return known[name].read_bytes()


def parse_topohub(data: bytes, name: str) -> Graph:
    """Parse a network of topohub.

    Parameters
    ----------
    data : bytes
        Node-link JSON with ``dist`` (km) on links and ``pos``, longitude and latitude, on nodes.
    name : str
        Random graphs of topohub lie on a plane, and so do some networks of SNDlib, which goes beyond degrees.

    Returns
    -------
    Graph
        Nodes have coordinates where `pos` are some.
    """
    graph = parse_node_link(data)
    places = [_place(node) for node in graph.nodes]
    if name.startswith(_PLANE) or not all(abs(east) <= 180 and abs(north) <= 90 for east, north in places):
        return graph
    nodes = [
        {**node, "Longitude": east, "Latitude": north}
        for node, (east, north) in zip(graph.nodes, places, strict=True)
    ]
    return replace(graph, nodes=nodes)


def _place(node: Attributes) -> tuple[float, float]:
    """Position of a node; infinite where there is none."""
    match node.get("pos"):
        case [float() | int() as east, float() | int() as north]:
            return float(east), float(north)
    return math.inf, math.inf


def _names(folder: Traversable) -> dict[str, Traversable]:
    """Networks by name, such as ``gabriel/25/0``."""
    found: dict[str, Traversable] = {}
    for entry in folder.iterdir():
        if entry.is_dir():
            found |= {f"{entry.name}/{name}": file for name, file in _names(entry).items()}
        elif entry.name.endswith(".json"):
            found[entry.name.removesuffix(".json")] = entry
    return found

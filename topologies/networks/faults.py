"""All that keeps a graph from being an underlay, in one line, and the options that may help."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from topologies.arrays import BoolArray, IntArray
from topologies.digraph import components
from topologies.errors import InputError, quoted
from topologies.networks.attributes import Graph, node_title
from topologies.networks.cleaning import what_gives_lengths
from topologies.networks.stated_network import StatedNetwork, link_title
from topologies.underlay import Variant, check_label, disconnected

_INTERNAL_ONLY = (
    "--internal-only (internal_only) leaves out external nodes, stubs without coordinates and self-loops, and numbers "
    "equal labels"
)
_LARGEST = "--largest-component (largest_component) keeps the largest"


def check_network(network: StatedNetwork, graph: Graph, variant: Variant, *, internal_only: bool) -> None:
    """Raise one error for everything that the options of `cleaned` are for.

    Parameters
    ----------
    network : StatedNetwork
    graph : Graph
        What states it.
    variant : {"corrected", "published"}
        Published lengths need no coordinates.
    internal_only : bool
        Whether that option is given, so that the error need not name it, but what else would help.

    Raises
    ------
    InputError
        If a label is none that an underlay can have; or, all in one, if labels are used twice, a link has no distance
        and an end of it no coordinates, a link is a self-loop, or the graph has several components.
    """
    for i, label in enumerate(network.labels):
        check_label(i, label)
    unknown = _unknown_lengths(network) if variant == "corrected" else np.zeros(0, dtype=np.int64)
    nodes = _placeless_ends(network, unknown)
    cleanable = [
        *_equal_labels(network, graph),
        *([_unknown_length(network, int(unknown[0]), nodes)] if unknown.size else []),
        *_self_loops(network),
    ]
    count, component = components(len(network.labels), *network.ends.T, strong=False)
    apart = [disconnected("connected", network.labels, component)] if count > 1 else []
    if not cleanable and not apart:
        return
    hints = [
        *([_INTERNAL_ONLY] if cleanable and not internal_only else []),
        *([_LARGEST] if apart and len(network.ends) else []),
        *([what_gives_lengths([network.labels[node] for node in nodes])] if nodes and internal_only else []),
    ]
    help_ = f" ({'; '.join(hints)})" if hints else ""
    raise InputError(f"{'; '.join([*cleanable, *apart])}{help_}.")


def _equal_labels(network: StatedNetwork, graph: Graph) -> list[str]:
    """The first label that two nodes have; Topology Zoo files hold some twice."""
    owners: defaultdict[str, list[int]] = defaultdict(list)
    for i, label in enumerate(network.labels):
        owners[label].append(i)
    several = [label for label, nodes in owners.items() if len(nodes) > 1]
    if not several:
        return []
    first, *others = (node_title(graph.nodes[i]) for i in owners[several[0]])
    same = f"{first} and {others[0]}{_more(others, 'node')}"
    return [f"label(={quoted(several[0])}) of {same} must be unique{_more(several, 'label')}"]


def _placeless(network: StatedNetwork) -> BoolArray:
    """Whether each node lacks coordinates."""
    return np.isnan(network.latitude_deg) | np.isnan(network.longitude_deg)


def _unknown_lengths(network: StatedNetwork) -> IntArray:
    """Links whose length nothing tells."""
    return np.flatnonzero(np.isnan(network.distance_km) & _placeless(network)[network.ends].any(axis=1))


def _placeless_ends(network: StatedNetwork, links: IntArray) -> list[int]:
    """Nodes without coordinates at the ends of some links."""
    ends = network.ends[links]
    nodes: list[int] = np.unique(ends[_placeless(network)[ends]]).tolist()
    return nodes


def _unknown_length(network: StatedNetwork, link: int, nodes: Sequence[int]) -> str:
    """The fault of the first such link, with its first end without a place, one of `nodes`."""
    a, b = (network.labels[node] for node in network.ends[link])
    node = next(node for node in network.ends[link].tolist() if node in nodes)
    return (
        f"{link_title(link, a, b)} has no distance and node {quoted(network.labels[node])} lacks the Latitude and "
        f"Longitude to compute it from{_more(nodes, 'node')}"
    )


def _self_loops(network: StatedNetwork) -> list[str]:
    """The first link that joins a node with itself."""
    loops = np.flatnonzero(network.ends[:, 0] == network.ends[:, 1]).tolist()
    if not loops:
        return []
    label = quoted(network.labels[network.ends[loops[0], 0]])
    return [f"link {loops[0]} is a self-loop of {label}, must join two routers{_more(loops, 'self-loop')}"]


def _more(all_of_them: Sequence[object], noun: str) -> str:
    """How many there are beside the first."""
    more = len(all_of_them) - 1
    return f" (and {more} more {noun}{'s' if more > 1 else ''})" if more else ""

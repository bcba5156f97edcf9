"""Directed graphs in which each link has its way back: the same as full-duplex links."""

from collections import defaultdict

from topologies.errors import InputError, quoted
from topologies.networks.attributes import Graph, link_ends, node_labels
from topologies.networks.field_names import LINK_NAMES, Attributes, stated_number
from topologies.networks.link_speed import link_speed_bps
from topologies.networks.stated_network import link_title

_Stated = tuple[float | None, ...]


def full_duplex(graph: Graph) -> tuple[Graph, list[str]]:
    """The graph with one link for the two directions of each.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    graph : Graph
        The same where it is not directed. Of each link and its way back the first in the file stays.
    notes : list of str
        One sentence where links were joined.

    Raises
    ------
    InputError
        If a link of a directed graph has no way back with the same length and capacity.

    Notes
    -----
    Programs that keep directed graphs write each full-duplex link as two. O(links).
    """
    if str(graph.directed).lower() in ("0", "false"):
        return graph, []
    labels, ends = node_labels(graph), link_ends(graph)
    waiting: defaultdict[tuple[int, int, _Stated], list[int]] = defaultdict(list)
    kept = []
    for i, ((a, b), link) in enumerate(zip(ends, graph.links, strict=True)):
        title = link_title(i, labels[a], labels[b])
        stated = _stated(title, link)
        if waiting[b, a, stated] and a != b:
            waiting[b, a, stated].pop(0)
            continue
        waiting[a, b, stated].append(i)
        kept.append(i)
    alone = sorted(i for (a, b, _), links in waiting.items() if a != b for i in links)
    if alone:
        a, b = ends[alone[0]]
        raise InputError(
            f"directed(={quoted(graph.directed)}) must be 0, or each link must have a way back of the same length and "
            f"capacity, which {link_title(alone[0], labels[a], labels[b])} lacks: links are full duplex."
        )
    joined = len(graph.links) - len(kept)
    notes = [f"joined {2 * joined} directed links to {joined} full-duplex ones."] if joined else []
    return Graph(nodes=graph.nodes, links=[graph.links[i] for i in kept]), notes


def _stated(title: str, link: Attributes) -> _Stated:
    """What a link states."""
    return (*(stated_number(title, link, name) for name in LINK_NAMES), link_speed_bps(link))

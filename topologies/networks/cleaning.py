"""Parts of a file that are no network to train over: external nodes, nodes without a place, split-off components."""

import math
import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from topologies.arrays import BoolArray
from topologies.digraph import components
from topologies.errors import InputError, first_names, quoted
from topologies.networks.attributes import Graph, link_ends, node_labels, node_title
from topologies.networks.field_names import (
    DISTANCE,
    LATITUDE,
    LONGITUDE,
    Attributes,
    stated_number,
    stated_text,
)
from topologies.wrapping import listed

_YES, _NO = ("1", "true"), ("0", "false")


def cleaned(graph: Graph, *, internal_only: bool, largest_only: bool) -> tuple[Graph, list[str]]:
    """The part of a graph that the options keep.

    Parameters
    ----------
    graph : Graph
        Not directed.
    internal_only : bool
        Whether `internal_part` is taken, and labels are numbered, once it is known which nodes stay.
    largest_only : bool
        Whether the `largest_component` of that is taken.

    Returns
    -------
    graph : Graph
    notes : list of str
        One sentence on all that was changed, if anything was.
    """
    steps = (
        [internal_part] * internal_only
        + [largest_component] * largest_only
        + [numbered_labels] * internal_only
    )
    changed = []
    for step in steps:
        graph, note = step(graph)
        changed += [note] * bool(note)
    return graph, [f"{'; '.join(changed)}."] if changed else []


def check_something_left(graph: Graph, kept: Graph, changed: Sequence[str]) -> None:
    """Raise an error where the options leave no network.

    Parameters
    ----------
    graph, kept : Graph
        Before `cleaned` and after it.
    changed : sequence of str
        What it says.

    Raises
    ------
    InputError
        With the nodes that would have stayed if they had a place.
    """
    if not changed or len(kept.nodes) >= 2:
        return
    placeless = [
        label
        for label, node in zip(node_labels(graph), graph.nodes, strict=True)
        if _is_internal(node) is not False and lacks_place(node)
    ]
    help_ = f" ({what_gives_lengths(placeless)})" if placeless else ""
    rule = f"{len(kept.nodes)} of {len(graph.nodes)} nodes remain, must be >= 2"
    raise InputError(f"{changed[0].removesuffix('.')}: {rule}{help_}.")


def what_gives_lengths(placeless: Sequence[str]) -> str:
    """What a file needs where nothing tells how long links of these nodes are, for messages."""
    return (
        f"needed are Latitude and Longitude of {first_names(placeless)}, or on their links a distance (or dist, "
        "length_km) in km"
    )


def internal_part(graph: Graph) -> tuple[Graph, str]:
    """The nodes that belong to the network itself, each with a label of its own.

    Parameters
    ----------
    graph : Graph
        With ``Internal`` on its nodes, 1 or 0, as the Internet Topology Zoo has it; a node that does not say stays.

    Returns
    -------
    graph : Graph
        Without external nodes and self-loops. Without stubs that have no place: nodes with at most one neighbour that
        lack coordinates, unless all their links state a distance; again, until there are none, since what lies behind
        such a node is one, too. Others without a place stay.
    note : str
        What was done; empty where nothing was.

    Raises
    ------
    InputError
        If ``Internal`` is something else, or an id or a coordinate breaks a rule of `stated_network`.

    Notes
    -----
    O(nodes + links).
    """
    internal = [_is_internal(node) for node in graph.nodes]
    is_stated = any(value is not None for value in internal)
    said = [] if is_stated or not internal else ["no node states Internal, so that none is external"]
    ends = link_ends(graph)
    keep = np.array([value is not False for value in internal], dtype=np.bool_)
    external = int((~keep).sum())
    loops = sum(a == b for a, b in ends)
    stubs = _drop_stubs(graph, ends, keep)
    kept = [i for i, (a, b) in enumerate(ends) if keep[a] and keep[b] and a != b]
    lost = len(graph.links) - len(kept) - loops
    parts = [
        _counted(external, "external node"),
        _counted(stubs, "node without coordinates", "nodes without coordinates"),
        _counted(lost, "link"),
        _counted(loops, "self-loop"),
    ]
    if any(parts):
        said.append(f"left out {listed([part for part in parts if part])}")
    return _of(graph, keep, kept), "; ".join(said)


def largest_component(graph: Graph) -> tuple[Graph, str]:
    """The largest connected component.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    graph : Graph
        The component with most nodes; of several, the one whose labels come first.
    note : str
        What was left out; empty where nothing was.

    Notes
    -----
    O(n log n) for n nodes and links.
    """
    ends = np.array(link_ends(graph), dtype=np.int64).reshape(-1, 2)
    count, component = components(len(graph.nodes), *ends.T, strong=False)
    if count < 2:
        return graph, ""
    names = _order_keys(graph)
    members: list[list[tuple[object, ...]]] = [[] for _ in range(count)]
    for i in sorted(range(len(names)), key=names.__getitem__):
        members[component[i]].append(names[i])
    largest = min(range(count), key=lambda c: (-len(members[c]), members[c]))
    keep = component == largest
    kept = [i for i, (a, _) in enumerate(ends.tolist()) if keep[a]]
    nodes, links = len(keep) - int(keep.sum()), len(graph.links) - len(kept)
    lost = listed([part for part in (_counted(nodes, "node"), _counted(links, "link")) if part])
    return _of(graph, keep, kept), f"kept the largest of {count} components: left out {lost}"


def numbered_labels(graph: Graph) -> tuple[Graph, str]:
    """The same nodes, with a label for each: of equal ones the second is ``None/2``, and so on.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    graph : Graph
        Nodes of one label are numbered from north to south, from west to east, then by id, those without coordinates
        last, whatever their order in the file; a number that makes a label of another node is passed over.
    note : str
        How many labels were numbered; empty where none was.

    Notes
    -----
    O(n log n) for n nodes.
    """
    labels, keys = node_labels(graph), _order_keys(graph)
    owners: defaultdict[str, list[int]] = defaultdict(list)
    for i in sorted(range(len(labels)), key=keys.__getitem__):
        owners[labels[i]].append(i)
    taken, new = set(labels), list(labels)
    for label in sorted(owners):
        number = 1
        for i in owners[label][1:]:
            number += 1
            while f"{label}/{number}" in taken:
                number += 1
            new[i] = f"{label}/{number}"
            taken.add(new[i])
    several = sum(len(same) > 1 for same in owners.values())
    if not several:
        return graph, ""
    nodes = [node if new[i] == labels[i] else {**node, "label": new[i]} for i, node in enumerate(graph.nodes)]
    numbered = (
        f"numbered {_counted(several, 'label')} that {'occur' if several > 1 else 'occurs'} more than once"
    )
    return Graph(nodes=nodes, links=graph.links), numbered


def lacks_place(node: Attributes) -> bool:
    """Whether a node has no latitude or no longitude.

    Parameters
    ----------
    node : mapping

    Returns
    -------
    bool

    Raises
    ------
    InputError
        If one is no number.
    """
    return None in [stated_number(node_title(node), node, name) for name in (LATITUDE, LONGITUDE)]


def _is_internal(node: Attributes) -> bool | None:
    """What a node says of itself."""
    value = stated_text(node, "Internal")
    if value is None:
        return None
    text = str(value).strip().lower()
    if text not in (*_YES, *_NO):
        raise InputError(f"{node_title(node)}: Internal(={quoted(value)}) must be 1 or 0.")
    return text in _YES


def _drop_stubs(graph: Graph, ends: Sequence[tuple[int, int]], keep: BoolArray) -> int:
    """Take stubs without a place out of `keep`; how many they are."""
    neighbours: list[dict[int, bool]] = [{} for _ in graph.nodes]
    """Of each node, its neighbours, and whether a link to them states no distance."""
    for i, (a, b) in enumerate(ends):
        if keep[a] and keep[b] and a != b:
            unknown = stated_number(f"link {i}", graph.links[i], DISTANCE) is None
            for one, other in ((a, b), (b, a)):
                neighbours[one][other] = neighbours[one].get(other, False) or unknown
    placeless = [lacks_place(node) for node in graph.nodes]

    def is_stub(i: int) -> bool:
        around = neighbours[i]
        return bool(keep[i]) and placeless[i] and len(around) <= 1 and (not around or any(around.values()))

    waiting = [i for i in range(len(graph.nodes)) if is_stub(i)]
    dropped = 0
    while waiting:
        i = waiting.pop()
        if not keep[i]:
            continue
        keep[i] = False
        dropped += 1
        for other in neighbours[i]:
            del neighbours[other][i]
            if is_stub(other):
                waiting.append(other)
    return dropped


def _of(graph: Graph, keep: BoolArray, links: Sequence[int]) -> Graph:
    """Some of the nodes and links."""
    return Graph(
        nodes=[graph.nodes[i] for i in np.flatnonzero(keep).tolist()], links=[graph.links[i] for i in links]
    )


def _order_keys(graph: Graph) -> list[tuple[object, ...]]:
    """Keys that sort nodes by label, then from north to south, from west to east, then by id."""
    return [
        (label, *_place(node), *_id_key(node["id"]))
        for label, node in zip(node_labels(graph), graph.nodes, strict=True)
    ]


def _place(node: Attributes) -> tuple[float, float]:
    """Latitude downwards and longitude, infinite where there is none."""
    south, east = (stated_number(node_title(node), node, name) for name in (LATITUDE, LONGITUDE))
    return math.inf if south is None else -south, math.inf if east is None else east


def _id_key(node_id: object) -> tuple[int, int, str]:
    """Ids that are integers, also as texts, by their number, then others."""
    text = str(node_id)
    is_number = re.fullmatch("-?[0-9]{1,18}", text) is not None
    return (0, int(text), text) if is_number else (1, 0, text)


def _counted(number: int, one: str, several: str = "") -> str:
    """``3 links``; empty for none."""
    return f"{number} {one if number == 1 else several or f'{one}s'}" if number else ""

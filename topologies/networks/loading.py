"""Underlays of the package, of other packages and of files."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import get_args

import numpy as np

from topologies.errors import Field, InputError, quoted, unknown_name
from topologies.input_limits import MOST_LINKS, MOST_PAIRS_BYTES, MOST_ROUTERS, check_count
from topologies.networks.attributes import Graph, stated_network
from topologies.networks.cleaning import check_something_left, cleaned
from topologies.networks.faults import check_network
from topologies.networks.files import StrPath, is_nowhere, read_file, shown
from topologies.networks.gml import parse_gml
from topologies.networks.graphml import parse_graphml
from topologies.networks.link_notes import link_notes
from topologies.networks.network_files import (
    NetworkFiles,
    files_in,
    files_named_in,
    folder_name,
    stated_by_files,
    stated_by_pairs,
)
from topologies.networks.node_link import parse_node_link
from topologies.networks.one_way_links import full_duplex
from topologies.networks.shipped import PUBLISHED, shipped_data
from topologies.networks.stated_network import StatedNetwork
from topologies.networks.topohub import PREFIX, parse_topohub, topohub_data
from topologies.plain_text import check_uncompressed
from topologies.underlay import Underlay, Variant

_MEASURED = {"clouds": "", "clouds_aws": "aws:"}
"""Networks of the table of measured pairs, with the beginning of the labels of their sites."""
_SHIPPED = (*PUBLISHED, *_MEASURED)
_TABLES = (".csv", ".tsv")
_GRAPHS: Mapping[str, Callable[[bytes], Graph]] = {
    "": parse_gml,
    ".gml": parse_gml,
    ".graphml": parse_graphml,
    ".json": parse_node_link,
}
"""Readers of nodes and links, by the ending of a file in lower case."""
_ENDINGS = ", ".join(filter(None, (*_GRAPHS, *_TABLES, ".toml")))
_PATHS = f"the path of a network's file ({_ENDINGS}) or of a folder of its tables"


def shipped_underlays() -> tuple[str, ...]:
    """Names of the underlays that come with the package.

    Returns
    -------
    tuple of str
        The names that `load_underlay` knows: those of `published_underlays`, then those of measured pairs.
    """
    return _SHIPPED


def published_underlays() -> tuple[str, ...]:
    """Names of the shipped underlays that published tables are of, which have two variants.

    Returns
    -------
    tuple of str
    """
    return PUBLISHED


def load_underlay(
    name_or_path: StrPath | NetworkFiles,
    *,
    variant: Variant = "corrected",
    internal_only: bool = False,
    largest_component: bool = False,
) -> Underlay:
    """Load a shipped underlay, one of the package topohub, or one of files.

    Parameters
    ----------
    name_or_path : str, path-like or NetworkFiles
        A name of `shipped_underlays`; ``topohub:`` and a name of that package, such as ``topohub:sndlib/germany50``;
        or the path of a file of nodes and links: GML (``.gml``), GraphML (``.graphml``), or node-link JSON
        (``.json``). Nodes have ``id``, links ``source`` and ``target``. Optional are, in any case, a node's ``label``
        (else ``name``), ``Latitude`` or ``lat`` and ``Longitude``, ``lon``, ``lng`` or ``long`` (degrees), and a
        link's ``distance``, ``dist`` or ``length_km`` (km), ``published_distance`` (km), and ``capacity`` (bit/s),
        else ``LinkSpeedRaw`` (bit/s), else ``LinkSpeed`` with ``LinkSpeedUnits`` K, M, G or T, as the Internet
        Topology Zoo [1]_ has them.

        Or tables: `NetworkFiles`, a TOML file that names them, relative to itself, by the fields of `NetworkFiles`, a
        folder that holds ``sites.csv`` and ``links.csv``, or ``pairs.csv``, or ``bandwidth*.csv`` and ``latency*.csv``
        or ``rtt*.csv``, the latter two with or without ``sites.csv``, or a CSV file of pairs alone.
    variant : {"corrected", "published"}
        "corrected" takes ``distance``, computing it from the coordinates where the file has none, and stated
        capacities; "published" takes ``published_distance`` and no capacity, as the published tables do, and breaks
        ties by the nodes' ``published_index`` where all state one.
    internal_only : bool
        Whether external nodes (``Internal 0``), self-loops and stubs without coordinates are left out and equal labels
        are numbered, ``None`` and ``None/2``; see `topologies.networks.cleaning`. Most of the Zoo's files need it.
    largest_component : bool
        Whether only the largest connected component is taken; of several, the one whose labels come first.

    Returns
    -------
    Underlay
        In the order of `Underlay.in_label_order`, whatever the order of the file: routers by label, links by their
        ends. Parallel links are all kept; a route takes the shortest. Of a directed graph, a link and its way back of
        the same length and capacity are one. Its `Underlay.notes` say what was left out, joined or not read, and, of
        one that is not shipped, which links are parallel, or stated shorter than the geodesic.

    Raises
    ------
    InputError
        If there is no such underlay, or the file breaks a rule: the message names the file, the node or link,
        the value and the rule. Of what the two options are for it names all kinds of faults at once.
    MachineError
        If the package topohub is asked for, and not installed.

    References
    ----------
    .. [1] S. Knight et al., "The Internet Topology Zoo", IEEE JSAC 29(9), 2011.

    Examples
    --------
    >>> geant = load_underlay("geant")
    >>> geant.routers, geant.links
    (40, 61)
    """
    if isinstance(name_or_path, str) and name_or_path in _SHIPPED and variant in get_args(Variant):
        # Texts of our own: the underlay keeps them, and may be another caller's.
        name = _SHIPPED[_SHIPPED.index(name_or_path)]
        kept: Variant = "published" if variant == "published" else "corrected"
        return _shipped(name, kept, bool(internal_only), bool(largest_component))
    return _loaded(name_or_path, variant, internal_only=internal_only, largest_component=largest_component)


@lru_cache(maxsize=4 * len(_SHIPPED))
def _shipped(name: str, variant: Variant, internal_only: bool, largest_component: bool) -> Underlay:
    """A shipped underlay, which nothing can change: commands and studies ask for it again and again."""
    return _loaded(name, variant, internal_only=internal_only, largest_component=largest_component)


def _loaded(
    name_or_path: StrPath | NetworkFiles, variant: Variant, *, internal_only: bool, largest_component: bool
) -> Underlay:
    """The underlay of a name or of files, read now."""
    tables = _from_tables(name_or_path, variant)
    if tables is not None:
        for option, chosen in (("internal_only", internal_only), ("largest_component", largest_component)):
            if chosen:
                raise InputError(
                    f"goes with a file of nodes and links; {shown(tables.name)} is made of tables.",
                    field=Field(option, value=True),
                )
        return tables
    if isinstance(name_or_path, str) and name_or_path in PUBLISHED:
        name, source = name_or_path, name_or_path
        data = shipped_data(f"{name}.gml")
        parse: Callable[[bytes], Graph] = parse_gml
    elif isinstance(name_or_path, str) and name_or_path.startswith(PREFIX):
        name, source = name_or_path.removeprefix(PREFIX), quoted(name_or_path)
        data, parse = topohub_data(name), partial(parse_topohub, name=name)
    else:
        assert not isinstance(name_or_path, NetworkFiles)
        path = Path(name_or_path)
        name, source = path.stem, shown(path)
        data = read_file(path, source)
        check_uncompressed(data, source)
        parse = _parser(path, source)
    try:
        network = _network(parse(data), variant, internal_only=internal_only, largest=largest_component)
        if variant == "corrected" and name_or_path not in PUBLISHED:
            network = replace(network, notes=(*network.notes, *link_notes(network)))
        return _underlay(name, variant, network).in_label_order()
    except InputError as error:
        raise error.located(source) from None


def _from_tables(name_or_path: StrPath | NetworkFiles, variant: Variant) -> Underlay | None:
    """The underlay of tables, None where a name or path is that of nodes and links."""
    if isinstance(name_or_path, NetworkFiles):
        return _of_files(name_or_path, name_or_path.name, variant)
    if isinstance(name_or_path, str):
        if name_or_path in _MEASURED:
            return _shipped_pairs(name_or_path, variant)
        if name_or_path in PUBLISHED or name_or_path.startswith(PREFIX):
            return None
        if _looks_like_name(name_or_path):
            raise unknown_name("underlay", name_or_path, _SHIPPED, otherwise=_PATHS)
    path = Path(name_or_path)
    if is_nowhere(path):
        raise InputError(
            f"there is no such file or folder; a network is one of {', '.join(sorted(_SHIPPED))}, or {_PATHS}.",
            source=shown(name_or_path),
        )
    if os.path.isdir(path):  # unlike that of `path`, false for an impossible one
        return _of_files(files_in(path), folder_name(path), variant)
    source, ending = shown(path), path.suffix.lower()
    if ending == ".toml":
        return _of_files(files_named_in(path, read_file(path, source)), path.stem, variant)
    if ending in _TABLES:
        return _of_tables(path.stem, source, variant, stated_by_pairs(_table_data(path), source))
    return None


def _shipped_pairs(name: str, variant: Variant) -> Underlay:
    """A shipped network of measured pairs: the sites whose labels begin as it says."""
    files = NetworkFiles(sites="clouds_sites.csv", pairs="clouds_pairs.csv")
    stated = stated_by_files(files, lambda file: (shipped_data(str(file)), str(file)))
    whole = _of_tables(name, name, variant, replace(stated, notes=()))
    chosen = np.array(
        [i for i, label in enumerate(whole.labels) if label.startswith(_MEASURED[name])], dtype=np.int64
    )
    assert whole.measured is not None
    return replace(
        whole,
        labels=tuple(whole.labels[i] for i in chosen.tolist()),
        latitude_deg=whole.latitude_deg[chosen],
        longitude_deg=whole.longitude_deg[chosen],
        measured=whole.measured.of(chosen),
    )


def _table_data(path: Path) -> bytes:
    """Bytes of a table, which may be one of all pairs."""
    return read_file(path, shown(path), most_bytes=MOST_PAIRS_BYTES)


def _of_files(files: NetworkFiles, name: str, variant: Variant) -> Underlay:
    """The underlay that a user's tables describe."""
    stated = stated_by_files(files, lambda path: (_table_data(Path(path)), shown(path)))
    source = files.links or files.pairs or files.bandwidth_matrix
    assert source is not None
    return _of_tables(name, shown(source), variant, stated)


def _of_tables(name: str, source: str, variant: Variant, stated: StatedNetwork) -> Underlay:
    """The underlay that tables describe, which were not published."""
    if variant == "published":
        raise InputError(
            f"variant(='published') goes with {', '.join(PUBLISHED)} and GML files, not with {shown(name)}."
        )
    try:
        check_count(len(stated.labels), MOST_ROUTERS, "sites")
        return _underlay(name, variant, stated).in_label_order()
    except InputError as error:
        raise error.located(source) from None


def _network(graph: Graph, variant: Variant, *, internal_only: bool, largest: bool) -> StatedNetwork:
    """What a graph states, once the options have changed it."""
    check_count(len(graph.nodes), MOST_ROUTERS, "nodes")
    check_count(len(graph.links), MOST_LINKS, "links")
    # All that it states is checked in the order of the file, so that messages number its links.
    network = stated_network(graph)
    joint, joined = full_duplex(graph)
    kept, changed = cleaned(joint, internal_only=internal_only, largest_only=largest)
    check_something_left(joint, kept, changed)
    if kept is not graph:
        network = stated_network(kept)
    check_network(network, kept, variant, internal_only=internal_only)
    return replace(network, notes=(*joined, *changed, *network.notes))


def _parser(path: Path, source: str) -> Callable[[bytes], Graph]:
    """The reader for the ending of a file."""
    parse = _GRAPHS.get(path.suffix.lower())
    if parse is None:
        raise InputError(f"ending(={quoted(path.suffix)}) must be one of {_ENDINGS}.", source=source)
    return parse


def _looks_like_name(text: str) -> bool:
    """Whether a text means a shipped underlay: one word that names no file."""
    return not text or (Path(text).name == text and not Path(text).suffix and not os.path.exists(text))


def _underlay(name: str, variant: Variant, network: StatedNetwork) -> Underlay:
    """The underlay that a parsed file describes in one variant."""
    published = variant == "published"
    return Underlay(
        name=name,
        variant=variant,
        labels=network.labels,
        latitude_deg=network.latitude_deg,
        longitude_deg=network.longitude_deg,
        ends=network.ends,
        length_km=network.published_km() if published else network.true_km(),
        capacity_bps=np.full(len(network.ends), np.nan) if published else network.capacity_bps,
        published_index=network.published_index,
        measured=network.measured,
        sites=network.sites,
        notes=network.notes,
    )

"""Underlays of the package, of GML files and of tables."""

import importlib.resources
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from topologies.errors import InputError, quoted, unknown_name
from topologies.networks.attributes import stated_network
from topologies.networks.gml import parse_gml
from topologies.networks.network_files import (
    NetworkFiles,
    StrPath,
    files_in,
    files_named_in,
    stated_by_files,
    stated_by_pairs,
)
from topologies.networks.stated_network import StatedNetwork
from topologies.underlay import Underlay, Variant

_PUBLISHED = ("gaia", "aws_na", "geant", "exodus", "ebone")
_MEASURED = {"clouds": "", "clouds_aws": "aws:"}
"""Networks of the table of measured pairs, with the beginning of the labels of their sites."""
_SHIPPED = (*_PUBLISHED, *_MEASURED)
_TABLES = (".csv", ".tsv")


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
    return _PUBLISHED


def load_underlay(name_or_path: StrPath | NetworkFiles, *, variant: Variant = "corrected") -> Underlay:
    """Load a shipped underlay, a GML file, or a network of tables.

    Parameters
    ----------
    name_or_path : str, path-like or NetworkFiles
        A name of `shipped_underlays`, else the path of a GML file in UTF-8: nodes with ``id``, links with
        ``source`` and ``target``. Optional are a node's ``label``, ``Latitude`` and ``Longitude`` (degrees)
        and a link's ``LinkSpeedRaw`` (bit/s), all named as in the Internet Topology Zoo [1]_, and the link's
        ``capacity`` (bit/s, goes first), ``distance`` and ``published_distance`` (km).

        Or tables: `NetworkFiles`, a TOML file that names them, relative to itself, by the fields of `NetworkFiles`, a
        folder that holds ``sites.csv`` and ``links.csv``, or ``pairs.csv``, or ``bandwidth*.csv`` and ``latency*.csv``
        or ``rtt*.csv``, the latter two with or without ``sites.csv``, or a CSV file of pairs alone.
    variant : {"corrected", "published"}
        "corrected" takes ``distance``, computing it from the coordinates where the file has none, and stated
        capacities; "published" takes ``published_distance`` and no capacity, as the published tables do, and breaks
        ties by the nodes' ``published_index`` where all state one.

    Returns
    -------
    Underlay
        In the order of `Underlay.in_label_order`, whatever the order of the file: routers by label, links by their
        ends. Parallel links are all kept; a route takes the shortest.

    Raises
    ------
    InputError
        If there is no such underlay, or the file breaks a rule: the message names the file, the node or link,
        the value and the rule.

    References
    ----------
    .. [1] S. Knight et al., "The Internet Topology Zoo", IEEE JSAC 29(9), 2011.

    Examples
    --------
    >>> geant = load_underlay("geant")
    >>> geant.routers, geant.links
    (40, 61)
    """
    if isinstance(name_or_path, NetworkFiles):
        return _of_files(name_or_path, name_or_path.name, variant)
    if isinstance(name_or_path, str) and name_or_path in _MEASURED:
        return _shipped_pairs(name_or_path, variant)
    if isinstance(name_or_path, str) and name_or_path in _PUBLISHED:
        name, source = name_or_path, name_or_path
        data = _shipped_data(f"{name}.gml")
    else:
        path = Path(name_or_path)
        if isinstance(name_or_path, str) and _looks_like_name(name_or_path):
            raise unknown_name("underlay", name_or_path, _SHIPPED, otherwise="the path of a GML file")
        if os.path.isdir(path):  # unlike that of `path`, false for an impossible one
            return _of_files(files_in(path), path.resolve().name, variant)
        name, source = path.stem, str(path) if str(path).isprintable() else quoted(str(path))
        data = _read_file(path, source)
        if path.suffix.lower() == ".toml":
            return _of_files(files_named_in(path, data), name, variant)
        if path.suffix.lower() in _TABLES:
            return _of_tables(name, source, variant, stated_by_pairs(data, source))
    try:
        # Checked in the order of the file, so that messages number its links.
        return _underlay(name, variant, stated_network(parse_gml(data))).in_label_order()
    except InputError as error:
        raise error.located(source) from None


def _shipped_data(file: str) -> bytes:
    """Bytes of a file of the package."""
    return importlib.resources.files("topologies").joinpath("data", file).read_bytes()


def _shipped_pairs(name: str, variant: Variant) -> Underlay:
    """A shipped network of measured pairs: the sites whose labels begin as it says."""
    files = NetworkFiles(sites="clouds_sites.csv", pairs="clouds_pairs.csv")
    stated = stated_by_files(files, lambda file: (_shipped_data(str(file)), str(file)))
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


def _of_files(files: NetworkFiles, name: str, variant: Variant) -> Underlay:
    """The underlay that a user's tables describe."""
    stated = stated_by_files(files, lambda path: (_read_file(Path(path), str(path)), str(path)))
    return _of_tables(name, str(files.links or files.pairs or files.bandwidth_matrix), variant, stated)


def _of_tables(name: str, source: str, variant: Variant, stated: StatedNetwork) -> Underlay:
    """The underlay that tables describe, which were not published."""
    if variant == "published":
        raise InputError(
            f"variant(='published') goes with {', '.join(_PUBLISHED)} and GML files, not with {name}."
        )
    try:
        return _underlay(name, variant, stated).in_label_order()
    except InputError as error:
        raise error.located(source) from None


def underlay_title(underlay: Underlay) -> str:
    """Name of an underlay, with the variant where there are two.

    Returns
    -------
    str
        ``geant (corrected)`` of a shipped one, the name alone of somebody's own: nothing was corrected there.
        The published variant is always named.
    """
    is_named = underlay.variant == "published" or _is_published(underlay)
    return f"{underlay.name} ({underlay.variant})" if is_named else underlay.name


def _is_published(underlay: Underlay) -> bool:
    """Whether an underlay is the published one of its name, and not a file of the same name."""
    if underlay.name not in _PUBLISHED:
        return False
    shipped = load_underlay(underlay.name, variant=underlay.variant)
    return sorted(underlay.labels) == sorted(shipped.labels) and np.array_equal(
        np.sort(underlay.length_km), np.sort(shipped.length_km)
    )


def _read_file(path: Path, source: str) -> bytes:
    """Bytes of a user's file; its messages start with `source`."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, ValueError):  # the latter for a NUL in the path
        raise InputError("there is no such file.", source=source) from None
    except IsADirectoryError:
        raise InputError("is a directory, must be a GML file.", source=source) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", source=source) from None


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

"""Underlays of the package and of GML files."""

import importlib.resources
import os
from pathlib import Path

import numpy as np

from topologies.errors import InputError, quoted, unknown_name
from topologies.networks.attributes import stated_network
from topologies.networks.gml import parse_gml
from topologies.networks.stated_network import StatedNetwork
from topologies.underlay import Underlay, Variant

_SHIPPED = ("gaia", "aws_na", "geant", "exodus", "ebone")


def shipped_underlays() -> tuple[str, ...]:
    """Names of the underlays that come with the package.

    Returns
    -------
    tuple of str
        The names that `load_underlay` knows.
    """
    return _SHIPPED


def load_underlay(name_or_path: str | os.PathLike[str], *, variant: Variant = "corrected") -> Underlay:
    """Load a shipped underlay or a GML file.

    Parameters
    ----------
    name_or_path : str or path-like
        A name of `shipped_underlays`, else the path of a GML file in UTF-8: nodes with ``id``, links with
        ``source`` and ``target``. Optional are a node's ``label``, ``Latitude`` and ``Longitude`` (degrees)
        and a link's ``LinkSpeedRaw`` (bit/s), all named as in the Internet Topology Zoo [1]_, and the link's
        ``capacity`` (bit/s, goes first), ``distance`` and ``published_distance`` (km).
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
    if isinstance(name_or_path, str) and name_or_path in _SHIPPED:
        name, source = name_or_path, name_or_path
        data = importlib.resources.files("topologies").joinpath("data", f"{name}.gml").read_bytes()
    else:
        path = Path(name_or_path)
        if isinstance(name_or_path, str) and _looks_like_name(name_or_path):
            raise unknown_name("underlay", name_or_path, _SHIPPED, otherwise="the path of a GML file")
        name, source = path.stem, str(path) if str(path).isprintable() else quoted(str(path))
        data = _read_file(path, source)
    try:
        # Checked in the order of the file, so that messages number its links.
        return _underlay(name, variant, stated_network(parse_gml(data))).in_label_order()
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
    is_named = underlay.variant == "published" or _is_shipped(underlay)
    return f"{underlay.name} ({underlay.variant})" if is_named else underlay.name


def _is_shipped(underlay: Underlay) -> bool:
    """Whether an underlay is the shipped one of its name, and not a file of the same name."""
    if underlay.name not in _SHIPPED:
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

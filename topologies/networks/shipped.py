"""Files of the package, and whether an underlay is the published one of its name."""

import importlib.resources
from functools import lru_cache

import numpy as np

from topologies.networks.attributes import stated_network
from topologies.networks.gml import parse_gml
from topologies.networks.stated_network import StatedNetwork
from topologies.underlay import Underlay

PUBLISHED = ("gaia", "aws_na", "geant", "exodus", "ebone")
"""Networks that published tables are of."""


def shipped_data(file: str) -> bytes:
    """Bytes of a file of the package."""
    return importlib.resources.files("topologies").joinpath("data", file).read_bytes()


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
    if underlay.name not in PUBLISHED:
        return False
    shipped = _published(underlay.name)
    if sorted(underlay.labels) != sorted(shipped.labels):
        return False
    length_km = shipped.published_km() if underlay.variant == "published" else shipped.true_km()
    return np.array_equal(np.sort(underlay.length_km), np.sort(length_km))


@lru_cache(maxsize=len(PUBLISHED))
def _published(name: str) -> StatedNetwork:
    """What the shipped file of a published network states; sweeps and studies ask for it again and again."""
    return stated_network(parse_gml(shipped_data(f"{name}.gml")))

"""What a reader should know of links that a file states: which are parallel, and which are shorter than can be."""

from collections.abc import Sequence

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.networks.geodesics import geodesics_km
from topologies.networks.stated_network import StatedNetwork

NO_CABLE = 0.99
"""A length below this part of the geodesic is none of a cable; above it, the file may have taken a sphere."""


def link_notes(network: StatedNetwork, by_latency: BoolArray | None = None) -> list[str]:
    """Sentences about links whose numbers are possible, but may not be meant.

    Parameters
    ----------
    network : StatedNetwork
        With a length, or coordinates of both ends, for each link.
    by_latency : array of bool, (links,), optional
        Links whose length stands for a latency, which says little of the cable's.

    Returns
    -------
    list of str
        One sentence where links are parallel; and one where some are stated shorter than the geodesic between their
        ends, with the worst. It asks whether latitudes and longitudes are swapped if no length would be too short then.

    Notes
    -----
    O(links).
    """
    return [*_parallel(network), *_too_short(network, by_latency)]


def _parallel(network: StatedNetwork) -> list[str]:
    """How many links join two nodes that others join, too."""
    _, first = np.unique(np.sort(network.ends, axis=1), axis=0, return_index=True)
    further = np.setdiff1d(np.arange(len(network.ends)), first).tolist()
    if not further:
        return []
    few = len(further) == 1
    return [
        f"{_of_all(further, network)} {'is' if few else 'are'} parallel to {'another' if few else 'others'}"
        f"{':' if few else ', such as'} {min(_name(network, link) for link in further)}."
    ]


def _too_short(network: StatedNetwork, by_latency: BoolArray | None) -> list[str]:
    """How many links no cable is as short as, and what may be wrong."""
    length_km, north, east = network.distance_km, network.latitude_deg, network.longitude_deg
    placed = (np.abs(north) <= 90) & (np.abs(east) <= 180)
    known = np.isfinite(length_km) & placed[network.ends].all(axis=1)
    links = np.flatnonzero(known if by_latency is None else known & ~by_latency)
    direct_km = _direct_km(network.ends[links], north, east)
    short = length_km[links] < NO_CABLE * direct_km
    if not short.any():
        return []
    # Of equal ones the first by name: the order of the file does not matter.
    worst = min(
        np.flatnonzero(short).tolist(),
        key=lambda i: (length_km[links[i]] / direct_km[i], _name(network, int(links[i]))),
    )
    swapped = ""
    ends = network.ends[links]
    if (np.abs(east[ends]) <= 90).all():
        exchanged_km = _direct_km(ends, east, north)
        if (length_km[links] >= NO_CABLE * exchanged_km).all():
            swapped = "; are latitude and longitude swapped? No length would be too short then"
    which = links[short].tolist()
    are, their, one = ("is", "its", ":") if len(which) == 1 else ("are", "their", "; the worst is")
    return [
        f"{_of_all(which, network)} {are} stated shorter than the geodesic between {their} ends, which no cable is{one}"
        f" {_name(network, int(links[worst]))}, {_km(length_km[links[worst]])} stated, {_km(direct_km[worst])} by the "
        f"coordinates{swapped}."
    ]


def _direct_km(ends: IntArray, north_deg: FloatArray, east_deg: FloatArray) -> FloatArray:
    """Geodesics between the ends of links."""
    a, b = ends.T
    return geodesics_km(north_deg[a], east_deg[a], north_deg[b], east_deg[b])


def _of_all(links: Sequence[int], network: StatedNetwork) -> str:
    """``1 of 9 links``."""
    return f"{len(links)} of {len(network.ends)} links"


def _name(network: StatedNetwork, link: int) -> str:
    """The labels of a link's ends, in their order."""
    return " - ".join(sorted(network.labels[end] for end in network.ends[link]))


def _km(length: float) -> str:
    """A length, below 10 km in three digits."""
    return f"{length:,.0f} km" if length >= 10 else f"{length:.3g} km"

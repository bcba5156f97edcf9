"""What a file states about a network, whatever its format."""

import math
from dataclasses import dataclass

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError, quoted
from topologies.geodesy import geodesic_km
from topologies.measured_pairs import MeasuredPairs
from topologies.site_values import SiteValues


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StatedNetwork:
    """What a file states about a network; NaN where it states nothing.

    Parameters
    ----------
    labels : tuple of str, (nodes,)
        Labels; the id where a node has none.
    latitude_deg, longitude_deg : array of float, (nodes,)
        ``Latitude`` and ``Longitude``.
    ends : array of int, (links, 2)
        Source and target as indices of nodes, in the order of the file.
    distance_km, published_distance_km : array of float, (links,)
        ``distance`` and ``published_distance``.
    capacity_bps : array of float, (links,)
        ``capacity``, else ``LinkSpeedRaw``.
    published_index : array of int, (nodes,), or None
        ``published_index``; None unless all nodes state one.
    measured, sites, notes
        As for `topologies.underlay.Underlay`.
    """

    labels: tuple[str, ...]
    latitude_deg: FloatArray
    longitude_deg: FloatArray
    ends: IntArray
    distance_km: FloatArray
    published_distance_km: FloatArray
    capacity_bps: FloatArray
    published_index: IntArray | None = None
    measured: MeasuredPairs | None = None
    sites: SiteValues | None = None
    notes: tuple[str, ...] = ()

    def true_km(self) -> FloatArray:
        """Length of every link as stated, else computed from the coordinates of its ends.

        Returns
        -------
        array of float, (links,)
            Lengths in km.

        Raises
        ------
        InputError
            If a link has no ``distance`` and one of its ends no coordinates.
        """
        length_km = self.distance_km.copy()
        for link in np.flatnonzero(np.isnan(length_km)).tolist():
            a, b = self.ends[link]
            # From the label that comes first: the way back may differ in the last bit.
            a, b = (a, b) if self.labels[a] < self.labels[b] else (b, a)
            unknown = [
                node for node in (a, b) if math.isnan(self.latitude_deg[node] + self.longitude_deg[node])
            ]
            if unknown:
                raise InputError(
                    f"{link_title(link, self.labels[a], self.labels[b])} has no distance and node "
                    f"{quoted(self.labels[unknown[0]])} lacks the Latitude and Longitude to compute it from."
                )
            length_km[link] = geodesic_km(
                self.latitude_deg[a], self.longitude_deg[a], self.latitude_deg[b], self.longitude_deg[b]
            )
        return length_km

    def published_km(self) -> FloatArray:
        """Length of every link as published.

        Returns
        -------
        array of float, (links,)
            Lengths in km.

        Raises
        ------
        InputError
            If a link has no ``published_distance``.
        """
        for link in np.flatnonzero(np.isnan(self.published_distance_km)).tolist():
            a, b = self.ends[link]
            raise InputError(
                f"{link_title(link, self.labels[a], self.labels[b])} has no published_distance, "
                "which the variant 'published' needs on every link."
            )
        return self.published_distance_km


def link_title(index: int, source: str, target: str) -> str:
    """How messages call a link."""
    return f"link {index} ({quoted(f'{source} - {target}')})"

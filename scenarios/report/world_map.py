"""The Earth on a flat map: land, great circles, and the window that shows a set of places."""

import functools
import importlib.resources
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from geographiclib.geodesic import Geodesic

from topologies.arrays import FloatArray

_TURN_DEG = 360.0
_STEP_KM, _MOST_STEPS = 150.0, 60
"""Between two points of a great circle; steps at most."""
_MARGIN = 0.08
"""Part of the window's larger side that is left free on each side."""
_LEAST_KM = 1.0
"""Least width and height of a window."""
_COARSE_DEG = 0.75
"""The land's outline is too coarse for windows that are smaller than this."""
_WORLD_DEG = 300.0
"""Windows wider than this show the whole Earth."""
_KM_PER_DEG = 111.2


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """The part of the plane that a map shows.

    Attributes
    ----------
    west, east, south, north : float
        Degrees; `east` may exceed 180, or `west` be below -180, where the window crosses the date line.
    stretch : float
        How much longer a degree of latitude is than one of longitude, in the middle.
    """

    west: float
    east: float
    south: float
    north: float
    stretch: float

    @property
    def ratio(self) -> float:
        """Height over width of the picture."""
        return self.stretch * (self.north - self.south) / (self.east - self.west)

    @property
    def width_km(self) -> float:
        """Width in the middle."""
        return _KM_PER_DEG * (self.east - self.west) / self.stretch

    @property
    def shows_land(self) -> bool:
        """Whether the outline of the land is fine enough."""
        return self.north - self.south >= _COARSE_DEG

    def reshaped(self, least: float, most: float) -> "Window":
        """The window grown in one direction, so that height over width is within bounds."""
        if self.ratio < least:
            grow = (least / self.ratio - 1) * (self.north - self.south) / 2
            south, north = max(self.south - grow, -90.0), min(self.north + grow, 90.0)
            return Window(west=self.west, east=self.east, south=south, north=north, stretch=self.stretch)
        if self.ratio > most:
            grow = (self.ratio / most - 1) * (self.east - self.west) / 2
            west, east = self.west - grow, self.east + grow
            return Window(west=west, east=east, south=self.south, north=self.north, stretch=self.stretch)
        return self


def unrolled(longitude_deg: FloatArray) -> FloatArray:
    """Longitudes without a jump between neighbours: cut where the largest gap without places is.

    Parameters
    ----------
    longitude_deg : array of float
        In [-180, 180], at least one.

    Returns
    -------
    array of float
        The same places, within 360 degrees from the cut, and as far as possible within [-180, 180].

    Examples
    --------
    >>> unrolled(np.array([139.7, -122.3, 151.2])).tolist()
    [139.7, 237.7, 151.2]
    """
    ordered = np.unique(longitude_deg)
    gaps = np.append(np.diff(ordered), ordered[0] + _TURN_DEG - ordered[-1])
    first = ordered[(int(gaps.argmax()) + 1) % len(ordered)]
    # The plain order wins where its gap is as large as any.
    first = ordered[0] if gaps[-1] >= gaps.max() else first
    return np.where(longitude_deg < first, longitude_deg + _TURN_DEG, longitude_deg)


def great_circle(
    latitude_a_deg: float, longitude_a_deg: float, latitude_b_deg: float, longitude_b_deg: float
) -> FloatArray:
    """Points on the shortest path between two places.

    Returns
    -------
    array of float, (points, 2)
        Longitude and latitude, at most 150 km apart on paths up to 9,000 km. Longitudes go on beyond +-180 degrees
        where the path crosses the date line.
    """
    parts = Geodesic.LATITUDE | Geodesic.LONGITUDE | Geodesic.LONG_UNROLL
    path = Geodesic.WGS84.InverseLine(latitude_a_deg, longitude_a_deg, latitude_b_deg, longitude_b_deg)
    steps = int(min(max(math.ceil(path.s13 / 1000 / _STEP_KM), 1), _MOST_STEPS))
    places = [path.Position(path.s13 * step / steps, parts) for step in range(steps + 1)]
    return np.array([(place["lon2"], place["lat2"]) for place in places])


def window_of(longitude_deg: FloatArray, latitude_deg: FloatArray, paths: Sequence[FloatArray]) -> Window:
    """The window that shows places and the paths between them.

    Parameters
    ----------
    longitude_deg, latitude_deg : array of float, (places,)
        Unrolled.
    paths : sequence of array of float, (points, 2)
        Each begins at a place. Where one leaves the window for the other side, the whole Earth is shown.

    Returns
    -------
    Window
    """
    points = np.concatenate([np.column_stack([longitude_deg, latitude_deg]), *paths])
    (west, south), (east, north) = points.min(axis=0), points.max(axis=0)
    middle_deg = (south + north) / 2
    stretch = 1 / max(math.cos(math.radians(middle_deg)), 0.2)
    margin = _MARGIN * max((east - west) / stretch, north - south)
    tall, wide = (
        max((_LEAST_KM / _KM_PER_DEG - span) / 2, margin) for span in (north - south, (east - west) / stretch)
    )
    south, north = max(south - tall, -90.0), min(north + tall, 90.0)
    if east - west + 2 * wide * stretch > _WORLD_DEG:
        # The cut is in the middle between the outermost places.
        centre = (longitude_deg.min() + longitude_deg.max()) / 2
        return Window(
            west=centre - 180, east=centre + 180, south=min(south, -60.0), north=max(north, 80.0), stretch=1.0
        )
    return Window(
        west=west - wide * stretch, east=east + wide * stretch, south=south, north=north, stretch=stretch
    )


def copies(path: FloatArray, window: Window) -> list[FloatArray]:
    """The path as often as it is seen in the window: also a whole turn to the west or east."""
    low, high = path[:, 0].min(), path[:, 0].max()
    turns = range(
        math.ceil((window.west - high) / _TURN_DEG), math.floor((window.east - low) / _TURN_DEG) + 1
    )
    return [np.add(path, [turn * _TURN_DEG, 0.0]) for turn in turns]


@functools.cache
def land_rings() -> tuple[FloatArray, ...]:
    """Outlines of the land, and of lakes within it as rings of the other direction.

    Returns
    -------
    tuple of array of float, (points, 2)
        Longitude and latitude; the last point is not the first one again. The largest come first.
    """
    text = importlib.resources.files("scenarios").joinpath("data", "land.json").read_text(encoding="utf-8")
    data = json.loads(text)
    rings = [np.cumsum(np.reshape(ring, (-1, 2)), axis=0) * data["quantum_deg"] for ring in data["rings"]]
    for ring in rings:
        ring.flags.writeable = False
    return tuple(rings)


def land_in(window: Window) -> list[FloatArray]:
    """Outlines of the land that a window shows; none where they are too coarse for it."""
    if not window.shows_land:
        return []
    seen = []
    for ring in land_rings():
        for copy in copies(ring, window):
            if copy[:, 1].max() >= window.south and copy[:, 1].min() <= window.north:
                seen.append(copy)
    return seen

"""Distances on the Earth between many points at once."""

import numpy as np

from topologies.arrays import FloatArray
from topologies.geodesy import geodesic_km

_EQUATOR_KM, _FLATTENING = 6378.137, 1 / 298.257223563
_POLE_KM = _EQUATOR_KM * (1 - _FLATTENING)
_NEARLY_ANTIPODAL_RAD = 0.03
"""Nearer to the opposite point the iteration is slow, or has no limit."""
_ITERATIONS = 12
"""Most pairs need five or six, each of which gains more than two digits."""
_AT_ONCE = 1 << 16
"""Pairs of which all intermediate arrays fit into a processor's cache."""


def geodesics_km(
    latitude_a_deg: FloatArray,
    longitude_a_deg: FloatArray,
    latitude_b_deg: FloatArray,
    longitude_b_deg: FloatArray,
) -> FloatArray:
    """Length of the shortest path between each pair of points of the WGS84 ellipsoid.

    Parameters
    ----------
    latitude_a_deg, longitude_a_deg, latitude_b_deg, longitude_b_deg : array of float, (pairs,)
        Finite degrees.

    Returns
    -------
    array of float, (pairs,)
        Lengths in km, within 1e-9 parts or 1e-9 km of those of `topologies.geodesy.geodesic_km`.

    Notes
    -----
    Vincenty's iteration [1]_, by which a million pairs take a few seconds; where it does not converge, as for
    points that are nearly opposite each other, `topologies.geodesy.geodesic_km`.

    References
    ----------
    .. [1] T. Vincenty, "Direct and inverse solutions of geodesics on the ellipsoid with application of nested
       equations", Survey Review 23(176), 88-93 (1975).
    """
    places = (latitude_a_deg, longitude_a_deg, latitude_b_deg, longitude_b_deg)
    parts = range(0, len(latitude_a_deg), _AT_ONCE)
    length_km = [_vincenty_km(*(place[i : i + _AT_ONCE] for place in places)) for i in parts]
    found = np.concatenate([np.empty(0), *length_km])
    for pair in np.flatnonzero(np.isnan(found)).tolist():
        found[pair] = geodesic_km(*(float(place[pair]) for place in places))
    return found


def _vincenty_km(
    latitude_a_deg: FloatArray,
    longitude_a_deg: FloatArray,
    latitude_b_deg: FloatArray,
    longitude_b_deg: FloatArray,
) -> FloatArray:
    """Lengths in km, NaN where the iteration does not converge."""
    length_km = np.full(len(latitude_a_deg), np.nan)
    left = np.arange(len(length_km))
    tan_a, tan_b = ((1 - _FLATTENING) * np.tan(np.radians(x)) for x in (latitude_a_deg, latitude_b_deg))
    cos_a, cos_b = 1 / np.hypot(1, tan_a), 1 / np.hypot(1, tan_b)
    sin_a, sin_b = tan_a * cos_a, tan_b * cos_b
    turn_rad = np.radians((longitude_b_deg - longitude_a_deg + 180) % 360 - 180)
    angle_rad = turn_rad
    for iteration in range(_ITERATIONS):
        sin_angle = np.sin(angle_rad)
        # Not the paper's difference, which loses digits where points are near each other.
        along = sin_b * cos_a - cos_b * sin_a + 2 * sin_a * cos_b * np.sin(angle_rad / 2) ** 2
        sin_arc = np.hypot(cos_b * sin_angle, along)
        cos_arc = sin_a * sin_b + cos_a * cos_b * np.cos(angle_rad)
        arc = np.arctan2(sin_arc, cos_arc)
        sin_azimuth = np.divide(cos_a * cos_b * sin_angle, sin_arc, out=np.zeros_like(arc), where=sin_arc > 0)
        cos2_azimuth = 1 - sin_azimuth**2
        cos_middle = cos_arc - np.divide(  # 0 on the equator
            2 * sin_a * sin_b, cos2_azimuth, out=cos_arc.copy(), where=cos2_azimuth > 1e-15
        )
        c = _FLATTENING / 16 * cos2_azimuth * (4 + _FLATTENING * (4 - 3 * cos2_azimuth))
        bend = arc + c * sin_arc * (cos_middle + c * cos_arc * (2 * cos_middle**2 - 1))
        new_rad = turn_rad + (1 - c) * _FLATTENING * sin_azimuth * bend
        settled = np.abs(new_rad - angle_rad) <= 1e-12 * np.abs(new_rad)
        found = tuple(x[settled] for x in (arc, sin_arc, cos_arc, cos_middle, cos2_azimuth))
        length_km[left[settled]] = _arc_km(*found)
        stays = ~settled & (np.abs(new_rad) <= np.pi)
        if iteration == 0:
            is_opposite = arc >= np.pi - _NEARLY_ANTIPODAL_RAD
            length_km[left[is_opposite]] = np.nan
            stays &= ~is_opposite
        left, turn_rad, angle_rad = left[stays], turn_rad[stays], new_rad[stays]
        sin_a, cos_a, sin_b, cos_b = sin_a[stays], cos_a[stays], sin_b[stays], cos_b[stays]
        if not len(left):
            break
    return length_km


def _arc_km(
    arc: FloatArray,
    sin_arc: FloatArray,
    cos_arc: FloatArray,
    cos_middle: FloatArray,
    cos2_azimuth: FloatArray,
) -> FloatArray:
    """Length of an arc of the auxiliary sphere on the ellipsoid, with the paper's series."""
    u2 = cos2_azimuth * ((_EQUATOR_KM / _POLE_KM) ** 2 - 1)
    a = 1 + u2 / 16384 * (4096 + u2 * (-768 + u2 * (320 - 175 * u2)))
    b = u2 / 1024 * (256 + u2 * (-128 + u2 * (74 - 47 * u2)))
    last = b / 6 * cos_middle * (4 * sin_arc**2 - 3) * (4 * cos_middle**2 - 3)
    less = b * sin_arc * (cos_middle + b / 4 * (cos_arc * (2 * cos_middle**2 - 1) - last))
    return _POLE_KM * a * (arc - less)

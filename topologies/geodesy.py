"""Distances on the Earth."""

from geographiclib.geodesic import Geodesic


def geodesic_km(
    latitude_a_deg: float, longitude_a_deg: float, latitude_b_deg: float, longitude_b_deg: float
) -> float:
    """Length of the shortest path between two points of the WGS84 ellipsoid.

    Parameters
    ----------
    latitude_a_deg, longitude_a_deg : float
        First point, degrees north in [-90, 90] and degrees east.
    latitude_b_deg, longitude_b_deg : float
        Second point.

    Returns
    -------
    float
        Length in km; NaN where a latitude is outside [-90, 90].

    Notes
    -----
    Karney's inverse geodesic, accurate to about 15 nm [1]_; the great circle of a sphere is up to 0.6 % off.

    References
    ----------
    .. [1] C. F. F. Karney, "Algorithms for geodesics", Journal of Geodesy 87, 43-55 (2013).

    Examples
    --------
    >>> round(geodesic_km(-41.32, 174.81, 40.96, -5.50), 3)
    19959.679
    """
    inverse = Geodesic.WGS84.Inverse(
        latitude_a_deg, longitude_a_deg, latitude_b_deg, longitude_b_deg, Geodesic.DISTANCE
    )
    return float(inverse["s12"]) / 1000.0

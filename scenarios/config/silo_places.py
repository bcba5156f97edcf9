"""Coordinates of the silos, for partitions by place."""

import numpy as np

from topologies import Connectivity, InputError
from topologies.arrays import FloatArray
from topologies.errors import quoted
from training import TrainingConfig

SHIFT_WEST_DEG = 90.0
"""Of European networks: the paper's."""
_SOUTH_DEG, _NORTH_DEG, _WEST_DEG, _EAST_DEG = 34.0, 72.0, -25.0, 45.0
"""Europe, roughly."""


def is_european(graph: Connectivity) -> bool:
    """Whether more than half of all silos lie in Europe: 34 to 72 degrees north and 25 west to 45 east.

    Parameters
    ----------
    graph : Connectivity

    Returns
    -------
    bool
        True for the shipped GEANT and Ebone, False for the other shipped networks.
    """
    latitude, longitude = _coordinates(graph).T
    inside = (latitude >= _SOUTH_DEG) & (latitude <= _NORTH_DEG)
    inside &= (longitude >= _WEST_DEG) & (longitude <= _EAST_DEG)
    return bool(2 * inside.sum() > graph.silos)


def shift_west_deg(graph: Connectivity, training: TrainingConfig) -> float:
    """Degrees by which the silos move to the west: what the user chose, or the paper's rule."""
    if training.shift_west_deg is not None:
        return float(training.shift_west_deg)
    return SHIFT_WEST_DEG if is_european(graph) else 0.0


def silo_places(graph: Connectivity, training: TrainingConfig) -> FloatArray | None:
    """Latitude and longitude of the silos for the training's partition.

    Parameters
    ----------
    graph : Connectivity
    training : TrainingConfig

    Returns
    -------
    ndarray, shape (silos, 2), or None
        Degrees, moved to the west by `shift_west_deg`, longitudes in [-180, 180); None where the partition does not ask
        for places.

    Raises
    ------
    InputError
        If it does, and a router has no coordinates.
    """
    if training.partition != "geographic":
        return None
    places = _coordinates(graph)
    for silo in np.flatnonzero(np.isnan(places).any(axis=1)):
        raise InputError(
            f"partition(='geographic') needs coordinates: router {quoted(graph.labels[silo])} of "
            f"{quoted(graph.underlay.name)} must have a latitude and a longitude."
        )
    longitude = (places[:, 1] - shift_west_deg(graph, training) + 180) % 360 - 180
    return np.column_stack((places[:, 0], longitude))


def _coordinates(graph: Connectivity) -> FloatArray:
    """Latitude and longitude of each silo's router, NaN where unknown."""
    underlay = graph.underlay
    return np.column_stack((underlay.latitude_deg[graph.router], underlay.longitude_deg[graph.router]))

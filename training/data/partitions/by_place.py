"""Partition by the samples' places: half to the closest silo, half evenly to all."""

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError
from training.data.partitions.request import SplitRequest, shares_of, without_empty_silos


def geographic(request: SplitRequest, rng: np.random.Generator) -> list[IntArray]:
    """Give one half of the samples to the closest silo each, and deal the other half out evenly.

    Parameters
    ----------
    request : SplitRequest
        Samples with places, and the places of the silos.

    Returns
    -------
    list of IntArray
        For each silo the indices of its samples, ascending; disjoint, complete, none empty.

    Raises
    ------
    InputError
        If samples or silos have no places, or a latitude or longitude is out of range.

    Notes
    -----
    The half that goes to the closest silo is drawn from the samples whose place is known (rounded down); all others are
    dealt out, numbers that differ by at most one. The paper first moves European silos by 90 degrees to the west, since
    most of its images come from North America; whoever passes ``silo_places`` does that. The published code has neither
    the dealt half nor the move: it sends every image to its closest silo. If a silo is empty in the end, see
    `without_empty_silos`.

    References
    ----------
    O. Marfoq et al., "Throughput-Optimal Topology Design for Cross-Silo Federated Learning", NeurIPS 2020, appendix on
    data sets.
    """
    if request.places is None:
        raise InputError("partition(='geographic') must have data with places: latitude and longitude.")
    if request.silo_places is None:
        raise InputError("partition(='geographic') must have silos with places: latitude and longitude.")
    _check("training sample", request.places, may_be_unknown=True)
    _check("silo", request.silo_places, may_be_unknown=False)
    order = rng.permutation(len(request.labels))
    known = order[~np.isnan(request.places[order]).any(axis=1)]
    near = known[: known.size // 2]
    far = order[~np.isin(order, near)]
    owner = np.empty(len(order), dtype=np.int64)
    owner[near] = closest_silo(request.places[near], request.silo_places)
    for silo, part in enumerate(np.array_split(far, request.silos)):
        owner[part] = silo
    return shares_of(without_empty_silos(owner, request.silos, rng), request.silos)


def closest_silo(places: FloatArray, silo_places: FloatArray) -> IntArray:
    """Return the silo that is closest to each place.

    Parameters
    ----------
    places : FloatArray, shape (places, 2)
        Latitude and longitude in degrees.
    silo_places : FloatArray, shape (silos, 2)
        The same of the silos.

    Returns
    -------
    IntArray, shape (places,)
        Silos. Several at one place (within some centimetres) take turns, in index order.

    Notes
    -----
    Along great circles of a sphere; the ellipsoid's distances differ by up to 0.6 %, which matters only for places
    about halfway between two silos. O(places * log(silos)).
    """
    # Here since it takes long to import, and all that reads a scenario imports this module.
    from scipy.spatial import KDTree

    sites, site_of_silo = np.unique(np.round(_on_sphere(silo_places), 9), axis=0, return_inverse=True)
    _distance, site_of_place = KDTree(sites).query(_on_sphere(places))
    owner = np.empty(len(places), dtype=np.int64)
    for site in range(len(sites)):
        here = np.flatnonzero(site_of_place == site)
        silos = np.flatnonzero(site_of_silo.reshape(-1) == site)
        owner[here] = silos[np.arange(here.size) % silos.size]
    return owner


def _on_sphere(places: FloatArray) -> FloatArray:
    """Points on the unit sphere, shape (places, 3), of latitudes and longitudes in degrees."""
    latitude, longitude = np.radians(places).T
    return np.column_stack(
        (np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude))
    )


def _check(what: str, places: FloatArray, *, may_be_unknown: bool) -> None:
    """Raise an InputError for a place that is none; any longitude is one, since shifts may pass the date line."""
    for field, values, limit in (
        ("latitude", places[:, 0], 90.0),
        ("longitude", places[:, 1], np.finfo(np.float64).max),
    ):
        wrong = np.flatnonzero(~(np.abs(values) <= limit) & ~(may_be_unknown & np.isnan(values)))
        if wrong.size:
            rule = "in [-90, 90]" if field == "latitude" else "finite"
            raise InputError(f"{field}(={values[wrong[0]]}) of {what} {wrong[0]} must be {rule}.")

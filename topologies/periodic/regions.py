"""Regions of near silos, and the silo in the middle of some."""

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.checks import check_integer
from topologies.errors import Field, InputError

_DIGITS = 12
"""Of latencies in seconds that count: what differs by rounding is a tie."""


def near_regions(latency_s: FloatArray, count: int) -> IntArray:
    """Region of each silo, so that silos of one region are near each other.

    Parameters
    ----------
    latency_s : ndarray, shape (silos, silos)
        From row to column, in seconds; the mean of both directions counts. Ties depend on the order of the silos.
    count : int
        Number of regions, 1 to `silos`.

    Returns
    -------
    ndarray of int, shape (silos,)
        Numbers ``0..count - 1``, in the order of each region's first silo.

    Raises
    ------
    InputError
        If `count` is no integer or out of its range.

    Notes
    -----
    Agglomerative clustering with complete linkage, by scipy: the two regions are joined whose farthest silos are
    nearest, until `count` are left (Defays 1977; Muellner 2011). Time O(silos^2).
    """
    silos = len(latency_s)
    check_integer("regions", count, minimum=1)
    if count > silos:
        raise InputError(f"must be <= {silos}, the number of silos.", field=Field("regions", value=count))
    if count == silos:
        return np.arange(silos)
    # Imported here since it takes long, and few commands need it.
    from scipy.cluster.hierarchy import cut_tree, linkage

    distance_s = np.round((latency_s + latency_s.T) / 2, _DIGITS)
    tree = linkage(distance_s[np.triu_indices(silos, 1)], method="complete")
    joined = cut_tree(tree, n_clusters=[count]).ravel()
    _, first = np.unique(joined, return_index=True)
    number = np.argsort(np.argsort(first))
    return np.asarray(number[joined], dtype=np.int64)


def central_silo(latency_s: FloatArray, among: IntArray) -> int:
    """The silo with the lowest mean latency to and from the others of a group, the first of several.

    Parameters
    ----------
    latency_s : ndarray, shape (silos, silos)
    among : ndarray of int, shape (group,)
        At least one silo.
    """
    inside = latency_s[np.ix_(among, among)]
    mean_s = np.round((inside.sum(axis=0) + inside.sum(axis=1)) / 2, _DIGITS)
    return int(among[np.argmin(mean_s)])


def central_silos(latency_s: FloatArray, region: IntArray) -> IntArray:
    """`central_silo` of each region, shape (regions,)."""
    return np.array(
        [
            central_silo(latency_s, np.flatnonzero(region == number))
            for number in range(int(region.max()) + 1)
        ],
        dtype=np.int64,
    )

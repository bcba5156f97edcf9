"""Partition by groups (writers, roles, accounts): whole groups to silos, in lognormal numbers."""

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError
from training.data.partitions.request import SplitRequest, shares_of, too_many_silos, without_empty_silos

LOG_MEAN, LOG_DEVIATION = 5.0, 1.5
"""Of the natural logarithm of a silo's number of groups, before all are scaled to the groups that there are."""


def apportion(weights: FloatArray, total: int) -> IntArray:
    """Divide a number of things by weights, by the method of largest remainders.

    Parameters
    ----------
    weights : FloatArray, shape (parts,)
        Weights > 0.
    total : int
        Number of things.

    Returns
    -------
    IntArray, shape (parts,)
        Counts with the sum `total`, each less than 1 from its exact share; among equal remainders the lowest index
        gets one more.

    Examples
    --------
    >>> apportion(np.array([1.0, 1.0, 2.0]), 5).tolist()
    [1, 1, 3]
    """
    exact = weights / weights.sum() * total
    counts: IntArray = np.floor(exact).astype(np.int64)
    most_left = np.argsort(counts - exact, kind="stable")
    counts[most_left[: total - counts.sum()]] += 1
    return counts


def groups(request: SplitRequest, rng: np.random.Generator) -> list[IntArray]:
    """Give every writer, role or account as a whole to one silo; silos get lognormal numbers of them.

    Parameters
    ----------
    request : SplitRequest
        Samples with groups.

    Returns
    -------
    list of IntArray
        For each silo the indices of its samples, ascending; disjoint, complete, none empty.

    Raises
    ------
    InputError
        If the data have no groups, or fewer than silos.

    Notes
    -----
    As the paper describes it: the number of groups per silo is lognormal, with mean 5 and standard deviation 1.5 of its
    natural logarithm. Since all groups are assigned, only the ratios of the drawn numbers count: they are scaled to
    the sum of all groups and rounded by largest remainders. A silo that gets none is given one group of the silo that
    has most. The published code differs: it adds 5 to each number, drops what rounding down leaves over, and a slip in
    an index gives several silos the same groups.

    References
    ----------
    O. Marfoq et al., "Throughput-Optimal Topology Design for Cross-Silo Federated Learning", NeurIPS 2020, appendix on
    data sets.
    """
    if request.groups is None:
        raise InputError("partition(='groups') must have data with groups: writers, roles or accounts.")
    present, group_of_sample = np.unique(request.groups, return_inverse=True)
    if request.silos > present.size:
        raise too_many_silos(request.silos, present.size, "groups (writers, roles or accounts)")
    counts = apportion(rng.lognormal(LOG_MEAN, LOG_DEVIATION, request.silos), present.size)
    owner = np.empty(present.size, dtype=np.int64)
    owner[rng.permutation(present.size)] = np.repeat(np.arange(request.silos), counts)
    return shares_of(without_empty_silos(owner, request.silos, rng)[group_of_sample], request.silos)

"""Partitions by labels: iid and Dirichlet."""

import numpy as np

from topologies.arrays import IntArray
from topologies.errors import InputError
from training.data.partitions.request import SplitRequest, shares_of, without_empty_silos


def iid(request: SplitRequest, rng: np.random.Generator) -> list[IntArray]:
    """Deal the shuffled samples out evenly: sizes differ by at most one."""
    samples = len(request.labels)
    return [np.sort(share) for share in np.array_split(rng.permutation(samples), request.silos)]


def dirichlet(request: SplitRequest, rng: np.random.Generator) -> list[IntArray]:
    """Split every class over the silos in proportions drawn from a symmetric Dirichlet distribution.

    Parameters
    ----------
    request : SplitRequest
        Its ``alpha`` is the concentration: towards 0 a class lies in one silo, towards infinity every silo has the
        same mix. Sequences have a label at each position and no class of their own: their groups take its place.

    Returns
    -------
    list of IntArray
        For each silo the indices of its samples, ascending; disjoint, complete, none empty.

    Raises
    ------
    InputError
        If samples have several labels each and no groups.

    Notes
    -----
    With many silos and a small ``alpha`` some silos draw nothing; see `without_empty_silos`.

    References
    ----------
    T. H. Hsu, H. Qi, M. Brown, "Measuring the Effects of Non-Identical Data Distribution for Federated Visual
    Classification", 2019; the split class by class is the one of M. Yurochkin et al., "Bayesian Nonparametric
    Federated Learning of Neural Networks", ICML 2019.
    """
    classes = request.labels if request.labels.ndim == 1 else request.groups
    if classes is None:
        raise InputError("partition(='dirichlet') must have data with one label per sample, or with groups.")
    owner = np.empty(classes.size, dtype=np.int64)
    for label in np.unique(classes):
        members = rng.permutation(np.flatnonzero(classes == label))
        shares = rng.dirichlet(np.full(request.silos, request.alpha))
        bounds = np.floor(np.cumsum(shares)[:-1] * members.size).astype(np.int64)
        for silo, part in enumerate(np.split(members, np.minimum(bounds, members.size))):
            owner[part] = silo
    return shares_of(without_empty_silos(owner, request.silos, rng), request.silos)

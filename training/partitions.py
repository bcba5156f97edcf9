"""Ways to split the training data over the silos."""

from collections.abc import Callable, Mapping

import numpy as np

from topologies.arrays import IntArray
from topologies.errors import InputError
from training.registry import lookup
from training.streams import Purpose, stream

Partition = Callable[[IntArray, int, float, np.random.Generator], list[IntArray]]


def iid(labels: IntArray, silos: int, alpha: float, rng: np.random.Generator) -> list[IntArray]:
    """Deal the shuffled samples out evenly: sizes differ by at most one."""
    del alpha
    return [np.sort(share) for share in np.array_split(rng.permutation(labels.size), silos)]


def dirichlet(labels: IntArray, silos: int, alpha: float, rng: np.random.Generator) -> list[IntArray]:
    """Split every class over the silos in proportions drawn from a symmetric Dirichlet distribution.

    Parameters
    ----------
    labels : IntArray, shape (samples,)
        Classes of the training samples.
    silos : int
        Number of silos, at most the number of samples.
    alpha : float
        Concentration, > 0: towards 0 a class lies in one silo, towards infinity every silo has the same mix.
    rng : numpy.random.Generator
        Source of the proportions and of who gets which sample.

    Returns
    -------
    list of IntArray
        For each silo the indices of its samples, ascending; disjoint, complete, none empty.

    Notes
    -----
    With many silos and a small `alpha` some silos draw nothing, and drawing again until none is empty may never end.
    Instead each empty silo, in index order, receives one random sample of the silo that has most at that moment
    (lowest index among equals); all other silos keep what they drew.

    References
    ----------
    T. H. Hsu, H. Qi, M. Brown, "Measuring the Effects of Non-Identical Data Distribution for Federated Visual
    Classification", 2019; the split class by class is the one of M. Yurochkin et al., "Bayesian Nonparametric
    Federated Learning of Neural Networks", ICML 2019.
    """
    owner = np.empty(labels.size, dtype=np.int64)
    for label in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == label))
        shares = rng.dirichlet(np.full(silos, alpha))
        bounds = np.floor(np.cumsum(shares)[:-1] * members.size).astype(np.int64)
        for silo, part in enumerate(np.split(members, np.minimum(bounds, members.size))):
            owner[part] = silo
    sizes = np.bincount(owner, minlength=silos)
    for empty in np.flatnonzero(sizes == 0):
        giver = int(np.argmax(sizes))
        owner[rng.choice(np.flatnonzero(owner == giver))] = empty
        sizes[giver] -= 1
        sizes[empty] = 1
    return [np.flatnonzero(owner == silo) for silo in range(silos)]


PARTITIONS: Mapping[str, Partition] = {"dirichlet": dirichlet, "iid": iid}


def split(name: str, labels: IntArray, *, silos: int, alpha: float, seed: int) -> list[IntArray]:
    """Split samples over silos by a named rule.

    Parameters
    ----------
    name : str
        ``dirichlet`` or ``iid``.
    labels : IntArray, shape (samples,)
        Classes of the training samples.
    silos : int
        Number of silos.
    alpha : float
        Concentration of ``dirichlet``.
    seed : int
        The run's seed.

    Returns
    -------
    list of IntArray
        Indices of each silo's samples.

    Raises
    ------
    InputError
        If the name is unknown or there are fewer samples than silos.
    """
    rule = lookup(PARTITIONS, name, field="partition")
    if silos > labels.size:
        raise InputError(f"silos(={silos}) must be <= {labels.size}, the number of training samples.")
    return rule(labels, silos, alpha, stream(seed, Purpose.PARTITION))

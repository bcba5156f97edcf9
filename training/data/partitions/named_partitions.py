"""Partitions by name."""

from collections.abc import Callable, Mapping

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError
from training.data.datasets import Dataset
from training.data.partitions.by_group import groups as by_group
from training.data.partitions.by_label import dirichlet, iid
from training.data.partitions.by_place import geographic
from training.data.partitions.request import SplitRequest, too_many_silos
from training.lookup import lookup
from training.random_streams import Purpose, stream

Partition = Callable[[SplitRequest, np.random.Generator], list[IntArray]]

PARTITIONS: Mapping[str, Partition] = {
    "dirichlet": dirichlet,
    "geographic": geographic,
    "groups": by_group,
    "iid": iid,
}


def split(
    name: str,
    labels: IntArray,
    *,
    silos: int,
    alpha: float,
    seed: int,
    groups: IntArray | None = None,
    places: FloatArray | None = None,
    silo_places: FloatArray | None = None,
) -> list[IntArray]:
    """Split samples over silos by a named rule.

    Parameters
    ----------
    name : str
        One of `PARTITIONS`.
    labels : IntArray, shape (samples,) or (samples, length)
        Classes of the training samples.
    alpha : float
        Concentration of ``dirichlet``.
    groups : IntArray, shape (samples,), optional
        Writers, roles or accounts, which ``groups`` needs.
    places : FloatArray, shape (samples, 2), optional
        Latitude and longitude of the samples in degrees, which ``geographic`` needs; NaN where unknown.
    silo_places : FloatArray, shape (silos, 2), optional
        Latitude and longitude of the silos in degrees, which ``geographic`` needs.

    Returns
    -------
    list of IntArray
        Indices of each silo's samples, ascending: disjoint, complete, at least one for each silo.

    Raises
    ------
    InputError
        If the name is unknown, there are fewer samples (or groups) than silos, or the rule lacks what it needs.

    Notes
    -----
    Depends on nothing but the arguments, so every rank that calls it has the same split.
    """
    rule = lookup(PARTITIONS, name, field="partition")
    if silos > len(labels):
        raise too_many_silos(silos, len(labels), "training samples")
    request = SplitRequest(
        labels=labels, silos=silos, alpha=alpha, groups=groups, places=places, silo_places=silo_places
    )
    return rule(request, stream(seed, Purpose.PARTITION))


def split_dataset(
    name: str,
    dataset: Dataset,
    *,
    silos: int,
    alpha: float,
    seed: int,
    silo_places: FloatArray | None = None,
) -> list[IntArray]:
    """Split the training samples of a data set, which errors name; everything else as in `split`."""
    try:
        return split(
            name,
            dataset.train_labels,
            silos=silos,
            alpha=alpha,
            seed=seed,
            groups=dataset.train_groups,
            places=dataset.train_places,
            silo_places=silo_places,
        )
    except InputError as error:
        raise error.located(dataset.source or None) from error

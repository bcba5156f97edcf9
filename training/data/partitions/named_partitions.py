"""Partitions by name."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError
from training.data.datasets import Dataset
from training.data.partitions.by_group import groups as by_group
from training.data.partitions.by_label import dirichlet, iid
from training.data.partitions.by_place import geographic
from training.data.partitions.from_file import from_file, is_partition_file
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
    silo_labels: Sequence[str] | None = None,
) -> list[IntArray]:
    """Split samples over silos by a named rule, or as a file says.

    Parameters
    ----------
    name : str
        One of `PARTITIONS`, or the path of a CSV file (`training.data.partitions.from_file`).
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
    silo_labels : sequence of str, optional
        Names of the silos, by which a file may name them.

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
    rule = None if is_partition_file(name) else lookup(PARTITIONS, name, field="partition")
    if silos > len(labels):
        raise too_many_silos(silos, len(labels), "training samples")
    request = SplitRequest(
        labels=labels, silos=silos, alpha=alpha, groups=groups, places=places, silo_places=silo_places
    )
    if rule is None:
        return from_file(Path(name), request, silo_labels)
    return rule(request, stream(seed, Purpose.PARTITION))


def split_dataset(
    name: str,
    dataset: Dataset,
    *,
    silos: int,
    alpha: float,
    seed: int,
    silo_places: FloatArray | None = None,
    silo_labels: Sequence[str] | None = None,
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
            silo_labels=silo_labels,
        )
    except InputError as error:
        if is_partition_file(name):
            raise  # the file is at fault, not the data
        raise error.located(dataset.source or None) from error

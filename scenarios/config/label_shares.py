"""The labels of a training's partition: how often each silo has each of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from scenarios.config.error_context import in_stated_table, located
from scenarios.config.silo_places import silo_places
from topologies import Connectivity, InputError
from topologies.arrays import FloatArray, IntArray, freeze
from topologies.errors import Field, quoted
from training import Dataset, TrainingConfig, load_dataset, split_dataset

PARTITION_KEYS = (
    "dataset",
    "data",
    "dataset_options",
    "skip_bad",
    "partition",
    "dirichlet_alpha",
    "shift_west_deg",
)
"""Keys of ``[training]`` that a partition depends on."""


def label_counts(labels: IntArray, shares: Sequence[IntArray], classes: int) -> IntArray:
    """How often each silo has each label.

    Parameters
    ----------
    labels : ndarray of int, shape (samples,) or (samples, length)
        Negative where a position is padding.
    shares : sequence of ndarray of int
        Each silo's samples.
    classes : int

    Returns
    -------
    ndarray of int, shape (silos, classes)
    """
    own = (labels[share].ravel() for share in shares)
    return np.array([np.bincount(part[part >= 0], minlength=classes) for part in own])


def divided(graph: Connectivity, training: TrainingConfig, seed: int) -> tuple[Dataset, list[IntArray]]:
    """A training's data set, and each silo's samples of it, as the training divides them.

    Parameters
    ----------
    graph : Connectivity
    training : TrainingConfig
        Its data set and partition count.
    seed : int

    Raises
    ------
    InputError
        If data are missing or bad, or cannot be split so.
    """
    dataset = load_dataset(training.dataset, training.data_options)
    parts = split_dataset(
        training.partition,
        dataset,
        silos=graph.silos,
        alpha=training.dirichlet_alpha,
        seed=seed,
        silo_places=silo_places(graph, training),
        silo_labels=graph.labels,
    )
    return dataset, parts


@dataclass(frozen=True, kw_only=True, eq=False)
class PartitionLabels:
    """Shares of labels at the silos, counted once, when they are asked for first; nothing is trained.

    Parameters
    ----------
    graph : Connectivity
    training : TrainingConfig
    seed : int
        Of the scenario, which is that of the partition.
    source : str, optional
        The scenario's file, for error messages.
    """

    graph: Connectivity
    training: TrainingConfig = field(repr=False)
    seed: int
    source: str | None = None

    def __call__(self) -> FloatArray:
        """Share of each label among the labels of each silo, shape (silos, classes); rows sum to 1.

        Raises
        ------
        InputError
            If data are missing or bad, cannot be split so, have no classes as labels, or a silo has no label.
        """
        return self._shares

    @cached_property
    def _shares(self) -> FloatArray:
        with located(self.source), in_stated_table("training", TrainingConfig):
            dataset, parts = divided(self.graph, self.training, self.seed)
            labels = np.asarray(dataset.train_labels)
            if not np.issubdtype(labels.dtype, np.integer):
                raise InputError(
                    "has no classes as labels, whose shares an overlay is designed by.",
                    field=Field("dataset", value=self.training.dataset),
                )
            counts = label_counts(labels, parts, dataset.classes)
        totals = counts.sum(axis=1, keepdims=True)
        for silo in np.flatnonzero(totals[:, 0] == 0):
            raise InputError(
                f"gives silo {quoted(self.graph.labels[silo])} no label, by which an overlay is designed.",
                field=Field("training", "partition", value=self.training.partition),
                source=self.source,
            )
        shares = counts / totals
        freeze(shares)
        return np.asarray(shares)


def partition_labels(
    graph: Connectivity, training: TrainingConfig | None, seed: int, source: str | None = None
) -> PartitionLabels | None:
    """Shares of labels of a scenario; None of one that does not train."""
    if training is None:
        return None
    return PartitionLabels(graph=graph, training=training, seed=seed, source=source)

"""Checks of a training's data: they can be read, divided over the silos and learnt from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError
from training.config import TrainingConfig
from training.data.datasets import IGNORED, Dataset, Inputs, load_dataset
from training.data.partitions import split_dataset
from training.engine.initial_model import initial_model
from training.job import TrainingJob, silo_name

if TYPE_CHECKING:
    from torch import nn

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CheckedData:
    """Initial model, partition and data set of a training, without the samples.

    Parameters
    ----------
    model : torch.nn.Module
        The initial model, on the CPU.
    parts : tuple of IntArray
        Training samples of each silo.
    dataset : Dataset
        Inputs and labels in their shapes and types, all zeros that take no memory. Inputs that are read by index are
        those of the data set; groups, places and names are left out.
    """

    model: "nn.Module"
    parts: tuple[IntArray, ...]
    dataset: Dataset

    def __repr__(self) -> str:
        """Model, number of silos and data set."""
        return f"<CheckedData: {type(self.model).__name__}, {len(self.parts)} silos, {self.dataset!r}>"


def check_data(
    config: TrainingConfig,
    *,
    silos: int,
    seed: int,
    silo_places: FloatArray | None = None,
    silo_labels: Sequence[str] | None = None,
) -> CheckedData:
    """Check the data of a training and what depends on them, before anything is designed or started.

    Parameters
    ----------
    config, silos, seed
        As in `training.job.TrainingJob`.
    silo_places, silo_labels : optional
        As in `training.job.TrainingJob`.

    Raises
    ------
    InputError
        If data or initial weights are missing or bad, the model cannot read or train on such batches, or the data
        cannot be divided over so many silos.

    Notes
    -----
    Reads the data once. Images are only looked for; one that does not decode shows when it is read.
    """
    dataset = load_dataset(config.dataset, replace(config.data_options, decode_all=False))
    model = initial_model(config, dataset, seed=seed)
    parts = checked_partition(
        config, dataset, silos=silos, seed=seed, silo_places=silo_places, silo_labels=silo_labels
    )
    return CheckedData(model=model, parts=tuple(parts), dataset=without_samples(dataset))


def without_samples(dataset: Dataset) -> Dataset:
    """Return a data set of the same shapes and types as `CheckedData` describes it."""
    return Dataset(
        train_inputs=_inputs_without_samples(dataset.train_inputs),
        train_labels=_zeros_like(dataset.train_labels),
        test_inputs=_inputs_without_samples(dataset.test_inputs),
        test_labels=_zeros_like(dataset.test_labels),
        classes=dataset.classes,
        input_parts=dataset.input_parts,
    )


def _inputs_without_samples(inputs: Inputs) -> Inputs:
    """Arrays without memory; other inputs hold no samples."""
    return _zeros_like(inputs) if isinstance(inputs, np.ndarray) else inputs


def _zeros_like(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """One zero, seen as an array of the same shape and type."""
    return np.broadcast_to(np.zeros((), values.dtype), values.shape)


def checked_partition(
    config: TrainingConfig,
    dataset: Dataset,
    *,
    silos: int,
    seed: int,
    silo_places: FloatArray | None = None,
    silo_labels: Sequence[str] | None = None,
) -> list[IntArray]:
    """Return each silo's training samples, checked: every silo has something to learn from.

    Parameters
    ----------
    config, silos, seed, silo_places, silo_labels
        As in `training.job.TrainingJob`.
    dataset : Dataset
        The data to divide.

    Returns
    -------
    list of IntArray
        Indices of each silo's samples.

    Raises
    ------
    InputError
        If the data cannot be divided, a silo has no label that counts, or no sample is held out for tests.
    """
    parts = split_dataset(
        config.partition,
        dataset,
        silos=silos,
        alpha=config.dirichlet_alpha,
        seed=seed,
        silo_places=silo_places,
        silo_labels=silo_labels,
    )
    counted = counted_labels(dataset.train_labels)
    for silo, part in enumerate(parts):
        if not counted[part].any():
            raise InputError(
                f"partition(={config.partition!r}) must give {silo_name(silo, silo_labels)} a sample whose label "
                "counts: all are padding."
            )
    if not counted_labels(dataset.test_labels).any():
        raise InputError(f"dataset(={config.dataset!r}) must hold out test samples, not 0.")
    return parts


def job_parts(job: TrainingJob, dataset: Dataset) -> list[IntArray]:
    """Return each silo's training samples of a job, as `checked_partition` does."""
    return checked_partition(
        job.config,
        dataset,
        silos=job.silos,
        seed=job.seed,
        silo_places=job.silo_places,
        silo_labels=job.silo_labels,
    )


def counted_labels(labels: IntArray) -> IntArray:
    """Return how many labels of each sample count: 1, or the positions of a sequence that are no padding."""
    return (labels.reshape(len(labels), -1) != IGNORED).sum(axis=1) if labels.size else np.zeros(0, dtype=int)

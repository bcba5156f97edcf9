"""One silo's part of the training data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from topologies.arrays import BoolArray, IntArray
from training.data.batches import BatchStream
from training.data.datasets import Dataset
from training.data.samples import LazySamples, Samples, samples_of

NO_STEP = -1
"""In place of the number of a step: the silo makes none."""

Steps = int | IntArray
"""The number of a local step, one for all silos of a rank or one for each; `NO_STEP` where a silo makes none."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Shard:
    """One silo's training samples.

    Parameters
    ----------
    inputs : Samples, shape (samples, ...)
        The samples.
    labels : torch.Tensor, shape (samples,) or (samples, length)
        Their classes.
    counted : BoolArray, shape (samples,)
        Which samples have a label that is not `IGNORED`.
    batches : BatchStream
        The order in which they are read.
    """

    inputs: Samples
    labels: Tensor
    counted: BoolArray
    batches: BatchStream

    def read(self, batch: "Batch") -> Tensor:
        """Return the inputs of a batch, shape (batch, ...)."""
        return self.inputs[batch.chosen if isinstance(self.inputs, LazySamples) else batch.index]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Batch:
    """Positions of a batch within a silo's own samples, in host memory and on the device.

    Parameters
    ----------
    chosen : IntArray, shape (batch,)
        For samples that are read when they are needed.
    index : torch.Tensor, shape (batch,)
        The same on the device of the silo's labels.
    """

    chosen: IntArray
    index: Tensor


def shard_of(
    dataset: Dataset,
    part: IntArray,
    *,
    silo: int,
    counted: IntArray,
    batch_size: int,
    seed: int,
    device: torch.device,
) -> Shard:
    """Return the data of one silo.

    Parameters
    ----------
    part : IntArray, shape (samples of the silo,)
        Which of its training samples belong to the silo.
    counted : IntArray, shape (samples of all silos,)
        Labels of each sample that are not `IGNORED`.
    batch_size, seed : int
        Of the training.
    device : torch.device
        Where the samples will be needed.
    """
    return Shard(
        inputs=samples_of(dataset.train_inputs, part, device),
        labels=torch.from_numpy(dataset.train_labels[part]).to(device),
        counted=counted[part] > 0,
        batches=BatchStream(size=part.size, batch_size=batch_size, seed=seed, silo=silo),
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StepBatches:
    """The batches of one step of several silos.

    Parameters
    ----------
    batches : tuple of Batch
        One per silo.
    counted : BoolArray, shape (silos,)
        Whether the silo makes a step, and any label of its batch counts. A batch of padding has loss and gradient zero
        and leaves the silo's buffers unchanged.
    """

    batches: tuple[Batch, ...]
    counted: BoolArray


def step_batches(shards: Sequence[Shard], step: Steps) -> StepBatches:
    """Return which samples each of one or more silos reads in a step; a silo that makes none its first sample."""
    numbers = np.broadcast_to(step, len(shards)).tolist()
    chosen = [
        np.zeros(shard.batches.batch_size, dtype=np.int64)
        if number == NO_STEP
        else shard.batches.batch(number)
        for shard, number in zip(shards, numbers, strict=True)
    ]
    counted = np.array(
        [
            number != NO_STEP and bool(shard.counted[batch].any())
            for shard, batch, number in zip(shards, chosen, numbers, strict=True)
        ]
    )
    device, index = shards[0].labels.device, torch.from_numpy(np.stack(chosen))
    if device.type == "cuda":
        # Otherwise the copy would wait for all work queued on the GPU.
        index = index.pin_memory()
    rows = index.to(device, non_blocking=True)
    batches = tuple(Batch(chosen=own, index=row) for own, row in zip(chosen, rows, strict=True))
    return StepBatches(batches=batches, counted=counted)

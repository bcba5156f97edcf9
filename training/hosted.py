"""The silos that one rank hosts: their data, models and optimizer states."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from topologies.arrays import BoolArray, FloatArray
from training.arena import Arena
from training.batches import BatchStream
from training.communicator import Communicator
from training.datasets import IGNORED, Dataset
from training.exchange import Exchange, plan_exchange, remote_rows, silo_blocks
from training.job import TrainingJob
from training.optimizers import OPTIMIZERS
from training.partitions import split_dataset
from training.samples import Samples, samples_of


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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Mixing:
    """What a rank does with one consensus matrix.

    Parameters
    ----------
    exchange : Exchange
        The rows that travel.
    weights : torch.Tensor, shape (hosted silos, columns)
        The matrix' rows of the hosted silos, at the columns of `exchange`.
    lower : int
        Columns of lower silos than the hosted ones.
    """

    exchange: Exchange
    weights: Tensor
    lower: int


class HostedSilos:
    """All silos of one rank.

    Parameters
    ----------
    job : TrainingJob
        What to train.
    model : torch.nn.Module
        The initial model, on `device`.
    dataset : Dataset
        The data to split over all silos.
    communicator : Communicator
        The ranks.
    device : torch.device
        Where models and data live.

    Attributes
    ----------
    own : range
        The hosted silos.
    shards : list of Shard
        One per hosted silo.
    arena : Arena
        Their models.
    diverged_in : torch.Tensor, shape (hosted silos,)
        The first round in which a silo's loss or model was not finite; infinity for a sound one.
    """

    def __init__(
        self,
        job: TrainingJob,
        model: nn.Module,
        dataset: Dataset,
        *,
        communicator: Communicator,
        device: torch.device,
    ) -> None:
        self._communicator = communicator
        self._matrices = job.mixing.matrices
        self._mixings: dict[int, Mixing] = {}
        self._blocks = silo_blocks(job.silos, communicator.size)
        self.own = self._blocks[communicator.rank]
        self.shards = _shards(job, dataset, self.own, device)
        before, after = remote_rows(job.mixing, self.own)
        self.arena = Arena(
            model,
            silos=len(self.own),
            before=before,
            after=after,
            device=device,
            exchange_buffers=job.config.exchange_buffers,
        )
        self.diverged_in = torch.full((len(self.own),), math.inf, device=device, dtype=torch.float64)
        self._optimizer = OPTIMIZERS[job.config.optimizer](self.arena.parameters, job.config.momentum)

    def local_step(self, step: int, learning_rate: float, *, round_index: int) -> None:
        """Make one mini-batch step in every hosted silo.

        Parameters
        ----------
        step : int
            Local steps that each silo has made before.
        learning_rate : float
            The step's learning rate.
        round_index : int
            The round, noted where a silo diverges.
        """
        arena = self.arena
        arena.gradients.zero_()
        losses = arena.parameters.new_zeros(len(self.own))
        for position, (shard, module) in enumerate(zip(self.shards, arena.modules, strict=True)):
            samples = shard.batches.batch(step)
            if not shard.counted[samples].any():
                continue  # a batch of padding teaches nothing: loss and gradient are zero
            batch = torch.from_numpy(samples).to(shard.labels.device)
            scores = module(shard.inputs[batch]).flatten(0, -2)
            loss = nn.functional.cross_entropy(scores, shard.labels[batch].flatten())
            loss.backward()  # type: ignore[no-untyped-call]
            losses[position] = loss.detach()
        self._optimizer.step(arena.parameters, arena.gradients, learning_rate)
        sound = torch.isfinite(losses) & torch.isfinite(arena.parameters.sum(dim=1))
        self.diverged_in = torch.where(sound, self.diverged_in, self.diverged_in.clamp(max=round_index))

    def mix(self, number: int) -> None:
        """Replace every model by its weighted average, ``X <- A X``, together with the other ranks.

        Parameters
        ----------
        number : int
            The round's consensus matrix among those of the job's mixing plan.
        """
        arena = self.arena
        if number not in self._mixings:
            self._mixings[number] = self._mixing(self._matrices[number])
        mixing = self._mixings[number]
        place = {int(silo): position for position, silo in enumerate(mixing.exchange.columns, -mixing.lower)}
        self._communicator.exchange(
            [(peer, silo, arena.rows[silo - self.own.start]) for peer, silo in mixing.exchange.sends],
            [(peer, silo, arena.received(place[silo])) for peer, silo in mixing.exchange.receives],
        )
        arena.mix(mixing.weights, -mixing.lower)

    def _mixing(self, matrix: FloatArray) -> Mixing:
        """Derive what this rank sends, receives and weighs; the same in every round with this matrix."""
        own = self.own
        exchange = plan_exchange(matrix, self._blocks, self._communicator.rank)
        weights = torch.from_numpy(matrix[own.start : own.stop, exchange.columns])
        return Mixing(
            exchange=exchange,
            weights=weights.to(self.arena.parameters),
            lower=int(np.searchsorted(exchange.columns, own.start)),
        )


def _shards(job: TrainingJob, dataset: Dataset, own: range, device: torch.device) -> list[Shard]:
    """Return the data of the hosted silos; every rank computes the same split."""
    config = job.config
    parts = split_dataset(
        config.partition,
        dataset,
        silos=job.silos,
        alpha=config.dirichlet_alpha,
        seed=job.seed,
        silo_places=job.silo_places,
    )
    counted = (dataset.train_labels.reshape(len(dataset.train_labels), -1) != IGNORED).any(axis=1)
    return [
        Shard(
            inputs=samples_of(dataset.train_inputs, parts[silo], device),
            labels=torch.from_numpy(dataset.train_labels[parts[silo]]).to(device),
            counted=counted[parts[silo]],
            batches=BatchStream(
                size=parts[silo].size, batch_size=config.batch_size, seed=job.seed, silo=silo
            ),
        )
        for silo in own
    ]

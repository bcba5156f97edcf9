"""The silos that one rank hosts: their data, models and optimizer states."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from topologies.arrays import FloatArray
from training.data.datasets import Dataset
from training.data.shards import shard_of
from training.engine.communicator import Communicator
from training.engine.data_checks import counted_labels, parts_of
from training.engine.exchange import Exchange, plan_exchange, remote_rows, silo_blocks
from training.engine.executors.choice import choose
from training.engine.executors.loop import LoopExecutor
from training.engine.parameter_buffer import Arena, numbers_of
from training.job import TrainingJob
from training.optimization.objectives import silo_weights
from training.optimization.optimizers import OPTIMIZERS, Sgd


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
    optimizer : Optimizer
        What updates them, with its state.
    samples : int
        Training samples of all silos, hosted or not.
    diverged_in : torch.Tensor, shape (hosted silos,)
        The first round in which a silo's loss or model was not finite; infinity for a sound one.
    notices : list of str
        What the user should know, oldest first; `train_rank` takes them out and tells rank 0's before the next row.
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
        self.notices: list[str] = []
        self._blocks = silo_blocks(job.silos, communicator.size)
        self.own = self._blocks[communicator.rank]
        parts = parts_of(job, dataset)
        counted = counted_labels(dataset.train_labels)
        self.samples = len(dataset.train_labels)
        self.shards = [
            shard_of(
                dataset,
                parts[silo],
                silo=silo,
                counted=counted,
                batch_size=job.config.batch_size,
                seed=job.seed,
                device=device,
            )
            for silo in self.own
        ]
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
        self.optimizer = OPTIMIZERS[job.config.optimizer](self.arena.parameters, job.config.momentum)
        self._executor, notice = choose(
            job.config,
            self.arena,
            self.shards,
            parameters=numbers_of(model)[0],
            communicator=communicator,
        )
        if notice:
            self.notices.append(notice)
        self._stretch: Tensor | None = None
        if job.config.objective != "silos":
            labels = np.array([counted[part].sum() for part in parts], dtype=np.float64)
            stretch = job.silos * silo_weights(job.config.objective, labels)[self.own.start : self.own.stop]
            self._stretch = torch.from_numpy(stretch[:, None]).to(self.arena.parameters)

    @property
    def executor(self) -> str:
        """Name of what computes the gradients: the configuration's executor, or what was chosen."""
        return self._executor.name

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
        losses = self._step(step, learning_rate)
        sound = torch.isfinite(losses) & torch.isfinite(arena.parameters.sum(dim=1))
        self.diverged_in = torch.where(sound, self.diverged_in, self.diverged_in.clamp(max=round_index))

    def _step(self, step: int, learning_rate: float) -> Tensor:
        """Compute gradients and make the optimizer's step, in each silo as long as the objective asks for."""
        optimizer, executor, parameters = self.optimizer, self._executor, self.arena.parameters
        plain = isinstance(optimizer, Sgd) and optimizer.velocity is None
        if plain and isinstance(executor, LoopExecutor) and self._stretch is None:
            optimizer.steps += 1
            return executor.descend(step, learning_rate)
        losses = executor.gradients(step)
        if self._stretch is None:
            optimizer.step(parameters, self.arena.gradients, learning_rate)
            return losses
        before = parameters.clone()
        optimizer.step(parameters, self.arena.gradients, learning_rate)
        torch.lerp(before, parameters, self._stretch, out=parameters)
        return losses

    def mix(self, number: int) -> None:
        """Replace every model by its weighted average, ``X <- A X``, together with the other ranks.

        Parameters
        ----------
        number : int
            The round's consensus matrix among those of the job's mixing plan.

        Notes
        -----
        Columns that have arrived are mixed while later ones travel. To mix whole rows instead, first of the silos that
        only need hosted ones and then of the others, takes nearly twice as long: it reads the rows twice, and mixing
        waits for the memory.
        """
        arena = self.arena
        if number not in self._mixings:
            self._mixings[number] = self._mixing(self._matrices[number])
        mixing = self._mixings[number]
        place = {int(silo): position for position, silo in enumerate(mixing.exchange.columns, -mixing.lower)}
        arrived = self._communicator.exchange(
            [(peer, silo, arena.rows[silo - self.own.start]) for peer, silo in mixing.exchange.sends],
            [(peer, silo, arena.received(place[silo])) for peer, silo in mixing.exchange.receives],
            arena.rows.shape[1],
        )
        arena.mix(mixing.weights, -mixing.lower, columns=arrived)

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

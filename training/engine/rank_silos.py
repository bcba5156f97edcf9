"""The silos of one rank: their data, models and optimizer states."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from topologies.arrays import FloatArray
from training.data.datasets import Dataset
from training.data.shards import NO_STEP, Steps, shard_of
from training.engine.communicator import Communicator
from training.engine.data_checks import counted_labels, job_parts
from training.engine.exchange import Exchange, plan_exchange, remote_rows, silo_blocks
from training.engine.executors.choice import choose
from training.engine.executors.loop import LoopExecutor
from training.engine.lagged_exchange import LaggedExchange
from training.engine.lagged_mixing import kept_rows
from training.engine.parameter_buffer import ParameterBuffer, numbers_of
from training.job import TrainingJob
from training.optimization.clipping import clip_norms, clip_values
from training.optimization.objectives import silo_weights
from training.optimization.optimizers import OPTIMIZERS, Sgd


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Mixing:
    """One consensus matrix on one rank: its exchange and weights.

    Parameters
    ----------
    exchange : Exchange
        The rows that are sent and received.
    weights : torch.Tensor, shape (rank's silos, columns)
        The matrix' rows of the rank's silos, at the columns of `exchange`.
    lower : int
        Columns of lower silos than the rank's own.
    """

    exchange: Exchange
    weights: Tensor
    lower: int


class RankSilos:
    """All silos of one rank.

    Parameters
    ----------
    model : torch.nn.Module
        The initial model, on `device`.
    dataset : Dataset
        The data to split over all silos.
    device : torch.device
        Device of models and data.

    Attributes
    ----------
    own : range
        The rank's silos.
    shards : list of Shard
        One per silo of the rank.
    models : ParameterBuffer
        Their models.
    optimizer : Optimizer
        Updates them; holds its state.
    samples : int
        Training samples of all silos, on all ranks.
    diverged_in : torch.Tensor, shape (rank's silos,)
        The first round in which a silo's loss or model was not finite, or infinity.
    notices : list of str
        Messages to the user, oldest first; `train_rank` removes them and reports rank 0's before the next row.
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
        self._plan = job.mixing
        self._clip_norm, self._clip_value = job.config.clip_norm, job.config.clip_value
        self._mixings: dict[int, Mixing] = {}
        self.notices: list[str] = []
        self._blocks = silo_blocks(job.silos, communicator.size)
        self.own = self._blocks[communicator.rank]
        parts = job_parts(job, dataset)
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
        self.models = ParameterBuffer(
            model,
            silos=len(self.own),
            before=before,
            after=after,
            device=device,
            kept=kept_rows(job.mixing, self.own),
            exchange_buffers=job.config.exchange_buffers,
        )
        self._lagged = (
            None
            if job.mixing.lags is None
            else LaggedExchange(job.mixing, self._blocks, self.models, communicator=communicator)
        )
        self.diverged_in = torch.full((len(self.own),), math.inf, device=device, dtype=torch.float64)
        self.optimizer = OPTIMIZERS[job.config.optimizer](
            self.models.parameters, job.config.momentum, job.config.weight_decay
        )
        self._executor, notice = choose(
            job.config,
            self.models,
            self.shards,
            parameters=numbers_of(model)[0],
            communicator=communicator,
        )
        if notice:
            self.notices.append(notice)
        self._step_scale: Tensor | None = None
        if job.config.objective != "silos":
            labels = np.array([counted[part].sum() for part in parts], dtype=np.float64)
            scale = job.silos * silo_weights(job.config.objective, labels)[self.own.start : self.own.stop]
            self._step_scale = torch.from_numpy(scale[:, None]).to(self.models.parameters)

    @property
    def executor(self) -> str:
        """Name of the executor: the configured one, or the one chosen by ``auto``."""
        return self._executor.name

    def local_step(self, step: Steps, learning_rate: float, *, round_index: int) -> None:
        """Make one mini-batch step in every silo of the rank, or in some.

        Parameters
        ----------
        step : int or IntArray, shape (rank's silos,)
            Local steps that each silo has made before; `NO_STEP` of a silo that makes none now.
        learning_rate : float
            The step's learning rate.
        round_index : int
            The round, recorded for a silo that diverges.
        """
        models = self.models
        losses = self._step(step, learning_rate)
        finite = torch.isfinite(losses) & torch.isfinite(models.parameters.sum(dim=1))
        self.diverged_in = torch.where(finite, self.diverged_in, self.diverged_in.clamp(max=round_index))

    def _step(self, step: Steps, learning_rate: float) -> Tensor:
        """Compute gradients and make the optimizer's step, in each silo scaled as the objective requires."""
        optimizer, executor, parameters = self.optimizer, self._executor, self.models.parameters
        # Also where all move in this step: a silo's bits must not depend on which others are on its rank.
        moving = None if isinstance(step, int) else step != NO_STEP
        plain = isinstance(optimizer, Sgd) and optimizer.velocity is None and not optimizer.weight_decay
        is_clipped = self._clip_norm is not None or self._clip_value is not None
        if plain and isinstance(executor, LoopExecutor) and self._step_scale is None and not is_clipped:
            optimizer.steps += 1 if moving is None else moving
            return executor.descend(step, learning_rate)
        losses = executor.gradients(step)
        if moving is not None:
            losses = torch.where(torch.from_numpy(moving).to(losses.device), losses, 0.0)
        if self._clip_norm is not None:
            clip_norms(self.models.gradients, self._clip_norm)
        if self._clip_value is not None:
            clip_values(self.models.gradients, self._clip_value)
        if self._step_scale is None:
            optimizer.step(parameters, self.models.gradients, learning_rate, moving)
            return losses
        before = parameters.clone()
        optimizer.step(parameters, self.models.gradients, learning_rate, moving)
        torch.lerp(before, parameters, self._step_scale, out=parameters)
        return losses

    @property
    def kept(self) -> Mapping[tuple[int, int], Tensor]:
        """The rows that the rank keeps for later rounds, views by silo and round in which it sent them, ascending."""
        return {} if self._lagged is None else self._lagged.kept

    def resume_at(self, round_index: int) -> None:
        """Make room for the rows that rounds before `round_index` kept for it and later ones: the views of `kept`."""
        if self._lagged is not None:
            self._lagged.resume_at(round_index)

    def mix(self, round_index: int) -> None:
        """Replace every model by its weighted average, ``X <- A X``, together with the other ranks.

        Parameters
        ----------
        round_index : int
            The round ``k``; with lags each round once, in order.

        Notes
        -----
        Columns that have arrived are mixed while later ones travel. Mixing whole rows instead, first of the silos that
        need only the rank's own, takes nearly twice as long: it reads the rows twice, and mixing is bound by memory.
        """
        if self._lagged is not None:
            self._lagged.mix(round_index)
            return
        models, number = self.models, int(self._plan.index[round_index])
        if number not in self._mixings:
            self._mixings[number] = self._mixing(self._plan.matrices[number])
        mixing = self._mixings[number]
        place = {int(silo): position for position, silo in enumerate(mixing.exchange.columns, -mixing.lower)}
        arrived = self._communicator.exchange(
            [(peer, silo, models.rows[silo - self.own.start]) for peer, silo in mixing.exchange.sends],
            [(peer, silo, models.received(place[silo])) for peer, silo in mixing.exchange.receives],
            models.rows.shape[1],
        )
        models.mix(mixing.weights, -mixing.lower, columns=arrived)

    def _mixing(self, matrix: FloatArray) -> Mixing:
        """Derive exchange and weights of a matrix, for every round that it mixes."""
        own = self.own
        exchange = plan_exchange(matrix, self._blocks, self._communicator.rank)
        weights = torch.from_numpy(matrix[own.start : own.stop, exchange.columns])
        return Mixing(
            exchange=exchange,
            weights=weights.to(self.models.parameters),
            lower=int(np.searchsorted(exchange.columns, own.start)),
        )

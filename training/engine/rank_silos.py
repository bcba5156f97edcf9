"""The silos of one rank: their data, models and optimizer states."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from training.compression import compressor_of
from training.data.datasets import Dataset
from training.data.shards import NO_STEP, Steps, shard_of
from training.engine.communicator import Communicator
from training.engine.compressed_exchange import CompressedExchange
from training.engine.data_checks import counted_labels, job_parts
from training.engine.exchange import remote_rows, silo_blocks
from training.engine.executors.choice import choose
from training.engine.executors.loop import LoopExecutor
from training.engine.lagged_exchange import LaggedExchange
from training.engine.lagged_mixing import kept_rows
from training.engine.parameter_buffer import ParameterBuffer, numbers_of
from training.engine.plain_exchange import PlainExchange
from training.engine.progress import Progress
from training.engine.rank_exchange import RankExchange
from training.job import TrainingJob
from training.optimization.clipping import clip_norms, clip_values
from training.optimization.objectives import silo_weights
from training.optimization.optimizers import OPTIMIZERS, Sgd


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
    progress : Progress, optional
        Hears of every local step.

    Attributes
    ----------
    own : range
        The rank's silos.
    shards : list of Shard
        One per silo of the rank.
    models : ParameterBuffer
        Their models.
    exchange : RankExchange
        Mixes them with those of the other ranks.
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
        progress: Progress | None = None,
    ) -> None:
        self._progress = Progress() if progress is None else progress
        self._clip_norm, self._clip_value = job.config.clip_norm, job.config.clip_value
        self.notices: list[str] = []
        blocks = silo_blocks(job.silos, communicator.size)
        self.own = blocks[communicator.rank]
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
        parameters, _buffers = numbers_of(model)
        before, after = remote_rows(job.mixing, self.own)
        self.models = ParameterBuffer(
            model,
            silos=len(self.own),
            before=before,
            after=after,
            device=device,
            kept=kept_rows(job.mixing, self.own) if compressor_of(job.config) is None else len(self.own),
            exchange_buffers=job.config.exchange_buffers,
        )
        self.exchange = _exchange(job, blocks, self.models, communicator=communicator, numbers=parameters)
        self.diverged_in = torch.full((len(self.own),), math.inf, device=device, dtype=torch.float64)
        self.optimizer = OPTIMIZERS[job.config.optimizer](
            self.models.parameters, job.config.momentum, job.config.weight_decay
        )
        self._executor, notice = choose(
            job.config,
            self.models,
            self.shards,
            parameters=parameters,
            steps=int(job.steps.before(job.mixing.computing_before(job.config.rounds)).max()),
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
        self._progress.step()

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

    def mix(self, round_index: int) -> None:
        """Mix the models; see `training.engine.rank_exchange.RankExchange.mix`."""
        self.exchange.mix(round_index)


def _exchange(
    job: TrainingJob,
    blocks: tuple[range, ...],
    models: ParameterBuffer,
    *,
    communicator: Communicator,
    numbers: int,
) -> RankExchange:
    """The way in which a training mixes, where models have so many numbers."""
    config, compressor = job.config, compressor_of(job.config)
    if compressor is None:
        make = PlainExchange if job.mixing.lags is None else LaggedExchange
        return make(job.mixing, blocks, models, communicator=communicator)
    return CompressedExchange(
        job.mixing,
        blocks,
        models,
        communicator=communicator,
        compressor=compressor,
        error_feedback=config.compressed_gossip == "error_feedback",
        consensus_step=config.consensus_step or compressor.consensus_step(numbers),
        numbers=numbers,
        seed=job.seed,
    )

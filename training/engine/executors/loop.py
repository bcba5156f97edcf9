"""The gradients of one silo after the other."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from training.data.shards import Shard, Steps, step_batches
from training.engine.executors.base import descend, precise, with_fast_layout, write_gradients
from training.engine.parameter_buffer import ParameterBuffer
from training.random_streams import Purpose, stream

if TYPE_CHECKING:
    from training.optimization.losses import Loss


class LoopExecutor:
    """Forward and backward pass of each silo's own module; works for every model.

    Parameters
    ----------
    models : ParameterBuffer
        The silos' models.
    shards : sequence of Shard
        Their data.
    precision : str
        One of `training.config.PRECISIONS`.
    loss : callable, optional
        Of `training.optimization.losses.own_loss`; cross-entropy without it.
    draws : bool, default False
        Whether the model or the loss may draw random numbers: each pass then has a random state of its own, which
        depends on seed, silo and step alone.
    """

    name = "loop"

    def __init__(
        self,
        models: ParameterBuffer,
        shards: Sequence[Shard],
        precision: str,
        *,
        loss: "Loss | None" = None,
        draws: bool = False,
    ) -> None:
        self._models = models
        self._shards = shards
        self._precision = precision
        self._loss: Loss = loss or nn.functional.cross_entropy
        self._draws = draws

    def gradients(self, step: Steps) -> Tensor:
        """Fill the parameter buffer's gradients; return the losses, shape (silos,)."""
        return self._pass(step, write_gradients)

    def descend(self, step: Steps, learning_rate: float) -> Tensor:
        """Make a step of plain gradient descent in every silo instead; return the losses, shape (silos,)."""
        return self._pass(step, partial(descend, learning_rate=learning_rate))

    def _pass(self, step: Steps, use: Callable[[Tensor, nn.Module], None]) -> Tensor:
        """Compute each silo's loss and let it be used; a batch of padding has loss and gradient zero."""
        models = self._models
        losses = models.gradients.new_zeros(len(self._shards))
        if not self._shards:
            return losses
        batches = step_batches(self._shards, step)
        silos = zip(self._shards, models.modules, batches.batches, batches.counted, strict=True)
        steps = np.broadcast_to(step, len(self._shards)).tolist()
        device = models.gradients.device
        with random_state(device) if self._draws else nullcontext():
            for position, (shard, module, batch, counted) in enumerate(silos):
                if not counted:
                    models.gradients[position].zero_()
                    continue
                if self._draws:
                    seed_pass(shard, steps[position], device)
                with precise(self._precision, device):
                    scores = module(with_fast_layout(shard.read(batch), self._precision)).flatten(0, -2)
                    loss = self._loss(scores, shard.labels[batch.index].flatten())
                use(loss, module)
                losses[position] = loss.detach()
        return losses


def random_state(device: torch.device) -> AbstractContextManager[object]:
    """Return a context that restores torch's random state, and that of a GPU."""
    return torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])


def seed_pass(shard: Shard, step: int, device: torch.device) -> None:
    """Set torch's random state for one silo's pass of one step."""
    own = shard.batches
    seed = int(stream(own.seed, Purpose.PASSES, own.silo, step).integers(2**62))
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)

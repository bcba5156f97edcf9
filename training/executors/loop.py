"""The gradients of one silo after the other."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn

from training.arena import Arena
from training.executors.base import descend, laid_out, precise, write_gradients
from training.shards import Shard


class LoopExecutor:
    """Forward and backward pass of each silo's own module; works for every model.

    Parameters
    ----------
    arena : Arena
        The silos' models.
    shards : sequence of Shard
        Their data.
    precision : str
        One of `training.config.PRECISIONS`.
    """

    name = "loop"

    def __init__(self, arena: Arena, shards: Sequence[Shard], precision: str) -> None:
        self._arena = arena
        self._shards = shards
        self._precision = precision

    def gradients(self, step: int) -> Tensor:
        """Fill the arena's gradients; return the losses, shape (silos,)."""
        return self._pass(step, write_gradients)

    def descend(self, step: int, learning_rate: float) -> Tensor:
        """Make a step of plain gradient descent in every silo instead; return the losses, shape (silos,)."""
        return self._pass(step, partial(descend, learning_rate=learning_rate))

    def _pass(self, step: int, use: Callable[[Tensor, nn.Module], None]) -> Tensor:
        """Compute each silo's loss and let it be used; a batch of padding has loss and gradient zero."""
        arena = self._arena
        losses = arena.gradients.new_zeros(len(self._shards))
        for position, (shard, module) in enumerate(zip(self._shards, arena.modules, strict=True)):
            samples = shard.batches.batch(step)
            if not shard.counted[samples].any():
                arena.gradients[position].zero_()
                continue
            batch = torch.from_numpy(samples).to(shard.labels.device)
            with precise(self._precision, arena.gradients.device):
                scores = module(laid_out(shard.inputs[batch])).flatten(0, -2)
                loss = nn.functional.cross_entropy(scores, shard.labels[batch].flatten())
            use(loss, module)
            losses[position] = loss.detach()
        return losses

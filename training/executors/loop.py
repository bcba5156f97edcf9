"""The gradients of one silo after the other."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from training.arena import Arena
from training.executors.base import laid_out, precise, write_gradients
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
            write_gradients(loss, module)
            losses[position] = loss.detach()
        return losses

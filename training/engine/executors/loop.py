"""The gradients of one silo after the other."""

from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor, nn

from training.data.shards import Shard, step_batches
from training.engine.executors.base import descend, precise, with_fast_layout, write_gradients
from training.engine.parameter_buffer import ParameterBuffer


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
    """

    name = "loop"

    def __init__(self, models: ParameterBuffer, shards: Sequence[Shard], precision: str) -> None:
        self._models = models
        self._shards = shards
        self._precision = precision

    def gradients(self, step: int) -> Tensor:
        """Fill the parameter buffer's gradients; return the losses, shape (silos,)."""
        return self._pass(step, write_gradients)

    def descend(self, step: int, learning_rate: float) -> Tensor:
        """Make a step of plain gradient descent in every silo instead; return the losses, shape (silos,)."""
        return self._pass(step, partial(descend, learning_rate=learning_rate))

    def _pass(self, step: int, use: Callable[[Tensor, nn.Module], None]) -> Tensor:
        """Compute each silo's loss and let it be used; a batch of padding has loss and gradient zero."""
        models = self._models
        losses = models.gradients.new_zeros(len(self._shards))
        if not self._shards:
            return losses
        batches = step_batches(self._shards, step)
        silos = zip(self._shards, models.modules, batches.batches, batches.counted, strict=True)
        for position, (shard, module, batch, counted) in enumerate(silos):
            if not counted:
                models.gradients[position].zero_()
                continue
            with precise(self._precision, models.gradients.device):
                scores = module(with_fast_layout(shard.read(batch), self._precision)).flatten(0, -2)
                loss = nn.functional.cross_entropy(scores, shard.labels[batch.index].flatten())
            use(loss, module)
            losses[position] = loss.detach()
        return losses

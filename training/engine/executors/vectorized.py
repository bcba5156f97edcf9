"""The gradients of all silos at once, as operations on stacked tensors."""

import copy
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from training.data.datasets import IGNORED
from training.data.shards import Shard, StepBatches, Steps, step_batches
from training.engine.executors.base import precise
from training.engine.parameter_buffer import ParameterBuffer

Tensors = dict[str, Tensor]


class VectorizedExecutor:
    """One forward and backward pass over the stacked models, by `torch.func.vmap`.

    Parameters
    ----------
    models : ParameterBuffer
        The silos' models.
    shards : sequence of Shard
        Their data.
    precision : str
        One of `training.config.PRECISIONS`.

    Notes
    -----
    Every operation works on all silos: a linear layer is a batched product, a convolution one with a group per silo.
    This saves what it costs to start an operation, which is all that a small model's step costs. Activations of all
    silos are in memory together. Stacked parameters are views into the parameter buffer; gradients are copied there.
    """

    name = "vmap"

    def __init__(self, models: ParameterBuffer, shards: Sequence[Shard], precision: str) -> None:
        self._models = models
        self._shards = shards
        self._precision = precision
        if not shards:
            return
        # Only its structure counts, as every call states its parameters and buffers: no tensor is copied. The copy of
        # a view would be one of all that it is a view into.
        tensors = (*models.modules[0].parameters(), *models.modules[0].buffers())
        self._template = copy.deepcopy(models.modules[0], {id(tensor): tensor for tensor in tensors})
        self._parameters = _pieces(dict(self._template.named_parameters()))
        self._buffers = [name for name, _ in self._template.named_buffers()]
        self._gradients = torch.func.vmap(torch.func.grad_and_value(self._loss))

    def gradients(self, step: Steps) -> Tensor:
        """Fill the parameter buffer's gradients; return the losses, shape (silos,)."""
        models = self._models
        if not self._shards:
            return models.gradients.new_zeros(0)
        batches = step_batches(self._shards, step)
        # Copies: a layer of all silos sees its buffers as one row, which rows of the parameter buffer are not.
        buffers = {
            name: torch.stack([module.get_buffer(name) for module in models.modules])
            for name in self._buffers
        }
        with precise(self._precision, models.gradients.device):
            gradients, losses = self._gradients(
                _stacked(models.parameters, self._parameters), buffers, *self._read(batches)
            )
        into = _stacked(models.gradients, self._parameters)
        torch._foreach_copy_(list(into.values()), [gradients[name] for name in into])
        for name, values in buffers.items():
            for module, value, counted in zip(models.modules, values, batches.counted, strict=True):
                if counted:
                    module.get_buffer(name).copy_(value)
        losses_found: Tensor = losses
        return losses_found

    def _read(self, batches: StepBatches) -> tuple[Tensor, Tensor]:
        """Return the inputs and labels of all silos' batches, shape (silos, batch, ...)."""
        rows = list(zip(self._shards, batches.batches, strict=True))
        # As they are: stacked tensors have their silos and then their channels first, whatever their parts had.
        inputs = torch.stack([shard.read(batch) for shard, batch in rows])
        return inputs, torch.stack([shard.labels[batch.index] for shard, batch in rows])

    def _loss(self, parameters: Tensors, buffers: Tensors, inputs: Tensor, labels: Tensor) -> Tensor:
        """Mean cross-entropy of one silo's batch; zero if no label counts."""
        scores = torch.func.functional_call(self._template, (parameters, buffers), (inputs,)).flatten(0, -2)
        total = nn.functional.cross_entropy(scores, labels.flatten(), ignore_index=IGNORED, reduction="sum")
        return total / (labels != IGNORED).sum().clamp(min=1)


def _pieces(tensors: Tensors) -> dict[str, tuple[slice, torch.Size]]:
    """Where in a row each tensor lies, and its shape."""
    ends = np.cumsum([0, *(tensor.numel() for tensor in tensors.values())])
    return {
        name: (slice(int(start), int(end)), tensor.shape)
        for (name, tensor), start, end in zip(tensors.items(), ends[:-1], ends[1:], strict=True)
    }


def _stacked(rows: Tensor, pieces: dict[str, tuple[slice, torch.Size]]) -> Tensors:
    """The tensors of all silos by name, shape (silos, ...), as views into rows."""
    return {name: rows[:, piece].view(len(rows), *shape) for name, (piece, shape) in pieces.items()}

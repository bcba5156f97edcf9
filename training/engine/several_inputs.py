"""Samples with several inputs, which travel as one row of bytes."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from training.data.datasets import InputPart


@dataclass(frozen=True, kw_only=True, slots=True)
class Unpacking:
    """Gives a model its inputs out of rows of bytes, as a forward pre-hook: its state dict stays its own.

    Parameters
    ----------
    parts : tuple of InputPart
        The inputs, in the order of the model's arguments.
    """

    parts: tuple[InputPart, ...]

    def __call__(self, _model: nn.Module, arguments: tuple[Tensor]) -> tuple[Tensor, ...]:
        """Return the arguments of the model's `forward`, each of shape (batch, ...)."""
        (rows,) = arguments
        inputs, start = [], 0
        for part in self.parts:
            piece = rows[:, start : start + part.nbytes].contiguous().view(getattr(torch, part.dtype))
            inputs.append(piece.reshape(len(rows), *part.shape))
            start += part.nbytes
        return tuple(inputs)

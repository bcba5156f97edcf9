"""Samples on a device, or read and moved there batch by batch."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from topologies.arrays import IntArray
from training.datasets import Inputs

AnyArray = np.ndarray[Any, Any]

CACHE_LINE = 64
"""Bytes; a multiple of where PyTorch's own tensors start."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LazySamples:
    """Some samples of inputs that are read when they are needed.

    Parameters
    ----------
    inputs : Inputs
        All samples.
    index : IntArray, shape (samples,)
        Which of them.
    device : torch.device
        Where a batch goes.
    """

    inputs: Inputs
    index: IntArray
    device: torch.device

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.index)

    @property
    def shape(self) -> tuple[int, ...]:
        """Samples, and the shape of one."""
        return (len(self.index), *self.inputs.shape[1:])

    def __getitem__(self, batch: Tensor | slice) -> Tensor:
        """Return a batch, shape (batch, ...)."""
        chosen = batch if isinstance(batch, slice) else batch.cpu().numpy()
        return on_device(self.inputs[self.index[chosen]], self.device)


Samples = Tensor | LazySamples


def samples_of(inputs: Inputs, index: IntArray, device: torch.device) -> Samples:
    """Return some samples: arrays as a tensor on the device, others as `LazySamples`."""
    if isinstance(inputs, np.ndarray):
        return on_device(inputs[index], device)
    return LazySamples(inputs=inputs, index=index, device=device)


def on_device(array: AnyArray, device: torch.device) -> Tensor:
    """Return an array as a tensor on a device, which on the processor starts with a cache line.

    Notes
    -----
    NumPy's arrays start anywhere, and elsewhere in another process. A library may sum in another order there, so that
    the same samples would give other bits.
    """
    tensor = torch.from_numpy(array).to(device)
    return tensor if tensor.is_cuda or tensor.data_ptr() % CACHE_LINE == 0 else tensor.clone()

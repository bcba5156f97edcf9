"""Samples on a device, or read and moved there batch by batch."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from topologies.arrays import IntArray
from training.data.datasets import Inputs
from training.data.readers.image_files import ImageFiles

AnyArray = np.ndarray[Any, Any]

CACHE_LINE = 64
"""Bytes; a multiple of where PyTorch's own tensors start."""

HELD_BYTES = 1 << 26
"""Most that all images for training, or all for tests, may take decoded, for silos to hold theirs: 5,461 of 32 x 32
pixels in colour."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LazySamples:
    """Some samples of inputs that are read when they are needed.

    Parameters
    ----------
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

    def __getitem__(self, batch: Tensor | IntArray | slice) -> Tensor:
        """Return a batch, shape (batch, ...).

        Parameters
        ----------
        batch : IntArray, torch.Tensor in host memory, or slice
            Which samples. Not a tensor on a GPU, whose copy would wait for all work queued there.
        """
        chosen = batch if isinstance(batch, slice) else np.asarray(batch)
        return on_device(self.inputs[self.index[chosen]], self.device, wait=False)


Samples = Tensor | LazySamples


def samples_of(inputs: Inputs, index: IntArray, device: torch.device) -> Samples:
    """Return some samples: those that are held as a tensor on the device, others as `LazySamples`."""
    if isinstance(inputs, np.ndarray) or held_bytes(inputs):
        return on_device(inputs[index], device)
    return LazySamples(inputs=inputs, index=index, device=device)


def held_bytes(inputs: Inputs) -> int:
    """Return the bytes of all samples where `samples_of` holds them: arrays and few or small images; 0 for others."""
    if isinstance(inputs, ImageFiles):
        decoded = np.dtype(np.float32).itemsize * math.prod(inputs.shape)
        return decoded if decoded <= HELD_BYTES else 0
    return inputs.nbytes if isinstance(inputs, np.ndarray) else 0


def on_device(array: AnyArray, device: torch.device, *, wait: bool = True) -> Tensor:
    """Return an array as a tensor on a device, which on the processor starts with a cache line.

    Notes
    -----
    An asynchronous copy to a GPU needs page-locked memory: from other memory the processor would wait for all work
    queued on the GPU. So the next silo's images are decoded while the GPU computes this one's step. That is for
    batches: PyTorch holds page-locked memory, in powers of two, until the process ends, which a silo's whole samples
    would occupy for nothing.

    NumPy's arrays start at any address, another one in each process, on which the order of a library's sums, and so
    their bits, may depend.
    """
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        return tensor.to(device) if wait else tensor.pin_memory().to(device, non_blocking=True)
    return tensor if tensor.data_ptr() % CACHE_LINE == 0 else tensor.clone()

"""How much memory a batch takes on its way through a model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from topologies.arrays import FloatArray
from training.data.datasets import Dataset
from training.models.pooled_convolution import PooledConvolution

COPIES = 1.5
"""Memory of a layer at work, in units of its input and output: convolutions and others reorder them in copies."""

_SIZES = (2, 3)
"""Batches that are tried; one sample could be another case to torch, where a transposed tensor needs no copy."""

_GATES = {"GRU": 3, "LSTM": 4, "RNN_TANH": 1, "RNN_RELU": 1}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Affine:
    """Sizes of tensors by the number of samples in a batch.

    Parameters
    ----------
    fixed_bytes : FloatArray, shape (tensors,)
        Of no sample.
    sample_bytes : FloatArray, shape (tensors,)
        What each sample adds.
    """

    fixed_bytes: FloatArray
    sample_bytes: FloatArray

    def at(self, samples: int) -> FloatArray:
        """Return the sizes for a batch of so many samples, shape (tensors,)."""
        return self.fixed_bytes + samples * self.sample_bytes


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Activations:
    """What a batch needs on its way through a model.

    Parameters
    ----------
    kept : Affine
        The tensors that a forward pass keeps for the backward pass, input included and parameters excluded.
    passing : Affine
        Input and output of each layer, with the gates of a recurrent one.
    """

    kept: Affine
    passing: Affine

    def evaluation_bytes(self, samples: int) -> float:
        """Return the most that a forward pass without gradients needs: that of the largest layer."""
        return COPIES * float(self.passing.at(samples).max(initial=0.0))

    def training_bytes(self, samples: int) -> float:
        """Return the most that both passes need, without parameters: all that is kept, and the largest layer.

        Notes
        -----
        A layer's backward pass needs twice the memory of its forward pass: its input and output, and their gradients.
        """
        return float(self.kept.at(samples).sum()) + 2 * self.evaluation_bytes(samples)


def measure_activations(model: nn.Module, dataset: Dataset, *, kernels: bool = True) -> Activations:
    """Let a model read batches of two and of three zeros, and note what autograd keeps.

    Parameters
    ----------
    model : torch.nn.Module
        A model on the CPU; it stays as it is.
    dataset : Dataset
        Only the shape and the type of its samples count, which may be none or bad.
    kernels : bool
        Whether layers will use their compiled kernels, which keep less.

    Returns
    -------
    Activations
        From the storages that autograd's graph saves, each once, and the layers' inputs and outputs.

    Notes
    -----
    Every tensor's size is an affine function of the number of samples, so that two batches give it. Without the
    backward pass this takes about as long as two local steps of a batch of one. Tensors on torch's ``meta`` device
    would need no memory for it, but the first of them imports parts of torch that take a second and 80 MB.
    """
    trains = model.training
    compiled = {layer: layer.kernels for layer in model.modules() if isinstance(layer, PooledConvolution)}
    model.eval()  # batch norm would learn from these samples
    for layer in compiled:
        layer.kernels = kernels
    try:
        few, more = (_pass(model, dataset, samples) for samples in _SIZES)
    finally:
        model.train(trains)
        for layer, before in compiled.items():
            layer.kernels = before
    kept, passing = (_affine(*pair) for pair in zip(few, more, strict=True))
    return Activations(kept=kept, passing=passing)


def _affine(few: FloatArray, more: FloatArray) -> Affine:
    """The line through the sizes at both batches."""
    slope = (more - few) / (_SIZES[1] - _SIZES[0])
    return Affine(fixed_bytes=few - _SIZES[0] * slope, sample_bytes=slope)


def _pass(model: nn.Module, dataset: Dataset, samples: int) -> tuple[FloatArray, FloatArray]:
    """Sizes of what the graph of one batch keeps, in the order in which it is saved, and of the layers' tensors."""
    dtype = getattr(dataset.train_inputs, "dtype", np.float32)
    inputs = torch.from_numpy(np.zeros((samples, *dataset.train_inputs.shape[1:]), dtype=dtype))
    labels = torch.zeros(samples, *dataset.train_labels.shape[1:], dtype=torch.int64)
    own = {value.untyped_storage().data_ptr() for value in (*model.parameters(), *model.buffers())}
    kept: dict[int, torch.UntypedStorage] = {}
    passing: list[float] = []

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage
        return tensor

    def note(layer: nn.Module, inputs: tuple[Tensor, ...], outputs: Any) -> None:
        output = outputs[0] if isinstance(outputs, tuple) else outputs
        gates = _GATES[layer.mode] if isinstance(layer, nn.RNNBase) else 0
        passing.append(inputs[0].nbytes + (1 + gates) * output.nbytes)

    hooks = [layer.register_forward_hook(note) for layer in model.modules() if not list(layer.children())]
    try:
        with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            loss = nn.functional.cross_entropy(model(inputs).flatten(0, -2), labels.flatten())
    finally:
        for hook in hooks:
            hook.remove()
    sizes = np.array([storage.nbytes() for storage in kept.values()], dtype=np.float64)
    del loss  # the graph lives as long as its end, and keeps the storages
    return sizes, np.array(passing)

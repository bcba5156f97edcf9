"""How much memory one rank of a training will need, counted before its first step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from topologies.arrays import FloatArray, IntArray
from training.config import TrainingConfig
from training.data.datasets import Dataset
from training.data.samples import held_bytes
from training.engine.communicator import STEP
from training.engine.exchange import remote_rows, silo_blocks
from training.engine.executors.choice import candidates
from training.engine.executors.graphs import STREAMS
from training.engine.lagged_mixing import exchanged_rows, kept_rows, mixed_rows
from training.engine.metrics import PIECE, TEST_CHUNK, chunk_size
from training.engine.parameter_buffer import numbers_of, padded
from training.job import MixingPlan, TrainingJob
from training.models.pooled_convolution import PooledConvolution

FLOAT, DOUBLE, INTEGER = 4, 8, 8
OPTIMIZER_ROWS = {"adam": 3}
"""Rows per silo of the optimizers that keep moments, with what a step needs for a while; momentum is one row."""

WINDOWS = 2
"""Windows of the parameter buffer."""

LIBRARIES, VMAP_LIBRARIES = 30e6, 80e6
"""What the first steps load and compile, and what torch imports beside it for gradients of stacked models."""

MIXING, MESSAGE, ENTRY = 900, 80, 60
"""What Python and torch hold of a consensus matrix beside its numbers, of each row that is sent or received, and with
lags of each whose place is known."""

COPIES = 1.5
"""Memory of a layer at work, in units of its input and output: convolutions and others reorder them in copies."""

_SIZES = (2, 3)
"""Batches that are tried; one sample could be another case to torch, where a transposed tensor needs no copy."""

_GATES = {"GRU": 3, "LSTM": 4, "RNN_TANH": 1, "RNN_RELU": 1}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Affine:
    """Sizes of tensors in bytes, as affine functions of the batch size.

    Parameters
    ----------
    fixed_bytes : FloatArray, shape (tensors,)
        For an empty batch.
    sample_bytes : FloatArray, shape (tensors,)
        Per sample.
    """

    fixed_bytes: FloatArray
    sample_bytes: FloatArray

    def at(self, samples: int) -> FloatArray:
        """Return the sizes for a batch size, shape (tensors,)."""
        return self.fixed_bytes + samples * self.sample_bytes


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Activations:
    """Memory of a batch in a model's forward and backward pass.

    Parameters
    ----------
    saved : Affine
        Tensors that the forward pass saves for the backward pass, input included and parameters excluded.
    layers : Affine
        Input and output of each layer, with the gates of a recurrent one.
    """

    saved: Affine
    layers: Affine

    def evaluation_bytes(self, samples: int) -> float:
        """Return the peak of a forward pass without gradients: that of the largest layer."""
        return COPIES * float(self.layers.at(samples).max(initial=0.0))

    def training_bytes(self, samples: int) -> float:
        """Return the peak of both passes, without parameters: all saved tensors, and the largest layer.

        Notes
        -----
        A layer's backward pass needs twice the memory of its forward pass: its input and output, and their gradients.
        """
        return float(self.saved.at(samples).sum()) + 2 * self.evaluation_bytes(samples)


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryPlan:
    """What one rank will allocate on its device, in bytes.

    Parameters
    ----------
    silos : int
        Silos of the rank.
    at_once : int
        Silos whose batches are computed together.
    models, gradients, optimizer : float
        Of all silos of the rank; models with the rows that other ranks send, and those kept for later rounds.
    data : float
        The silos' samples and the test samples, where they are held in memory.
    weights : float
        The silos' part of each consensus matrix.
    libraries : float
        Code that is not loaded yet.
    step, metrics : float
        Peak of a local step and of an evaluation, which alternate.
    staging : float
        Page-locked memory of the machine through which a GPU's rows travel.
    """

    silos: int
    at_once: int
    models: float
    gradients: float
    optimizer: float
    data: float
    weights: float
    libraries: float
    step: float
    metrics: float
    staging: float

    @property
    def new(self) -> float:
        """The peak of what the rank will allocate."""
        lasting = self.models + self.gradients + self.optimizer + self.data + self.weights + self.libraries
        return lasting + max(self.step, self.metrics)

    @property
    def per_silo(self) -> float:
        """What each further silo adds to `new`, approximately."""
        own = self.models + self.gradients + self.optimizer + self.data + self.weights
        return (own + (self.step if self.at_once > 1 else 0.0)) / self.silos if self.silos else 0.0


def activations_of(config: TrainingConfig, model: nn.Module, dataset: Dataset, *, gpu: bool) -> Activations:
    """Measure the activations of a training, for the executors that it may choose.

    Parameters
    ----------
    model : torch.nn.Module
        The initial model, on the CPU; unchanged.
    dataset : Dataset
        Only the shape and the type of its samples count.
    gpu : bool
        Whether it computes on a GPU.

    Notes
    -----
    Layers use their compiled kernels, which save less, only where the loop on a processor is the one candidate.
    """
    executors = candidates(config, parameters=numbers_of(model)[0], gpu=gpu)
    loop_only = executors == ("loop",) and not gpu and config.precision == "float32"
    return measure_activations(model, dataset, kernels=loop_only)


def measure_activations(model: nn.Module, dataset: Dataset, *, kernels: bool) -> Activations:
    """Measure the activations of a model on batches of two and of three zeros.

    Parameters
    ----------
    model : torch.nn.Module
        A model on the CPU; unchanged.
    dataset : Dataset
        Only the shape and the type of its samples count; it may be empty.
    kernels : bool
        Whether layers will use their compiled kernels, which save less.

    Notes
    -----
    Every tensor's size is an affine function of the batch size, so two batches determine it. Costs two forward passes.
    torch's ``meta`` device would need no memory for them, but its first tensor imports parts of torch that take a
    second and 80 MB.
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
    saved, layers = (_affine(*pair) for pair in zip(few, more, strict=True))
    return Activations(saved=saved, layers=layers)


def _affine(few: FloatArray, more: FloatArray) -> Affine:
    """The line through the sizes at both batches."""
    slope = (more - few) / (_SIZES[1] - _SIZES[0])
    return Affine(fixed_bytes=few - _SIZES[0] * slope, sample_bytes=slope)


def _pass(model: nn.Module, dataset: Dataset, samples: int) -> tuple[FloatArray, FloatArray]:
    """Sizes of the tensors that autograd saves for one batch, in this order, and of the layers' inputs and outputs."""
    dtype = getattr(dataset.train_inputs, "dtype", np.float32)
    inputs = torch.from_numpy(np.zeros((samples, *dataset.train_inputs.shape[1:]), dtype=dtype))
    labels = torch.zeros(samples, *dataset.train_labels.shape[1:], dtype=torch.int64)
    own = {value.untyped_storage().data_ptr() for value in (*model.parameters(), *model.buffers())}
    saved: dict[int, torch.UntypedStorage] = {}
    layers: list[float] = []

    def save(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            saved[storage.data_ptr()] = storage
        return tensor

    def record(layer: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any], outputs: Any) -> None:
        output = outputs[0] if isinstance(outputs, tuple) else outputs
        gates = _GATES[layer.mode] if isinstance(layer, nn.RNNBase) else 0
        # A layer of the user's may take and return anything.
        tensors = {id(each): each for each in (*inputs, *named.values()) if isinstance(each, Tensor)}
        read = sum(tensor.nbytes for tensor in tensors.values())
        layers.append(read + (1 + gates) * (output.nbytes if isinstance(output, Tensor) else 0))

    hooks = [
        layer.register_forward_hook(record, with_kwargs=True)
        for layer in model.modules()
        if not list(layer.children())
    ]
    try:
        with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(save, lambda tensor: tensor):
            loss = nn.functional.cross_entropy(model(inputs).flatten(0, -2), labels.flatten())
    finally:
        for hook in hooks:
            hook.remove()
    sizes = np.array([storage.nbytes() for storage in saved.values()], dtype=np.float64)
    del loss  # it held the graph, whose storages are counted
    return sizes, np.array(layers)


def plan_memory(
    job: TrainingJob,
    model: nn.Module,
    dataset: Dataset,
    parts: Sequence[IntArray],
    activations: Activations,
    *,
    rank: int,
    ranks: int,
    gpu: bool,
) -> MemoryPlan:
    """Count what a rank will allocate; of the executors that may be chosen, for the one that takes most.

    Parameters
    ----------
    dataset : Dataset
        The data, as they were read.
    parts : sequence of IntArray
        Training samples of each silo.
    activations : Activations
        Of the model.
    rank, ranks : int
        Index of the rank, and number of ranks.
    gpu : bool
        Whether the rank computes on a GPU.

    Raises
    ------
    MachineError
        If CUDA graphs are asked for and there is no GPU.

    Notes
    -----
    A row has P parameters in 4 bytes each, padded by at most 31. Models: two windows of the rank's own rows and those
    that it receives; with lags, one row for each that is kept for a later round, with compression one for each own
    silo, and with error feedback one more; an evaluation takes more than a message does while it is made. Weights: for
    each consensus matrix the rank's rows at the columns in use, in single precision, and lists of the rows that are
    received and sent, taken to be as many. A local step holds, for each silo computed at once, the activations of the
    batch and one more row of gradients. An evaluation holds the average model (P numbers in single and in double
    precision) and the largest of: the rank's rows twice in double precision, `PIECE` columns at a time, which is no
    less than mixing takes; two rows in double precision; the largest layer's tensors for a chunk of samples. With lags
    or compression, mixing on a GPU gathers the rows of a round, `STEP` columns at a time. Passes count as single
    precision also in bfloat16. Staging: a buffer for each own silo that another rank needs in any round, and for each
    silo of another rank that this one needs; torch rounds page-locked memory up to a power of two.
    """
    config = job.config
    own = silo_blocks(job.silos, ranks)[rank]
    parameters, in_buffers = numbers_of(model)
    row, buffers = FLOAT * padded(parameters), FLOAT * padded(in_buffers)
    before, after = remote_rows(job.mixing, own)
    width = row + buffers if config.exchange_buffers else row
    staged = gpu and not config.gpu_aware_mpi
    own_buffers = 0 if config.exchange_buffers else buffers
    moments = OPTIMIZER_ROWS.get(config.optimizer, 1 if config.momentum else 0)
    stretched = config.objective == "samples"
    executors = candidates(config, parameters=parameters, gpu=gpu)
    together = max(_AT_ONCE[name](len(own)) for name in executors)
    sizes = [len(parts[silo]) for silo in own]
    train = (held_bytes(dataset.train_inputs) + dataset.train_labels.nbytes) / max(
        1, len(dataset.train_labels)
    )
    measured = min(
        chunk_size(dataset.train_inputs.shape[1:]), max(min(TEST_CHUNK, len(dataset.test_labels)), *sizes, 0)
    )
    double = DOUBLE / FLOAT * row
    sums = 2 * DOUBLE * len(own) * min(parameters, PIECE)
    extra_rows = kept_rows(job.mixing, own)
    if is_compressed := config.compression != "none":
        extra_rows = len(own) * (2 if config.compressed_gossip == "error_feedback" else 1)
    mixed = before + 2 * len(own) + after if is_compressed else mixed_rows(job.mixing, own).max(initial=0)
    gathers = gpu and (is_compressed or job.mixing.lags is not None)
    gathered = mixed * min(width, FLOAT * STEP) if gathers else 0
    return MemoryPlan(
        silos=len(own),
        at_once=together,
        models=(WINDOWS * (before + len(own) + after) + extra_rows) * width + len(own) * own_buffers,
        gradients=len(own) * row,
        optimizer=len(own) * (moments + stretched) * row,
        data=train * sum(sizes) + held_bytes(dataset.test_inputs) + dataset.test_labels.nbytes,
        weights=_weights(job.mixing, own, remote=before + after, twice=is_compressed),
        libraries=LIBRARIES + (VMAP_LIBRARIES if "vmap" in executors and together else 0.0),
        step=together * (activations.training_bytes(config.batch_size) + row),
        metrics=row + double + max(2 * double, sums, gathered, activations.evaluation_bytes(measured)),
        staging=_staging(job.mixing, own, width) if staged else 0.0,
    )


_AT_ONCE: Mapping[str, Callable[[int], int]] = {
    "loop": lambda silos: min(1, silos),
    "vmap": lambda silos: silos,
    "graphs": lambda silos: min(STREAMS, silos),
}
"""How many of a rank's silos each executor computes at once."""


def _weights(mixing: MixingPlan, own: range, *, remote: int, twice: bool) -> float:
    """Memory of `plain_exchange.Mixing` for all matrices, where a rank receives so many rows at most in a round.

    Compressed exchanges have the rank's own rows twice: the models and what is known of them.

    With lags that of `lagged_exchange.LaggedExchange`, where early rounds lack models and have weights of their own.
    """
    silos = len(own)
    if mixing.lags is None:
        columns = silos + remote
        return len(np.unique(mixing.index)) * (
            columns * (FLOAT * silos + INTEGER) + twice * FLOAT * silos**2 + 2 * remote * MESSAGE + MIXING
        )
    rows, (received, kept) = mixed_rows(mixing, own), exchanged_rows(mixing, own)
    sent = 2 * MESSAGE * received + ENTRY * (silos + received + kept) + MIXING
    return float(sent.sum() + (rows * (FLOAT * silos + 2 * INTEGER) + MIXING).sum())


def _staging(mixing: MixingPlan, own: range, width: int) -> float:
    """Memory of `training.mpi.staging.Staging` when all matrices have been met, with `width` bytes in a row."""
    met = np.isin(np.arange(len(mixing.matrices)), mixing.index)
    used = (mixing.matrices != 0).any(axis=0, where=met[:, None, None])
    own_silos = np.isin(np.arange(len(used)), own)
    sent, received = used[~own_silos][:, own_silos].any(axis=0), used[own_silos][:, ~own_silos].any(axis=0)
    return float((sent.sum() + received.sum()) * (1 << (width - 1).bit_length()))

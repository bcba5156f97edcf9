"""How much memory a training will need, counted before its first step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from torch import nn

from topologies.arrays import IntArray
from training.config import TrainingConfig
from training.data.datasets import Dataset, Inputs
from training.engine.exchange import remote_rows, silo_blocks
from training.engine.executors.choice import candidates
from training.engine.executors.graphs import STREAMS
from training.engine.metrics import PIECE, TEST_CHUNK, chunk_size
from training.engine.parameter_buffer import numbers_of, padded
from training.job import MixingPlan, TrainingJob
from training.memory.activations import Activations, measure_activations
from training.memory.available import resident_bytes

FLOAT, DOUBLE, INTEGER = 4, 8, 8
OPTIMIZER_ROWS = {"adam": 3}
"""Rows per silo of the optimizers that keep moments, with what a step needs for a while; momentum is one row."""

WINDOWS = 2
"""Windows of the arena."""

LIBRARIES, VMAP_LIBRARIES = 30e6, 80e6
"""What the first steps load and compile, and what torch imports beside it for gradients of stacked models."""

MIXING, MESSAGE = 900, 80
"""What Python and torch hold of a consensus matrix beside its numbers, and of each row that is sent or received."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryPlan:
    """What one rank will need, in bytes, on the device that it computes on.

    Parameters
    ----------
    silos : int
        Hosted silos.
    at_once : int
        Silos whose batches are computed together.
    held : float
        What the rank's process holds already on the machine: Python, torch, the data set as it was read, and the
        consensus matrices of all rounds.
    models, gradients, optimizer : float
        Of all hosted silos; models with the rows that other ranks send.
    data : float
        The hosted silos' samples and the test samples, where they are kept in memory.
    weights : float
        The hosted silos' part of each consensus matrix.
    libraries : float
        Code that is not loaded yet.
    step, metrics : float
        What a local step and a measurement need for a while, one after the other.
    staging : float, default 0
        What the machine holds beside a GPU: rows on their way through page-locked memory.
    """

    silos: int
    at_once: int
    held: float
    models: float
    gradients: float
    optimizer: float
    data: float
    weights: float
    libraries: float
    step: float
    metrics: float
    staging: float = 0.0

    @property
    def new(self) -> float:
        """What the rank will take beyond `held`, at most."""
        kept = self.models + self.gradients + self.optimizer + self.data + self.weights + self.libraries
        return kept + max(self.step, self.metrics)

    @property
    def per_silo(self) -> float:
        """What each further silo adds to `new`, about."""
        own = self.models + self.gradients + self.optimizer + self.data + self.weights
        return (own + (self.step if self.at_once > 1 else 0.0)) / self.silos if self.silos else 0.0


def activations_of(
    config: TrainingConfig, model: nn.Module, dataset: Dataset, *, gpu: bool = False
) -> Activations:
    """Measure the activations of the executors that a training may take.

    Parameters
    ----------
    config : TrainingConfig
        Its settings.
    model : torch.nn.Module
        The initial model, on the CPU; it stays as it is.
    dataset : Dataset
        The data, as they were read.
    gpu : bool
        Whether it computes on a GPU.

    Returns
    -------
    Activations
        Those of layers by kernels where nothing but the loop on a processor can be taken, which alone has them.
    """
    executors = candidates(config, parameters=numbers_of(model)[0], gpu=gpu)
    alone = executors == ("loop",) and not gpu and config.precision == "float32"
    return measure_activations(model, dataset, kernels=alone)


def plan_memory(
    job: TrainingJob,
    model: nn.Module,
    dataset: Dataset,
    parts: Sequence[IntArray],
    activations: Activations,
    *,
    rank: int,
    ranks: int,
    gpu: bool = False,
) -> MemoryPlan:
    """Count what a rank will need.

    Parameters
    ----------
    job : TrainingJob
        What will be trained.
    model : torch.nn.Module
        The initial model.
    dataset : Dataset
        The data, as they were read.
    parts : sequence of IntArray
        Training samples of each silo.
    activations : Activations
        Of the model.
    rank, ranks : int
        The rank and how many there are.
    gpu : bool
        Whether the rank computes on a GPU.

    Returns
    -------
    MemoryPlan
        What it will take at most, where an executor has still to be chosen by trying some.

    Raises
    ------
    MachineError
        If CUDA graphs are asked for and there is no GPU.

    Notes
    -----
    A row has P parameters in 4 bytes each, padded by at most 31. Models: two windows of the own rows and those
    that are received. Weights: for each consensus matrix the hosted silos' rows at the columns in use, in single
    precision, and lists of the rows that are received and sent; ranks send as many rows as they receive, and each is
    taken to do so. A local step holds, for each silo that is computed at once, the activations of the batch and one
    more row of gradients. A measurement holds the average model (P numbers in single and P in double
    precision) and the most of: the own rows twice in double precision, `PIECE` columns at a time, which is no less
    than mixing takes; two rows in double precision; the largest layer's tensors for a chunk of samples. Single
    precision is assumed also where passes are in bfloat16. Staging: a buffer for each hosted silo that another rank
    needs in any round, and for each silo of another rank that this one needs; torch makes the size of page-locked
    memory a power of two.
    """
    config = job.config
    own = silo_blocks(job.silos, ranks)[rank]
    parameters, in_buffers = numbers_of(model)
    row, buffers = FLOAT * padded(parameters), FLOAT * padded(in_buffers)
    before, after = remote_rows(job.mixing, own)
    width = row + buffers if config.exchange_buffers else row
    staged = gpu and ranks > 1 and not config.gpu_aware_mpi
    kept = 0 if config.exchange_buffers else buffers
    moments = OPTIMIZER_ROWS.get(config.optimizer, 1 if config.momentum else 0)
    stretched = config.objective == "samples"
    executors = candidates(config, parameters=parameters, gpu=gpu)
    together = max(_AT_ONCE[name](len(own)) for name in executors)
    sizes = [len(parts[silo]) for silo in own]
    train = (_bytes(dataset.train_inputs) + dataset.train_labels.nbytes) / max(1, len(dataset.train_labels))
    measured = min(
        chunk_size(dataset.train_inputs.shape[1:]), max(min(TEST_CHUNK, len(dataset.test_labels)), *sizes, 0)
    )
    double = DOUBLE / FLOAT * row
    sums = 2 * DOUBLE * len(own) * min(parameters, PIECE)
    return MemoryPlan(
        silos=len(own),
        at_once=together,
        held=resident_bytes(),
        models=WINDOWS * (before + len(own) + after) * width + len(own) * kept,
        gradients=len(own) * row,
        optimizer=len(own) * (moments + stretched) * row,
        data=train * sum(sizes) + _bytes(dataset.test_inputs) + dataset.test_labels.nbytes,
        weights=_weights(job.mixing, silos=len(own), remote=before + after),
        libraries=LIBRARIES + (VMAP_LIBRARIES if "vmap" in executors and together else 0.0),
        step=together * (activations.training_bytes(config.batch_size) + row),
        metrics=row + double + max(2 * double, sums, activations.evaluation_bytes(measured)),
        staging=_staging(job.mixing, own, width) if staged else 0.0,
    )


_AT_ONCE: Mapping[str, Callable[[int], int]] = {
    "loop": lambda silos: min(1, silos),
    "vmap": lambda silos: silos,
    "graphs": lambda silos: min(STREAMS, silos),
}
"""How many of a rank's silos each executor computes at once."""


def _bytes(inputs: Inputs) -> int:
    """Memory of samples; none where they are read batch by batch."""
    return inputs.nbytes if isinstance(inputs, np.ndarray) else 0


def _weights(mixing: MixingPlan, *, silos: int, remote: int) -> float:
    """Memory of `rank_silos.Mixing` for all matrices, where a rank receives so many rows at most in a round."""
    columns = silos + remote
    return len(np.unique(mixing.index)) * (
        columns * (FLOAT * silos + INTEGER) + 2 * remote * MESSAGE + MIXING
    )


def _staging(mixing: MixingPlan, own: range, width: int) -> float:
    """Memory of `training.mpi.staging.Staging` when all matrices have been met, with `width` bytes in a row."""
    met = np.isin(np.arange(len(mixing.matrices)), mixing.index)
    used = (mixing.matrices != 0).any(axis=0, where=met[:, None, None])
    hosted = np.isin(np.arange(len(used)), own)
    sent, received = used[~hosted][:, hosted].any(axis=0), used[hosted][:, ~hosted].any(axis=0)
    return float((sent.sum() + received.sum()) * (1 << (width - 1).bit_length()))

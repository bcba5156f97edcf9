"""How much memory a training will need, counted before its first step."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from topologies.arrays import IntArray
from training.activations import Activations, measure_activations
from training.arena import float_buffers, padded
from training.available import available_bytes, gpu_bytes, resident_bytes
from training.communicator import Communicator
from training.data_check import divided
from training.datasets import Dataset, Inputs
from training.exchange import remote_rows, silo_blocks
from training.executors.choice import candidates
from training.executors.graphs import STREAMS
from training.hardware import gpu_number, machine_number
from training.job import TrainingJob
from training.metrics import TEST_CHUNK, chunk_size
from training.room import Place, check_fits, gigabytes, place_name, places_of

FLOAT, DOUBLE = 4, 8
OPTIMIZER_ROWS = {"adam": 3}
"""Rows per silo of the optimizers that keep moments, with what a step needs for a while; momentum is one row."""

WINDOWS = 2
"""Windows of the arena."""

LIBRARIES, VMAP_LIBRARIES = 30e6, 80e6
"""What the first steps load and compile, and what torch imports beside it for gradients of stacked models."""


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
        What the rank's process holds already on the machine: Python, torch and the data set as it was read.
    models, gradients, optimizer : float
        Of all hosted silos; models with the rows that other ranks send.
    data : float
        The hosted silos' samples and the test samples, where they are kept in memory.
    libraries : float
        Code that is not loaded yet.
    step, metrics : float
        What a local step and a measurement need for a while, one after the other.
    staging : float, default 0
        What the machine holds beside a GPU: rows on their way.
    """

    silos: int
    at_once: int
    held: float
    models: float
    gradients: float
    optimizer: float
    data: float
    libraries: float
    step: float
    metrics: float
    staging: float = 0.0

    @property
    def new(self) -> float:
        """What the rank will take beyond `held`, at most."""
        kept = self.models + self.gradients + self.optimizer + self.data + self.libraries
        return kept + max(self.step, self.metrics)

    @property
    def per_silo(self) -> float:
        """What each further silo adds to `new`, about."""
        own = self.models + self.gradients + self.optimizer + self.data
        return (own + (self.step if self.at_once > 1 else 0.0)) / self.silos if self.silos else 0.0


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
    A row has P parameters in 4 bytes each, padded to whole cache lines. Models: two windows of the own rows and those
    that are received. A measurement holds the average model (P numbers in single and P in double precision) and either
    the largest layer's tensors for a chunk of samples or two rows in double precision. A local step holds, for each
    silo that is computed at once, the activations of the batch and one more row of gradients. Single precision is
    assumed also where passes are in bfloat16.
    """
    config = job.config
    own = silo_blocks(job.silos, ranks)[rank]
    parameters = sum(parameter.numel() for parameter in model.parameters())
    row = FLOAT * padded(parameters)
    buffers = FLOAT * padded(sum(buffer.numel() for _owner, _name, buffer in float_buffers(model)))
    before, after = remote_rows(job.mixing, own)
    width = row + buffers if config.exchange_buffers else row
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
    return MemoryPlan(
        silos=len(own),
        at_once=together,
        held=resident_bytes(),
        models=WINDOWS * (before + len(own) + after) * width + len(own) * kept,
        gradients=len(own) * row,
        optimizer=len(own) * (moments + stretched) * row,
        data=train * sum(sizes) + _bytes(dataset.test_inputs) + dataset.test_labels.nbytes,
        libraries=LIBRARIES + (VMAP_LIBRARIES if "vmap" in executors and together else 0.0),
        step=together * (activations.training_bytes(config.batch_size) + row),
        metrics=row + double + max(2 * double, activations.evaluation_bytes(measured)),
        staging=(before + len(own) + after) * width if gpu and ranks > 1 else 0.0,
    )


def check_memory(
    job: TrainingJob,
    model: nn.Module,
    dataset: Dataset,
    *,
    communicator: Communicator,
    device: torch.device,
) -> str:
    """Plan the memory of a training and check that it is there; all ranks call this together.

    Parameters
    ----------
    job : TrainingJob
        What will be trained.
    model : torch.nn.Module
        The initial model, on the CPU.
    dataset : Dataset
        The data.
    communicator : Communicator
        The ranks.
    device : torch.device
        What this rank computes on.

    Returns
    -------
    str
        What the user should know, on rank 0's behalf; the same for each rank but for its own part.

    Raises
    ------
    InputError
        If the data cannot be divided over the silos; on every rank.
    MachineError
        If a machine or a GPU has less memory than its ranks will take; on rank 0 only, whose error ends the others,
        which should wait for it before they allocate anything.
    """
    gpu = device.type == "cuda"
    if gpu:
        torch.zeros(1, device=device)  # what the driver takes for this process is gone from now on
    config, rank, ranks = job.config, communicator.rank, communicator.size
    parts = divided(config, dataset, silos=job.silos, seed=job.seed, silo_places=job.silo_places)
    activations = measure_activations(model, dataset)
    plan = plan_memory(job, model, dataset, parts, activations, rank=rank, ranks=ranks, gpu=gpu)
    machine, card = machine_number(), gpu_number(device)
    on_machine, on_gpu = (plan.staging, plan.new) if gpu else (plan.new, 0.0)
    table = np.zeros((ranks, 8))
    table[rank, :6] = machine, card, on_machine, on_gpu, plan.silos, plan.per_silo
    table = communicator.sum(table)
    # Only now have all ranks read their data: what is free from here on is free for what they planned.
    free = np.zeros((ranks, 2))
    free[rank] = available_bytes(), gpu_bytes(device) if gpu else math.inf
    table[:, 6:] = communicator.sum(free)
    places = places_of(table)
    if rank == 0:
        check_fits(places, silos=job.silos)
    return plan_text(plan, places, silos=job.silos, batch_size=config.batch_size)


def plan_text(plan: MemoryPlan, places: Sequence[Place], *, silos: int, batch_size: int) -> str:
    """Return lines about the memory of a training, at most 80 columns wide.

    Parameters
    ----------
    plan : MemoryPlan
        Of rank 0, which hosts as many silos as any.
    places : sequence of Place
        The machines and GPUs.
    silos, batch_size : int
        Of the training.

    Returns
    -------
    str
        One line for the whole of rank 0, two for its parts, and one each for the machine and the GPU with the least
        room.
    """
    together = f", {plan.at_once} at once" if plan.at_once > 1 else ""
    lines = [
        f"memory in GB (10^9 bytes) of rank 0, {plan.silos} of {silos} silos{together}: {_gb(plan.held + plan.new)}",
        f"  held already {_gb(plan.held)}, models {_gb(plan.models)}, gradients {_gb(plan.gradients)}, "
        f"optimizer {_gb(plan.optimizer)},",
        f"  data {_gb(plan.data)}, libraries {_gb(plan.libraries)}; a step at batch size {batch_size} {_gb(plan.step)} "
        f"or metrics {_gb(plan.metrics)}",
    ]
    for kind in ("machine", "GPU"):
        of_kind = [place for place in places if place.kind == kind]
        if of_kind:
            tight = min(of_kind, key=lambda place: place.available - place.need)
            count = len(tight.ranks)
            who = "it needs" if count == 1 else f"{count} ranks need"
            room = (
                "what is available is unknown"
                if math.isinf(tight.available)
                else f"{_gb(tight.available)} available"
            )
            lines.append(f"  {place_name(tight)}: {who} {_gb(tight.need)} more, {room}")
    return "\n".join(lines)


_AT_ONCE: Mapping[str, Callable[[int], int]] = {
    "loop": lambda silos: min(1, silos),
    "vmap": lambda silos: silos,
    "graphs": lambda silos: min(STREAMS, silos),
}
"""How many of a rank's silos each executor computes at once."""


def _gb(number: float) -> str:
    """Bytes as a number of GB."""
    return gigabytes(number).removesuffix(" GB")


def _bytes(inputs: Inputs) -> int:
    """Memory of samples; none where they are read batch by batch."""
    return inputs.nbytes if isinstance(inputs, np.ndarray) else 0

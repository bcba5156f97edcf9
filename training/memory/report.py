"""Whether the memory that a training will need is there, and what the user is told about it."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from training.data.datasets import Dataset
from training.engine.communicator import Communicator
from training.engine.data_checks import parts_of
from training.engine.hardware import gpu_number, machine_number
from training.job import TrainingJob
from training.memory.available import available_bytes, gpu_bytes
from training.memory.memory_budget import Place, check_fits, gigabytes, place_name, places_of
from training.memory.prediction import MemoryPlan, activations_of, plan_memory


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
    parts = parts_of(job, dataset)
    activations = activations_of(config, model, dataset, gpu=gpu)
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
        One line for the whole of rank 0, three for its parts, and one each for the machine and the GPU with the least
        room. The first line can stand alone.
    """
    together = f", {plan.at_once} at once" if plan.at_once > 1 else ""
    lines = [
        f"memory in GB (10^9 bytes) of rank 0, {plan.silos} of {silos} silos{together}: {_gb(plan.held + plan.new)}",
        f"  held already {_gb(plan.held)}, models {_gb(plan.models)}, gradients {_gb(plan.gradients)}, "
        f"optimizer {_gb(plan.optimizer)},",
        f"  data {_gb(plan.data)}, mixing weights {_gb(plan.weights)}, libraries {_gb(plan.libraries)};",
        f"  a step at batch size {batch_size} {_gb(plan.step)} or metrics {_gb(plan.metrics)}",
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


def _gb(number: float) -> str:
    """Bytes as a number of GB."""
    return gigabytes(number).removesuffix(" GB")

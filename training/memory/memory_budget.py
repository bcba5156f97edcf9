"""Whether the memory that a training will need is there: on each machine and GPU that its ranks share."""

import math
import os
import resource
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import MachineError
from training.checkpoints.folder import checkpoint_rounds
from training.config import BUILT_IN_BACKEND, TrainingConfig
from training.data.datasets import Dataset
from training.engine.communicator import Communicator
from training.engine.data_checks import CheckedData, job_parts
from training.engine.hardware import gpu_number, machine_number
from training.job import TrainingJob
from training.mpi_environment import world

if TYPE_CHECKING:
    import torch
    from torch import nn

    from training.memory.memory_plan import MemoryPlan

PROC = Path("/proc")
CGROUP = Path("/sys/fs/cgroup")
NO_GPU = 0
PLENTY = 2.0
"""Where more than so many times the need is available, the plan is one line."""


class RankMemory(NamedTuple):
    """What one rank needs and finds: a row of the table that the ranks share.

    Parameters
    ----------
    machine, gpu : float
        Numbers of what the rank runs on; GPU 0 is none.
    machine_need, gpu_need : float
        Bytes that the rank will allocate there.
    silos : float
        Silos of the rank.
    per_silo : float
        Bytes that each silo adds, on the GPU if there is one.
    machine_available, gpu_available : float
        Bytes that all ranks there can still allocate; infinity where the system does not tell.
    """

    machine: float
    gpu: float
    machine_need: float
    gpu_need: float
    silos: float
    per_silo: float
    machine_available: float = math.inf
    gpu_available: float = math.inf


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A machine or a GPU with the ranks that share its memory.

    Parameters
    ----------
    kind : str
        ``machine`` or ``GPU``.
    ranks : tuple of int
        Those that share it.
    silos : int
        Silos of these ranks.
    need : float
        Bytes that the ranks will allocate.
    available : float
        Bytes that they can; infinity where the system does not tell.
    per_silo, fixed : float
        Bytes that each silo adds, and that each rank takes without silos.
    """

    kind: str
    ranks: tuple[int, ...]
    silos: int
    need: float
    available: float
    per_silo: float
    fixed: float

    @property
    def fitting(self) -> int:
        """Silos per rank that would fit, with as many ranks."""
        free = self.available / len(self.ranks) - self.fixed
        if self.per_silo == 0 or math.isinf(free):
            return self.silos
        return max(0, math.floor(free / self.per_silo))


def check_memory(jobs: Sequence[TrainingJob], checked: CheckedData) -> None:
    """Check that this machine has the memory that the trainings of a run will need, before any rank starts.

    Parameters
    ----------
    jobs : sequence of TrainingJob
        The trainings, one after the other; they differ in their mixing only.
    checked : CheckedData
        What `training.check_data` returned for them.

    Raises
    ------
    MachineError
        If one of them needs more memory than there is: one line with the number of silos per rank that would fit, for
        the training that needs most.

    Notes
    -----
    A lower bound, so that nothing is refused that fits: what the ranks allocate (`MemoryPlan.new`) and, if there are
    several, their copies of the data, but not the programs in their processes; `check_rank_memory` counts all, once the
    ranks have read their data. A training that resumes from a checkpoint uses that one's executor, so the cheapest is
    assumed. Only for ranks that the built-in backend starts on this machine's processor: a launcher's other machines
    are unknown here, and a GPU is not touched. Costs two small forward passes, and for each job a look at its
    consensus matrices.
    """
    jobs = [_with_cheapest_executor(job) for job in jobs if _runs_here(job.config)]
    if not jobs:
        return
    # torch takes seconds to import.
    from training.engine.device import reproducible
    from training.memory.memory_plan import activations_of, plan_memory

    model, dataset = checked.model, checked.dataset
    with reproducible():
        activations = activations_of(jobs[0].config, model, dataset, gpu=False)
    places, available = [], available_bytes()
    for job in jobs:
        ranks = min(job.config.ranks, job.silos)
        # One rank is this very process, which reuses the memory of the data that it has read.
        copy = _array_bytes(dataset) if ranks > 1 else 0
        rows = []
        for rank in range(ranks):
            plan = plan_memory(
                job, model, dataset, checked.parts, activations, rank=rank, ranks=ranks, gpu=False
            )
            need = _rank_memory(plan, machine=0, gpu=0)
            rows.append(need._replace(machine_need=need.machine_need + copy, machine_available=available))
        places += places_of(np.array(rows))
    check_fits(places, silos=jobs[0].silos)


def check_rank_memory(
    job: TrainingJob,
    model: "nn.Module",
    dataset: Dataset,
    *,
    communicator: Communicator,
    device: "torch.device",
) -> str:
    """Check that there is the memory that a training will need; all ranks call this together.

    Parameters
    ----------
    model : torch.nn.Module
        The initial model, on the CPU.
    device : torch.device
        What this rank computes on.

    Returns
    -------
    str
        The rank's memory plan in lines for the user.

    Raises
    ------
    InputError
        If the data cannot be divided over the silos; on every rank.
    MachineError
        If a machine or a GPU has less memory than its ranks need; on rank 0 only, whose error ends the others, which
        should wait for it before they allocate anything.
    """
    import torch

    from training.memory.memory_plan import activations_of, plan_memory

    on_gpu = device.type == "cuda"
    if on_gpu:
        torch.zeros(1, device=device)  # allocates what the driver needs for this process
    rank, ranks = communicator.rank, communicator.size
    parts = job_parts(job, dataset)
    activations = activations_of(job.config, model, dataset, gpu=on_gpu)
    plan = plan_memory(job, model, dataset, parts, activations, rank=rank, ranks=ranks, gpu=on_gpu)
    table = np.zeros((ranks, len(RankMemory._fields)))
    table[rank] = _rank_memory(plan, machine=machine_number(), gpu=gpu_number(device))
    table = communicator.sum(table)
    # Only now have all ranks read their data: what is free from here on is free for what they planned.
    available = np.zeros((ranks, 2))
    available[rank] = available_bytes(), gpu_bytes(device) if on_gpu else math.inf
    table[:, -2:] = communicator.sum(available)
    places = places_of(table)
    if rank == 0:
        check_fits(places, silos=job.silos)
    return plan_text(plan, places, held=resident_bytes(), silos=job.silos, batch_size=job.config.batch_size)


def plan_text(
    plan: "MemoryPlan", places: Sequence[Place], *, held: float, silos: int, batch_size: int
) -> str:
    """Return a rank's memory plan in lines of at most 80 columns, or in one where memory is plenty.

    Parameters
    ----------
    plan : MemoryPlan
        Of rank 0, which has as many silos as any.
    places : sequence of Place
        The machines and GPUs.
    held : float
        Bytes that its process holds already: Python, torch, the data as they were read, the consensus matrices.
    silos, batch_size : int
        Of the training.

    Returns
    -------
    str
        Where more than `PLENTY` times the need of each place is available, one line. Else one for the total, three for
        its parts, and one each for the machine and the GPU with the least memory left; the first can stand alone.
    """
    tightest = [
        min(of_kind, key=_left)
        for kind in ("machine", "GPU")
        if (of_kind := [place for place in places if place.kind == kind])
    ]
    if all(PLENTY * place.need < place.available < math.inf for place in places):
        where = {"machine": "available", "GPU": "available on the GPU"}
        found = ", ".join(f"{gigabytes(place.available)} {where[place.kind]}" for place in tightest)
        return f"memory: rank 0 needs {gigabytes(held + plan.new)}, {found}"
    together = f", {plan.at_once} at once" if plan.at_once > 1 else ""
    lines = [
        f"memory in GB (10^9 bytes) of rank 0, {plan.silos} of {silos} silos{together}: {_gb(held + plan.new)}",
        f"  held already {_gb(held)}, models {_gb(plan.models)}, gradients {_gb(plan.gradients)}, "
        f"optimizer {_gb(plan.optimizer)},",
        f"  data {_gb(plan.data)}, mixing weights {_gb(plan.weights)}, libraries {_gb(plan.libraries)};",
        f"  a step (batch size {batch_size}) {_gb(plan.step)} or metrics {_gb(plan.metrics)}",
    ]
    for place in tightest:
        count = len(place.ranks)
        who = "it needs" if count == 1 else f"{count} ranks need"
        available = (
            "what is available is unknown"
            if math.isinf(place.available)
            else f"{_gb(place.available)} available"
        )
        lines.append(f"  {place_name(place)}: {who} {_gb(place.need)} more, {available}")
    return "\n".join(lines)


def places_of(table: FloatArray) -> list[Place]:
    """Group the ranks by the machines, and then by the GPUs, that they share.

    Parameters
    ----------
    table : FloatArray, shape (ranks, 8)
        A `RankMemory` for each rank.
    """
    columns = dict(zip(RankMemory._fields, table.T, strict=True))
    # Where models live on a GPU, the machine only holds rows on their way.
    on_machine = np.where(columns["gpu"] == NO_GPU, columns["per_silo"], 0.0)
    kinds = (
        ("machine", columns["machine"], columns["machine_need"], columns["machine_available"], on_machine),
        ("GPU", columns["gpu"], columns["gpu_need"], columns["gpu_available"], columns["per_silo"]),
    )
    places = []
    for kind, numbers, need, available, per_silo in kinds:
        for number in dict.fromkeys(numbers.tolist()):
            if kind == "GPU" and number == NO_GPU:
                continue
            here = numbers == number
            places.append(
                Place(
                    kind=kind,
                    ranks=tuple(np.flatnonzero(here).tolist()),
                    silos=int(columns["silos"][here].sum()),
                    need=float(need[here].sum()),
                    available=float(available[here].min()),
                    per_silo=float(per_silo[here].max()),
                    fixed=float((need - per_silo * columns["silos"])[here].max(initial=0.0)),
                )
            )
    return places


def check_fits(places: Sequence[Place], *, silos: int) -> None:
    """Raise MachineError if the ranks of a place need more memory than there is.

    Parameters
    ----------
    places : sequence of Place
        One or more.
    silos : int
        Silos of the whole training.

    Raises
    ------
    MachineError
        One line with the need, what there is, and how many silos per rank would fit.
    """
    place = min(places, key=_left)
    if _left(place) >= 0:
        return
    count = len(place.ranks)
    who = f"rank {place.ranks[0]}" if count == 1 else f"{count} ranks with {place.silos} silos"
    raise MachineError(
        f"training must fit into memory: {who} on {place_name(place)} would take {gigabytes(place.need)} more, "
        f"{gigabytes(place.available)} are available; {_advice(place, silos)}"
    )


def gigabytes(number: float) -> str:
    """Bytes as GB of 10^9, three digits: ``1.23 GB``, ``12.3 GB``, ``0.001 GB``; below that two, ``0.00025 GB``."""
    value = float(f"{number / 1e9:.{3 if number >= 1e6 else 2}g}")
    if value == 0:
        return "0 GB"
    place = math.floor(math.log10(value))
    places = 1 - place if value < 1e-3 else 3 if value < 1 else max(0, 2 - place)
    return f"{value:.{places}f} GB"


def place_name(place: Place) -> str:
    """Return what messages call a place."""
    return f"the {place.kind} of rank {place.ranks[0]}"


def _left(place: Place) -> float:
    """Bytes that are left for others; negative where the ranks need more than there is."""
    return place.available - place.need


def _gb(number: float) -> str:
    """Bytes as a number of GB."""
    return gigabytes(number).removesuffix(" GB")


def _advice(place: Place, silos: int) -> str:
    """How the training would fit."""
    fitting, count = place.fitting, len(place.ranks)
    if place.per_silo == 0:
        # What rows between GPUs pass through, or what a rank without silos loads.
        return "take fewer ranks per machine." if count > 1 else "take a machine with more memory."
    if fitting < 1:
        fewer = "fewer ranks or " if count > 1 else ""
        return f"not one silo per rank would fit: take {fewer}a smaller batch_size."
    ranks = -(-silos // fitting)
    per_rank = f"{fitting} silo{'' if fitting == 1 else 's'} per rank would fit"
    return f"{per_rank}: {ranks} ranks on {-(-ranks // count)} {place.kind}s like this."


def _rank_memory(plan: "MemoryPlan", *, machine: int, gpu: int) -> RankMemory:
    """What a rank needs by its plan, without what is available."""
    on_gpu = gpu != NO_GPU
    return RankMemory(
        machine=machine,
        gpu=gpu,
        machine_need=plan.staging if on_gpu else plan.new,
        gpu_need=plan.new if on_gpu else 0.0,
        silos=plan.silos,
        per_silo=plan.per_silo,
    )


def _array_bytes(dataset: Dataset) -> int:
    """Memory of the data as they were read; samples that are read batch by batch do not count."""
    arrays = (dataset.train_inputs, dataset.train_labels, dataset.test_inputs, dataset.test_labels)
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


def _runs_here(config: TrainingConfig) -> bool:
    """Whether the built-in backend will train on this machine's processor alone."""
    if config.backend != BUILT_IN_BACKEND or world() is not None:
        return False
    if config.device == "cpu":
        return True
    from training.engine.device import resolve_device

    return resolve_device(config.device, rank=0).type == "cpu"


def _with_cheapest_executor(job: TrainingJob) -> TrainingJob:
    """The job with the executor that needs least, where a checkpoint decides which one it will be."""
    if job.config.executor != "auto" or job.directory is None or not checkpoint_rounds(job.directory):
        return job
    return replace(job, config=replace(job.config, executor="loop"))


def resident_bytes(proc: Path = PROC) -> int:
    """Return the memory of this process now; where the system does not tell, its peak."""
    try:
        return int((proc / "self" / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        # macOS counts in bytes, all others in KiB.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def available_bytes(proc: Path = PROC, cgroup: Path = CGROUP) -> float:
    """Return how much memory the processes of this machine can still allocate without swapping.

    Parameters
    ----------
    proc, cgroup : pathlib.Path
        Linux's file systems of processes and control groups.

    Returns
    -------
    float
        The lower of what the machine and the control groups of this process (a container's, a batch job's; version 1
        or 2) leave; infinity where the system tells neither.
    """
    return min(_machine_bytes(proc), _cgroup_bytes(proc, cgroup))


def gpu_bytes(device: "torch.device") -> float:
    """Return the free memory of a GPU, with what this process' allocator holds unused."""
    import torch

    free, _total = torch.cuda.mem_get_info(device)
    return float(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


def _machine_bytes(proc: Path) -> float:
    """The kernel's estimate of what new processes can allocate."""
    try:
        lines = (proc / "meminfo").read_text().splitlines()
    except OSError:
        return math.inf
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    return float(found[0]) if found else math.inf


def _cgroup_bytes(proc: Path, root: Path) -> float:
    """The least that a control group of this process, or one that holds it, leaves."""
    try:
        groups = [line.split(":", 2) for line in (proc / "self" / "cgroup").read_text().splitlines()]
    except OSError:
        return math.inf
    left = math.inf
    for _number, controllers, path in groups:
        if controllers == "":
            mount, limit, usage, cache = root, "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            mount, limit, usage = root / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            cache = "total_inactive_file"
        else:
            continue
        folder = mount / path.lstrip("/")
        # In a container the path may be that on the host, which is not there: then the mount itself is its group.
        for level in (folder, *folder.parents):
            left = min(left, _group_bytes(level, limit, usage, cache))
            if level == mount:
                break
    return left


def _group_bytes(group: Path, limit: str, usage: str, cache: str) -> float:
    """What one control group leaves: its limit, less what it holds beyond files that the kernel can drop."""
    try:
        most = float((group / limit).read_text())
        used = float((group / usage).read_text())
        counts = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # no such group, or "max"
        return math.inf
    return max(0.0, most - used + float(counts.get(cache, 0)))

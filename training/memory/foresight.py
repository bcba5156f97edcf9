"""Whether the trainings of a run will fit into memory, before their ranks are there to be asked."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from training.checkpoints.folder import checkpoint_rounds
from training.config import TrainingConfig
from training.data.datasets import Dataset
from training.engine.data_checks import CheckedData
from training.job import TrainingJob
from training.memory.available import available_bytes
from training.memory.memory_budget import check_fits, places_of
from training.mpi_environment import world

BACKEND = "mpi"
"""The built-in backend, the one whose memory is known."""


def foresee_memory(jobs: Sequence[TrainingJob], checked: CheckedData) -> None:
    """Check that this machine has the memory that the trainings of a run will take, one after the other.

    Parameters
    ----------
    jobs : sequence of TrainingJob
        The trainings; they differ in their mixing only.
    checked : CheckedData
        What `training.check_data` returned for them.

    Raises
    ------
    MachineError
        If one of them needs more memory than there is: one line with the number of silos per rank that would fit, for
        the training that needs most.

    Notes
    -----
    A lower bound, so that nothing is refused that fits: it counts what the ranks will take (`MemoryPlan.new`) and, if
    there are several, the data that each of them reads, but not the programs in their processes; at most as many silos
    per rank fit as it says. All is counted by `report.check_memory` once the ranks have read their data.
    A training that goes on from a checkpoint keeps that one's executor, so the one that takes least is assumed.
    Only for ranks that the built-in backend starts on this machine, and that compute on its processor: nothing is known
    here of a launcher's other machines, and a GPU is not touched. Costs two small forward passes, and for each job a
    look at its consensus matrices.
    """
    jobs = [_with_least_memory(job) for job in jobs if _runs_here(job.config)]
    if not jobs:
        return
    # torch takes seconds to import.
    from training.engine.device import reproducible
    from training.memory.prediction import activations_of, plan_memory

    model, dataset = checked.model, checked.dataset
    with reproducible():
        activations = activations_of(jobs[0].config, model, dataset)
    places, available = [], available_bytes()
    for job in jobs:
        ranks = min(job.config.ranks, job.silos)
        plans = [
            plan_memory(job, model, dataset, checked.parts, activations, rank=rank, ranks=ranks)
            for rank in range(ranks)
        ]
        # One rank is this very process, which has room again where it read the data before.
        read = _read_bytes(dataset) if ranks > 1 else 0
        rows = [[0, 0, plan.new + read, 0, plan.silos, plan.per_silo, available, math.inf] for plan in plans]
        places += places_of(np.array(rows))
    check_fits(places, silos=jobs[0].silos)


def _read_bytes(dataset: Dataset) -> int:
    """Memory of the data as they are read; samples that are read batch by batch are not counted."""
    arrays = (dataset.train_inputs, dataset.train_labels, dataset.test_inputs, dataset.test_labels)
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


def _runs_here(config: TrainingConfig) -> bool:
    """Whether the built-in backend will train on this machine's processor alone."""
    if config.backend != BACKEND or world() is not None:
        return False
    if config.device == "cpu":
        return True
    from training.engine.device import resolve_device

    return resolve_device(config.device, rank=0).type == "cpu"


def _with_least_memory(job: TrainingJob) -> TrainingJob:
    """The job with the executor that takes least, where a checkpoint has settled which one it will be."""
    if job.config.executor != "auto" or job.directory is None or not checkpoint_rounds(job.directory):
        return job
    return replace(job, config=replace(job.config, executor="loop"))

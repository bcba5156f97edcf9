"""The time of a local step, measured on this hardware."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from topologies.arrays import FloatArray
from topologies.checks import check_integer
from training.config import TrainingConfig
from training.engine.communicator import SingleRank
from training.engine.hardware import hardware_name
from training.job import MixingPlan, TrainingJob
from training.own_code import own_code

WARM_UP = 5
"""Unmeasured steps before: libraries choose algorithms and compile code in the first ones."""
LASTING = 10**9
"""Local steps of a training for which ``auto`` tries every executor."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StepTimes:
    """Durations of local steps.

    Parameters
    ----------
    hardware : str
        Name of the device.
    silos : int
        Silos of the rank; each step is one of all of them.
    times_s : FloatArray, shape (steps,)
        Duration of each step of all of them.
    notices : tuple of str
        Choice of the executor, if there was one.
    """

    hardware: str
    silos: int
    times_s: FloatArray
    notices: tuple[str, ...] = ()

    @property
    def median_s(self) -> float:
        """Median duration of a step of all silos."""
        return float(np.median(self.times_s))

    @property
    def quartiles_s(self) -> tuple[float, float]:
        """Lower and upper quartile of the durations."""
        lower, upper = np.quantile(self.times_s, [0.25, 0.75])
        return float(lower), float(upper)


def measure_step(
    config: TrainingConfig,
    *,
    seed: int,
    steps: int,
    silos: int,
    silo_places: FloatArray | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> StepTimes:
    """Measure local steps of a few silos of a training.

    Parameters
    ----------
    config : TrainingConfig
        Its model, data set, batch size, optimizer, executor and device count.
    seed : int
        Seed of the partition, the initial model and the order of samples.
    steps : int
        Measured steps, >= 1, after `WARM_UP` others.
    silos : int
        Silos of the rank, >= 1.
    silo_places : FloatArray, shape (silos, 2), optional
        As in `TrainingJob`.
    clock : callable
        Gives the time in seconds.

    Returns
    -------
    StepTimes
        One duration for each step: reading the batch, both passes, and the optimizer's update.

    Raises
    ------
    InputError
        If a number breaks its rule, or the data or the model cannot be used.
    MachineError
        If the device is missing, or its memory too small for these silos.

    Notes
    -----
    The steps run the same code as in a training, with one thread as each of its ranks. All data are split over these
    silos alone: a batch has the same size whatever its silo's share. Nothing is exchanged or mixed. A GPU is
    synchronized before the clock is read.
    """
    check_integer("steps", steps, minimum=1)
    check_integer("silos", silos, minimum=1)
    import torch

    from training.data.datasets import load_dataset
    from training.engine.device import reproducible, resolve_device
    from training.engine.initial_model import initial_model
    from training.engine.rank_silos import RankSilos
    from training.memory.memory_budget import check_rank_memory

    device = resolve_device(config.device, 0)
    with own_code(model=config.model, loss=config.loss), reproducible(device):
        dataset = load_dataset(config.dataset, config.data_options)
        model = initial_model(config, dataset, seed=seed)
        job = TrainingJob(
            config=replace(config, rounds=1, warm_up_rounds=0),
            silos=silos,
            local_steps=LASTING,
            seed=seed,
            mixing=MixingPlan.constant(np.eye(silos), 1),
            silo_places=silo_places,
        )
        check_rank_memory(job, model, dataset, communicator=SingleRank(), device=device)
        rank_silos = RankSilos(job, model.to(device), dataset, communicator=SingleRank(), device=device)
        times = np.empty(WARM_UP + steps)
        for step in range(WARM_UP + steps):
            start = clock()
            rank_silos.local_step(step, config.learning_rate, round_index=0)
            if device.type == "cuda":
                torch.cuda.synchronize(device)
            times[step] = clock() - start
        return StepTimes(
            hardware=hardware_name(device),
            silos=silos,
            times_s=times[WARM_UP:],
            notices=tuple(rank_silos.notices),
        )

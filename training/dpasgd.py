"""Decentralized periodic averaging SGD (DPASGD), as one rank runs it."""

from collections.abc import Iterator

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import TrainingError
from training.communicator import Communicator
from training.datasets import load_dataset
from training.device import reproducible, resolve_device
from training.history import HistoryRow
from training.hosted import HostedSilos
from training.initial import initial_model
from training.job import TrainingJob
from training.metrics import Meter
from training.schedules import SCHEDULES


def train_rank(job: TrainingJob, communicator: Communicator) -> Iterator[HistoryRow]:
    """Train together with the other ranks; rank 0 yields the history.

    Parameters
    ----------
    job : TrainingJob
        What to train; the same on every rank.
    communicator : Communicator
        The ranks.

    Yields
    ------
    HistoryRow
        On rank 0: round 0 (before training), every `log_every` rounds, and the last. Other ranks yield nothing. When
        rank 0's consumer closes the generator, every rank stops.

    Raises
    ------
    InputError
        If there are more silos than training samples, or the model cannot read or train on such batches; on every
        rank.
    MachineError
        If the device is not there.
    TrainingError
        If a loss or model is no longer finite; on every rank, at the next row.

    Notes
    -----
    In round ``k`` each silo makes ``s`` steps on its own batches, then ``X <- A_k X`` (Marfoq et al. 2020, Eq. 2).
    A round costs ``s`` forward and backward passes per hosted silo, and a product of (hosted silos) x (rows in use)
    x (parameters).
    """
    config = job.config
    with reproducible():
        device = resolve_device(config.device, communicator.rank)
        dataset = load_dataset(config.dataset, config.data_options)
        model = initial_model(config, dataset, seed=job.seed).to(device)
        hosted = HostedSilos(job, model, dataset, communicator=communicator, device=device)
        meter = Meter(model, dataset, silos=job.silos, communicator=communicator, device=device)
        for k in range(config.rounds + 1):
            if k % config.log_every == 0 or k == config.rounds:
                row, diverged_in = meter.measure(k, hosted)
                check_finite(diverged_in, config.learning_rate)
                wanted = 0.0
                try:
                    if communicator.rank == 0:
                        yield row
                        wanted = 1.0
                finally:
                    # Also on the way out: the other ranks wait here for what rank 0's consumer decided.
                    goes_on = communicator.sum(np.array([wanted]))[0] > 0
                if not goes_on:
                    return
            if k < config.rounds:
                train_round(job, hosted, k)


def check_finite(diverged_in: FloatArray, learning_rate: float) -> None:
    """Raise TrainingError if a silo has diverged.

    Parameters
    ----------
    diverged_in : FloatArray, shape (silos,)
        The first round in which each silo's loss or model was not finite, or infinity.
    learning_rate : float
        The run's learning rate, for the message.

    Raises
    ------
    TrainingError
        Naming the silo that diverged first, the lowest index among equals.
    """
    silo = int(np.argmin(diverged_in))
    if np.isfinite(diverged_in[silo]):
        raise TrainingError(
            f"training diverged: silo {silo} has no finite loss in round {int(diverged_in[silo])}; "
            f"learning_rate(={learning_rate}) must be smaller."
        )


def train_round(job: TrainingJob, hosted: HostedSilos, k: int) -> None:
    """Run round ``k`` on this rank: the local steps, then the mixing.

    Parameters
    ----------
    job : TrainingJob
        What to train.
    hosted : HostedSilos
        The rank's silos, changed in place.
    k : int
        The round.
    """
    config = job.config
    learning_rate = SCHEDULES[config.learning_rate_schedule](config.learning_rate, k)
    for step in range(k * job.local_steps, (k + 1) * job.local_steps):
        hosted.local_step(step, learning_rate, round_index=k)
    hosted.mix(int(job.mixing.index[k]))

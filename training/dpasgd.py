"""Decentralized periodic averaging SGD (DPASGD), as one rank runs it."""

from collections.abc import Generator, Iterable, Iterator, Sequence

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import TrainingError
from training.checkpoints.checkpoint_manager import Keeper, is_logged
from training.data.datasets import load_dataset
from training.engine.communicator import Communicator
from training.engine.device import reproducible, resolve_device, take_gpu
from training.engine.initial_model import initial_model
from training.engine.metrics import Meter
from training.engine.rank_silos import HostedSilos
from training.job import TrainingJob, silo_name
from training.memory.memory_budget import check_rank_memory
from training.mpi_environment import local_rank
from training.notice import Notice, Report
from training.optimization.schedules import SCHEDULES, epoch_of

WATCH_EVERY = 16
"""Rounds between two looks at whether a silo has diverged, where no row is measured: each waits for all ranks."""


def train_rank(job: TrainingJob, communicator: Communicator) -> Iterator[Report]:
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
        On rank 0: round 0 (before training), every `log_every` rounds, and the last. Other ranks yield nothing. Rows
        from before a checkpoint come first. When rank 0's consumer closes the generator, every rank stops.
    Notice
        On rank 0: first how many bad samples were left out, if any, and the memory plan; before a row what
        `HostedSilos.notices` holds.

    Raises
    ------
    InputError
        If data are missing or bad, cannot be divided over the silos, or the model cannot read or train on such
        batches; on every rank.
    MachineError
        If the device is not there, or not the memory; the latter on rank 0 alone, as for the others it is over then.
    TrainingError
        If a loss or model is no longer finite; on every rank, within `WATCH_EVERY` rounds.

    Notes
    -----
    In round ``k`` each silo makes ``s`` steps on its own batches, then ``X <- A_k X`` (Marfoq et al. 2020, Eq. 2).
    A round costs ``s`` forward and backward passes per hosted silo, and then reads (rows in use) x (parameters) numbers
    and writes (hosted silos) x (parameters), with a product for each weight of a hosted silo that is not zero.
    """
    config = job.config
    place = local_rank(communicator.rank)
    device = resolve_device(config.device, place)
    take_gpu(config.device, place)  # where an MPI that is built for GPUs looks for rows
    with reproducible(device):
        dataset = load_dataset(config.dataset, config.data_options)
        with Keeper(job, dataset, communicator=communicator) as keeper:
            job = keeper.settled(gpu=device.type == "cuda")
            model = initial_model(config, dataset, seed=job.seed)
            memory = check_rank_memory(job, model, dataset, communicator=communicator, device=device)
            left_out = [Notice(f"bad samples left out: {dataset.skipped}.")] if dataset.skipped else []
            if not (yield from _tell(communicator, [*left_out, Notice(*memory.split("\n", 1))])):
                return
            model = model.to(device)
            hosted = HostedSilos(job, model, dataset, communicator=communicator, device=device)
            meter = Meter(
                model,
                dataset,
                silos=job.silos,
                communicator=communicator,
                device=device,
                objective=config.objective,
            )
            del dataset  # silos and tests have copies of their samples, where samples are in memory
            yield from _rounds(job, hosted, meter, keeper, communicator)


def _rounds(
    job: TrainingJob, hosted: HostedSilos, meter: Meter, keeper: Keeper, communicator: Communicator
) -> Iterator[Report]:
    """Train all rounds, or those after the newest checkpoint."""
    config = job.config
    done, rows = keeper.done, keeper.resume(hosted)
    if done:
        resumed = Notice(f"resumed from round {done} of {job.directory}")
        if not (yield from _tell(communicator, [resumed, *_taken(hosted), *rows])):
            return
    logged = any(row.round == done for row in rows)
    known, lacks_last = communicator.sum(np.array([float(logged), float(keeper.lacks_last)])) > 0
    for k in range(done, config.rounds + 1):
        new = is_logged(config, k) and not (k == done and known)
        if new or (k == done and lacks_last):
            row, diverged_in = meter.measure(k, hosted)
            check_finite(diverged_in, config.learning_rate, job.silo_labels)
            keeper.add(row, meter.average, hosted, new=new)
            if new and not (yield from _tell(communicator, [*_taken(hosted), row])):
                return
        elif k % WATCH_EVERY == 0:
            diverged_in = np.zeros(job.silos)
            diverged_in[hosted.own.start : hosted.own.stop] = hosted.diverged_in.cpu().numpy()
            check_finite(communicator.sum(diverged_in), config.learning_rate, job.silo_labels)
        keeper.checkpoint(k, hosted)
        if k < config.rounds:
            train_round(job, hosted, k)


def _taken(hosted: HostedSilos) -> list[Notice]:
    """Take the notices out of a rank's silos."""
    notices = [Notice(text) for text in hosted.notices]
    hosted.notices.clear()
    return notices


def _tell(communicator: Communicator, reports: Iterable[Report]) -> Generator[Report, None, bool]:
    """Yield on rank 0; whether its consumer wants more, on every rank."""
    wanted = 0.0
    try:
        if communicator.rank == 0:
            yield from reports
            wanted = 1.0
    finally:
        # Also on the way out: the other ranks wait here for what rank 0's consumer decided.
        goes_on = communicator.sum(np.array([wanted]))[0] > 0
    return bool(goes_on)


def check_finite(
    diverged_in: FloatArray, learning_rate: float, silo_labels: Sequence[str] | None = None
) -> None:
    """Raise TrainingError if a silo has diverged.

    Parameters
    ----------
    diverged_in : FloatArray, shape (silos,)
        The first round in which each silo's loss or model was not finite, or infinity.
    learning_rate : float
        The run's learning rate, for the message.
    silo_labels : sequence of str, optional
        As in `training.job.TrainingJob`.

    Raises
    ------
    TrainingError
        Naming the silo that diverged first, the lowest index among equals.
    """
    silo = int(np.argmin(diverged_in))
    if np.isfinite(diverged_in[silo]):
        raise TrainingError(
            f"training diverged: {silo_name(silo, silo_labels)} has no finite loss in round "
            f"{int(diverged_in[silo])}; learning_rate(={learning_rate}) must be smaller."
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
    epoch = epoch_of(
        k,
        local_steps=job.local_steps,
        batch_size=config.batch_size,
        silos=job.silos,
        samples=hosted.samples,
    )
    learning_rate = SCHEDULES[config.learning_rate_schedule](config.learning_rate, k, epoch)
    for step in range(k * job.local_steps, (k + 1) * job.local_steps):
        hosted.local_step(step, learning_rate, round_index=k)
    hosted.mix(int(job.mixing.index[k]))

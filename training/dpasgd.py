"""Decentralized periodic averaging SGD (DPASGD), as one rank runs it."""

from collections.abc import Generator, Iterable, Iterator, Sequence

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import TrainingError
from training.checkpoints.checkpoint_manager import CheckpointManager, is_logged
from training.config import TrainingConfig
from training.data.datasets import load_dataset
from training.data.shards import NO_STEP
from training.engine.communicator import Communicator
from training.engine.device import reproducible, resolve_device, select_gpu
from training.engine.initial_model import initial_model
from training.engine.metrics import Meter
from training.engine.progress import Progress, Stage
from training.engine.rank_silos import RankSilos
from training.history import DIVERGED
from training.job import TrainingJob, silo_name
from training.memory.memory_budget import check_rank_memory
from training.mpi_environment import local_rank
from training.notice import Notice, Report
from training.optimization.losses import own_loss
from training.optimization.schedules import SCHEDULES, RateSettings, epoch_of, warm_up_rate
from training.own_code import own_code

DIVERGENCE_CHECK_ROUNDS = 16
"""Rounds between two checks for divergence where no row is measured: each waits for all ranks."""


def train_rank(
    job: TrainingJob, communicator: Communicator, progress: Progress | None = None
) -> Iterator[Report]:
    """Train together with the other ranks; rank 0 yields the history.

    Parameters
    ----------
    job : TrainingJob
        What to train; the same on every rank.
    progress : Progress, optional
        Hears of what is done.

    Yields
    ------
    HistoryRow
        On rank 0: round 0 (before training), every `log_every` rounds, and the last. Other ranks yield nothing. Rows
        from before a checkpoint come first. When rank 0's consumer closes the generator, every rank stops.
    Notice
        On rank 0: first the number of bad samples left out, if any, and the memory plan; before a row
        `RankSilos.notices`.

    Raises
    ------
    InputError
        If data are missing or bad, cannot be divided over the silos, or the model cannot read or train on such
        batches; on every rank.
    MachineError
        If the device is missing, or memory is too small; the latter on rank 0 alone, whose error ends the others.
    TrainingError
        If a loss or model is not finite; on every rank, within `DIVERGENCE_CHECK_ROUNDS` rounds. If code of the user's
        fails; on its rank, with the user's traceback.

    Notes
    -----
    In round ``k`` each silo makes ``s`` steps on its own batches, then ``X <- A_k X`` (Marfoq et al. 2020, Eq. 2). With
    lags ``n`` silo ``i`` takes ``sum_j A_k[i, j] y_j(k + 1 - n_ij)``, where ``y_j(r)`` is what silo ``j`` had after its
    steps of round ``r``. In rounds in which silos do not compute, by the plan, there are no steps before the mixing.
    A round costs ``s`` forward and backward passes per silo, and then reads (rows in use) x (parameters) numbers and
    writes (rank's silos) x (parameters), with a product for each nonzero weight of the rank's silos.
    """
    config = job.config
    progress = Progress() if progress is None else progress
    place = local_rank(communicator.rank)
    device = resolve_device(config.device, place)
    select_gpu(config.device, place)  # an MPI built for GPUs looks for rows on the current one
    with own_code(model=config.model, loss=config.loss), reproducible(device):
        dataset = load_dataset(config.dataset, config.data_options)
        with CheckpointManager(job, dataset, communicator=communicator) as manager:
            job = manager.with_recorded_executor(gpu=device.type == "cuda")
            model = initial_model(config, dataset, seed=job.seed)
            memory = check_rank_memory(job, model, dataset, communicator=communicator, device=device)
            skipped = [Notice(f"bad samples left out: {dataset.skipped}.")] if dataset.skipped else []
            if not (yield from _report(communicator, [*skipped, Notice(*memory.split("\n", 1))])):
                return
            model = model.to(device)
            rank_silos = RankSilos(
                job, model, dataset, communicator=communicator, device=device, progress=progress
            )
            meter = Meter(
                model,
                dataset,
                silos=job.silos,
                communicator=communicator,
                device=device,
                objective=config.objective,
                loss=own_loss(config.loss),
                evaluate=config.evaluate,
                seed=job.seed,
                progress=progress,
            )
            del dataset  # silos and tests have copies of samples that are in memory
            with progress.during(Stage.HOST if device.type == "cpu" else Stage.DEVICE):
                yield from _rounds(job, rank_silos, meter, manager, communicator, progress)


def _rounds(
    job: TrainingJob,
    rank_silos: RankSilos,
    meter: Meter,
    manager: CheckpointManager,
    communicator: Communicator,
    progress: Progress,
) -> Iterator[Report]:
    """Train all rounds, or those after the newest checkpoint."""
    config = job.config
    with progress.during(Stage.HOST):
        done, rows = manager.done, manager.resume(rank_silos)
    if done:
        resumed = Notice(f"resumed from round {done} of {job.directory}")
        if not (yield from _report(communicator, [resumed, *_take_notices(rank_silos), *rows])):
            return
    logged = any(row.round == done for row in rows)
    known, lacks_last = communicator.sum(np.array([float(logged), float(manager.lacks_last_model)])) > 0
    for k in range(done, config.rounds + 1):
        new = is_logged(config, k) and not (k == done and known)
        if new or (k == done and lacks_last):
            row, diverged_in = meter.measure(k, rank_silos)
            check_finite(diverged_in, config, job.silo_labels)
            with progress.during(Stage.HOST):
                manager.add(row, meter.average, rank_silos, new=new)
            if new and not (yield from _report(communicator, [*_take_notices(rank_silos), row])):
                return
        elif k % DIVERGENCE_CHECK_ROUNDS == 0:
            diverged_in = np.zeros(job.silos)
            diverged_in[rank_silos.own.start : rank_silos.own.stop] = rank_silos.diverged_in.cpu().numpy()
            check_finite(communicator.sum(diverged_in), config, job.silo_labels)
        with progress.during(Stage.HOST):
            manager.save(k, rank_silos)
        if k < config.rounds:
            train_round(job, rank_silos, k)


def _take_notices(rank_silos: RankSilos) -> list[Notice]:
    """Remove and return the notices of a rank's silos."""
    notices = [Notice(text) for text in rank_silos.notices]
    rank_silos.notices.clear()
    return notices


def _report(communicator: Communicator, reports: Iterable[Report]) -> Generator[Report, None, bool]:
    """Yield reports on rank 0; return on every rank whether its consumer wants more."""
    wanted = 0.0
    try:
        if communicator.rank == 0:
            yield from reports
            wanted = 1.0
    finally:
        # Also when the generator is closed: the other ranks wait here for the decision of rank 0's consumer.
        goes_on = communicator.sum(np.array([wanted]))[0] > 0
    return bool(goes_on)


def check_finite(
    diverged_in: FloatArray, config: TrainingConfig, silo_labels: Sequence[str] | None = None
) -> None:
    """Raise TrainingError if a silo has diverged.

    Parameters
    ----------
    diverged_in : FloatArray, shape (silos,)
        The first round in which each silo's loss or model was not finite, or infinity.
    config : TrainingConfig
        For the message.
    silo_labels : sequence of str, optional
        As in `training.job.TrainingJob`.

    Raises
    ------
    TrainingError
        Naming the silo that diverged first, the lowest index among equals.
    """
    silo = int(np.argmin(diverged_in))
    if np.isfinite(diverged_in[silo]):
        step = "" if config.compression == "none" else ", or consensus_step,"
        cause = f"learning_rate(={config.learning_rate}){step} must be smaller."
        if diverged_in[silo] == 0 and config.loss:
            cause = (
                f"loss(={config.loss!r}) gives none with the first models, or learning_rate must be smaller."
            )
        raise TrainingError(
            f"{DIVERGED}: {silo_name(silo, silo_labels)} has no finite loss in round {int(diverged_in[silo])}; {cause}"
        )


def train_round(job: TrainingJob, rank_silos: RankSilos, k: int) -> None:
    """Run round ``k`` on this rank: the local steps, if silos compute in it, then the mixing.

    Parameters
    ----------
    rank_silos : RankSilos
        The rank's silos, changed in place.
    """
    if job.mixing.is_computing(k):
        _local_steps(job, rank_silos, k)
    rank_silos.mix(k)


def _local_steps(job: TrainingJob, rank_silos: RankSilos, k: int) -> None:
    """Make the local steps of a round; they are numbered over the rounds in which there are any."""
    number = job.mixing.computing_before(k)
    learning_rate = _learning_rate(job, number, samples=rank_silos.samples)
    own = slice(rank_silos.own.start, rank_silos.own.stop)
    before, count = job.steps.before(number)[own], job.steps.of_round(number)[own]
    for step in range(count.max(initial=0)):
        numbers = np.where(step < count, before + step, NO_STEP)
        which = int(numbers[0]) if job.steps.is_even else numbers
        rank_silos.local_step(which, learning_rate, round_index=k)


def _learning_rate(job: TrainingJob, number: int, *, samples: int) -> float:
    """Return the rate of a round, by its number among those with local steps: a function of the job alone."""
    config = job.config
    if number < config.warm_up_rounds:
        return warm_up_rate(config.learning_rate, number, config.warm_up_rounds)
    steps = job.steps.before(number).sum() - job.steps.before(config.warm_up_rounds).sum()
    epoch = epoch_of(int(steps), batch_size=config.batch_size, samples=samples)
    settings = RateSettings(
        learning_rate=config.learning_rate,
        rounds=job.mixing.computing_before(config.rounds) - config.warm_up_rounds,
        decay_every=config.decay_every,
        decay_factor=config.decay_factor,
        final_learning_rate=config.final_learning_rate,
    )
    return SCHEDULES[config.learning_rate_schedule](settings, number - config.warm_up_rounds, epoch)

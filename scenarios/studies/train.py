"""The trainings of a run: their rows and notices, into its file and onto the screen."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import h5py

from scenarios.config.error_context import in_table
from scenarios.runfile.artifacts import checkpoints_path
from scenarios.runfile.training_rows import HistoryWriter
from scenarios.runtime.progress import bar, log_lines
from scenarios.runtime.signals import check_interrupts
from topologies.arrays import FloatArray
from topologies.errors import LeftEarlyError, TrainingError
from training import HistoryRow, Notice, TrainingConfig, TrainingJob, load_backend
from training.checkpoints.folder import check_resumable
from training.mpi.early_exit import staying
from training.notice import Report


def logged_rows(training: TrainingConfig) -> int:
    """Rows that a training reports: round 0, every `log_every` rounds, and the last."""
    return -(-training.rounds // training.log_every) + 1


def train_overlay(
    file: h5py.File,
    kind: str,
    job: TrainingJob,
    last_start_s: FloatArray,
    tell: Callable[[Notice], None],
    *,
    detailed: bool = True,
) -> None:
    """Train on one overlay and write the history.

    Parameters
    ----------
    file : h5py.File
        The file of the run, in which the history is allocated.
    kind : str
        The overlay.
    job : TrainingJob
    last_start_s : ndarray, shape (rounds + 1,)
        When the last silo starts each round.
    tell : callable
        Shows notices to the user.
    detailed : bool
        Whether the details of notices are shown and kept: those of a run's first overlay are enough.

    Raises
    ------
    TrainingError
        If the training fails, or ends without the row of its last round.
    """
    history, line, rounds = HistoryWriter(file, kind, last_start_s), log_lines(), job.config.rounds
    try:
        with bar(f"train {kind}", rounds) as advance:
            for report in _until_the_last(kind, job):
                if isinstance(report, Notice):
                    history.note(report if detailed else Notice(report.text))
                    tell(report if detailed or not report.detail else Notice(f"{kind}: {report.text}"))
                else:
                    history.add(report)
                    accuracy = f"test accuracy {report.test_accuracy:.3f}"
                    advance(report.round, accuracy)
                    line(
                        f"{kind}: round {report.round} of {rounds}, loss {report.train_loss:.4g}, {accuracy}"
                    )
                check_interrupts()
    finally:
        history.flush()


def take_part(jobs: Sequence[TrainingJob], kinds: Sequence[str]) -> None:
    """Train on each overlay as a process other than the first of an outer `mpiexec`."""
    for job, kind in zip(jobs, kinds, strict=True):
        try:
            for _ in staying(load_backend(job.config.backend).train(job)):
                pass
        except LeftEarlyError as error:
            raise TrainingError(
                f"{kind}: not all of {logged_rows(job.config)} rows arrived: {error}"
            ) from None


def _until_the_last(kind: str, job: TrainingJob) -> Iterator[Report]:
    """Yield what a training says; TrainingError for rows that were not asked for, or if the last one is missing."""
    config, rows, last = job.config, 0, -1
    cause = f"backend(={config.backend!r}) has ended."
    try:
        for report in staying(load_backend(config.backend).train(job)):
            if isinstance(report, HistoryRow):
                k = report.round
                if not last < k <= config.rounds or (k % config.log_every and k != config.rounds):
                    raise TrainingError(
                        f"{kind}: backend(={config.backend!r}) gave a row of round {k}"
                        f"{f' after that of round {last}' if rows else ''}; with rounds(={config.rounds}) and "
                        f"log_every(={config.log_every}) it must give those of 0, {config.log_every} and so on, and "
                        "the last, in order."
                    )
                rows, last = rows + 1, k
            yield report
    except LeftEarlyError as error:
        cause, last = str(error), -1
    if last != config.rounds:
        arrived = f"{rows} of {logged_rows(config)} rows arrived"
        raise TrainingError(f"{kind}: {arrived} before the training ended: {cause}")


def check_checkpoints(path: Path, jobs: Sequence[TrainingJob], tell: Callable[[Notice], None]) -> None:
    """Raise InputError if a run that is to go on has checkpoints of another one.

    Parameters
    ----------
    path : Path
        The file of the run.
    jobs : sequence of TrainingJob
        Its trainings.
    tell : callable
        Shows notices to the user.
    """
    with in_table("training", TrainingConfig):
        found = [check_resumable(job) for job in jobs]
    if all(done is None for done in found):
        tell(Notice(f"no checkpoint in {checkpoints_path(path)}: the run starts anew"))


def teller() -> Callable[[Notice], None]:
    """Print notices on standard error, above the progress bar; the same for several overlays only once."""
    told: set[Notice] = set()

    def tell(notice: Notice) -> None:
        if notice not in told:
            told.add(notice)
            print(notice.whole, file=sys.stderr)

    return tell

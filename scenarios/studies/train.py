"""The trainings of a run: rows and notices, written into its file and shown on the terminal."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from scenarios.config.error_context import in_table
from scenarios.runfile.artifacts import checkpoints_path
from scenarios.runfile.training_rows import HistoryWriter
from scenarios.runtime.progress import bar, log_lines
from scenarios.runtime.signals import check_interrupts
from topologies.errors import LeftEarlyError, TrainingError
from training import (
    HistoryRow,
    Notice,
    TrainingBackend,
    TrainingConfig,
    TrainingJob,
    check_resumable,
    load_backend,
    reject_early_exit,
)
from training.notice import Report


def logged_rows(training: TrainingConfig) -> int:
    """Rows that a training reports: round 0, every `log_every` rounds, and the last."""
    return -(-training.rounds // training.log_every) + 1


def train_overlay(
    kind: str,
    job: TrainingJob,
    history: HistoryWriter,
    show: Callable[[Notice], None],
    follow: Callable[[HistoryRow], None],
    *,
    detailed: bool = True,
) -> None:
    """Train on one overlay and write the history.

    Parameters
    ----------
    kind : str
        The overlay.
    job : TrainingJob
    history : HistoryWriter
        Of the run's file.
    show : callable
        Shows notices to the user.
    follow : callable
        Takes each row after the file has it.
    detailed : bool
        Whether the details of notices are shown and written, as for the first overlay of a run.

    Raises
    ------
    TrainingError
        If the training fails, or ends without the row of its last round.
    """
    line, rounds = log_lines(), job.config.rounds
    try:
        with bar(f"train {kind}", rounds) as advance:
            for report in _until_the_last(kind, job):
                if isinstance(report, Notice):
                    history.note(report if detailed else Notice(report.text))
                    show(report if detailed or not report.detail else Notice(f"{kind}: {report.text}"))
                else:
                    history.add(report)
                    follow(report)
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
            for _ in reject_early_exit(_backend(job.config).train(job)):
                pass
        except LeftEarlyError as error:
            raise TrainingError(
                f"{kind}: not all of {logged_rows(job.config)} rows arrived: {error}"
            ) from None


def _backend(config: TrainingConfig) -> TrainingBackend:
    return load_backend(config.backend, config.backend_options)


def _until_the_last(kind: str, job: TrainingJob) -> Iterator[Report]:
    """Yield the reports of a training; TrainingError for rows that were not requested, or if the last is missing."""
    config, rows, last = job.config, 0, -1
    cause = f"backend(={config.backend!r}) has ended."
    try:
        for report in reject_early_exit(_backend(config).train(job)):
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


def check_checkpoints(path: Path, jobs: Sequence[TrainingJob], show: Callable[[Notice], None]) -> None:
    """Raise InputError if a run that is to continue has checkpoints of another one.

    Parameters
    ----------
    path : Path
        The file of the run.
    jobs : sequence of TrainingJob
        Its trainings.
    show : callable
        Shows notices to the user.
    """
    with in_table("training", TrainingConfig):
        found = [check_resumable(job) for job in jobs]
    if all(done is None for done in found):
        show(Notice(f"no checkpoint in {checkpoints_path(path)}: the run starts again"))


def notice_printer() -> Callable[[Notice], None]:
    """Print notices on standard error, above the progress bar; the same for several overlays only once."""
    shown: set[Notice] = set()

    def show(notice: Notice) -> None:
        if notice not in shown:
            shown.add(notice)
            print(notice.whole, file=sys.stderr)

    return show

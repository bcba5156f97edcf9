"""The trainings of a run: rows and notices, written into its file and shown on the terminal."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from scenarios.config.error_context import changed_errors, in_table
from scenarios.runfile.checkpoint_folders import checkpoints_path
from scenarios.runfile.paths import partial_path
from scenarios.runfile.training_rows import HistoryWriter
from scenarios.runtime.progress import bar, log_lines
from scenarios.runtime.signals import check_interrupts
from topologies.errors import InputError, LeftEarlyError, MachineError, TrainingError
from training import (
    HistoryRow,
    Notice,
    TrainingBackend,
    TrainingConfig,
    TrainingJob,
    check_resumable,
    checkpoint_path,
    checkpoint_rounds,
    load_backend,
    reject_early_exit,
)
from training.notice import Report


class DamagedCheckpointError(MachineError):
    """A checkpoint from which a run was to continue is damaged, so that it fails the same each time."""


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
    detailed: bool,
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
    """Check the checkpoints of a run that is to continue.

    Parameters
    ----------
    path : Path
        The file of the run.
    jobs : sequence of TrainingJob
        Its trainings.
    show : callable
        Shows notices to the user.

    Raises
    ------
    InputError
        If they are those of another run: what takes them, and what does not.
    DamagedCheckpointError
        If one is damaged: what to remove, so that an older one is taken, or that none is left.
    """
    with changed_errors(_with_choice), in_table("training", TrainingConfig):
        found = [_resumable(path, job) for job in jobs]
    if all(done is None for done in found):
        show(Notice(f"no checkpoint in {checkpoints_path(path)}: the run starts again"))


def _with_choice(error: InputError) -> InputError:
    """The error of a scenario that its checkpoints are not of, with what to do about it."""
    return error.followed_by(
        " Use --resume with the scenario that made it, or --force without --resume to start again with this one."
    )


def _resumable(path: Path, job: TrainingJob) -> int | None:
    """Round of the newest checkpoint of a training; see `check_checkpoints`."""
    try:
        return check_resumable(job)
    except MachineError as error:
        raise DamagedCheckpointError(f"{str(error).removesuffix('.')}; {_way_out(path, job)}") from None


def _way_out(path: Path, job: TrainingJob) -> str:
    """What helps a run whose newest checkpoint is damaged."""
    assert job.directory is not None
    rounds = checkpoint_rounds(job.directory)
    for place in range(len(rounds) - 1, 0, -1):
        with suppress(InputError, MachineError):
            whole = check_resumable(job, before=rounds[place])
            damaged = ", ".join(str(checkpoint_path(job.directory, each)) for each in rounds[place:])
            return f"remove {damaged} to continue from round {whole}."
    partial = partial_path(path)
    reads = f"silosim show {partial} reads the rows so far, " if partial.exists() else ""
    return (
        "no whole checkpoint, with all rows before it, is left from which this training could continue: "
        f"{reads}--force without --resume starts again."
    )


def notice_printer() -> Callable[[Notice], None]:
    """Print notices on standard error, above the progress bar; the same for several overlays only once."""
    shown: set[Notice] = set()

    def show(notice: Notice) -> None:
        if notice not in shown:
            shown.add(notice)
            print(notice.whole, file=sys.stderr)

    return show

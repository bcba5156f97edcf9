"""The trainings of a run: their rows and notices, into its file and onto the screen."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import h5py

from scenarios.history import HistoryWriter
from scenarios.interrupts import check_interrupts
from scenarios.kept import checkpoints_path
from scenarios.progress import bar, log_lines
from scenarios.toml_words import in_table
from topologies.arrays import FloatArray
from training import Notice, TrainingConfig, TrainingJob, load_backend
from training.checkpoint_folder import check_resumable


def train_overlay(
    file: h5py.File, kind: str, job: TrainingJob, last_start_s: FloatArray, tell: Callable[[Notice], None]
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
    """
    history, line, rounds = HistoryWriter(file, kind, last_start_s), log_lines(), job.config.rounds
    try:
        with bar(f"train {kind}", rounds) as advance:
            for report in load_backend(job.config.backend).train(job):
                if isinstance(report, Notice):
                    history.note(report)
                    tell(report)
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


def take_part(jobs: Sequence[TrainingJob]) -> None:
    """Train as a process other than the first of an outer `mpiexec`."""
    for job in jobs:
        for _ in load_backend(job.config.backend).train(job):
            pass


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
            print(notice.text, file=sys.stderr)

    return tell

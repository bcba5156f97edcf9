"""The directory of a training: checkpoints, the history so far, the best and the last model."""

import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from topologies.errors import MachineError
from topologies.whole_files import make_folders
from training.checkpoints.checkpoint import find_checkpoint, read_checkpoint, write_checkpoint
from training.checkpoints.checksums import check_files, file_digest, read_checksums
from training.checkpoints.fingerprint import data_digest
from training.checkpoints.folder import ROWS, check_head, checkpoint_path, link, read_head, read_rows, writing
from training.checkpoints.model_export import (
    BEST,
    LAST,
    MODEL_FILES,
    is_better,
    model_files,
    read_row,
    state_dict,
    write_model,
)
from training.config import TrainingConfig
from training.data.datasets import Dataset
from training.engine.communicator import Communicator
from training.engine.exchange import silo_blocks
from training.engine.rank_silos import RankSilos
from training.history import HistoryRow
from training.job import TrainingJob

LOCK = "lock"
LOCK_WAIT_S = 10.0
_POLL_S = 0.1


def is_logged(config: TrainingConfig, k: int) -> bool:
    """Tell whether the history has a row for round ``k``: every `log_every` rounds, and for the last."""
    return k % config.log_every == 0 or k == config.rounds


class CheckpointManager:
    """One rank's access to the training's directory, a context manager; all ranks call every method together.

    Parameters
    ----------
    job : TrainingJob
        The training. Without a directory, or with neither checkpoints nor models asked for, no method does anything.
    dataset : Dataset
        Its data, which must be the same when it resumes.

    Attributes
    ----------
    done : int
        Rounds done in the newest checkpoint; 0 without one.

    Notes
    -----
    The directory holds ``round-<k>/`` (the last two checkpoints), ``rows.jsonl`` (the history; a checkpoint records how
    many bytes precede it, and their checksum), ``best.pt``, ``last.pt`` and their rows, and a lock that rank 0 holds:
    ranks of a killed run may live for some moments. A checkpoint also links the models of its round, with which a
    resumed run starts.
    """

    def __init__(self, job: TrainingJob, dataset: Dataset, *, communicator: Communicator) -> None:
        config, self._folder = job.config, job.directory or Path()
        self._every = config.checkpoint_every if job.directory is not None else 0
        self._models = config.keep_models and job.directory is not None
        self._job, self._communicator = job, communicator
        self._data = data_digest(dataset) if self._every else ""
        self._writes = communicator.rank == 0 and (self._every > 0 or self._models)
        self._head: Mapping[str, Any] = {}
        self._best: HistoryRow | None = None
        self._lock: int | None = None
        self._rows_digest = hashlib.sha256()
        self._model_digests: dict[str, str] = {}
        self.done = 0

    def __enter__(self) -> "CheckpointManager":
        """Take the lock and look for a checkpoint; errors as in `resume`."""
        try:
            if self._writes:
                with writing(self._folder):
                    make_folders(self._folder)
                    self._lock = _locked(self._folder / LOCK)
            found = find_checkpoint(self._folder, self._communicator) if self._every else None
            if found is not None:
                path = checkpoint_path(self._folder, found)
                self._head = read_head(path)
                check_head(self._head, self._job, path, own={"data_set": self._data})
                self.done = found
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        if self._lock is not None:
            os.close(self._lock)

    def with_recorded_executor(self, *, gpu: bool) -> TrainingJob:
        """Return the job; with executor ``auto``, with the one that made the checkpoint.

        Parameters
        ----------
        gpu : bool
            Whether there is a GPU, which some executors need.

        Returns
        -------
        TrainingJob
            The job that gives the same curve on the same device.
        """
        made = self._head.get("executor", "auto")
        if self._job.config.executor != "auto" or (made == "graphs" and not gpu):
            return self._job
        return replace(self._job, config=replace(self._job.config, executor=made))

    def resume(self, rank_silos: RankSilos) -> list[HistoryRow]:
        """Set silos, history and models to the checkpoint that was found; without one, to the beginning.

        Parameters
        ----------
        rank_silos : RankSilos
            This rank's silos, whose state is set.

        Returns
        -------
        list of HistoryRow
            The history so far, on rank 0: rows that the configuration's `log_every` asks for.

        Raises
        ------
        InputError
            If the checkpoint is that of another training; on every rank.
        MachineError
            If it cannot be read, or the directory cannot be written; on any rank.
        """
        if not self.done:
            if self._writes:
                self._clear()
            return []
        path = checkpoint_path(self._folder, self.done)
        read_checkpoint(path, self._head, rank_silos)
        computed = self._job.mixing.computing_before(self.done)
        own = rank_silos.own
        rank_silos.optimizer.steps[:] = self._job.steps.before(computed)[own.start : own.stop]
        return self._restore(path) if self._writes else []

    @property
    def lacks_last_model(self) -> bool:
        """Whether the checkpoint is of the last round, but was not when it was made: the last model is missing."""
        if not (self._writes and self._models and self.done == self._job.config.rounds):
            return False
        last = read_row(self._folder, LAST)
        return last is None or last.round != self.done

    def add(self, row: HistoryRow, average: nn.Module, rank_silos: RankSilos, *, new: bool) -> None:
        """Write a row and, if models are asked for and it is the best or the last one, its model.

        Parameters
        ----------
        row : HistoryRow
            The row, the same on every rank.
        average : torch.nn.Module
            The average model that it was measured on.
        new : bool
            Whether the history lacks the row.
        """
        if not self._writes:
            return
        with writing(self._folder):
            if self._every and new:
                line = (row.to_json() + "\n").encode()
                with (self._folder / ROWS).open("ab") as file:
                    file.write(line)
                self._rows_digest.update(line)
            if self._models:
                self._export_models(row, average, rank_silos)

    def save(self, k: int, rank_silos: RankSilos) -> None:
        """Write a checkpoint if round ``k`` gets one: every so many rounds, and the last.

        Parameters
        ----------
        k : int
            Rounds done.
        rank_silos : RankSilos
            Their state is written.

        Raises
        ------
        MachineError
            If it cannot be written; on any rank.
        """
        due = self._every and (k % self._every == 0 or k == self._job.config.rounds)
        if not due or k == self.done:
            return
        write_checkpoint(
            self._job,
            rank_silos,
            k,
            blocks=silo_blocks(self._job.silos, self._communicator.size),
            communicator=self._communicator,
            facts={
                "executor": rank_silos.executor,
                "rows_bytes": self._sync_rows(),
                "rows_sha256": self._rows_digest.hexdigest(),
                "made_by": {"data_set": self._data},
            },
            files={self._folder / name: digest for name, digest in self._model_digests.items()},
        )
        self.done = k

    def _export_models(self, row: HistoryRow, average: nn.Module, rank_silos: RankSilos) -> None:
        """Write the row's model where it is the best so far or the last one."""
        names = [BEST] if is_better(row, self._best) else []
        if row.round == self._job.config.rounds:
            names.append(LAST)
        if names:
            state = state_dict(average, rank_silos.models.modules[0] if rank_silos.own else None)
            for name in names:
                write_model(self._folder, name, state, row)
            if self._every:
                written = [file for file in model_files(self._folder) if file.stem in names]
                self._model_digests |= {file.name: file_digest(file) for file in written}
        if BEST in names:
            self._best = row

    def _clear(self) -> None:
        """Remove the history and the models of an earlier training without a checkpoint."""
        with writing(self._folder):
            for path in (self._folder / ROWS, *model_files(self._folder)):
                path.unlink(missing_ok=True)

    def _restore(self, path: Path) -> list[HistoryRow]:
        """Set history and models back to those of a checkpoint, and return the history."""
        self._best = read_row(path, BEST)
        read_row(path, LAST)
        digests = read_checksums(path)
        names = [name for name in MODEL_FILES if name in digests or (path / name).exists()]
        check_files((path / name for name in names), digests)
        self._model_digests = {name: digests[name] for name in names}
        data = read_rows(self._folder, self._head)
        self._rows_digest = hashlib.sha256(data)
        with writing(self._folder):
            for file in model_files(self._folder):
                file.unlink()
            for name in names:
                link(path / name, self._folder / name)
            os.truncate(self._folder / ROWS, len(data))
        try:
            rows = [HistoryRow.from_json(line) for line in data.decode().splitlines()]
        except (LookupError, TypeError, ValueError) as error:
            raise MachineError(f"{self._folder / ROWS} cannot be read: {error}.") from None
        return [row for row in rows if is_logged(self._job.config, row.round)]

    def _sync_rows(self) -> int:
        """Sync the history to disk, and return its length in bytes; 0 on ranks that do not write it."""
        if not self._writes:
            return 0
        with writing(self._folder), (self._folder / ROWS).open("ab") as file:
            os.fsync(file.fileno())
            return file.tell()


def _locked(path: Path) -> int:
    """Lock a file and return its descriptor; wait up to `LOCK_WAIT_S` for the ranks of a killed run to end.

    Raises
    ------
    MachineError
        If another training holds the lock.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    end = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < end:
                time.sleep(_POLL_S)
                continue
            os.close(descriptor)
            raise MachineError(f"{path.parent} is used by another training.") from None
        except OSError as error:
            if error.errno not in (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK):
                os.close(descriptor)
                raise
        return descriptor

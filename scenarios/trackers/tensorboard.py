"""TensorBoard's event files of a run, written while it trains: those that an export of the run would write."""

import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from scenarios.export.tensorboard_files import EVENTS, EventFile
from scenarios.runfile.folders import check_new_folder
from scenarios.runfile.paths import writing
from scenarios.runfile.run_tables import METRICS
from scenarios.trackers.tracker import TrackedTraining
from scenarios.trackers.tracker_lookup import TENSORBOARD
from topologies import MachineError
from training import HistoryRow
from training.history import PER_SILO


class TensorBoard:
    """Writes an event file of one training.

    Parameters
    ----------
    training : TrackedTraining

    Notes
    -----
    The file begins anew in its place with each training. The rows of a resumed one are those of before, and so are the
    bytes: a TensorBoard that reads it meanwhile goes on where it was.
    """

    def __init__(self, training: TrackedTraining) -> None:
        self._training = training
        self._path = events_path(training.path) / training.overlay / EVENTS
        self._file: EventFile | None = None

    def row(self, row: HistoryRow, time_s: float) -> None:
        """Write a row; MachineError if the file cannot be written."""
        training = self._training
        with self._writing():
            # With the first row, since a run without any leaves no other file.
            file = self._file = self._file or EventFile(self._path)
            file.write(row.round, time_s, {name: getattr(row, name) for name in METRICS})
            own = {name: values for name in PER_SILO if (values := getattr(row, name))}
            starts = training.silo_start_s(row.round).tolist()
            for silo, (label, start_s) in enumerate(zip(training.silos, starts, strict=True)):
                file.write(
                    row.round, start_s, {f"{name}/{label}": values[silo] for name, values in own.items()}
                )
            file.flush()

    def end(self, _error: BaseException | None) -> None:
        """Close the file."""
        if self._file is not None:
            with self._writing():
                self._file.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise MachineError(f"{self._path} cannot be written: {error.strerror or error}") from None


def events_path(path: Path) -> Path:
    """Folder of the event files of a run, with one folder per overlay."""
    return path.with_name(f"{path.stem}.{TENSORBOARD}")


def check_event_files(path: Path, trackers: Collection[object], *, force: bool, resume: bool) -> None:
    """Raise an error if a run would replace event files without permission.

    Parameters
    ----------
    path : Path
        The file of the run.
    trackers : collection
        Names of its trackers, among others.
    force, resume : bool
        Whether they are replaced, or those of this run are written again.

    Raises
    ------
    InputError
        If they exist and neither was asked for, or their folder holds other files.
    """
    if TENSORBOARD in trackers:
        check_new_folder(events_path(path), force=force or resume, is_own=_is_event_file)


def drop_event_files(path: Path, trackers: Collection[str]) -> None:
    """Remove the event files of an earlier run, if this one has a tracker that writes some."""
    folder = events_path(path)
    if TENSORBOARD in trackers and folder.exists():
        with writing(folder):
            shutil.rmtree(folder)


def _is_event_file(file: Path) -> bool:
    """Whether a file of the folder is one that `TensorBoard` writes."""
    return len(file.parts) == 2 and file.name == EVENTS

"""The protocol of trackers, and what one is told of its training."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from topologies.arrays import FloatArray
from training import HistoryRow, TrainingConfig


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TrackedTraining:
    """A training of a run: one overlay with one seed.

    Attributes
    ----------
    name : str
        Of the scenario.
    overlay : str
        Kind, or name, of the overlay.
    seed : int
    silos : tuple of str
        Labels of the silos, in the order of `HistoryRow.silo_loss`.
    config : TrainingConfig
        Settings of the training, defaults included.
    scenario : str
        TOML text of the whole scenario.
    path : Path
        The HDF5 file of the run, which is complete only later.
    silo_start_s : callable
        Simulated start of a round in each silo, shape (silos,); takes the number of the round.
    """

    name: str
    overlay: str
    seed: int
    silos: tuple[str, ...]
    config: TrainingConfig
    scenario: str
    path: Path
    silo_start_s: Callable[[int], FloatArray]


class Tracker(Protocol):
    """Takes the rows of one training, on process 0 only."""

    def row(self, row: HistoryRow, time_s: float) -> None:
        """Take a row.

        Parameters
        ----------
        row : HistoryRow
            All rows come, in the order of their rounds. A training that is resumed has a new tracker, which gets those
            from before the checkpoint first.
        time_s : float
            Simulated time at which the last silo starts the row's round: the wall-clock time of tables.
        """

    def end(self, error: BaseException | None) -> None:
        """Take the end of the training.

        Parameters
        ----------
        error : BaseException or None
            What ended it before its last row: KeyboardInterrupt for Ctrl-C, SIGTERM and SIGHUP. None if it is complete.
        """


MakeTracker = Callable[[TrackedTraining], Tracker]
"""Called once for each training when it begins, after its simulation: a class, or a function."""

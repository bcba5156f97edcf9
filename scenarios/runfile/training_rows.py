"""Training rows in the HDF5 file of a run."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import h5py
import numpy as np

from scenarios.runfile.atomic import reports_full_disk
from topologies.arrays import FloatArray
from training import HistoryRow, Notice
from training.history import PER_SILO

_FLUSH_ROWS = 16
_FLUSH_S = 2.0
_NOTICES = h5py.string_dtype(length=4096)
"""A text of this many bytes, so that it changes in place."""


@reports_full_disk
def allocate_history(file: h5py.File, kind: str, *, rows: int, silos: int) -> None:
    """Allocate everything that `write_history` fills in, at its full size; see `scenarios.runfile.simulated_rounds`."""
    group = file.create_group(f"training/{kind}")
    group.attrs.create("notices", "", dtype=_NOTICES)
    for field in fields(HistoryRow):
        shape = (rows, silos) if field.name in PER_SILO else (rows,)
        group[field.name] = np.full(shape, -1) if field.name == "round" else np.full(shape, np.nan)
    file[f"replay/{kind}/wall_clock_s"] = np.full(rows, np.nan)
    file.flush()


@reports_full_disk
def write_history(
    file: h5py.File, kind: str, first: int, history: Mapping[str, Any], last_start_s: FloatArray
) -> None:
    """Write training rows from row `first` on, and their wall-clock times.

    Parameters
    ----------
    file : h5py.File
    kind : str
    first : int
    history : mapping from HistoryRow's fields to arrays
        A missing field stays NaN.
    last_start_s : ndarray, shape (rounds + 1,)
        When the last silo starts each round.

    Notes
    -----
    The metrics of round `k` hold when the last silo starts round `k`. A row is there once its round is, which is
    therefore written last.
    """
    rounds = np.asarray(history["round"], dtype=np.int64)
    rows = slice(first, first + len(rounds))
    for name in (field.name for field in fields(HistoryRow) if field.name != "round"):
        if name in history:
            file[f"training/{kind}/{name}"][rows] = np.asarray(history[name])
    file[f"replay/{kind}/wall_clock_s"][rows] = last_start_s[rounds]
    file.flush()
    file[f"training/{kind}/round"][rows] = rounds
    file.flush()


@reports_full_disk
def write_notices(file: h5py.File, kind: str, texts: Sequence[str]) -> None:
    """Write the notices of a training, one per line; what does not fit into the attribute is cut off."""
    text = "\n".join(texts).encode()[: _NOTICES.itemsize].decode(errors="ignore")
    file[f"training/{kind}"].attrs.modify("notices", np.array(text.encode(), dtype=_NOTICES))
    file.flush()


class HistoryWriter:
    """Takes one overlay's training rows and writes them, with wall-clock times, in blocks that are flushed.

    Parameters
    ----------
    file : h5py.File
    kind : str
        The overlay.
    last_start_s : ndarray, shape (rounds + 1,)
        When the last silo starts each round.
    """

    def __init__(self, file: h5py.File, kind: str, last_start_s: FloatArray) -> None:
        self._file, self._kind, self._last_start_s = file, kind, last_start_s
        self._rows: list[HistoryRow] = []
        self._written = 0
        self._notices: list[str] = []
        self._flushed_at = time.monotonic()

    def add(self, row: HistoryRow) -> None:
        """Take one row; it is in the file after a few more, or two seconds later."""
        self._rows.append(row)
        if len(self._rows) >= _FLUSH_ROWS or time.monotonic() - self._flushed_at > _FLUSH_S:
            self.flush()

    def note(self, notice: Notice) -> None:
        """Write a notice of the training."""
        self._notices.append(notice.whole)
        write_notices(self._file, self._kind, self._notices)

    def flush(self) -> None:
        """Write all rows taken so far and flush the file."""
        rows, self._rows = self._rows, []
        if rows:
            columns = {field.name: [getattr(row, field.name) for row in rows] for field in fields(HistoryRow)}
            # A backend may measure no accuracy per silo: its rows then have an empty tuple.
            history = {name: np.array(column) for name, column in columns.items() if column[0] != ()}
            write_history(self._file, self._kind, self._written, history, self._last_start_s)
        self._written += len(rows)
        self._flushed_at = time.monotonic()

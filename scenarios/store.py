"""The HDF5 file of a run: one writer, flushed often, renamed into place when it is complete."""

import functools
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

import h5py
import numpy as np

from scenarios.network import describe
from scenarios.outputs import check_new, create_locked, partial_path, remove_unlocked, writing
from simulator import Timeline
from topologies import Connectivity, InputError, MachineError, Overlay, Workload
from topologies.arrays import FloatArray
from training import HistoryRow

SCHEMA = "silosim-run/1"
Arguments = ParamSpec("Arguments")
_FLUSH_ROWS = 16
_FLUSH_S = 2.0


@contextmanager
def new_file(path: Path, *, force: bool = False) -> Iterator[h5py.File]:
    """Open an HDF5 file for writing that appears under its name only when it is complete.

    Parameters
    ----------
    path : Path
        Until the end, the file is called ``<path>.partial``. After an error of input or machine it is deleted if it
        holds no training rows yet; after any other it is kept: it opens and holds all rounds that were flushed.
    force : bool
        Whether an existing file is replaced; never one that another process is writing.

    Yields
    ------
    h5py.File

    Raises
    ------
    InputError
        If the file exists already, is being written, or cannot be made.

    Notes
    -----
    HDF5 truncates a file before it locks it, so a second process would destroy what the first one writes. Here the
    file is made exclusively and locked before HDF5 sees it, and stays locked until it has its final name.
    """
    check_new(path, force=force)
    partial = partial_path(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if force:
                remove_unlocked(partial)
            lock = create_locked(partial)
        except (BlockingIOError, FileExistsError):
            raise InputError(f"{partial} is being written by another process.") from None
    try:
        file = h5py.File(partial, "w", locking=False)
        try:
            yield file
        except (InputError, MachineError):
            if not _holds_rows(file):
                partial.unlink()
            raise
        finally:
            # After a full disk this fails again, at which the first error is the one to report.
            with suppress(OSError, RuntimeError):
                file.close()
        if path.exists() and not force:
            raise InputError(f"{path} appeared meanwhile and is kept; the run is in {partial}.")
        os.replace(partial, path)
    finally:
        os.close(lock)


def _holds_rows(file: h5py.File) -> bool:
    """Whether any training row was written."""
    return any(group["round"][0] >= 0 for group in file.get("training", {}).values())


def _reports_full_disk(
    write: Callable[Concatenate[h5py.File, Arguments], None],
) -> Callable[Concatenate[h5py.File, Arguments], None]:
    """Turn HDF5's errors of writing, as on a full disk, into a MachineError."""

    def reporting(file: h5py.File, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            write(file, *args, **kwargs)
        except (OSError, RuntimeError) as error:
            number = getattr(error, "errno", None)
            reason = os.strerror(number) if number else str(error).splitlines()[0]
            raise MachineError(f"{file.filename} cannot be written: {reason}") from None

    functools.update_wrapper(reporting, write)
    return reporting


@_reports_full_disk
def write_head(
    file: h5py.File, *, scenario: str, network: str, seed: int, graph: Connectivity, work: Workload
) -> None:
    """Write the root attributes and the groups that describe network and workload."""
    underlay = graph.underlay
    digest = hashlib.sha256()
    for array in (
        underlay.ends,
        underlay.length_km,
        graph.core_bps,
        graph.up_bps,
        graph.down_bps,
        graph.latency_s,
    ):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(graph.available_bps.tobytes())
    digest.update("\0".join(graph.labels).encode())
    file.attrs.update(
        schema=SCHEMA,
        silosim_version=version("silosim"),
        scenario=scenario,
        network=network,
        about=describe(graph, work),
        seed=seed,
        graph_sha256=digest.hexdigest(),
        units="seconds, bits, bits per second, kilometres, degrees: see the suffix of each name",
    )
    group = file.create_group("underlay")
    group.attrs.update(name=underlay.name, variant=underlay.variant)
    group["labels"] = np.array(underlay.labels, dtype=h5py.string_dtype())
    for name in ("latitude_deg", "longitude_deg", "ends", "length_km", "capacity_bps"):
        group[name] = getattr(underlay, name)
    group = file.create_group("connectivity")
    for name in ("router", "up_bps", "down_bps", "core_bps", "latency_s", "available_bps"):
        group[name] = getattr(graph, name)
    group = file.create_group("workload")
    group.attrs.update(
        name=work.name, model_bits=work.model_bits, compute_s=work.compute_s, local_steps=work.local_steps
    )
    file.flush()


@_reports_full_disk
def write_overlay(file: h5py.File, overlay: Overlay) -> None:
    """Write one overlay: arcs, delays, consensus matrix, closed forms, critical circuit."""
    order = len(file.get("overlays", ()))
    group = file.create_group(f"overlays/{overlay.kind}")
    group["arcs"] = np.stack((overlay.source, overlay.target, overlay.tokens), axis=1)
    group["arcs"].attrs["columns"] = "source silo, target silo, tokens"
    group["delay_s"] = overlay.delay_s
    group["consensus"] = overlay.consensus
    group["critical_circuit"] = np.array(overlay.critical_circuit, dtype=np.int64)
    forms = overlay.closed_forms
    group.attrs.update(
        paper_s=forms.paper_s,
        serialized_s=forms.serialized_s,
        load_bound_s=forms.load_bound_s,
        busiest_link="" if forms.busiest_link is None else overlay.graph.link_name(forms.busiest_link),
        order=order,
        max_degree=overlay.max_degree,
        hub=-1 if overlay.hub is None else overlay.hub,
    )
    file.flush()


@_reports_full_disk
def allocate(
    file: h5py.File, overlay: Overlay, *, rounds: int, rows: int, sharing: str, queueing: str
) -> None:
    """Make everything that `write_timeline` and `write_history` fill in, at its full size.

    Parameters
    ----------
    file : h5py.File
    overlay : Overlay
    rounds : int
        Rounds to simulate.
    rows : int
        Rows of the training's history; without any there is none.
    sharing, queueing : str
        Of the simulation.

    Notes
    -----
    A file that grows is unreadable if the process is killed while HDF5 writes its own tables. Once all overlays are
    allocated, only numbers change, in place, so that a kill leaves a file that opens at any moment.
    """
    kind, silos = overlay.kind, overlay.graph.silos
    group = file.create_group(f"simulation/{kind}")
    group["round_start_s"] = np.full((rounds + 1, silos), np.nan)
    group["arrival_s"] = np.full((rounds, overlay.arcs), np.nan)
    group["link_bits"] = np.full(len(overlay.graph.link_capacity_bps), np.nan)
    group.attrs.update(cycle_time_s=np.nan, cycle_time_is_exact=False, sharing=sharing, queueing=queueing)
    if rows:
        group = file.create_group(f"training/{kind}")
        for field in fields(HistoryRow):
            shape = (rows, silos) if field.name == "silo_loss" else (rows,)
            group[field.name] = np.full(shape, -1) if field.name == "round" else np.full(shape, np.nan)
        file[f"replay/{kind}/wall_clock_s"] = np.full(rows, np.nan)
    file.flush()


@_reports_full_disk
def write_timeline(file: h5py.File, kind: str, timeline: Timeline) -> None:
    """Write the simulated dates of one overlay."""
    group = file[f"simulation/{kind}"]
    for name in ("round_start_s", "arrival_s", "link_bits"):
        group[name][...] = getattr(timeline, name)
    file.flush()
    group.attrs.modify("cycle_time_is_exact", timeline.cycle_time_is_exact)
    group.attrs.modify("cycle_time_s", timeline.cycle_time_s)
    file.flush()


@_reports_full_disk
def write_history(
    file: h5py.File, kind: str, first: int, history: Mapping[str, Any], round_start_s: FloatArray
) -> None:
    """Write training rows from row `first` on, and their wall-clock times.

    Parameters
    ----------
    file : h5py.File
    kind : str
    first : int
    history : mapping from HistoryRow's fields to arrays
    round_start_s : ndarray, shape (rounds + 1, silos)
        Simulated dates.

    Notes
    -----
    The metrics of round `k` hold when the last silo starts round `k`. A row is there once its round is, which is
    therefore written last.
    """
    rounds = np.asarray(history["round"], dtype=np.int64)
    rows = slice(first, first + len(rounds))
    for name in (field.name for field in fields(HistoryRow) if field.name != "round"):
        file[f"training/{kind}/{name}"][rows] = np.asarray(history[name])
    file[f"replay/{kind}/wall_clock_s"][rows] = round_start_s[rounds].max(axis=1)
    file.flush()
    file[f"training/{kind}/round"][rows] = rounds
    file.flush()


class HistoryWriter:
    """Takes one overlay's training rows and writes them, with wall-clock times, in blocks that are flushed.

    Parameters
    ----------
    file : h5py.File
    kind : str
        The overlay.
    round_start_s : ndarray, shape (rounds + 1, silos)
        Simulated dates.
    """

    def __init__(self, file: h5py.File, kind: str, round_start_s: FloatArray) -> None:
        self._file, self._kind, self._round_start_s = file, kind, round_start_s
        self._rows: list[HistoryRow] = []
        self._written = 0
        self._flushed_at = time.monotonic()

    def add(self, row: HistoryRow) -> None:
        """Take one row; it is in the file after a few more, or two seconds later."""
        self._rows.append(row)
        if len(self._rows) >= _FLUSH_ROWS or time.monotonic() - self._flushed_at > _FLUSH_S:
            self.flush()

    def flush(self) -> None:
        """Write all rows taken so far and flush the file."""
        rows, self._rows = self._rows, []
        if rows:
            history = {
                field.name: np.array([getattr(row, field.name) for row in rows])
                for field in fields(HistoryRow)
            }
            write_history(self._file, self._kind, self._written, history, self._round_start_s)
        self._written += len(rows)
        self._flushed_at = time.monotonic()

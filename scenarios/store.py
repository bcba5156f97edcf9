"""The HDF5 file of a run: one writer, flushed often, renamed into place when it is complete."""

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path

import h5py
import numpy as np

from scenarios.network import describe
from simulator import Timeline
from topologies import Connectivity, InputError, MachineError, Overlay, Workload
from topologies.arrays import FloatArray
from training import HistoryRow

SCHEMA = "silosim-run/1"
_FLUSH_ROWS = 16
_FLUSH_S = 2.0


def partial_path(path: Path) -> Path:
    """Name of a run's file until the run is complete."""
    return path.with_name(path.name + ".partial")


@contextmanager
def new_file(path: Path, *, force: bool = False) -> Iterator[h5py.File]:
    """Open an HDF5 file for writing that appears under its name only when it is complete.

    Parameters
    ----------
    path : Path
        Until the end, the file is called ``<path>.partial``. It is deleted after an error of input or machine,
        and kept after any other: it opens and holds all rounds that were flushed.
    force : bool
        Whether an existing file is replaced.

    Yields
    ------
    h5py.File

    Raises
    ------
    InputError
        If the file exists already, or cannot be made.
    """
    if path.exists() and not force:
        raise InputError(f"{path} exists already; --force replaces it.")
    partial = partial_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = h5py.File(partial, "w")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error}") from None
    try:
        with file:
            yield file
    except (InputError, MachineError):
        partial.unlink(missing_ok=True)
        raise
    os.replace(partial, path)


def write_head(
    file: h5py.File, *, scenario: str, network_changes: str, seed: int, graph: Connectivity, work: Workload
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
        network_changes=network_changes,
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
    for name in ("up_bps", "down_bps", "core_bps", "latency_s", "available_bps"):
        group[name] = getattr(graph, name)
    group = file.create_group("workload")
    group.attrs.update(
        name=work.name, model_bits=work.model_bits, compute_s=work.compute_s, local_steps=work.local_steps
    )
    file.flush()


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


def write_timeline(file: h5py.File, kind: str, timeline: Timeline, *, sharing: str, queueing: str) -> None:
    """Write the simulated dates of one overlay."""
    group = file.create_group(f"simulation/{kind}")
    group["round_start_s"] = timeline.round_start_s
    group["arrival_s"] = timeline.arrival_s
    group["link_bits"] = timeline.link_bits
    group.attrs.update(cycle_time_s=timeline.cycle_time_s, sharing=sharing, queueing=queueing)
    file.flush()


def write_replay(file: h5py.File, kind: str, rounds: Sequence[int], round_start_s: FloatArray) -> None:
    """Append wall-clock times: the metrics of round `k` hold when the last silo starts round `k`."""
    _append(file, f"replay/{kind}/wall_clock_s", round_start_s[list(rounds)].max(axis=1))


class HistoryWriter:
    """Appends one overlay's training rows and their wall-clock times, in blocks that are flushed.

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
        self._flushed_at = time.monotonic()

    def add(self, row: HistoryRow) -> None:
        """Take one row; it is in the file after a few more, or two seconds later."""
        self._rows.append(row)
        if len(self._rows) >= _FLUSH_ROWS or time.monotonic() - self._flushed_at > _FLUSH_S:
            self.flush()

    def flush(self) -> None:
        """Write all rows taken so far and flush the file."""
        if self._rows:
            for field in fields(HistoryRow):
                values = np.array([getattr(row, field.name) for row in self._rows])
                _append(self._file, f"training/{self._kind}/{field.name}", values)
            write_replay(self._file, self._kind, [row.round for row in self._rows], self._round_start_s)
            self._file.flush()
        self._rows = []
        self._flushed_at = time.monotonic()


def _append(file: h5py.File, name: str, values: np.ndarray) -> None:
    """Append rows to a dataset, which is made at the first call."""
    if name not in file:
        file.create_dataset(
            name, data=values, maxshape=(None, *values.shape[1:]), chunks=(64, *values.shape[1:])
        )
        return
    dataset = file[name]
    old = dataset.shape[0]
    dataset.resize(old + len(values), axis=0)
    dataset[old:] = values

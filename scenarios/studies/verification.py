"""Whether the file of a complete run is whole: its checksum, all that is in it, its rows, its network's hash."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from scenarios.config.network import build_network
from scenarios.config.scenario import recorded_scenario
from scenarios.runfile.artifacts import rounds_reached
from scenarios.runfile.file_checksum import LINE_BYTES, recorded_checksum
from scenarios.runfile.origin import recorded_origin
from scenarios.runfile.paths import PARTIAL
from scenarios.runfile.reader import OverlayRecord, RunRecord, open_file, read_open
from scenarios.runfile.writer import graph_digest
from scenarios.runtime.signals import check_interrupts
from topologies import InputError

_PIECE = 2**20
_VERSION = "silosim_version"


def verify(path: Path) -> tuple[str, ...]:
    """Check the file of a complete run.

    Parameters
    ----------
    path : Path
        Of `run`, `simulate`, `replay` or `import-metrics`.

    Returns
    -------
    tuple of str
        What was checked, a line each.

    Raises
    ------
    InputError
        If the file is damaged, or not that of a complete run.

    Notes
    -----
    Time O(bytes): the file is read twice.
    """
    with open_file(path) as file:
        record = read_open(file, source=str(path))
        try:
            data_sets, attributes = _read_all(file)
            training = recorded_scenario(record.scenario).trained_rounds
            if path.name.endswith(PARTIAL):
                raise InputError(_incomplete(path, record, training))
            rows = tuple(_rows(file, overlay, training) for overlay in record.overlays)
            if not rows:
                raise InputError("has no overlay.", source=str(path))
            origin = recorded_origin(file.attrs)
            made_by = str(file.attrs.get(_VERSION, ""))
            stated = str(file.attrs["graph_sha256"])
            network = _network(stated, graph_digest(build_network(record.network, record.underlay)), made_by)
        except InputError as error:
            raise error.located(str(path)) from None
        except (OSError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise InputError(f"is damaged: {str(error).splitlines()[0]:.200}", source=str(path)) from None
    digest = recorded_checksum(path)
    whole = "none: of an earlier version, or changed by another program"
    if digest is not None:
        whole = f"SHA-256 {digest} of its first {path.stat().st_size - LINE_BYTES:,} bytes, as at its end"
    return (
        f"checksum: {whole}",
        f"read to the end: {data_sets:,} data sets and {attributes:,} attributes",
        f"network: {network}",
        *rows,
        f"versions: silosim {origin['silosim version']}; {origin.get('library versions', 'others not stated')}",
    )


def _incomplete(path: Path, record: RunRecord, training: int | None) -> str:
    """What is missing of the run in a partial file, by its rows and the checkpoints beside it."""
    reached = rounds_reached(path, record)
    for overlay in record.overlays:
        if training is not None and (done := reached.get(overlay.kind, 0)) < training:
            return f"is not complete: {overlay.kind} is trained to round {done} of {training}."
    return "is not complete."


def _read_all(file: h5py.File) -> tuple[int, int]:
    """Read every data set, piece by piece, and every attribute; how many there are."""
    data_sets, attributes = 0, len(dict(file.attrs))

    def read(_name: str, item: Any) -> None:
        nonlocal data_sets, attributes
        check_interrupts()
        attributes += len(dict(item.attrs))
        if not isinstance(item, h5py.Dataset):
            return
        data_sets += 1
        if not item.shape:
            item[()]
            return
        step = max(1, _PIECE // max(1, item.size // max(1, item.shape[0])))
        for first in range(0, item.shape[0], step):
            item[first : first + step]

    file.visititems(read)
    return data_sets, attributes


def _network(stated: str, found: str, made_by: str) -> str:
    """What is to be said of the network's hash; an error where this version has made another one."""
    if stated == found:
        return "of the hash that the file states"
    if made_by == version("silosim"):
        raise InputError("is damaged: its network has another hash than graph_sha256 states.")
    return f"its hash is not compared: that of silosim {made_by} may be made differently"


def _rows(file: h5py.File, overlay: OverlayRecord, trained_rounds: int | None) -> str:
    """Check the rounds and the training rows of an overlay, and say how many there are."""
    kind, rounds = overlay.kind, overlay.simulation.rounds
    simulation = file[f"simulation/{kind}"]
    starts, arrivals = simulation["round_start_s"], simulation["arrival_s"]
    if not overlay.simulation.is_whole or rounds > len(starts) - 1:
        raise InputError(f"is not complete: {kind} has {rounds} of {len(starts) - 1} rounds.")
    last_s, first_s = -np.inf, np.empty(0)
    for first in range(0, rounds, 4096):
        piece = starts[first : min(first + 4096, rounds)]
        first_s = piece.max(axis=1)
        if not np.isfinite(first_s).all() or first_s[0] < last_s or (np.diff(first_s) < 0).any():
            raise InputError(f"is damaged: dates of {kind} are missing or go back.")
        last_s = float(first_s[-1])
        came_s = arrivals[first : first + len(piece)]  # NaN: no message
        if np.isinf(came_s).any() or (came_s < piece.min(axis=1)[:, None]).any():
            raise InputError(f"is damaged: messages of {kind} arrive before their round, or never.")
    link_bits = simulation["link_bits"][:]
    if not (np.isfinite(link_bits) & (link_bits >= 0.0)).all():
        raise InputError(f"is damaged: link_bits of {kind} must be finite and >= 0.")
    text = f"{kind}: {rounds:,} round{'' if rounds == 1 else 's'}"
    if not overlay.history:
        return text
    logged = overlay.history["round"]
    if not overlay.training_is_whole or (trained_rounds is not None and logged[-1] != trained_rounds):
        of_all = "" if trained_rounds is None else f" of {trained_rounds}"
        raise InputError(f"is not complete: {kind} is trained to round {int(logged[-1])}{of_all}.")
    if (np.diff(logged) <= 0).any():
        raise InputError(f"is damaged: training rows of {kind} go back.")
    for row, round_ in enumerate(logged.tolist()):
        there_s = starts[int(round_)]
        if not there_s.min() <= overlay.wall_clock_s[row] <= there_s.max():
            raise InputError(
                f"is damaged: round {int(round_)} of {kind} has another date in its training row."
            )
    of_training = f"{len(logged):,} training row{'' if len(logged) == 1 else 's'}"
    return f"{text}, {of_training} to round {int(logged[-1])}"

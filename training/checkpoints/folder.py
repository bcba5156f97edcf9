"""The folder of a training's checkpoints: names, headers, and files that are complete or absent."""

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from topologies import whole_files
from topologies.errors import Field, InputError, MachineError, quoted
from topologies.regular_files import regular
from training.checkpoints.checksums import check_files, read_checksums
from training.checkpoints.fingerprint import check_same, fingerprint
from training.job import TrainingJob

HEAD = "head.json"
ROWS = "rows.jsonl"
PARTIAL = ".partial"
SCHEMA = "silosim-checkpoint/1"
_CHECKPOINT = re.compile(r"round-(\d{6,18})", re.ASCII)
"""Name of the folder of a checkpoint, as `checkpoint_path` makes it."""


def checkpoint_rounds(folder: Path) -> list[int]:
    """Return the rounds of the whole checkpoints in a folder, ascending; none if there is no such folder."""
    found = folder.iterdir() if folder.is_dir() else ()
    matches = [match for path in found if (match := _CHECKPOINT.fullmatch(path.name)) and path.is_dir()]
    return sorted(int(match[1]) for match in matches)


def checkpoint_path(folder: Path, round_index: int) -> Path:
    """Return the name of a round's checkpoint."""
    return folder / f"round-{round_index:06d}"


def history_path(folder: Path) -> Path:
    """Return the name of the file with the rows so far, a JSON object on each line, in a training's folder."""
    return folder / ROWS


def check_resumable(job: TrainingJob, *, before: float = math.inf) -> int | None:
    """Check by job and checksums that a training can resume from the newest checkpoint in its directory.

    Parameters
    ----------
    job : TrainingJob
    before : float
        Only checkpoints of earlier rounds count.

    Returns
    -------
    int or None
        The checkpoint's round; None if there is none.

    Raises
    ------
    InputError
        If it is a checkpoint of another training, or of a later round than the training has.
    MachineError
        If it cannot be read, or a file of it is damaged.

    Notes
    -----
    Reads all files of the checkpoint once.
    """
    rounds = [] if job.directory is None else [k for k in checkpoint_rounds(job.directory) if k < before]
    if job.directory is None or not rounds:
        return None
    path = checkpoint_path(job.directory, rounds[-1])
    head = read_head(path)
    check_head(head, job, path)
    digests = read_checksums(path)
    check_files((path / name for name in digests), digests)
    read_rows(job.directory, head)
    return rounds[-1]


def read_head(path: Path) -> dict[str, Any]:
    """Return a checkpoint's header; MachineError if it cannot be read or is damaged."""
    # Before anything is read of it: what another program left there may be of any size and depth.
    check_files([path / HEAD], read_checksums(path))
    try:
        head = json.loads((path / HEAD).read_text(encoding="utf-8"))
    except (OSError, RecursionError, ValueError):
        raise MachineError(
            f"{path / HEAD} cannot be read: it is no JSON of usual depth and numbers."
        ) from None
    if not isinstance(head, dict):
        raise MachineError(f"{path / HEAD} cannot be read: it must hold a JSON object.")
    if head.get("schema") != SCHEMA:
        raise MachineError(
            f"{path / HEAD} cannot be read: schema(={quoted(head.get('schema'))}) must be {SCHEMA!r}."
        )
    for key, (is_right, rule) in _KEYS.items():
        if key not in head and key not in _NEWER_KEYS:
            raise MachineError(f"{path / HEAD} cannot be read: {key} is missing.")
        if key in head and not is_right(head[key]):
            raise MachineError(f"{path / HEAD} cannot be read: {key}(={head[key]!r:.80}) must be {rule}.")
    if checkpoint_path(path.parent, head["round"]).name != path.name:
        raise MachineError(
            f"{path / HEAD} cannot be read: round(={head['round']}) is not that of the folder."
        )
    return cast(dict[str, Any], head)


def _is_count(value: object, least: int = 0) -> bool:
    """Whether a value is an integer, and no less than this."""
    return type(value) is int and value >= least


def _are_blocks(value: object) -> bool:
    """Whether a value is a list of begins and ends of silos, one behind the other from silo 0 on."""
    if not isinstance(value, list) or not value:
        return False
    last = 0
    for block in value:
        if not (isinstance(block, list) and len(block) == 2 and all(map(_is_count, block))):
            return False
        if block[0] != last or block[1] <= last:
            return False
        last = block[1]
    return True


_KEYS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "round": (lambda value: _is_count(value, 1), "an integer >= 1"),
    "executor": (lambda value: isinstance(value, str), "a name"),
    "rows_bytes": (_is_count, "an integer >= 0"),
    "rows_sha256": (
        lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None,
        "64 hexadecimal digits",
    ),
    "made_by": (lambda value: isinstance(value, dict), "a table of settings"),
    "silos": (_are_blocks, "first and last silo of each rank, from 0 on"),
}
"""What the keys of a header must be."""
_NEWER_KEYS = ("executor",)
"""Those that headers of earlier versions lack."""


def read_rows(folder: Path, head: Mapping[str, Any]) -> bytes:
    """Return the history up to a checkpoint.

    Parameters
    ----------
    folder : pathlib.Path
        The training's directory; its file of rows may be longer than at the checkpoint.
    head : mapping
        The checkpoint's header.

    Raises
    ------
    MachineError
        If rows are missing or damaged.
    """
    path, size = folder / ROWS, int(head["rows_bytes"])
    try:
        with regular(path).open("rb") as file:
            rows = file.read(size)
    except FileNotFoundError:
        rows = b""
    except OSError as error:
        raise MachineError(f"{path} cannot be read: {error.strerror}.") from None
    if len(rows) < size:
        raise MachineError(f"{path} cannot be read: {size - len(rows)} bytes are missing.")
    if hashlib.sha256(rows).hexdigest() != head["rows_sha256"]:
        raise MachineError(
            f"{path} cannot be read: its first {size} bytes differ from their checksum in {HEAD}."
        )
    return rows


def check_head(
    head: Mapping[str, Any], job: TrainingJob, path: Path, own: Mapping[str, Any] | None = None
) -> None:
    """Raise InputError unless a checkpoint is of this training, whose further `own` values must match, too."""
    done = int(head["round"])
    if done > job.config.rounds:
        raise InputError(
            f"must be >= {done} as in the checkpoint {path}.", field=Field("rounds", value=job.config.rounds)
        )
    check_same(head["made_by"], {**fingerprint(job, rounds=done), **(own or {})}, checkpoint=str(path))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError while writing into a MachineError."""
    try:
        yield
    except OSError as error:
        raise MachineError(f"{path} cannot be written: {error.strerror or error}") from None


def write_whole(path: Path, data: bytes | memoryview) -> None:
    """Write a file atomically: it appears, or replaces another one, once all of it is on the disk."""
    whole_files.write_whole(path, data, temporary=path.with_name(path.name + PARTIAL))


def link(file: Path, path: Path) -> None:
    """Link a file to another path, or copy it where the file system has no links."""
    try:
        os.link(file, path)
    except OSError:
        write_whole(path, file.read_bytes())

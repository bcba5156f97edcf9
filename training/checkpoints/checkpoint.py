"""Checkpoints of a training, written and read by all its ranks together."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from topologies.errors import MachineError
from topologies.whole_files import make_folders, sync_folder
from training.checkpoints.checksums import CHECKSUMS, check_files, file_digest, read_checksums, to_lines
from training.checkpoints.fingerprint import fingerprint
from training.checkpoints.folder import (
    HEAD,
    PARTIAL,
    SCHEMA,
    checkpoint_path,
    checkpoint_rounds,
    link,
    write_whole,
    writing,
)
from training.checkpoints.silo_files import read_silos, write_silos
from training.engine.communicator import Communicator
from training.engine.rank_silos import RankSilos
from training.job import TrainingJob

RETAINED = 2


def find_checkpoint(folder: Path, communicator: Communicator) -> int | None:
    """Return the round of the newest checkpoint, and remove old and partial ones; all ranks call this together.

    Notes
    -----
    Rank 0 decides for all: on a network file system others may not see the same yet.
    """
    newest = 0  # of all ranks but the first, whose answer is the sum
    if communicator.rank == 0:
        with writing(folder):
            make_folders(folder)
            for left in folder.glob(f"*{PARTIAL}"):
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            _remove_old(folder)
        newest = max(checkpoint_rounds(folder), default=-1)
    found = int(communicator.sum(np.array([float(newest)]))[0])
    return None if found < 0 else found


def write_checkpoint(
    job: TrainingJob,
    rank_silos: RankSilos,
    round_index: int,
    *,
    blocks: Sequence[range],
    communicator: Communicator,
    facts: Mapping[str, Any],
    files: Mapping[Path, str],
) -> None:
    """Write the checkpoint of a round, and remove all but the last two; all ranks call this together.

    Parameters
    ----------
    job : TrainingJob
        The training; its directory takes the checkpoint.
    round_index : int
        Rounds done.
    blocks : sequence of range
        The silos of each rank.
    facts : mapping
        What rank 0 adds to the checkpoint's header.
    files : mapping of pathlib.Path to str
        Files that rank 0 adds, as further names of the same data where the file system has such, with their digests.

    Raises
    ------
    MachineError
        On any rank: if something cannot be written, or the ranks do not share the file system.

    Notes
    -----
    Everything is on the disk before the folder gets its name, so a whole checkpoint is left whenever the processes are
    killed. Older ones lose their name before their files. Costs writing the state, reading it once for its checksum,
    and two reductions.
    """
    assert job.directory is not None
    folder = job.directory
    path = checkpoint_path(folder, round_index)
    partial = path.with_name(path.name + PARTIAL)
    first = communicator.rank == 0
    with writing(path):
        if first:
            partial.mkdir()
        communicator.sum(np.zeros(1))
        own = np.zeros((len(blocks), hashlib.sha256().digest_size))
        if rank_silos.own:
            written = _silos_path(partial, rank_silos.own)
            write_silos(written, rank_silos)
            own[communicator.rank] = list(bytes.fromhex(file_digest(written)))
        found = communicator.sum(own)
        if not first:
            return
        missing = [block for block in blocks if block and not _silos_path(partial, block).exists()]
        if missing:
            raise MachineError(f"{folder} must be on a file system that all ranks share.")
        for file in files:
            link(file, partial / file.name)
        made_by = {**fingerprint(job, rounds=round_index), **facts["made_by"]}
        head = {"schema": SCHEMA, "round": round_index, **facts, "made_by": made_by}
        head["silos"] = [[block.start, block.stop] for block in blocks if block]
        text = json.dumps(head).encode()
        write_whole(partial / HEAD, text)
        digests = {file.name: digest for file, digest in files.items()}
        digests |= {
            _silos_path(partial, block).name: bytes(map(int, digest)).hex()
            for block, digest in zip(blocks, found, strict=True)
            if block
        }
        digests[HEAD] = hashlib.sha256(text).hexdigest()
        write_whole(partial / CHECKSUMS, to_lines(digests).encode())
        sync_folder(partial)
        partial.rename(path)
        sync_folder(folder)
        _remove_old(folder)


def read_checkpoint(path: Path, head: Mapping[str, Any], rank_silos: RankSilos) -> None:
    """Set the state of a rank's silos to that of a checkpoint; MachineError if it cannot be read or is damaged."""
    blocks = [range(start, stop) for start, stop in head["silos"]]
    needed = [
        block for block in blocks if block.start < rank_silos.own.stop and rank_silos.own.start < block.stop
    ]
    files = {block: _silos_path(path, block) for block in needed}
    check_files(files.values(), read_checksums(path))
    rank_silos.exchange.resume_at(int(head["round"]))
    read_silos(files, rank_silos)


def _remove_old(folder: Path) -> None:
    """Remove all checkpoints but the newest ones; each loses its name first."""
    for old in checkpoint_rounds(folder)[:-RETAINED]:
        left = checkpoint_path(folder, old)
        shutil.rmtree(left.rename(left.with_name(left.name + PARTIAL)))


def _silos_path(checkpoint: Path, silos: range) -> Path:
    """Return the name of the file with the state of a rank's silos."""
    return checkpoint / f"silos-{silos.start:05d}-{silos.stop - 1:05d}.npz"

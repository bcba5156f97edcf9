"""An HDF5 file with one writer, renamed into place when it is complete."""

import functools
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Concatenate, ParamSpec

import h5py

from scenarios.runfile.file_checksum import announce_checksum, append_checksum
from scenarios.runfile.paths import (
    another_writes,
    check_new,
    create_locked,
    is_empty,
    partial_path,
    remove_unlocked,
    writing,
)
from scenarios.runtime.signals import was_interrupted
from topologies import InputError, MachineError
from topologies.whole_files import make_folders, publish

Arguments = ParamSpec("Arguments")


@contextmanager
def new_file(
    path: Path, *, size_bytes: int, force: bool = False, resume: bool = False
) -> Iterator[h5py.File]:
    """Open an HDF5 file for writing that appears under its name only when it is complete.

    Parameters
    ----------
    path : Path
        Until the end, the file is called ``<path>.partial``; then its checksum is added (see
        `scenarios.runfile.file_checksum`). After an error of input or machine it is deleted if it holds no training
        rows yet, or no simulated rounds where nothing is trained; after Ctrl-C if it holds neither. Else, and after any
        other error, it is kept: it opens and holds all rounds that were flushed.
    size_bytes : int
        Estimated size of the file, > 0; the disk must have as much space.
    force : bool
        Whether an existing file is replaced; never one that another process is writing.
    resume : bool
        Whether the ``.partial`` file of an interrupted run is replaced, as its rows are written again; never one that
        another process is writing.

    Yields
    ------
    h5py.File

    Raises
    ------
    InputError
        If the file exists already, is being written, or cannot be made.
    MachineError
        If there is too little space on the disk.

    Notes
    -----
    HDF5 truncates a file before it locks it, so a second process would destroy what the first one writes. Here the
    file is made exclusively and locked before HDF5 sees it, and stays locked until it has its final name.
    """
    check_new(path, force=force, resume=resume)
    partial = partial_path(path)
    with writing(path):
        make_folders(path.parent)
        try:
            if force or resume or is_empty(partial):
                remove_unlocked(partial)
            lock = create_locked(partial)
        except (BlockingIOError, FileExistsError):
            raise another_writes(partial) from None
    file: h5py.File | None = None
    try:
        try:
            _check_space(lock, partial, size_bytes)
            with writing(partial):
                file = _unbuffered(partial)
            yield file
            reports_full_disk(announce_checksum)(file)
        except BaseException as error:
            # Imports in C may turn a KeyboardInterrupt into an error of their own.
            interrupted = isinstance(error, KeyboardInterrupt) or was_interrupted()
            is_known = interrupted or isinstance(error, InputError | MachineError)
            if is_known and (file is None or not _is_worth_keeping(file, interrupted=interrupted)):
                partial.unlink()
            if file is not None:
                _give_up(file)
            raise
        _close(file, partial)
        with writing(partial):
            append_checksum(lock, partial.name)
        with writing(path):
            try:
                publish(partial, path, lock, force=force)
            except FileExistsError:
                raise InputError(f"{path} appeared meanwhile and is kept; the run is in {partial}.") from None
    finally:
        os.close(lock)


def _unbuffered(path: Path) -> h5py.File:
    """Make an HDF5 file whose numbers go to the system as they are written.

    In its buffer for numbers (64 KiB a dataset) they wait until a dataset is closed, where Python can report no error,
    and HDF5 crashes later on the dataset that could not be closed.
    """
    with h5py.File(path, "w", locking=False) as empty:
        access = empty.id.get_access_plist()
    access.set_sieve_buf_size(0)
    return h5py.File(h5py.h5f.open(os.fsencode(path), h5py.h5f.ACC_RDWR, fapl=access))


def _is_worth_keeping(file: h5py.File, *, interrupted: bool) -> bool:
    """Whether a file is kept after an error."""
    return _holds_rows(file) or (interrupted and _is_simulated(file))


def _check_space(descriptor: int, partial: Path, size_bytes: int) -> None:
    """Take the space that a file needs and give it back, since HDF5 crashes where it finds a full disk."""
    try:
        os.posix_fallocate(descriptor, 0, size_bytes)
    except OSError as error:
        raise MachineError(
            f"{partial} cannot be written: {error.strerror} ({size_bytes} bytes are needed)."
        ) from None
    os.ftruncate(descriptor, 0)


def _holds_rows(file: h5py.File) -> bool:
    """Whether any training row was written; where nothing is trained, any simulated round."""
    if "training" in file:
        return any("round" in group and group["round"][0] >= 0 for group in file["training"].values())
    return _is_simulated(file)


def _is_simulated(file: h5py.File) -> bool:
    """Whether any round was simulated."""
    return any(group.attrs.get("rounds", 0) > 0 for group in file.get("simulation", {}).values())


def reports_full_disk(
    write: Callable[Concatenate[h5py.File, Arguments], None],
) -> Callable[Concatenate[h5py.File, Arguments], None]:
    """Turn HDF5's errors of writing, as on a full disk, into a MachineError."""

    def reporting(file: h5py.File, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            write(file, *args, **kwargs)
        except (OSError, RuntimeError) as error:
            raise MachineError(f"{file.filename} cannot be written: {_reason(error)}") from None

    functools.update_wrapper(reporting, write)
    return reporting


def _close(file: h5py.File, partial: Path) -> None:
    """Write what HDF5 still has in memory; only then is the file complete."""
    try:
        file.close()
    except (OSError, RuntimeError) as error:
        raise MachineError(f"{partial} cannot be written: {_reason(error)}") from None


def _give_up(file: h5py.File) -> None:
    """Close a file after an error, which is the one to report.

    What cannot be flushed goes nowhere: HDF5 would crash when it tries again at the end of the process.
    """
    try:
        file.flush()
    except (OSError, RuntimeError):
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, file.id.get_vfd_handle())
        os.close(nowhere)
    with suppress(OSError, RuntimeError):
        file.close()


def _reason(error: OSError | RuntimeError) -> str:
    """What HDF5 says of a write that failed, in one line."""
    # Of a flush it says the number in its text only.
    said = re.search(r"\berrno = (\d+)", str(error))
    number = getattr(error, "errno", None) or (said and int(said[1]))
    return os.strerror(number) if number else str(error).splitlines()[0]

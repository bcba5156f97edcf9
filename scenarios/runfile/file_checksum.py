"""The checksum that a complete HDF5 file carries of itself, checked before HDF5 sees the file.

HDF5 crashes on some damaged files. The checksum is a line of text behind the end of what HDF5 reads: other programs
open the file as if it were not there, and those that change the file cut it off. An attribute says that there is one,
so that its loss is noticed.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import h5py

from scenarios.runfile.paths import PARTIAL
from scenarios.runtime.progress import bar
from scenarios.runtime.signals import check_interrupts
from topologies import InputError

ATTRIBUTE = "checksum"
"""Of a complete file that has the line; files of earlier versions have neither."""
_STATED = "SHA-256 of all bytes before the line at the end of the file"
_MARK = b"\nsilosim sha256 of the bytes before this line: "
_DIGITS = 2 * hashlib.sha256().digest_size
LINE_BYTES = len(_MARK) + _DIGITS + 1
_PIECE = 2**22
_FILES = 1024
"""Files that one process remembers to have checked."""
_NEVERTHELESS = "--no-verify opens it nevertheless, if it can be read"
_SKIPPED: ContextVar[bool] = ContextVar("whether checksums are skipped", default=False)


@contextmanager
def unverified(skip: bool) -> Iterator[None]:
    """Within it, files are opened without a look at their checksums, if `skip` says so: large ones open at once."""
    token = _SKIPPED.set(skip or _SKIPPED.get())
    try:
        yield
    finally:
        _SKIPPED.reset(token)


def announce_checksum(file: h5py.File) -> None:
    """Let a file that is complete say that `append_checksum` adds its checksum."""
    file.attrs[ATTRIBUTE] = _STATED


def append_checksum(descriptor: int, name: str) -> None:
    """Add the checksum to a file that is complete, which is read once; its line is not yet synced."""
    with open(descriptor, "r+b", closefd=False) as file:
        size = file.seek(0, os.SEEK_END)
        digest = _digest(file, size, name)
        file.seek(size)
        file.write(_MARK + digest.encode() + b"\n")


def recorded_checksum(path: Path) -> str | None:
    """SHA-256 that a file says of itself; None where it says none, as files of earlier versions and partial ones."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - LINE_BYTES, 0))
        line = file.read()
    is_one = len(line) == LINE_BYTES and line.startswith(_MARK) and line.endswith(b"\n")
    return line[len(_MARK) : -1].decode("latin-1") if is_one else None


def check_file(path: Path) -> None:
    """Raise an error for a damaged file, unless `unverified` skips it; one without a checksum passes.

    Raises
    ------
    InputError
        If its bytes differ from the checksum that it carries.
    OSError
        If it cannot be read.

    Notes
    -----
    Time O(bytes) for the first time in a process, and again when the file has changed.
    """
    found = path.stat()
    if not _SKIPPED.get() and not _is_whole(path.resolve(), found.st_ino, found.st_size, found.st_mtime_ns):
        raise InputError(
            f"is damaged: its bytes differ from the checksum at its end ({_NEVERTHELESS}).", source=str(path)
        )


def check_announced(file: h5py.File, path: Path) -> None:
    """Raise an error for an open file that has lost the checksum that it announces, unless `unverified` skips it.

    Raises
    ------
    InputError
        If there is none at its end, and its name is not that of a file whose checksum is still to come.
    """
    is_lost = ATTRIBUTE in file.attrs and not path.name.endswith(PARTIAL) and recorded_checksum(path) is None
    if is_lost and not _SKIPPED.get():
        raise InputError(
            "is damaged, or was changed by another program (as h5py or h5repack): the checksum at its end is missing "
            f"({_NEVERTHELESS}).",
            source=str(path),
        )


@lru_cache(maxsize=_FILES)
def _is_whole(path: Path, _inode: int, size: int, _changed_ns: int) -> bool:
    """Whether a file has its checksum or none; the numbers tell its states apart."""
    stated = recorded_checksum(path)
    if stated is None:
        return True
    with path.open("rb") as file:
        return stated == _digest(file, size - LINE_BYTES, path.name)


def _digest(file: BinaryIO, size: int, name: str) -> str:
    """SHA-256 of the first bytes of a file, with a bar where that takes long."""
    digest, left = hashlib.sha256(), size
    file.seek(0)
    with bar(f"check of {name}", max(size, 1)) as advance:
        while left > 0 and (piece := file.read(min(_PIECE, left))):
            check_interrupts()
            digest.update(piece)
            left -= len(piece)
            advance(size - left)
    return digest.hexdigest()

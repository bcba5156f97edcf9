"""Renames that replace nothing, or let two names change places, which Python's own cannot."""

import ctypes
import errno
import os
from pathlib import Path

_NO_FLAGS = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EXDEV)
"""Errors of a file system, or a kernel, whose renames take no flags."""
_AT_FDCWD = -100
_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2
"""Of renameat2(2)."""


def rename_new(path: Path, new: Path) -> None:
    """Rename a file or folder to a name that nothing has.

    Raises
    ------
    FileExistsError
        If something has it.

    Notes
    -----
    Where renames take no flags, as on NFS, what appears between a look and the rename is replaced.
    """
    if not _renamed(path, new, _RENAME_NOREPLACE):
        if os.path.lexists(new):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new))
        path.rename(new)


def exchange(one: Path, other: Path) -> bool:
    """Let two files or folders exchange their names in one step; False where the file system cannot do that."""
    return _renamed(one, other, _RENAME_EXCHANGE)


def _renamed(path: Path, new: Path, flag: int) -> bool:
    """Call renameat2 of Linux, which Python lacks; False where the system or file system has none."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        return False
    if call(_AT_FDCWD, os.fsencode(path), _AT_FDCWD, os.fsencode(new), flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_FLAGS:
        return False
    raise OSError(number, os.strerror(number), str(new))

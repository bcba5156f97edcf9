"""Files that get their names only when all of them is on the disk."""

import errno
import os
from pathlib import Path

_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF)


def publish(temporary: Path, path: Path, descriptor: int) -> None:
    """Give a complete file its name, in place of whatever has that name.

    Parameters
    ----------
    temporary : Path
        Its name so far, in the same folder.
    path : Path
        A symbolic link of this name is replaced, and what it points to stays as it is.
    descriptor : int
        Of the file, to which all has been written.

    Raises
    ------
    OSError
        If it cannot be written to the disk or renamed; the name is then what it was.
    """
    os.fsync(descriptor)
    temporary.replace(path)
    sync_folder(path.parent)


def write_whole(path: Path, data: bytes | memoryview, *, temporary: Path) -> None:
    """Write a file that appears under its name, or replaces another one, once all of it is on the disk.

    Parameters
    ----------
    path : Path
    data : bytes or memoryview
    temporary : Path
        A name in the same folder that no other process takes; what a killed one left there is replaced.

    Raises
    ------
    OSError
        If it cannot be written; nothing is left then.
    """
    temporary.unlink(missing_ok=True)
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            publish(temporary, path, file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, where the file system can."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Write all files of a folder to the disk, and their names; time O(files)."""
    for path in sorted(folder.rglob("*")):
        if path.is_dir():
            sync_folder(path)
        else:
            with path.open("rb") as file:
                os.fsync(file.fileno())
    sync_folder(folder)

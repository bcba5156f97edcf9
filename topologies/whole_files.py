"""Files and folders that get their names only when all of them is on the disk."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from topologies.renames import rename_new

_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF)


def publish(temporary: Path, path: Path, descriptor: int, *, force: bool = True) -> None:
    """Give a complete file its name, and the permissions of a file that it replaces.

    Parameters
    ----------
    temporary : Path
        Its name so far, in the same folder.
    path : Path
        A symbolic link of this name is replaced, and what it points to stays as it is.
    descriptor : int
        Of the file, to which all has been written.
    force : bool
        Whether it takes the place of whatever has that name.

    Raises
    ------
    FileExistsError
        If the name is taken and `force` is not given.
    OSError
        If it cannot be written to the disk or renamed, or is no longer under its temporary name; the name is then what
        it was.
    """
    keep_permissions(path, descriptor)
    os.fsync(descriptor)
    if not is_named(descriptor, temporary):
        raise OSError(errno.ESTALE, f"another program has removed or replaced {temporary} meanwhile")
    if force:
        temporary.replace(path)
    else:
        rename_new(temporary, path)
    sync_folder(path.parent)


def is_named(descriptor: int, path: Path) -> bool:
    """Whether an open file has this name, and not another one that was made since."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def keep_permissions(old: Path, new: Path | int) -> None:
    """Give a file (a path or a descriptor) or folder the permissions, and where allowed the owner, of one of its kind.

    Nothing is changed where there is no old one, or a symbolic link has its name.
    """
    try:
        was, now = os.lstat(old), os.stat(new)
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_IFMT(was.st_mode) != stat.S_IFMT(now.st_mode):
        return
    for owner, group in ((-1, was.st_gid), (was.st_uid, -1)):
        with suppress(OSError):  # of another user, or a file system without owners
            os.chown(new, owner, group)
    with suppress(PermissionError):
        os.chmod(new, stat.S_IMODE(was.st_mode))


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


def make_folders(folder: Path) -> list[Path]:
    """Make a folder and all above it that are missing, with their names on the disk; which these are, innermost first.

    Raises
    ------
    OSError
        If one cannot be made, or is no folder.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        sync_folder(each.parent)
    return missing


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, where the file system can and the folder may be opened."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # files may be made in it, but not listed
        return
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

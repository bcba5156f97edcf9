"""Files that a command writes: checked before anything is computed, and one line where they cannot be written."""

import errno
import fcntl
import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from topologies import InputError, MachineError
from topologies.whole_files import is_named, make_folders, publish

_NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a disk, a quota or a limit of file sizes that takes no more."""
_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS)
"""Errors of a folder or file system that may not be written."""
_ENDING = re.compile(r"\.[a-z]\w*")


def check_output(path: Path) -> None:
    """Raise an error for a path at which no file can be written.

    Parameters
    ----------
    path : Path
        A file that may exist or not; missing folders are made when it is written.

    Raises
    ------
    InputError
        If it has no name, is a directory, a device or a pipe, has a name that leaves no room for those of files beside
        it, or lies below something that is no directory.
    MachineError
        If the folder may not be written.
    """
    if not path.name:
        raise InputError(f"output(={str(path)!r}) must be the name of a file.")
    with writing(path):
        if path.is_dir():
            raise InputError(f"output(={str(path)!r}) is a directory, must be the name of a file.")
        if path.exists() and not path.is_file():
            raise InputError(f"output(={str(path)!r}) is a device or a pipe, must be the name of a file.")
        check_parent(path)


def check_parent(path: Path) -> None:
    """Raise an `InputError` for a path in something that is no directory, a `MachineError` in a read-only one."""
    folder = path.parent
    while not os.path.lexists(folder):
        folder = folder.parent
    with suppress(FileNotFoundError, NotADirectoryError):
        os.lstat(folder / hidden_path(path).name)  # the longest name beside it may be too long
    if not folder.is_dir():
        raise InputError(f"output(={str(path)!r}): {folder} must be a directory.")
    if not os.access(folder, os.W_OK | os.X_OK):
        is_fixed = os.statvfs(folder).f_flag & os.ST_RDONLY
        reason = os.strerror(errno.EROFS if is_fixed else errno.EACCES)
        raise MachineError(f"output(={str(path)!r}): {folder.absolute()} cannot be written: {reason}.")


PARTIAL = ".partial"
RUN_ENDINGS = (".h5", ".hdf5")


def partial_path(path: Path) -> Path:
    """Name of a run's file until the run is complete."""
    return path.with_name(path.name + PARTIAL)


def final_path(path: Path) -> Path:
    """Name that a file has when it is complete, of its `partial_path` or of itself."""
    return path.with_name(path.name.removesuffix(PARTIAL))


def check_new(path: Path, *, force: bool, resume: bool = False) -> None:
    """Raise an error if a file cannot be written here, or would replace another one without permission.

    Parameters
    ----------
    path : Path
        Of a run, by its ending, else of a table, a figure or whatever it is.
    force : bool
        Whether an existing file is replaced.
    resume : bool
        Whether an interrupted run or study continues, so that only its own file is replaced.

    Raises
    ------
    InputError
        If no file can have this path, or one exists, or another process is writing it.
    """
    check_output(path)
    check_partial(path)
    partial = partial_path(path)
    is_run = path.suffix.lower() in RUN_ENDINGS
    if os.path.lexists(path) and not force:
        other = "is not the complete run of this very scenario" if is_run else "holds no point of this study"
        why = f" and {other}, so nothing can be resumed" if resume else ""
        raise InputError(f"{path} exists already{why}; --force replaces it.")
    is_in_the_way = not is_empty(partial) and not (force or resume)
    # Of other files a command may have the lock itself by now; they are empty then.
    if is_run or is_in_the_way:
        check_idle(path)
    if is_in_the_way:
        what, command = ("rounds of a run", "show") if is_run else ("points of a study", "plot")
        raise InputError(
            f"{partial} holds {what} that was interrupted or is still running (silosim {command} {partial}); "
            "--force replaces it."
        )


def check_idle(path: Path) -> None:
    """Raise an `InputError` if another process writes the file that will have this path: nothing is to be done then."""
    partial = partial_path(path)
    if is_locked(partial):
        raise another_writes(partial)


def is_locked(path: Path) -> bool:
    """Whether a process writes a file: it then holds its lock, which one that reads it shares."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        take_lock(descriptor, fcntl.LOCK_SH)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def check_partial(path: Path) -> None:
    """Raise an `InputError` if what has the name ``<path>.partial`` is no file that a command could have left."""
    partial = partial_path(path)
    if os.path.lexists(partial) and not stat.S_ISREG(os.lstat(partial).st_mode):
        # Not even --force replaces it, which is therefore not named.
        raise InputError(f"{partial} is no regular file, and in the way of {path.name}: rename or remove it.")


def is_empty(path: Path) -> bool:
    """Whether there is nothing in a file, or no file: a killed command leaves one that it had only locked."""
    return not path.exists() or path.stat().st_size == 0


def ending_of(path: Path) -> str:
    """Ending of a file's name with its dot, in lower case; empty where that is a number, as in ``sweep-1.5``."""
    ending = path.suffix.lower()
    return ending if _ENDING.fullmatch(ending) else ""


def check_ending(path: Path, endings: Sequence[str]) -> None:
    """Raise an `InputError` unless a file to write has one of these endings, in lower or upper case."""
    if path.suffix.lower() not in endings:
        raise InputError(f"output(={str(path)!r}) must end in {' or '.join(endings)}.")


def check_new_run(path: Path, *, force: bool, resume: bool = False) -> None:
    """As `check_new`, of the file of a run, which no scenario, table or figure can be confused with."""
    check_output(path)
    # Before a hint to replace the file, which --force would not do.
    check_ending(path, RUN_ENDINGS)
    check_new(path, force=force, resume=resume)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the errors of the system or a library for a file that cannot be written into one line.

    Raises
    ------
    MachineError
        Where the disk is full, the file larger than the user may write, or the folder or file system read-only.
    InputError
        After any other of these errors.
    """
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        is_machine = isinstance(error, OSError) and error.errno in (*FULL, *_CLOSED)
        raise (MachineError if is_machine else InputError)(f"{path} cannot be written: {reason}") from None


def write_whole(path: Path, data: str | bytes, *, force: bool = False) -> None:
    """Write a file (text in UTF-8) that appears under its name only when it is complete, with the folders it needs.

    Parameters
    ----------
    path : Path
        A symbolic link of this name is replaced.
    data : str or bytes
    force : bool
        Whether an existing file is replaced; its permissions are kept.

    Raises
    ------
    InputError
        If the file cannot be written, or exists and `force` is not given.
    MachineError
        If the disk is full or read-only; the name is then what it was.

    Notes
    -----
    What killed processes have left beside it is removed, which takes time O(names in the folder).
    """
    with writing(path):
        make_folders(path.parent)
        partial = hidden_path(path)
        remove_left(path)
        descriptor = create_locked(partial)
        try:
            with open(descriptor, "wb", closefd=False) as file:
                file.write(data.encode() if isinstance(data, str) else data)
            publish(partial, path, descriptor, force=force)
        except BaseException as error:
            partial.unlink(missing_ok=True)
            if isinstance(error, FileExistsError):
                raise InputError(f"{path} exists already; --force replaces it.") from None
            raise
        finally:
            os.close(descriptor)


def hidden_path(path: Path) -> Path:
    """Name of a file or folder until it is complete, which no other process has."""
    return path.with_name(f".{path.name}.{os.getpid()}{PARTIAL}")


def remove_left(path: Path) -> None:
    """Remove the files under names of `hidden_path` that no process holds any more: a kill has left them."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*{PARTIAL}"):
        number = left.name[len(path.name) + 2 : -len(PARTIAL)]
        if number.isdigit() and left.is_file():
            with suppress(OSError):  # another process writes it, or has just removed it
                _remove_dead(left)


def _remove_dead(path: Path) -> None:
    """Remove a file if the file system has locks and no process holds that of the file."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        if take_lock(descriptor):
            path.unlink()
    finally:
        os.close(descriptor)


def create_locked(path: Path) -> int:
    """Make a new file and lock it for this process; the descriptor holds the lock until it is closed.

    Raises
    ------
    FileExistsError
        If the file exists.
    BlockingIOError
        If another process locked it first.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        take_lock(descriptor)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def open_locked(path: Path) -> int:
    """Open a file, made empty where there is none, and lock it for this process, as `create_locked`.

    Raises
    ------
    BlockingIOError
        If another process holds its lock, or has removed or replaced the file meanwhile.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _lock_named(descriptor, path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def replace_locked(path: Path, descriptor: int, text: str) -> int:
    """Replace a file that this process has locked by a whole one that is locked too, under its name at no time without.

    Parameters
    ----------
    path : Path
    descriptor : int
        Of the file that is replaced; closed here.
    text : str
        Content of the new file, in UTF-8.

    Returns
    -------
    int
        Descriptor of the new file, at its end.
    """
    new = hidden_path(path)
    remove_left(path)
    made = create_locked(new)
    try:
        with open(made, "wb", closefd=False) as file:
            file.write(text.encode())
        publish(new, path, made)
    except BaseException:
        new.unlink(missing_ok=True)
        os.close(made)
        raise
    os.close(descriptor)
    return made


def remove_unlocked(path: Path) -> None:
    """Remove a file unless a process holds its lock.

    Raises
    ------
    BlockingIOError
        If one does, or if the file was replaced meanwhile.
    InputError
        If the file system has no locks, so that nobody can say.
    """
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDWR)
        try:
            if not _lock_named(descriptor, path):
                raise perhaps_alive(path)
            path.unlink()
        finally:
            os.close(descriptor)


def another_writes(path: Path) -> InputError:
    """Error for a file whose lock another process holds."""
    return InputError(f"{path} is being written by another process.")


def perhaps_alive(path: Path) -> InputError:
    """Error for a file of another command that only a lock could show to be dead."""
    return InputError(
        f"{path} may be that of a command that is still running, as this file system has no locks: if not, remove it."
    )


def _lock_named(descriptor: int, path: Path) -> bool:
    """As `take_lock`, if the file still has its name: another process may have made its own meanwhile."""
    is_locked = take_lock(descriptor)
    if not is_named(descriptor, path):
        raise _being_written()
    return is_locked


def _being_written() -> BlockingIOError:
    """Error for a file that another process has."""
    return BlockingIOError(errno.EWOULDBLOCK, "is being written")


def take_lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Lock a file as HDF5 does, so that both see each other's locks; False where the file system has none."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return False
    return True

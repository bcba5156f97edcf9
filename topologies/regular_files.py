"""Paths of users: whether there is a file or folder, and files that may be read to their end."""

import errno
import stat
from pathlib import Path

from topologies.errors import InputError

_PIPE = "is a pipe; write what comes out of it to a file first"
"""Also of a shell's ``<(...)``; most files are read more than once."""


def is_folder(path: Path) -> bool:
    """Whether a user's path is that of a folder; as `is_there`."""
    return stat.S_ISDIR(_mode(path))


def is_file(path: Path) -> bool:
    """Whether a user's path is that of a file that may be read to its end; as `is_there`."""
    return stat.S_ISREG(_mode(path))


def is_there(path: Path) -> bool:
    """Whether a user's path is that of anything.

    Raises
    ------
    InputError
        If it cannot be looked at, as in a folder that others may not enter. `Path.exists` and the like raise errors of
        the system then.
    """
    return _mode(path) != 0


def _mode(path: Path) -> int:
    """Kind and permissions of what a path is of; 0 where there is nothing."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the latter for a NUL in the path
        return 0
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: OSError, source: str | None = None) -> InputError:
    """The one line for a file or folder that the system does not let us read; it begins with `source`, or the path."""
    return InputError(f"cannot be read: {error.strerror or error}.", source=source or str(path))


def no_file(path: Path, *, otherwise: str = "there is no such file") -> InputError:
    """The one line for a path that is none of a regular file; it says `otherwise` where nothing has the path."""
    mode = _mode(path)
    rule = _PIPE if stat.S_ISFIFO(mode) else "is no regular file" if mode else otherwise
    return InputError(f"{rule}.", source=str(path))


def regular(path: Path) -> Path:
    """Return the path of a file, unless it is a pipe, a socket or a device.

    Opening a pipe waits for a writer that may never come, and a device may have no end.

    Parameters
    ----------
    path : Path
        Of a file or a folder.

    Returns
    -------
    Path

    Raises
    ------
    OSError
        If it is none, or cannot be asked for; its text ends a sentence.
    """
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode):
        raise OSError(errno.EINVAL, f"it {_PIPE}")
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "it is no regular file")
    return path

"""Files of users that may be read to their end."""

import errno
import stat
from pathlib import Path


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
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "it is no regular file")
    return path

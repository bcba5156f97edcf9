"""Reading users' files, with one-line errors."""

import os
from pathlib import Path

from topologies.errors import InputError
from topologies.input_limits import MOST_FILE_BYTES, check_size
from topologies.regular_files import is_there, regular, unreadable

StrPath = str | os.PathLike[str]


def shown(path: StrPath) -> str:
    """How messages call a file: its path, quoted where it would break the line.

    It is never shortened, as readers take what a file holds from the end of its name.
    """
    text = str(path)
    return text if text.isprintable() else repr(text)


def is_nowhere(path: Path) -> bool:
    """Whether there is no file or folder of this path; where that cannot be told, reading it says why."""
    try:
        return not is_there(path)
    except InputError:
        return False


def read_file(path: Path, source: str, *, most_bytes: int = MOST_FILE_BYTES) -> bytes:
    """Bytes of a user's file; its messages start with `source`. One of more bytes is not read to its end."""
    try:
        with regular(path).open("rb") as file:
            data = file.read(most_bytes + 1)
    except (FileNotFoundError, ValueError):  # the latter for a NUL in the path
        raise InputError("there is no such file.", source=source) from None
    except IsADirectoryError:
        raise InputError("is a directory, must be a file.", source=source) from None
    except OSError as error:
        raise unreadable(path, error, source) from None
    check_size(data, most_bytes, source)
    return data


def files_of(folder: Path) -> list[Path]:
    """What a user's folder holds, sorted."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise unreadable(folder, error, shown(folder)) from None

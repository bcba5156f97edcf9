"""Reading users' files, with one-line errors."""

from pathlib import Path

from topologies.errors import InputError


def read_file(path: Path, source: str) -> bytes:
    """Bytes of a user's file; its messages start with `source`."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, ValueError):  # the latter for a NUL in the path
        raise InputError("there is no such file.", source=source) from None
    except IsADirectoryError:
        raise InputError("is a directory, must be a file.", source=source) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", source=source) from None

"""Text files of users."""

from pathlib import Path

from topologies import InputError
from topologies.regular_files import regular


def read_utf8(path: Path, what: str) -> str:
    """Text of a file.

    Parameters
    ----------
    path : Path
    what : str
        What a file in another encoding is not, such as ``"not valid TOML"``.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    try:
        return regular(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{what}: not UTF-8 text.", source=str(path)) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", source=str(path)) from None

"""Text files of users."""

import io
from pathlib import Path

from topologies import InputError
from topologies.input_limits import MOST_FILE_BYTES, check_size
from topologies.plain_text import utf8_text
from topologies.regular_files import regular, unreadable


def read_utf8(path: Path, what: str, *, most_bytes: int = MOST_FILE_BYTES) -> str:
    """Text of a file.

    Parameters
    ----------
    path : Path
    what : str
        What a file in another encoding is not, such as ``"not valid TOML"``.
    most_bytes : int
        Of a file; a larger one is not read to its end.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    try:
        with regular(path).open("rb") as file:
            data = file.read(most_bytes + 1)
        check_size(data, most_bytes, str(path))
        text = utf8_text(data, str(path))
        return io.StringIO(text, newline=None).read()  # line ends as of a file that is opened as text
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError(f"{what}: not UTF-8 text.", source=str(path)) from None
    except ValueError:  # for a NUL in the path
        raise InputError("there is no such file.", source=str(path)) from None
    except OSError as error:
        raise unreadable(path, error) from None

"""Lines of text files."""

from collections.abc import Iterator
from pathlib import Path

from topologies import InputError
from topologies.regular_files import regular, unreadable


def text_lines(path: Path) -> Iterator[str]:
    """Lines of a text file, with or without a byte-order mark.

    Raises
    ------
    InputError
        If the file cannot be read or is not UTF-8.
    """
    try:
        with regular(path).open(encoding="utf-8-sig", newline="") as file:
            yield from file
    except UnicodeDecodeError:
        raise InputError("must be UTF-8 text.", source=str(path)) from None
    except OSError as error:
        raise unreadable(path, error) from None

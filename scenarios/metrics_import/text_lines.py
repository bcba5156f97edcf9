"""Lines of text files."""

from collections.abc import Iterator
from pathlib import Path

from topologies import InputError
from topologies.plain_text import open_utf8
from topologies.regular_files import unreadable


def text_lines(path: Path) -> Iterator[str]:
    """Lines of a text file, with or without a byte-order mark.

    Raises
    ------
    InputError
        If the file cannot be read, is compressed or is not UTF-8.
    """
    try:
        with open_utf8(path) as file:
            yield from file
    except UnicodeDecodeError:
        raise InputError("must be UTF-8 text.", source=str(path)) from None
    except OSError as error:
        raise unreadable(path, error) from None

"""Text of users' files: what is told from the first bytes of what is none, and its encoding."""

import io
import re
from pathlib import Path
from typing import TextIO

from topologies.errors import InputError
from topologies.regular_files import regular

_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
"""How workbooks begin: those of today and of before 2007."""
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    _ZIP: "zip",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh91AY&SY": "bzip2",
}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks."""
_HEAD_BYTES = 64
_ZIPPED_TEXT = re.compile(rb"PK\x03\x04.{26}[^\x00]*?\.(?:csv|tsv|txt|json|jsonl|ndjson|gml|toml)", re.DOTALL)


def check_uncompressed(data: bytes, source: str | None = None) -> None:
    """Raise an error for a file that a program has compressed.

    Parameters
    ----------
    data : bytes
        At least its beginning.
    source : str, optional
        The file, for messages.
    """
    for mark, program in _COMPRESSED.items():
        if data.startswith(mark):
            raise InputError(f"is compressed by {program}: unpack it first.", source=source)


def is_workbook(data: bytes) -> bool:
    """Whether a file is one of a spreadsheet's own: often a zip, which is none if its first file is a text."""
    return data.startswith((_ZIP, _OLE)) and not _ZIPPED_TEXT.match(data[: 4 * _HEAD_BYTES])


def check_utf8_mark(data: bytes, source: str | None = None) -> None:
    """Raise an error for text with the byte order mark of UTF-16, which Windows calls "Unicode"."""
    if data.startswith(UTF_16):
        raise InputError("is UTF-16 text, must be UTF-8: save it in that encoding.", source=source)


def utf8_text(data: bytes, source: str | None = None) -> str:
    """Text of a file's bytes, without a byte order mark.

    Parameters
    ----------
    data : bytes
    source : str, optional
        The file, for messages.

    Raises
    ------
    InputError
        If it is compressed, or UTF-16.
    UnicodeDecodeError
        If it is no UTF-8 otherwise.
    """
    check_uncompressed(data, source)
    check_utf8_mark(data, source)
    return data.decode("utf-8-sig")


def open_utf8(path: Path) -> TextIO:
    """Open a text to be read in pieces, as `utf8_text` reads it; line ends stay as they are.

    Raises
    ------
    InputError
        If it is compressed, or UTF-16.
    OSError
        If it cannot be read, or is no regular file.
    """
    file = regular(path).open("rb")
    try:
        utf8_head = file.read(_HEAD_BYTES)
        check_uncompressed(utf8_head, str(path))
        check_utf8_mark(utf8_head, str(path))
        file.seek(0)
        return io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    except BaseException:
        file.close()
        raise

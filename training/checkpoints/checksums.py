"""Checksums of the files of a checkpoint, in a file that ``sha256sum -c`` reads."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from topologies.errors import MachineError
from topologies.regular_files import regular

CHECKSUMS = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64})  ([^/\0]+)")


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal; it is read in pieces."""
    with regular(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def to_lines(digests: Mapping[str, str]) -> str:
    """Return a line for each file, from names and digests."""
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))


def read_checksums(folder: Path) -> dict[str, str]:
    """Return the digests of the files in a folder.

    Parameters
    ----------
    folder : pathlib.Path
        A checkpoint.

    Returns
    -------
    dict of str to str
        By the files' names.

    Raises
    ------
    MachineError
        If the checksums are damaged, or missing as in checkpoints of older versions.
    """
    path = folder / CHECKSUMS
    try:
        *lines, rest = regular(path).read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        raise MachineError(
            f"{path} cannot be read: it is missing, as in checkpoints of older versions, which cannot be resumed."
        ) from None
    except OSError as error:
        raise MachineError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise MachineError(f"{path} cannot be read: {error}") from None
    matches = [match for match in map(_LINE.fullmatch, lines) if match]
    digests = {match[2]: match[1] for match in matches}
    if rest or len(digests) < len(lines):
        raise MachineError(f"{path} cannot be read: each line must hold a digest and the name of a file.")
    return digests


def check_files(paths: Iterable[Path], digests: Mapping[str, str]) -> None:
    """Raise MachineError for a file that is missing or not as it was written.

    Parameters
    ----------
    digests : mapping of str to str
        As `read_checksums` returns them for their folder.
    """
    for path in paths:
        try:
            found = file_digest(path)
        except OSError as error:
            raise MachineError(f"{path} cannot be read: {error.strerror}.") from None
        if found != digests.get(path.name):
            raise MachineError(f"{path} cannot be read: it differs from its checksum in {CHECKSUMS}.")

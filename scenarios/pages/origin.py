"""What a page says of the file that it was made of: hashes, versions, seeds."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from scenarios.report.web_page import text
from scenarios.runtime.progress import bar
from scenarios.runtime.signals import check_interrupts

_PIECE = 2**24


def file_digest(path: Path) -> str:
    """SHA-256 of a file, with a bar where that takes long."""
    digest, size, done = hashlib.sha256(), path.stat().st_size, 0
    with path.open("rb") as file, bar(f"hash of {path.name}", max(size, 1)) as advance:
        while piece := file.read(_PIECE):
            check_interrupts()
            digest.update(piece)
            done += len(piece)
            advance(done)
    return digest.hexdigest()


def origin_list(items: Mapping[str, str]) -> str:
    """Names and values as a list."""
    cells = "".join(f"<dt>{text(key)}</dt><dd>{text(value)}</dd>" for key, value in items.items())
    return f"<dl>{cells}</dl>"

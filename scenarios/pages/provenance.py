"""What a page says of the file that it was made of: hashes, versions, seeds."""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from scenarios.config.recorded_tables import recorded_tables
from scenarios.report.web_page import text
from scenarios.runtime.progress import bar
from scenarios.runtime.signals import check_interrupts

_PIECE = 2**24
_INPUT_FILES = {
    "network": ("underlay", "sites", "links", "pairs", "bandwidth_matrix", "latency_matrix", "routes"),
    "imported": ("file",),
    "training": ("model", "loss", "dataset", "data", "partition", "initial_weights"),
}
"""Keys of scenarios that may name files, by table; code is named as ``file.py:name``."""


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


def input_digests(path: Path, scenario: str) -> dict[str, str]:
    """SHA-256 of the files that a scenario reads, as they lie there now.

    Parameters
    ----------
    path : Path
        The file of results: relative names in the scenario begin in its folder.
    scenario : str
        TOML. Files of a key that cannot be read, such as those of another machine, are left out.
    """
    tables = recorded_tables(scenario)
    found = {}
    for table, keys in _INPUT_FILES.items():
        values = tables.get(table, {})
        for key in keys:
            value = values.get(key) if isinstance(values, dict) else None
            if isinstance(value, str) and ".py:" in value:
                value = value.rpartition(":")[0]
            file = path.parent / value if isinstance(value, str) and value else None
            with suppress(OSError):
                if file is not None and file.is_file():
                    found[f"{file.name} as it is now, SHA-256"] = file_digest(file)
    return found


def origin_list(items: Mapping[str, str]) -> str:
    """Names and values as a list."""
    cells = "".join(f"<dt>{text(key)}</dt><dd>{text(value)}</dd>" for key, value in items.items())
    return f"<dl>{cells}</dl>"

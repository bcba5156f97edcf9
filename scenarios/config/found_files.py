"""Files that a scenario names, found beside it."""

import os
from collections.abc import Mapping
from pathlib import Path

from topologies.errors import Field, InputError


def found_beside(folder: Path, paths: Mapping[str, str | None]) -> dict[str, str]:
    """Paths in a folder of the files that are there and not where their paths lead from the working directory.

    Parameters
    ----------
    folder : Path
    paths : mapping from key to str or None

    Returns
    -------
    dict from key to str
        Only of those that change: a file that is nowhere keeps the path that the user wrote.
    """
    # Unlike those of Path, these functions take a path that no file can have, as one that is too long.
    return {
        key: str(folder / path)
        for key, path in paths.items()
        if path and not os.path.exists(path) and os.path.exists(folder / path)
    }


def check_path(key: str, path: str | None) -> None:
    """Raise an error for a path that is empty, which would be the working directory, or no scenario can hold."""
    if path == "":
        raise InputError("must not be empty.", field=Field(key, value=path))
    if path is not None and any("\ud800" <= letter <= "\udfff" for letter in path):
        raise InputError("must be a path in UTF-8.", field=Field(key, value=path))

"""Reading a user's files; each error is one line that says what is expected."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from topologies.errors import InputError
from topologies.plain_text import utf8_text
from topologies.regular_files import is_file, is_folder
from training.data.datasets import DATASETS, DataOptions


def data_folder(name: str, options: DataOptions, *, default: str = "") -> Path:
    """Return the folder of a data set.

    Parameters
    ----------
    name : str
        Name of the data set.
    options : DataOptions
        Names the folder.
    default : str
        The folder where the user names none.

    Raises
    ------
    InputError
        If there is no such folder; the message says what belongs into it.
    """
    needs = DATASETS[name].needs
    if default and not options.data:
        folder = Path(default).absolute()
        if not is_folder(folder):
            raise InputError(f"folder(={folder}) is missing; data must name the {name} {needs}.")
        return folder
    if not options.data or not is_folder(Path(options.data)):
        raise InputError(f"data(={options.data!r}) must be the {name} {needs}.")
    return Path(options.data)


def data_file(name: str, options: DataOptions, *, inside: Sequence[str] = (), folder: bool = False) -> Path:
    """Return the path of a data set in one file, or in a folder.

    Parameters
    ----------
    inside : sequence of str
        Files of a folder that may be there instead; empty if none may.
    folder : bool
        Whether it must be a folder.

    Raises
    ------
    InputError
        If there is no such file or folder; the message says what it must be.
    """
    path = Path(options.data)
    in_folder = bool(inside) and all(is_file(path / file) for file in inside)
    if not options.data or not (is_folder(path) if folder else is_file(path) or in_folder):
        raise InputError(f"data(={options.data!r}) must be the {name} {DATASETS[name].needs}.")
    return path


def required(name: str, path: Path) -> Path:
    """Return the path of a file; InputError that says where the data set is obtained if it is missing."""
    if not is_file(path):
        raise InputError(f"file(={path}) is missing; data must be the {name} {DATASETS[name].needs}.")
    return path


def read_json(path: Path, *, object_hook: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """Return what a JSON file holds; InputError with line and column if it is cut or broken."""
    try:
        # Decoded apart: `json.loads` would hold the bytes beside the text all the while.
        return json.loads(utf8_text(path.read_bytes(), str(path)), object_hook=object_hook)
    except json.JSONDecodeError as error:
        # Some of the parser's messages end in "at" themselves.
        reason = f"{error.msg.removesuffix(' at')} at line {error.lineno}, column {error.colno}"
        raise InputError(f"must be complete JSON: {reason}.", source=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError(f"must be UTF-8: byte {error.start} is not.", source=str(path)) from error
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"must be JSON of usual depth and numbers: {error}.", source=str(path)) from error

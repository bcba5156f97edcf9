"""Folders that a command writes: checked before anything is computed, and under their names only when complete."""

import glob
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scenarios.runfile.claims import locked_beside
from scenarios.runfile.paths import PARTIAL, check_parent, hidden_path, writing
from scenarios.runtime.signals import held_interrupts
from topologies import InputError
from topologies.whole_files import sync_folder, sync_tree


def check_new_folder(path: Path, *, force: bool, is_own: Callable[[Path], bool]) -> None:
    """Raise an error if a folder cannot be made here, or would replace anything without permission.

    Parameters
    ----------
    path : Path
    force : bool
        Whether a folder that holds nothing but own files is replaced.
    is_own : callable
        Whether a file, by its path within the folder, is one that the command writes.

    Raises
    ------
    InputError
        If it has no name, is a file, exists, holds something else, or lies where nothing may be written.
    """
    if not path.name:
        raise InputError(f"output(={str(path)!r}) must be the name of a folder.")
    with writing(path):
        if os.path.lexists(path) and not path.is_dir():
            raise InputError(f"output(={str(path)!r}) is a file, must be the name of a folder.")
        if path.is_dir():
            for file in sorted(path.rglob("*")):
                if not file.is_dir() and not is_own(file.relative_to(path)):
                    # Not even --force replaces it, which is therefore not named.
                    raise InputError(
                        f"{path} holds other files, {file} among them, and is not replaced; name another folder."
                    )
            if not force:
                raise InputError(f"{path} exists already; --force replaces it.")
        check_parent(path)


@contextmanager
def new_folder(path: Path, *, force: bool) -> Iterator[Path]:
    """Make a folder that appears under its name only when it is complete; after an error nothing is left.

    Parameters
    ----------
    path : Path
        See `check_new_folder`; missing parents are made.
    force : bool
        Whether a folder of this name is replaced.

    Yields
    ------
    Path
        Where the files are to be written until then; beside it, ``<path>.partial`` is locked.

    Raises
    ------
    InputError
        If it cannot be written, is being written by another process, or exists meanwhile.
    MachineError
        If the disk is full.
    """
    path = path.parent.resolve() / path.name
    partial = hidden_path(path)
    with writing(path), locked_beside(path):
        for left in path.parent.glob(f".{glob.escape(path.name)}.*{PARTIAL}"):
            shutil.rmtree(left, ignore_errors=True)  # of killed processes: this one has the lock
        partial.mkdir()
        try:
            yield partial
            sync_tree(partial)
            if os.path.lexists(path) and not force:
                raise InputError(f"{path} exists already; --force replaces it.")
            with held_interrupts():
                replace_folder(path, partial)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def replace_folder(path: Path, new: Path) -> None:
    """Put a folder in the place of another one, if there is one, which is kept where that fails."""
    old = path.with_name(f".{path.name}.{os.getpid()}.old{PARTIAL}")
    is_there = os.path.lexists(path)
    if is_there:
        path.rename(old)
    try:
        new.rename(path)
    except OSError:
        if is_there:
            old.rename(path)
        raise
    sync_folder(path.parent)
    if old.is_symlink():
        old.unlink()
    shutil.rmtree(old, ignore_errors=True)

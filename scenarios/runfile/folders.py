"""Folders that a command writes: checked before anything is computed, and under their names only when complete."""

import glob
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scenarios.runfile.claims import locked_beside
from scenarios.runfile.paths import PARTIAL, check_parent, check_partial, hidden_path, writing
from scenarios.runtime.signals import held_interrupts
from topologies import InputError
from topologies.renames import exchange, rename_new
from topologies.whole_files import keep_permissions, sync_folder, sync_tree

_OLD = ".old"


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
        check_partial(path)


@contextmanager
def new_folder(path: Path, *, force: bool) -> Iterator[Path]:
    """Make a folder that appears under its name only when it is complete; after an error nothing is left.

    Parameters
    ----------
    path : Path
        See `check_new_folder`; missing parents are made.
    force : bool
        Whether a folder of this name is replaced; its permissions and those of its files are kept.

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
    with writing(path), locked_beside(path) as is_locked:
        if is_locked:
            settle_left(path)
        taken = InputError(f"{path} exists already; --force replaces it.")
        if os.path.lexists(path) and not force:
            raise taken
        partial.mkdir()
        try:
            yield partial
            sync_tree(partial)
            with held_interrupts():
                try:
                    replace_folder(path, partial, force=force)
                except FileExistsError:
                    raise taken from None
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def replace_folder(path: Path, new: Path, *, force: bool = True) -> None:
    """Put a complete folder in the place of another one, or of a link to one, if there is one.

    Raises
    ------
    FileExistsError
        If there is one and `force` is not given.
    OSError
        If the names cannot be changed; they are then what they were.

    Notes
    -----
    The two exchange their names in one step. Where the file system cannot do that, a kill between two renames leaves
    the old one for `settle_left`.
    """
    for file in (new, *new.rglob("*")):
        keep_permissions(path / file.relative_to(new), file)
    old = new
    if not (force and os.path.lexists(path)):
        rename_new(new, path)
    elif not exchange(new, path):
        old = path.with_name(f".{path.name}.{os.getpid()}{_OLD}{PARTIAL}")
        path.rename(old)
        try:
            new.rename(path)
        except OSError:
            old.rename(path)
            raise
    sync_folder(path.parent)
    _remove(old)


def settle_left(path: Path) -> None:
    """Put back an earlier folder that has no name since a kill, and remove what else killed processes have left.

    Parameters
    ----------
    path : Path
        A folder that no other process is writing.
    """
    name = re.compile(rf"\.{re.escape(path.name)}\.\d+({re.escape(_OLD)})?{re.escape(PARTIAL)}", re.ASCII)
    for left in path.parent.glob(f".{glob.escape(path.name)}.*{PARTIAL}"):
        if found := name.fullmatch(left.name):
            if found[1] and not os.path.lexists(path):
                left.rename(path)
            else:
                _remove(left)


def _remove(path: Path) -> None:
    """Remove a folder or a link, if there is one."""
    if path.is_symlink():
        path.unlink()
    shutil.rmtree(path, ignore_errors=True)

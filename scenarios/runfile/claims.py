"""Files to come that one command keeps for itself while it computes what they will hold."""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from scenarios.runfile.paths import (
    RUN_ENDINGS,
    another_writes,
    check_new,
    open_locked,
    partial_path,
    perhaps_alive,
    take_lock,
    writing,
)
from topologies import InputError
from topologies.whole_files import is_named, make_folders


@contextmanager
def claimed(paths: Iterable[Path], *, force: bool) -> Iterator[None]:
    """Check that files can be written, and keep other commands from writing them meanwhile.

    Parameters
    ----------
    paths : iterable of Path
        Of runs they are only checked, as they have a lock of their own: see `scenarios.runfile.atomic.new_file`.
    force : bool
        Whether existing files are replaced.

    Raises
    ------
    InputError
        If no file can have one of these paths, or one exists or is named twice, or another command has it.

    Notes
    -----
    A file ``<path>.partial`` is locked until the end, as that of a run or of a study is, and then removed. It stays
    empty; what a killed command leaves of it is in nobody's way.
    """
    named = dict[Path, Path]()
    with ExitStack() as stack:
        for path in paths:
            check_new(path, force=force)
            place = path.parent.resolve() / path.name
            if place in named:
                raise InputError(f"output(={str(path)!r}) is the same file as the output {named[place]}.")
            named[place] = path
            if path.suffix.lower() not in RUN_ENDINGS:
                stack.enter_context(locked_beside(path))
        yield


@contextmanager
def locked_beside(path: Path) -> Iterator[bool]:
    """Lock ``<path>.partial`` for what is written under this name, see `claimed`; False where no file can be locked.

    Folders that are missing are made, and removed again where nothing came into them.
    """
    partial = partial_path(path)
    with writing(path):
        missing = make_folders(path.parent)
        try:
            lock = open_locked(partial)
        except BlockingIOError:
            raise another_writes(partial) from None
    is_locked, is_done = take_lock(lock), False
    try:
        if not is_locked and os.fstat(lock).st_size:
            raise perhaps_alive(partial)
        yield is_locked
        is_done = True
    finally:
        # It is empty, or with --force the rows of a study that the new file replaces.
        with suppress(OSError):
            if is_named(lock, partial) and (is_done or not os.fstat(lock).st_size):
                partial.unlink()
        os.close(lock)
        for parent in missing:
            with suppress(OSError):  # there is something in it
                parent.rmdir()

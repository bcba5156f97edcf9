"""Files to come that one command keeps for itself while it computes what they will hold."""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from scenarios.runfile.paths import RUN_ENDINGS, check_new, open_locked, partial_path, writing
from topologies import InputError


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
        If no file can have one of these paths, or one exists, or another command has it.

    Notes
    -----
    A file ``<path>.partial`` is locked until the end, as that of a run or of a study is, and then removed. It stays
    empty; what a killed command leaves of it is in nobody's way.
    """
    with ExitStack() as stack:
        for path in paths:
            check_new(path, force=force)
            if path.suffix.lower() not in RUN_ENDINGS:
                stack.enter_context(locked_beside(path))
        yield


@contextmanager
def locked_beside(path: Path) -> Iterator[None]:
    """Lock ``<path>.partial`` for what is written under this name; see `claimed`.

    Folders that are missing are made, and removed again where nothing came into them.
    """
    partial = partial_path(path)
    missing = [parent for parent in path.parents if not parent.exists()]
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock = open_locked(partial)
        except BlockingIOError:
            raise InputError(f"{partial} is being written by another process.") from None
    is_done = False
    try:
        yield
        is_done = True
    finally:
        # It is empty, or with --force the rows of a study that the new file replaces.
        with suppress(OSError):
            if is_done or not os.fstat(lock).st_size:
                partial.unlink()
        os.close(lock)
        for parent in missing:
            with suppress(OSError):  # there is something in it
                parent.rmdir()

"""Compilation by numba with a cache on disk."""

import inspect
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name
from numba.core import config, options

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function, *, fused: bool = False) -> Function:
    """Compile a function at its first call, or load what an earlier process compiled.

    Parameters
    ----------
    function : callable
        The function.
    fused : bool, default False
        Whether a product and a sum may be rounded together, where the processor can.

    Notes
    -----
    numba looks only at a function's own file to see whether what it kept is up to date, not at the files of
    the functions that it calls. So everything is kept in a folder named after the text of the function's whole
    package and of ``tolerances.py`` beside that, whose numbers compiled code holds, and after the processor: machines
    of several kinds that share it could take each other's code.
    Where no folder can be written, as in a read-only installation without a home, or on a full disk, nothing is kept.
    """
    settings: Any = config
    before = settings.CACHE_DIR
    folder = _folder_once(Path(inspect.getfile(function)).parent, before)
    try:
        settings.CACHE_DIR = str(folder or "")
        # Nothing is allocated in compiled code, so arrays need not be counted: that takes most of the time.
        # The option is not public: a numba without it only takes longer.
        known = getattr(options, "DefaultOptions", None)
        uncounted: dict[str, Any] = {"_nrt": False} if hasattr(known, "_nrt") else {}
        decorate: Any = numba.njit(
            nogil=True,
            cache=folder is not None,
            error_model="numpy",
            fastmath={"contract"} if fused else False,
            **uncounted,
        )
        made = decorate(function)
        _keep_only_what_fits(made)
        return cast(Function, made)
    finally:
        settings.CACHE_DIR = before


def _keep_only_what_fits(function: Any) -> None:
    """Let a compiled function be called where the disk is too full to keep it: numba would raise the error."""
    kept: Any = getattr(function, "_cache", None)
    save = getattr(kept, "save_overload", None)
    if save is None:
        return

    def save_what_fits(*compiled_code: Any) -> None:
        with suppress(OSError):
            save(*compiled_code)

    kept.save_overload = save_what_fits


@cache
def _cpu_features() -> str:
    """Features of this processor, read once."""
    return str(get_host_cpu_features().flatten())


@cache
def _folder_once(here: Path, chosen: str) -> Path | None:
    """The folder of a package, whose files are read once and not for each of its functions."""
    return _folder(here, chosen)


def cache_folders(here: Path, chosen: str) -> list[Path]:
    """Return the folders that what is compiled of a package may be kept in, of which the first writable one is taken.

    Parameters
    ----------
    here : Path
        Folder of the package.
    chosen : str
        The user's choice for numba, NUMBA_CACHE_DIR, or nothing.

    Returns
    -------
    list of Path
        In the user's choice, beside the code, in the user's cache. None is made.
    """
    files = (Path(__file__), *sorted(here.glob("*.py")), *here.parent.glob("tolerances.py"))
    texts = [path.read_bytes() for path in files]
    settings: Any = config
    processor = (
        settings.CPU_NAME,
        settings.CPU_FEATURES,
        get_host_cpu_name(),
        _cpu_features(),
    )
    text = sha256(b"".join((*texts, repr(processor).encode()))).hexdigest()[:16]
    home_cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"))
    # Without a home, "~" stays as it is.
    parents = (
        Path(chosen) if chosen else None,
        here / "__pycache__",
        home_cache if home_cache.is_absolute() else None,
    )
    return [parent / f"silosim-{text}" for parent in parents if parent is not None]


def _folder(here: Path, chosen: str) -> Path | None:
    """The first of `cache_folders` that can be written, made if it is not there."""
    for folder in cache_folders(here, chosen):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return None

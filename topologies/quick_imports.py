"""Imports of our own programs, which the garbage collector neither interrupts nor goes through afterwards."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quick_imports() -> Iterator[None]:
    """Import large packages within; the garbage collector leaves all that there is then alone until the process ends.

    Notes
    -----
    For processes of our own, a command or a rank: a user's objects could become garbage that nobody collects. Modules,
    classes and functions live to the end. To go through them whenever there are a quarter more takes a third of the
    processor time of a short training. What is made later is collected as ever, also when the process ends: that
    writes what files that are still open hold.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if before:
            gc.enable()

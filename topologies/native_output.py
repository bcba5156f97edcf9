"""What native libraries print on standard output, past Python."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

_STDOUT = 1


@contextmanager
def no_native_output() -> Iterator[None]:
    """Within it, nothing reaches the process's standard output, not even what native code prints there.

    Notes
    -----
    HiGHS prints a line now and then whatever its options say, which would end up in the midst of JSON. What Python
    has printed before is in its own buffer, and safe.
    """
    try:
        kept = os.dup(_STDOUT)
    except OSError:  # there is no standard output
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, _STDOUT)
        yield
    finally:
        os.dup2(kept, _STDOUT)
        os.close(kept)
        os.close(nowhere)

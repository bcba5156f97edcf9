"""A command in a process of its own, which does not outlive the test."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def running(
    *command: str | Path, cwd: Path | None = None, stdin: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A command in a session of its own, of which nothing outlives the test."""
    with subprocess.Popen(
        command,
        cwd=cwd,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):  # all of them have ended
                os.killpg(process.pid, signal.SIGKILL)

"""A command in a process of its own, which does not outlive the test."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def started(
    *command: str | Path, cwd: Path | None = None, stdin: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A command in a session of its own, all of which is killed where the test leaves it alive."""
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
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)

"""All checks side by side, each in a process of its own: what one does, raises or waits for does not end the others."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from scenarios.doctor.checks import CHECKS
from scenarios.doctor.finding import Finding
from topologies import InputError

LIMIT_S = 9.0
"""Time for all checks together."""
_PROCESS = (sys.executable, "-P", "-m", "scenarios.doctor.check_process")


def examine(
    names: Sequence[str] = tuple(CHECKS), *, limit_s: float = LIMIT_S, process: Sequence[str] = _PROCESS
) -> list[Finding]:
    """Run checks.

    Parameters
    ----------
    names : sequence of str
        Of `CHECKS`.
    limit_s : float
        Checks that have not answered after this time are ended; each is then an error.
    process : sequence of str
        Command of a check, which gets its name and the folder that it may make.

    Returns
    -------
    list of Finding
        In the order of the names.

    Raises
    ------
    InputError
        If the current folder is gone.

    Notes
    -----
    Nothing is left behind: the folder that a check makes in the current one is removed here, also after Ctrl-C.
    """
    try:
        scratch = Path.cwd() / f".silosim-doctor-{os.getpid()}"
    except OSError as error:
        raise InputError(f"the current folder cannot be used: {error.strerror}; go to another one.") from None
    until = time.monotonic() + limit_s
    with _running(names, scratch, process) as running:
        return [finding for name in names for finding in _answer(name, *running[name], until, limit_s)]


@contextmanager
def _running(
    names: Sequence[str], scratch: Path, process: Sequence[str]
) -> Iterator[dict[str, tuple["subprocess.Popen[bytes]", IO[bytes]]]]:
    """Start the processes, each with a file for its answer, and end those that run at the end."""
    running: dict[str, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}
    with ExitStack() as files:
        try:
            for name in names:
                # Not a pipe: a process that is read late must not wait, nor one that it started keep it open.
                answer = files.enter_context(tempfile.TemporaryFile())
                started = subprocess.Popen(
                    [*process, name, str(scratch)],
                    stdin=subprocess.DEVNULL,
                    stdout=answer,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                running[name] = started, answer
            yield running
        finally:
            for each, _ in running.values():
                if each.poll() is None:
                    # With the processes that it has started in its group.
                    with suppress(ProcessLookupError, PermissionError):
                        os.killpg(each.pid, signal.SIGKILL)
                    each.wait()
            shutil.rmtree(scratch, ignore_errors=True)


def _answer(
    name: str, process: "subprocess.Popen[bytes]", answer: IO[bytes], until: float, limit_s: float
) -> list[Finding]:
    """Findings of a process; an error if it ends otherwise, a warning if not in time."""
    try:
        status = process.wait(timeout=max(0.0, until - time.monotonic()))
        answer.seek(0)
        return [Finding(**row) for row in json.loads(answer.read())]
    except subprocess.TimeoutExpired:
        # A busy machine says nothing of the installation.
        text = f"{name}: the check took longer than {limit_s:g} s: the machine or its disk is busy"
        return [Finding(check=name, status="warning", text=text, action="run silosim doctor again")]
    except ValueError:
        why = f"ended with {_signal(-status) if status < 0 else f'status {status}'} and no answer"
        action = CHECKS[name].remedy
    return [Finding(check=name, status="error", text=f"{name}: the check {why}", action=action)]


def _signal(number: int) -> str:
    """A signal by its name."""
    return next((known.name for known in signal.Signals if known == number), f"signal {number}")

"""Ranks that `mpiexec` starts on this machine, and their end."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from training.mpi_environment import rank_environment
from training.processes import children, end_processes, processes_of, start_of

STOP_S = 5.0
_GUARD = """
read -r _
started() {
    # The directory comes from a pipe, so that this search is not found itself.
    printf %s "$DIRECTORY" | grep -lzxFf - /proc/[0-9]*/cmdline 2>/dev/null | sed 's|[^0-9]||g'
}
found=$(started)
for each in $found; do kill -STOP "$each"; done
for each in $found; do
    { sed 's|[^/]*||' "/proc/$each/maps"; readlink "/proc/$each/fd/"*; } 2>/dev/null |
        grep -xE '/dev/shm/(mpich_shm|ucx_shm_posix)_[^ ]*' | sort -u | while read -r name; do rm -f "$name"; done
done
for each in $found; do [ "$each" = "$LAUNCHER" ] || kill -KILL "$each"; done
kill "$LAUNCHER"
kill -CONT "$LAUNCHER"
sleep 1
for each in $(started); do kill -KILL "$each"; done
rm -rf "$DIRECTORY"
"""
"""What `training.processes.end_processes` does, for a program that was killed."""


def rank_command(launcher: Path, ranks: int, module: str, *arguments: object) -> list[str]:
    """Return the command that starts a module on each of so many ranks.

    Parameters
    ----------
    launcher : Path
        An `mpiexec`.
    ranks : int
        Processes to start.
    module : str
        Run as the main program, by mpi4py: an exception on one rank ends them all.
    *arguments : object
        Of the module, as texts.
    """
    python = (sys.executable, "-P", "-m", "mpi4py", "-m", module)
    return [*map(str, (launcher, "-n", ranks, *python, *arguments))]


@contextmanager
def rank_process(command: list[str], log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command apart from this process' group, so that Ctrl-C reaches only this process, and end it at exit.

    Parameters
    ----------
    command : list of str
        Of `rank_command`.
    log : Path
        Gets what the ranks print; its folder is removed if this process is killed.

    Yields
    ------
    subprocess.Popen
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=rank_environment(os.environ),
            start_new_session=True,
        )
    try:
        with _guard(process.pid, log.parent):
            yield process
    finally:
        proxies: dict[int, str] = {}
        end_processes(processes_of(log.parent) - {process.pid})
        if process.poll() is None:
            proxies = {child: start_of(child) for child in children(process.pid)}
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                # Without its proxies it waits for ever.
                process.wait(timeout=STOP_S if proxies else 0)
        # The launcher may be stuck, and what it had not started before.
        left = {child for child, start in proxies.items() if start_of(child) == start}
        end_processes(processes_of(log.parent) | left)
        process.wait()


@contextmanager
def _guard(launcher: int, directory: Path) -> Iterator[None]:
    """End the launcher and remove the directory if this process is killed: ranks in MPI's start cannot detect it."""
    read, alive = os.pipe()
    guard = subprocess.Popen(
        ["/bin/sh", "-c", _GUARD],
        stdin=read,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "LAUNCHER": str(launcher), "DIRECTORY": str(directory)},
        start_new_session=True,
    )
    os.close(read)
    try:
        yield
    finally:
        guard.kill()
        guard.wait()
        os.close(alive)

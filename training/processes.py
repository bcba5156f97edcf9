"""Processes of this machine, as Linux shows them under ``/proc``; elsewhere there are none to be seen."""

import os
import re
import signal
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_MPICH, _UCX = "/dev/shm/mpich_shm_", "/dev/shm/ucx_shm_posix_"
"""Files through which MPICH's ranks of one machine talk, and those of its library UCX; 1 MB for each rank."""
_SHARED = re.compile(rf"(?:{_MPICH}|{_UCX})\S*$")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
GONE_S = 2.0


def children(process: int) -> set[int]:
    """Processes that a process has started and that have not ended."""
    with suppress(OSError):
        started = (_PROC / str(process) / "task" / str(process) / "children").read_text().split()
        return {child for child in map(int, started) if process_state(child) not in ("", "Z")}
    return set()


def process_name(process: int) -> str:
    """Name of a process' program, at most 15 characters; empty if there is none."""
    with suppress(OSError):
        return (_PROC / str(process) / "comm").read_text().rstrip("\n")
    return ""


def process_state(process: int) -> str:
    """State of a process as `ps` shows it, ``T`` where it is stopped; empty if there is none."""
    found = _stat(process)
    return found[0] if found else ""


def start_of(process: int) -> str:
    """When a process started, in ticks since the machine did: another one of the same number differs in it."""
    found = _stat(process)
    return found[19] if found else ""


def main_thread_s(process: int) -> float:
    """Processor time that the main thread of a process has taken, in steps of 10 ms; 0 where it is not to be seen."""
    found = _stat(process)
    return (int(found[11]) + int(found[12])) / _TICKS_PER_S if found else 0.0


def _stat(process: int) -> list[str]:
    """State and what follows it of a process' main thread; the name before it may hold anything."""
    with suppress(OSError):
        text = (_PROC / str(process) / "task" / str(process) / "stat").read_text()
        return text.rpartition(")")[2].split()
    return []


def processes_of(directory: Path) -> set[int]:
    """Processes that have a directory as one of their arguments: a launcher and its ranks."""
    name, found = b"\0" + os.fsencode(directory) + b"\0", set()
    for place in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            if name in (place / "cmdline").read_bytes():
                found.add(int(place.name))
    return found


def shared_files(process: int) -> set[str]:
    """Files of MPICH's shared memory that a process has open or mapped, and that have a name."""
    found = set()
    with suppress(OSError):
        # All but the one that made a file have it mapped only.
        maps = (_PROC / str(process) / "maps").read_text().splitlines()
        found = {name[0] for line in maps if (name := _SHARED.search(line))}
        for link in (_PROC / str(process) / "fd").iterdir():
            with suppress(OSError):
                found.add(os.readlink(link))
    return {name for name in found if _SHARED.fullmatch(name)}


def remove_shared_files() -> None:
    """Take the names of the files of MPICH's shared memory away that this process has."""
    for name in shared_files(os.getpid()):
        if name.startswith(_UCX):
            continue  # ranks that talk for the first time may open it by its name
        with suppress(OSError):
            os.unlink(name)


def end_processes(processes: Collection[int]) -> None:
    """Kill processes, stopped ones too, and remove their shared memory; those of others keep theirs.

    Notes
    -----
    They are stopped first, so that none makes another file between the look at what it has and its end. What has ended
    by then is left out.
    """
    for process in processes:
        _signal(process, signal.SIGSTOP)
    files = {name for process in processes for name in shared_files(process)}
    for process in processes:
        _signal(process, signal.SIGKILL)
    for name in files:
        with suppress(OSError):
            os.unlink(name)
    until_s = time.monotonic() + GONE_S
    while (
        any(process_state(process) not in ("", "Z") for process in processes) and time.monotonic() < until_s
    ):
        time.sleep(0.01)


def _signal(process: int, number: int) -> None:
    """Send a signal to a process, if it is there."""
    with suppress(OSError):
        os.kill(process, number)

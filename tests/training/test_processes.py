"""What is read of the processes of this machine, where Linux shows them."""

import os
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from training import processes
from training.processes import (
    children,
    end_processes,
    main_thread_s,
    process_name,
    process_state,
    processes_of,
    remove_shared_files,
    shared_files,
    start_of,
)

MPICH, UCX = "/dev/shm/mpich_shm_", "/dev/shm/ucx_shm_posix_"


@pytest.fixture
def proc(tmp_path, monkeypatch):
    """Write a process: its state, and what else is given."""
    monkeypatch.setattr(processes, "_PROC", tmp_path)
    monkeypatch.setattr(processes, "_TICKS_PER_S", 50)

    def add(number, *, state="S", started=(), command=(), maps=(), files=()):
        task = tmp_path / str(number) / "task" / str(number)
        task.mkdir(parents=True)
        # What follows the state is numbered from 4 in proc(5); 14 and 15 are times, 22 is the start.
        numbers = " ".join(str(1000 + field) for field in range(4, 53))
        (task / "stat").write_text(f"{number} (a) b) {state} {numbers}\n")
        (task / "children").write_text("".join(f"{child} " for child in started))
        (tmp_path / str(number) / "comm").write_text("my name\n")
        (tmp_path / str(number) / "cmdline").write_bytes(b"".join(part + b"\0" for part in command))
        (tmp_path / str(number) / "maps").write_text("".join(f"7f-7f r--p {name}\n" for name in maps))
        (tmp_path / str(number) / "fd").mkdir()
        for place, name in enumerate(files):
            (tmp_path / str(number) / "fd" / str(place)).symlink_to(name)
        return number

    return add


def test_a_process_is_described_by_its_main_thread(proc):
    proc(7, state="T")

    assert (process_name(7), process_state(7), start_of(7)) == ("my name", "T", "1022")
    assert main_thread_s(7) == (1014 + 1015) / 50


def test_of_a_process_that_is_not_there_nothing_is_known(proc):
    proc(7)

    assert (process_name(8), process_state(8), start_of(8), main_thread_s(8)) == ("", "", "", 0.0)
    assert (children(8), shared_files(8)) == (set(), set())


def test_children_are_those_that_have_not_ended(proc):
    proc(7, started=(8, 9, 10, 11))
    proc(8)
    proc(9, state="Z")
    proc(10, state="T")

    assert children(7) == {8, 10}


def test_processes_of_a_directory_have_it_as_a_whole_argument(proc, tmp_path):
    for number, command in (
        (7, (b"mpiexec", b"/tmp/run", b"x")),
        (8, (b"python", b"/tmp/run/job")),
        (9, (b"python", b"-m", b"/tmp/run")),
        (10, ()),
    ):
        proc(number, command=command)
    (tmp_path / "11").mkdir()

    assert processes_of(Path("/tmp/run")) == {7, 9}


def test_shared_files_are_open_or_mapped_and_have_a_name(proc):
    maps = ("", "/usr/lib/libc.so", f"{MPICH}A", f"{MPICH}B (deleted)", f"{UCX}C")
    proc(7, maps=maps, files=(f"{MPICH}D", "/tmp/x", f"/tmp{MPICH}E", f"{MPICH}F (deleted)", "pipe:[3]"))

    assert shared_files(7) == {f"{MPICH}A", f"{UCX}C", f"{MPICH}D"}


def test_names_of_shared_memory_are_removed_but_not_those_that_ranks_open_later(monkeypatch, tmp_path):
    mpich, ucx = tmp_path / "mpich", tmp_path / "ucx"
    for path in (mpich, ucx):
        path.write_text("")
    asked = []
    monkeypatch.setattr(processes, "_UCX", str(ucx))

    def shared(process):
        asked.append(process)
        return {str(mpich), str(ucx), str(tmp_path / "gone")}

    monkeypatch.setattr(processes, "shared_files", shared)
    remove_shared_files()

    assert asked == [os.getpid()]
    assert (mpich.exists(), ucx.exists()) == (False, True)


def test_processes_are_stopped_before_their_files_are_looked_for_and_then_killed(monkeypatch, tmp_path):
    kept = tmp_path / "file"
    kept.write_text("")
    done = []
    states = iter(["R", "Z", "", "R", "", ""])
    monkeypatch.setattr(processes, "_signal", lambda process, number: done.append((number, process)))

    def shared(process):
        done.append(("look", process))
        return {str(kept)}

    monkeypatch.setattr(processes, "shared_files", shared)
    monkeypatch.setattr(processes, "process_state", lambda _process: next(states))
    end_processes([3, 4])

    assert done == [
        (signal.SIGSTOP, 3),
        (signal.SIGSTOP, 4),
        ("look", 3),
        ("look", 4),
        (signal.SIGKILL, 3),
        (signal.SIGKILL, 4),
    ]
    assert not kept.exists()
    # Looked at until both have ended: 3 runs; 3 is a zombie and 4 gone, which is the end.
    assert list(states) == ["R", "", ""]


def test_a_process_that_does_not_end_is_not_waited_for_for_ever(monkeypatch):
    now_s = [0.0]

    def sleep(seconds):
        now_s[0] += seconds

    monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=lambda: now_s[0], sleep=sleep))
    monkeypatch.setattr(processes, "process_state", lambda _process: "D")
    end_processes([2**30, 2**30 + 1])

    # Looked at every hundredth of a second.
    assert processes.GONE_S <= now_s[0] < processes.GONE_S + 0.02


def test_a_process_that_was_killed_has_ended():
    with subprocess.Popen(["sleep", "60"]) as sleeping:
        try:
            end_processes([sleeping.pid])
            assert process_state(sleeping.pid) in ("", "Z")
        finally:
            sleeping.kill()
        assert sleeping.wait() == -signal.SIGKILL

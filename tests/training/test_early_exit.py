"""Code that leaves the program in the midst of a training, as if nothing were wrong."""

import os
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from topologies.errors import LeftEarlyError
from training.mpi.early_exit import reject_early_exit
from training.mpi.launcher import run_ranks


@pytest.fixture(autouse=True)
def exits(monkeypatch):
    """Exits of this process, which goes on: a test that ended it would end all others with its status."""
    leave, owner, statuses = os._exit, os.getpid(), []

    def end(status):
        if os.getpid() != owner:
            leave(status)
        statuses.append(status)
        raise SystemExit(f"the process left with status {status}")

    monkeypatch.setattr(os, "_exit", end)
    return statuses


def leaving(leave):
    yield 1
    yield 2
    leave()
    yield 3


@pytest.mark.parametrize(
    ("leave", "call"),
    [
        (lambda: os._exit(0), "os._exit(0)"),
        (lambda: os._exit(256), "os._exit(256)"),
        (lambda: sys.exit(0), "sys.exit(0)"),
        (lambda: sys.exit(), "sys.exit(None)"),
        (lambda: sys.exit(4), "sys.exit(4)"),
    ],
)
def test_leaving_is_an_error_that_says_where(exits, leave, call):
    real, found = os._exit, []
    with pytest.raises(LeftEarlyError) as caught:
        found.extend(reject_early_exit(leaving(leave)))
    line = leave.__code__.co_firstlineno
    assert str(caught.value) == f"{call} was called in {__file__}, line {line}."
    assert os._exit is real
    assert (found, exits) == ([1, 2], [])


def test_items_errors_and_closing_pass_through():
    closed = []

    def items():
        try:
            yield from range(3)
            raise ValueError("of its own")
        finally:
            closed.append(True)

    assert list(reject_early_exit([1, 2])) == [1, 2]
    found = []
    with pytest.raises(ValueError, match="of its own"):
        found.extend(reject_early_exit(items()))
    assert found == [0, 1, 2]
    started = reject_early_exit(items())
    next(started)
    started.close()
    assert closed == [True, True]


def test_their_consumer_may_leave_and_so_may_processes_that_were_forked_off():
    real = os._exit

    def forking():
        assert os._exit is not real
        if (child := os.fork()) == 0:
            os._exit(0)
        yield os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    for status in reject_early_exit(forking()):
        assert status == 0
        assert os._exit is real
        with pytest.raises(SystemExit):
            sys.exit(0)


@pytest.mark.parametrize(("status", "seen"), [(0, 1), (5, 5)])
def test_another_thread_ends_the_process_with_a_status_that_is_seen(status, seen):
    code = (
        "import os, threading, time\n"
        "from training.mpi.early_exit import reject_early_exit\n"
        "def items():\n"
        f"    threading.Thread(target=os._exit, args=({status},)).start()\n"
        "    time.sleep(60)\n"
        "    yield\n"
        "list(reject_early_exit(items()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == seen
    assert ("os._exit(0) was called in" in done.stderr) == (status == 0)
    assert threading.active_count() >= 1


@pytest.mark.parametrize(("status", "seen"), [(0, 1), (256, 1), (5, 5), (257, 257)])
def test_of_another_thread_that_leaves_the_message_is_printed_and_a_failure_stays_one(
    exits, capsys, status, seen
):
    def leave():
        with suppress(SystemExit):
            os._exit(status)

    def items():
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
        yield "done"

    assert list(reject_early_exit(items())) == ["done"]
    assert exits == [seen]
    line = leave.__code__.co_firstlineno + 2
    said = f"os._exit({status}) was called in {__file__}, line {line}.\n"
    assert capsys.readouterr().err == (said if seen == 1 else "")


def test_a_failure_that_code_reports_itself_stays_one(exits):
    with pytest.raises(LeftEarlyError, match=r"^sys\.exit\('the process left with status 3'\) was called in"):
        list(reject_early_exit(leaving(lambda: os._exit(3))))
    assert exits == [3]


def test_a_launcher_that_only_says_that_all_is_well_is_not_believed(make_job, monkeypatch, tmp_path):
    launcher = tmp_path / "mpiexec"
    launcher.write_text("#!/bin/sh\necho nothing to do\n")
    launcher.chmod(0o755)
    monkeypatch.setattr("training.mpi.launcher.mpiexec_path", lambda: launcher)
    with pytest.raises(LeftEarlyError) as caught:
        list(run_ranks(make_job(), 2))
    assert str(caught.value) == (
        "a rank exited with status 0 and reported no error; its output:\nnothing to do"
    )

"""Studies computed by several processes: killed workers, signals while points take long, two at the same time."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from started_process import running

from training.mpi_environment import mpiexec_path

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("terminal_signals")]

SILOSIM = str(Path(sys.executable).with_name("silosim"))
SHORT = [20, 21, 22, 23]
TEXT = """
[network]
underlay = "gaia"
[workload]
preset = "femnist"
[overlays]
kinds = ["ring"]
[simulation]
engine = "simpy"
compute = {{ distribution = "lognormal", cv = 0.3 }}
[study]
simulate = true
[study.grid]
"simulation.rounds" = {}
"""


def wait_for(happens, seconds=60.0):
    end = time.monotonic() + seconds
    while not happens() and time.monotonic() < end:
        time.sleep(0.02)
    assert happens()


def workers_of(process):
    """Processes that a study has started to compute points."""
    text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(pid) for pid in text.split() if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def lives(pid):
    """Whether a process computes: one that has ended may wait for its parent to look."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def started(tmp_path):
    """A study with short points that are finished, and two that take minutes."""
    (tmp_path / "s.toml").write_text(TEXT.format([*SHORT, 10**7, 10**7 + 1]))
    processes = []

    def start(*launcher):
        process = subprocess.Popen(
            [*launcher, SILOSIM, "study", "s.toml", *(() if launcher else ("--workers", "2"))],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        processes.append(process)
        partial = tmp_path / "s.csv.partial"
        wait_for(lambda: partial.exists() and partial.read_text().count("\n") > len(SHORT), 30.0)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stderr.close()


def finished_rows(tmp_path):
    return (tmp_path / "s.csv.partial").read_text().splitlines()[1:]


# As terminals and batch systems send them.
@pytest.mark.parametrize(
    ("number", "whom"), [(signal.SIGINT, "group"), (signal.SIGTERM, "process"), (signal.SIGHUP, "group")]
)
def test_signals_end_a_study_within_two_seconds(tmp_path, started, number, whom):
    process = started()
    workers = workers_of(process)
    assert len(workers) == 2
    began = time.monotonic()
    if whom == "group":
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert time.monotonic() - began < 2.0
    assert process.returncode == 128 + number
    assert errors == "silosim: the finished points are in s.csv.partial; the same command goes on\n"
    assert len(finished_rows(tmp_path)) == len(SHORT)
    assert not any(map(lives, workers))


HEARING = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from scenarios.cli.main import main; print(flush=True); main()"
)
"""The command, which hears Ctrl-C also where it was started with it ignored, and says when it does."""


def processes_of(session):
    """Processes of a session that compute."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(folder.name))
    return found


def test_ctrl_c_while_workers_start_leaves_no_process_and_a_study_that_goes_on(
    silosim, tmp_path, monkeypatch
):
    (tmp_path / "s.toml").write_text(TEXT.format([*SHORT, 10**7, 10**7 + 1]))
    command = [sys.executable, "-c", HEARING, "study", "s.toml", "--workers", "2"]
    moments = random.Random(7)
    for attempt in range(6):
        with running(*command, cwd=tmp_path) as process:
            process.stdout.readline()
            time.sleep(moments.uniform(0.05, 4.0))
            began = time.monotonic()
            # A terminal sends it to all processes.
            (os.killpg if attempt % 2 else os.kill)(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=20)
        assert time.monotonic() - began < 2.5
        assert process.returncode == 130, errors
        assert errors in ("", "silosim: the finished points are in s.csv.partial; the same command goes on\n")
        wait_for(lambda process=process: not processes_of(process.pid), seconds=1.0)
        assert not (tmp_path / "s.csv").exists()

    (tmp_path / "s.toml").write_text(TEXT.format(SHORT))
    monkeypatch.chdir(tmp_path)
    for output in ("s.csv", "anew.csv"):
        silosim("study", "s.toml", "--workers", "1", "-o", output).ok()
    assert (tmp_path / "s.csv").read_bytes() == (tmp_path / "anew.csv").read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_a_study_under_mpiexec(tmp_path, started, number):
    process = started(mpiexec_path(), "-n", "3")
    began = time.monotonic()
    os.killpg(process.pid, number)
    process.communicate(timeout=20)
    assert time.monotonic() - began < 5.0
    assert len(finished_rows(tmp_path)) == len(SHORT)


def test_a_killed_worker_is_one_line_that_says_what_is_kept(tmp_path, started):
    process = started()
    workers = workers_of(process)
    os.kill(workers[0], signal.SIGKILL)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 3
    assert errors == (
        "silosim: error: a worker process ended before its points were computed, perhaps as memory ran out "
        "(fewer --workers need less); the finished points are in s.csv.partial, and the same command goes on.\n"
    )
    assert len(finished_rows(tmp_path)) == len(SHORT)
    assert not any(map(lives, workers))


def test_workers_end_with_a_killed_program(started):
    process = started()
    workers = workers_of(process)
    assert all(map(lives, workers))
    process.kill()
    process.wait()
    wait_for(lambda: not any(map(lives, workers)), seconds=3.0)


def test_two_studies_at_the_same_time_are_one_table_and_one_error(tmp_path):
    (tmp_path / "s.toml").write_text(TEXT.format(list(range(2000, 2006))))
    command = [SILOSIM, "study", "s.toml", "--workers", "2"]
    both = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    errors = sorted(process.communicate(timeout=100)[1] for process in both)
    assert sorted(process.returncode for process in both) == [0, 2]
    assert errors == [
        "silosim: error: s.csv.partial is being written by another process.\n",
        "written: s.csv\n",
    ]
    rows = (tmp_path / "s.csv").read_text().splitlines()[1:]
    assert [int(re.findall(r"\d+", row)[0]) for row in rows] == list(range(2000, 2006))
    assert not (tmp_path / "s.csv.partial").exists()

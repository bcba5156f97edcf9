"""Real MPI ranks. This process must never start MPI itself."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from topologies.errors import MachineError, TrainingError
from training import HistoryRow, MixingPlan, load_backend
from training.mpi.job_file import write_job
from training.mpi.worker import ROWS, _open_pipe
from training.mpi_environment import mpiexec_path, rank_environment

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
from pathlib import Path
from topologies.errors import SilosimError
from training import Notice, load_backend, world
from training.mpi.job_file import read_job
for path, stop_after in zip(sys.argv[1::2], sys.argv[2::2]):
    rows, failed = [], False
    try:
        for row in load_backend("mpi").train(read_job(Path(path))):
            if isinstance(row, Notice):
                continue
            rows.append(row)
            print(row.to_json(), flush=True)
            if len(rows) == int(stop_after):
                break
    except SilosimError as error:
        failed = True
        if world() is None or world().rank == 0:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
    if world() is not None and world().rank > 0:
        assert rows == []
sys.exit(failed)
"""


@pytest.fixture(autouse=True)
def temporary(monkeypatch, tmp_path):
    """Put job directories where the test can find their processes."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def launch(tmp_path):
    """Train jobs, each up to a number of rows, with the program above under mpiexec, as a user would by hand."""

    def run(*jobs, environ=None, command=None):
        (tmp_path / "program.py").write_text(PROGRAM)
        start, arguments = command or [str(mpiexec_path()), "-n", "3"], []
        for number, (job, stop_after) in enumerate(jobs):
            write_job(tmp_path / f"byhand{number}.npz", job)
            arguments += [tmp_path / f"byhand{number}.npz", str(stop_after)]
        return subprocess.run(
            [*start, sys.executable, tmp_path / "program.py", *arguments],
            env={**rank_environment(os.environ), **(environ or {})},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def alternating_job(make_job, ring):
    """A CNN on seven silos, with a dense matrix every third round."""
    mixing = MixingPlan(
        matrices=np.stack([ring(7), np.full((7, 7), 1 / 7)]), index=np.array([0, 0, 1, 0, 0, 1, 0, 0])
    )

    def make(ranks):
        return make_job(
            silos=7,
            rounds=8,
            local_steps=2,
            mixing=mixing,
            model="cnn",
            learning_rate=0.1,
            momentum=0.9,
            log_every=2,
            ranks=ranks,
        )

    return make


def history(job):
    """The rows without the notices."""
    with contextlib.closing(load_backend("mpi").train(job)) as reports:
        yield from (report for report in reports if isinstance(report, HistoryRow))


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_any_number_of_ranks_gives_the_same_curve(alternating_job, tmp_path):
    alone = list(history(alternating_job(1)))
    assert alone[-1].train_loss < alone[0].train_loss
    assert alone[-1].consensus_distance > 0.1
    assert alone[3].round == 6
    assert alone[3].consensus_distance == 0
    assert list(history(alternating_job(2))) == alone
    assert not list(tmp_path.glob("silosim-*"))


def test_jobs_started_by_hand_are_the_same_on_any_number_of_ranks(alternating_job, make_job, launch):
    """A whole job, one that diverges, and one with fewer silos than processes, whose consumer stops early."""
    curve = alternating_job(1)
    diverging = make_job(silos=4, rounds=20, learning_rate=1e38, log_every=20, ranks=1)
    with pytest.raises(TrainingError) as alone:
        list(history(diverging))
    # The one that is left early comes last, as no other may follow it; the exit code is that of the last.
    done = launch((curve, 0), (diverging, 0), (make_job(silos=2, rounds=50), 2))
    assert done.stderr.splitlines() == [f"TrainingError: {alone.value}"]
    assert done.returncode == 0
    rows = [HistoryRow.from_json(line) for line in done.stdout.splitlines()]
    expected = list(history(curve))
    assert rows[: len(expected)] == expected
    assert [row.round for row in rows[len(expected) :]] == [0, 0, 1]


def test_more_ranks_than_silos_are_not_started(make_job):
    rows = list(history(make_job(silos=1, rounds=2, ranks=64)))
    assert [row.round for row in rows] == [0, 1, 2]


def test_an_exception_in_one_rank_ends_the_job_with_its_traceback(make_job, monkeypatch, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import os\n"
        "if os.environ.get('PMI_RANK') == '1':\n"
        "    import training.optimization.schedules\n"
        "    def broken(settings, k, epoch):\n"
        "        print('a stray print')\n"
        "        raise ValueError('boom in rank 1')\n"
        "    training.optimization.schedules.SCHEDULES['constant'] = broken\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    rows = history(make_job(rounds=10**4, log_every=10**4, ranks=2))
    assert next(rows).round == 0
    start = time.monotonic()
    with pytest.raises(TrainingError) as caught:
        next(rows)
    assert time.monotonic() - start < 5
    assert str(caught.value).startswith("a rank failed: boom in rank 1\nTraceback (most recent call last):")
    assert str(caught.value).endswith("ValueError: boom in rank 1")
    assert not list(tmp_path.glob("silosim-*"))


def test_a_rank_that_dies_without_a_word_is_an_error(make_job, processes_naming, tmp_path):
    rows = history(make_job(rounds=10**6, log_every=10**6, ranks=2))
    next(rows)
    os.kill(max(processes_naming(next(tmp_path.glob("silosim-*")))), signal.SIGKILL)
    with pytest.raises(TrainingError, match=r"^a rank was killed by signal 9 \(SIGKILL\), .*\.$"):
        next(rows)


def test_closing_the_history_leaves_no_process(make_job, processes_naming, tmp_path):
    rows = history(make_job(rounds=10**6, log_every=10, ranks=2))
    assert next(rows).round == 0
    directory = next(tmp_path.glob("silosim-*"))
    assert len(processes_naming(directory)) >= 3
    rows.close()
    wait_until(lambda: not processes_naming(directory), 3)
    assert not directory.exists()


@pytest.fixture
def program(make_job, tmp_path):
    """Start the program above by hand, with a training that takes for ever."""

    @contextlib.contextmanager
    def start(*, log_every):
        write_job(tmp_path / "job.npz", make_job(rounds=10**6, log_every=log_every, ranks=2))
        (tmp_path / "program.py").write_text(PROGRAM)
        process = subprocess.Popen(
            [sys.executable, tmp_path / "program.py", tmp_path / "job.npz", "0"],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stdout=subprocess.PIPE,
        )
        with contextlib.closing(process.stdout):
            yield process
        process.wait()

    return start


@pytest.mark.parametrize("log_every", [10, 10**6])
def test_a_killed_program_leaves_no_process(program, processes_naming, tmp_path, log_every):
    with program(log_every=log_every) as started:
        assert json.loads(started.stdout.readline())["round"] == 0
        directory = next(tmp_path.glob("silosim-*"))
        assert len(processes_naming(directory)) >= 3
        started.kill()
    wait_until(lambda: not processes_naming(directory) and not directory.exists(), 5)


@pytest.mark.parametrize("processes", [1, 3])
def test_a_program_killed_before_the_first_row_leaves_no_process(
    program, processes_naming, tmp_path, processes
):
    with program(log_every=1) as started:
        # The launcher alone, which has yet to start the ranks, and the ranks, which have yet to open the pipe.
        wait_until(lambda: any(map(processes_naming, tmp_path.glob("silosim-*"))), 20)
        directory = next(tmp_path.glob("silosim-*"))
        wait_until(lambda: len(processes_naming(directory)) >= processes, 20)
        started.kill()
    wait_until(lambda: not processes_naming(directory) and not directory.exists(), 8)


def test_a_pipe_without_a_reader_is_not_waited_for(tmp_path):
    with pytest.raises(BrokenPipeError):
        _open_pipe(tmp_path)
    os.mkfifo(tmp_path / ROWS)
    with pytest.raises(BrokenPipeError):
        _open_pipe(tmp_path)


def test_abort_ends_the_processes_of_a_program_that_started_mpi_twice():
    code = (
        "import time; from training import world; from training.mpi_environment import abort, start_mpi\n"
        "start_mpi(started=2)\n"
        "start_mpi(started=2)\n"
        "abort(2) if world().rank == 0 else time.sleep(60)"
    )
    done = subprocess.run(
        [str(mpiexec_path()), "-n", "2", sys.executable, "-c", code],
        env=rank_environment(os.environ),
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 2


def test_abort_never_starts_mpi():
    code = "import sys; sys.modules['mpi4py'] = None; from training.mpi_environment import abort; abort(3)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 3


def test_the_launcher_of_another_mpi_is_one_line(make_job, launch):
    # What a process sees that Open MPI's launcher started and whose mpi4py uses MPICH.
    environ = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4"}
    done = launch((make_job(), 0), environ=environ, command=["env"])
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line == (
        "MachineError: Open MPI's launcher started 4 processes but mpi4py uses MPICH: mpiexec belongs to another MPI; "
        f"use {Path(sys.executable).parent / 'mpiexec'}"
    )


def test_an_mpiexec_of_another_mpi_beside_the_interpreter_is_one_line(make_job, monkeypatch, tmp_path):
    fake = tmp_path / "mpiexec"
    # Starts the command once per rank, each alone, as a foreign launcher does.
    fake.write_text('#!/bin/sh\nshift 2\n"$@" && "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setattr("training.mpi.launcher.mpiexec_path", lambda: fake)
    with pytest.raises(MachineError) as caught:
        next(history(make_job(ranks=2)))
    assert str(caught.value).startswith("the launcher started 2 processes but MPI sees 1:")


def test_this_process_never_started_mpi():
    assert "mpi4py.MPI" not in sys.modules

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from topologies.errors import InputError, MachineError
from training import TrainingConfig, World, load_backend, world
from training.mpi.backend import MpiBackend
from training.mpi.launcher import _error_from_log
from training.mpi.worker import ERRORS, main
from training.mpi_environment import check_size, local_rank, mpiexec_path, rank_environment
from training.notice import Notice


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({}, None),
        ({"PMI_RANK": "2", "PMI_SIZE": "4"}, World(rank=2, size=4)),
        ({"PMI_RANK": "0", "PMI_SIZE": "1"}, World(rank=0, size=1)),
        (
            {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "3", "PMIX_RANK": "1"},
            World(rank=1, size=3),
        ),
        ({"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8", "SLURM_NTASKS": "8"}, World(rank=5, size=8)),
        ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}, World(rank=1, size=2)),
        # A batch script, and a step of one task: nobody else runs this program.
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, None),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "8"}, None),
    ],
)
def test_the_launcher_is_recognised_by_its_environment(environ, place):
    assert world(environ) == place


@pytest.mark.parametrize(
    ("environ", "local"),
    [
        ({}, 5),
        ({"MPI_LOCALRANKID": "2", "PMI_RANK": "5"}, 2),
        ({"OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_RANK": "5"}, 1),
        ({"SLURM_LOCALID": "3"}, 3),
        # mpiexec in a step of Slurm, which is one task on each machine.
        ({"SLURM_LOCALID": "0", "MPI_LOCALRANKID": "2"}, 2),
    ],
)
def test_gpus_go_by_the_index_on_a_machine(environ, local):
    assert local_rank(5, environ) == local


def test_ranks_do_not_read_what_an_outer_launcher_left():
    environ = {
        "PATH": "/usr/bin",
        "HOME": "/home/me",
        "PMI_RANK": "0",
        "PMIX_NAMESPACE": "x",
        "SLURM_NTASKS": "4",
        "SLURMD_NODENAME": "n1",
        "OMPI_COMM_WORLD_SIZE": "4",
        "HYDI_CONTROL_FD": "7",
        "MPI_LOCALRANKID": "0",
        "OMP_NUM_THREADS": "64",
    }
    here = str(Path(sys.executable).parent)
    assert rank_environment(environ) == {
        "PATH": here + os.pathsep + "/usr/bin",
        "HOME": "/home/me",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def test_a_missing_mpiexec_says_where_it_was_looked_for(monkeypatch, tmp_path, make_job):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    expected = f"mpiexec(={tmp_path / 'mpiexec'}) must exist; install it with: pip install mpich"
    with pytest.raises(MachineError) as caught:
        mpiexec_path()
    assert str(caught.value) == expected
    with pytest.raises(MachineError) as caught:
        MpiBackend().check(TrainingConfig(ranks=2))
    assert str(caught.value) == expected
    MpiBackend().check(TrainingConfig(ranks=1))
    with pytest.raises(MachineError) as caught:
        next(MpiBackend().train(make_job(ranks=2)))
    assert str(caught.value) == expected


def test_the_check_needs_no_mpiexec_under_a_launcher(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setenv("PMI_SIZE", "2")
    MpiBackend().check(TrainingConfig(ranks=2))


@pytest.mark.parametrize(("launched", "reported"), [(None, True), ("0", True), ("1", False)])
def test_more_ranks_than_silos_are_reported_once(monkeypatch, make_job, launched, reported):
    monkeypatch.setattr("training.mpi.backend.run_ranks", lambda _job, ranks: iter([ranks]))
    monkeypatch.setattr("training.mpi.backend._in_world", lambda _job, place: iter([place.size]))
    job = make_job(ranks=2 if launched else 20)
    if launched:
        monkeypatch.setenv("PMI_RANK", launched)
        monkeypatch.setenv("PMI_SIZE", "20")
    notice = Notice(f"ranks used: {job.silos} of 20, one per silo")
    started = 20 if launched else job.silos
    assert list(MpiBackend().train(job)) == ([notice, started] if reported else [started])
    monkeypatch.setenv("PMI_SIZE", str(job.silos))
    assert len(list(MpiBackend().train(make_job(ranks=job.silos)))) == 1


@pytest.mark.parametrize(("ranks", "processes"), [(1, None), (5, 1)])
def test_one_rank_trains_in_this_process_without_mpi(monkeypatch, make_job, ranks, processes):
    monkeypatch.setattr("training.mpi.backend.run_ranks", lambda *_: pytest.fail("started"))
    monkeypatch.setattr("training.mpi.backend._in_world", lambda *_: pytest.fail("MPI"))
    monkeypatch.setattr("training.dpasgd.train_rank", lambda _job, communicator: iter([communicator.size]))
    if processes:
        monkeypatch.setenv("PMI_RANK", "0")
        monkeypatch.setenv("PMI_SIZE", str(processes))

    assert list(MpiBackend().train(make_job(ranks=ranks))) == [1]


BANNER = """
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 20322 RUNNING AT node1
=   EXIT CODE: 9
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
===================================================================================
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: {} (signal {})
This typically refers to a problem with your application.
Please see the FAQ page for debugging suggestions
"""


@pytest.mark.parametrize(
    ("log", "status", "message"),
    [
        (
            BANNER.format("Killed", 9),
            9,
            "a rank was killed by signal 9 (SIGKILL), as the system does when memory runs out.",
        ),
        (
            "double free or corruption\n" + BANNER.format("Aborted", 6),
            6,
            "a rank was killed by signal 6 (SIGABRT); its output:\ndouble free or corruption",
        ),
        (BANNER.format("Real-time signal 5", 39), 39, "a rank was killed by signal 39."),
        (
            "exit code 9\n",
            9,
            "mpiexec ended with status 9 and no rank reported an error; its output:\nexit code 9",
        ),
    ],
)
def test_a_rank_that_a_signal_ended_is_one_line(log, status, message):
    assert str(_error_from_log(log, status)) == message


def test_the_check_misses_a_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(MachineError, match=r"device\(=cuda\) needs a GPU"):
        MpiBackend().check(TrainingConfig(device="cuda"))
    for device in ("cpu", "auto"):
        MpiBackend().check(TrainingConfig(device=device))


def test_a_link_to_the_interpreter_is_not_followed(monkeypatch, tmp_path):
    (tmp_path / "python").symlink_to(sys.executable)
    (tmp_path / "mpiexec").touch()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert mpiexec_path() == tmp_path / "mpiexec"


def test_another_mpi_is_recognised_by_the_size():
    check_size(started=3, found=3)
    with pytest.raises(MachineError) as caught:
        check_size(started=4, found=1)
    message = str(caught.value)
    assert message.startswith("the launcher started 4 processes but MPI sees 1:")
    assert message.endswith(str(Path(sys.executable).parent / "mpiexec"))
    assert "\n" not in message


def test_backends_are_found_by_name():
    assert isinstance(load_backend("mpi"), MpiBackend)
    with pytest.raises(InputError, match=r"backend\(='mpii'\) must be mpi, or .* \(did you mean 'mpi'\?\)"):
        load_backend("mpii")


def test_importing_the_package_starts_neither_torch_nor_mpi():
    code = "import sys, training, training.mpi.backend; print([m for m in ('torch', 'mpi4py') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_rank_that_is_ended_while_it_reports_leaves_no_half_report(tmp_path, monkeypatch):
    def cut_short(path, text):
        path.write_bytes(text[: len(text) // 2].encode())
        raise KeyboardInterrupt

    def boom(_directory):
        raise ValueError("boom")

    monkeypatch.setattr("training.mpi.worker._open_pipe", boom)
    with monkeypatch.context() as ending:
        ending.setattr("pathlib.Path.write_text", cut_short)
        with pytest.raises(KeyboardInterrupt):
            main(tmp_path, 2)
    assert not list(tmp_path.glob(ERRORS))
    with pytest.raises(ValueError, match="boom"):
        main(tmp_path, 2)
    (report,) = tmp_path.glob(ERRORS)
    assert json.loads(report.read_text())["message"] == "boom"

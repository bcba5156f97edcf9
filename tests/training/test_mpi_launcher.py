import json
import os
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from topologies.errors import InputError, LeftEarlyError, MachineError, TrainingError
from training import HistoryRow, TrainingConfig, World, load_backend, world
from training.mpi import trial, trial_rank
from training.mpi.backend import MpiBackend
from training.mpi.launcher import LOG, _error, _error_from_log, _lines, _with_output, run_ranks
from training.mpi.trial import LauncherTrial, listed_sizes, try_launcher
from training.mpi.trial_rank import ANSWERS
from training.mpi.worker import ERRORS, JOB, PROGRESS, ROWS, main
from training.mpi_environment import check_size, local_rank, mpiexec_path, rank_environment, start_mpi
from training.notice import Notice, to_line


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
        ({"PMI_RANK": "0", "PMI_SIZE": "9" * 30}, World(rank=0, size=10**30 - 1)),
        # A batch script, and a step of one task: nobody else runs this program.
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, None),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "8"}, None),
    ],
)
def test_the_launcher_is_recognised_by_its_environment(environ, place):
    assert world(environ) == place


@pytest.mark.parametrize(
    ("environ", "rule"),
    [
        ({"PMI_RANK": "x", "PMI_SIZE": "2"}, "PMI_RANK(='x') must be a whole number"),
        ({"PMI_RANK": "0", "PMI_SIZE": ""}, "PMI_SIZE(='') must be a whole number"),
        ({"PMI_RANK": "-1", "PMI_SIZE": "2"}, "PMI_RANK(='-1') must be a whole number"),
        ({"PMI_RANK": "1" * 5000, "PMI_SIZE": "2"}, "PMI_RANK(='1111111"),
        (
            {"PMI_RANK": "0", "PMI_SIZE": "9" * 31},
            "PMI_SIZE(='9999999999999999999999999999999') must have at most 30",
        ),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "9" * 5000}, "SLURM_STEP_NUM_TASKS(='999"),
        ({"PMI_RANK": "²", "PMI_SIZE": "2"}, "PMI_RANK(='²') must be a whole number"),
        ({"PMI_RANK": "2", "PMI_SIZE": "2"}, "PMI_RANK(='2') must be < PMI_SIZE(='2')"),
        (
            {"OMPI_COMM_WORLD_RANK": "1.5", "OMPI_COMM_WORLD_SIZE": "3"},
            "OMPI_COMM_WORLD_RANK(='1.5') must be a whole number",
        ),
        ({"SLURM_PROCID": "x", "SLURM_STEP_NUM_TASKS": "2"}, "SLURM_PROCID(='x') must be a whole number"),
        (
            {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "two"},
            "SLURM_STEP_NUM_TASKS(='two') must be a whole",
        ),
    ],
)
def test_a_launchers_variable_that_is_no_number_is_one_line(environ, rule):
    with pytest.raises(InputError) as caught:
        world(environ)
    assert str(caught.value).startswith(rule)
    assert "\n" not in str(caught.value)


def test_an_index_on_a_machine_that_is_no_number_is_one_line():
    with pytest.raises(InputError, match=r"^SLURM_LOCALID\(='a'\) must be a whole number"):
        local_rank(5, {"SLURM_LOCALID": "a"})
    with pytest.raises(InputError, match=r"^MPI_LOCALRANKID\(='1+\.\.\.1+'\) must have at most 30 digits\.$"):
        local_rank(5, {"MPI_LOCALRANKID": "1" * 5000})


def test_without_mpi4py_several_ranks_are_one_line_that_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setattr("training.mpi_environment.find_spec", lambda _name: None)
    with pytest.raises(MachineError) as caught:
        MpiBackend().check(TrainingConfig(ranks=2))
    assert str(caught.value) == "more than one rank needs mpi4py; install it with: pip install mpi4py mpich"
    MpiBackend().check(TrainingConfig(ranks=1))
    # Under a launcher of the user's it shows when MPI starts.
    with pytest.raises(
        MachineError, match=r"^ranks need mpi4py: .*; install it with: pip install mpi4py mpich$"
    ):
        start_mpi(started=2)


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
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(64))
    job = make_job(ranks=2 if launched else 20)
    if launched:
        monkeypatch.setenv("PMI_RANK", launched)
        monkeypatch.setenv("PMI_SIZE", "20")
    notice = Notice(f"ranks used: {job.silos} of 20, one per silo")
    started = 20 if launched else job.silos
    assert list(MpiBackend().train(job)) == ([notice, started] if reported else [started])
    monkeypatch.setenv("PMI_SIZE", str(job.silos))
    assert len(list(MpiBackend().train(make_job(ranks=job.silos)))) == 1


@pytest.mark.parametrize(
    ("processors", "text"),
    [(1, "3 ranks share one processor; "), (2, "3 ranks share 2 processors; "), (3, None)],
)
def test_ranks_that_share_processors_are_told(monkeypatch, make_job, processors, text):
    monkeypatch.setattr("training.mpi.backend.run_ranks", lambda _job, ranks: iter([ranks]))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(processors))
    *notices, started = MpiBackend().train(make_job(silos=4, ranks=3))
    assert started == 3
    told = [] if text is None else [Notice(f"{text}more ranks than processors train no faster")]
    assert notices == told


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


def test_of_a_long_output_the_end_is_shown():
    shown = _with_output("a rank failed", "x" * 3 + "y" * 4000)
    assert shown == "a rank failed; its output:\n" + "y" * 4000
    assert _with_output("a rank failed", "") == "a rank failed."


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


COUNTED = {"size": 2, "answered": 2, "library": "MPICH Version: 4.2"}
ALONE = {"size": 1, "answered": 1, "library": "MPICH Version: 4.2"}


@pytest.fixture
def tried(monkeypatch):
    """Try a launcher whose ranks give these answers, print this log and end so."""

    def trial_of(answers, log="", end=0):
        @contextmanager
        def rank_process(command, path):
            assert command[0] == "mpiexec"
            path.write_text(log)
            for number, answer in enumerate(answers):
                (path.parent / ANSWERS.replace("*", str(number))).write_text(json.dumps(answer))
            yield SimpleNamespace(wait=lambda timeout: wait(timeout))

        def wait(timeout):
            if isinstance(end, int):
                return end
            raise end if isinstance(end, OSError) else subprocess.TimeoutExpired("mpiexec", timeout)

        monkeypatch.setattr(trial, "rank_command", lambda launcher, *_: [launcher.name])
        monkeypatch.setattr(trial, "rank_process", rank_process)
        return try_launcher(Path("/usr/bin/mpiexec"), ranks=2, limit_s=2.5)

    return trial_of


def test_ranks_that_count_each_other_belong_to_the_launcher(tried):
    expected = LauncherTrial(sizes=(2, 2), library="MPICH Version: 4.2", failure="")
    assert tried([COUNTED, COUNTED], "some words\n") == expected


@pytest.mark.parametrize(
    ("answers", "log", "end", "sizes", "failure"),
    [
        (
            [ALONE, ALONE],
            "",
            0,
            (1, 1),
            "it started 2 ranks, but each sees itself alone: it belongs to another MPI",
        ),
        (
            [ALONE, COUNTED],
            "",
            0,
            (1, 2),
            "it started 2 ranks, but each sees itself alone or 2 ranks: it belongs to another MPI",
        ),
        ([COUNTED], "", 0, (2,), "1 of 2 ranks answered"),
        ([], "", 0, (), "0 of 2 ranks answered"),
        ([COUNTED, {"failure": "no library"}], "", 0, (2,), "no library"),
        ([{"failure": "no library"}], "words", 3, (), "no library"),
        ([], "first\n last one \n\n", 3, (), "it ended with status 3: last one"),
        ([], "\n", 3, (), "it ended with status 3"),
        ([ALONE], "", 3, (1,), "it ended with status 3"),
        ([COUNTED], "", None, (2,), "the ranks did not count each other within 2.5 s"),
        ([], "", OSError(13, "Permission denied"), (), "it cannot be started: Permission denied"),
    ],
)
def test_what_is_wrong_with_a_launcher(tried, answers, log, end, sizes, failure):
    found = tried(answers, log, end)
    assert (found.sizes, found.failure) == (sizes, failure)
    assert found.library == next((answer["library"] for answer in answers if "library" in answer), "")


def test_sizes_of_worlds_in_words():
    assert listed_sizes((4, 1, 4, 2)) == "itself alone or 2 ranks or 4 ranks"


@pytest.mark.parametrize("kind", [InputError, MachineError, TrainingError, LeftEarlyError])
def test_an_error_that_silosim_knows_goes_before_a_traceback(tmp_path, kind):
    (tmp_path / LOG).write_text("what the ranks printed")
    for number, (name, message) in enumerate([("ValueError", "odd"), (kind.__name__, "known")]):
        report = {"kind": name, "message": message, "traceback": "Traceback\n"}
        (tmp_path / ERRORS.replace("*", str(number))).write_text(json.dumps(report))
    error = _error(tmp_path, 1)
    assert (type(error), str(error)) == (kind, "known")

    (tmp_path / ERRORS.replace("*", "1")).unlink()
    error = _error(tmp_path, 1)
    assert (type(error), str(error)) == (TrainingError, "a rank failed: odd\nTraceback")
    (tmp_path / ERRORS.replace("*", "0")).unlink()
    assert str(_error(tmp_path, 1)) == str(_error_from_log("what the ranks printed", 1))


def test_lines_of_ranks_are_read_whole_until_the_process_has_ended():
    reading, writing = os.pipe()
    parts = [b'{"a": 1}\n{"b"', b": 2}\n", b"{cut"]

    def poll():
        if not parts:
            return 0
        os.write(writing, parts.pop(0))
        return None

    try:
        assert list(_lines(reading, SimpleNamespace(poll=poll))) == ['{"a": 1}', '{"b": 2}']
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize("failure", ["", "mpi4py finds no MPI library"])
def test_a_rank_of_a_trial_says_what_it_sees(monkeypatch, tmp_path, failure):
    def start_mpi(*, started):
        assert started == 3
        if failure:
            raise MachineError(failure)

    world = SimpleNamespace(size=3, allreduce=lambda number: 3 * number)
    version = "MPICH Version:\t4.2\0\nMPICH Release date: today\0"
    library = SimpleNamespace(COMM_WORLD=world, Get_library_version=lambda: version)
    monkeypatch.setattr(trial_rank, "start_mpi", start_mpi)
    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=library))
    trial_rank.main(tmp_path, 3)
    (path,) = tmp_path.iterdir()
    assert path.name == f"answer-{os.getpid()}.json"
    counted = {"size": 3, "answered": 3, "library": "MPICH Version: 4.2"}
    assert json.loads(path.read_text()) == ({"failure": failure} if failure else counted)


def row_of(number):
    names = ("train_loss", "train_accuracy", "test_loss", "test_accuracy", "consensus_distance")
    return HistoryRow(round=number, silo_loss=(0.5,), **dict.fromkeys(names, 0.25))


@pytest.mark.parametrize(
    ("last", "status", "error"),
    [(2, 0, None), (1, 0, LeftEarlyError), (None, 0, LeftEarlyError), (2, 1, TrainingError)],
)
def test_only_the_row_of_the_last_round_proves_that_ranks_are_done(
    monkeypatch, make_job, last, status, error
):
    reports = [Notice("one"), *(row_of(number) for number in range(-1 if last is None else last + 1))]
    reports += [Notice("two")]

    @contextmanager
    def rank_process(command, log):
        directory = log.parent
        assert command == ["mpiexec", 2, "training.mpi.worker", directory, 2]
        assert {path.name for path in directory.iterdir()} == {JOB, PROGRESS, ROWS}
        log.write_text("")
        with (directory / ROWS).open("w") as rows:
            rows.writelines(to_line(report) + "\n" for report in reports)
        yield SimpleNamespace(poll=lambda: status, returncode=status, pid=7)

    monkeypatch.setattr("training.mpi.launcher.mpiexec_path", lambda: "mpiexec")
    monkeypatch.setattr("training.mpi.launcher.rank_command", lambda *given: list(given))
    monkeypatch.setattr("training.mpi.launcher.rank_process", rank_process)
    found = []
    with pytest.raises(error) if error else nullcontext():
        found.extend(run_ranks(make_job(rounds=2), 2))
    if error is None:
        assert [to_line(report) for report in found] == [to_line(report) for report in reports]

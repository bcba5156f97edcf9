"""Under an outer `mpiexec`: the same file, one voice, and no process that waits for ever after an error."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from scenarios.config.scenario import parse_scenario
from scenarios.runfile.artifacts import checkpoints_path
from scenarios.runfile.reader import read_run
from scenarios.studies.run import plan_run
from training import checkpoint_rounds

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("terminal_signals")]

SILOSIM = Path(sys.executable).parent / "silosim"
MPIEXEC = Path(sys.executable).parent / "mpiexec"


def mpiexec(processes: int, *arguments: object, site: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run silosim on several processes; `site` holds a sitecustomize.py."""
    environment = dict(os.environ)
    if site is not None:
        environment["PYTHONPATH"] = os.pathsep.join([str(site), environment.get("PYTHONPATH", "")])
    return subprocess.run(
        [MPIEXEC, "-n", str(processes), SILOSIM, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )


def test_under_mpiexec_the_given_ranks_train_and_give_the_same_file(tmp_path, scenario, run_file):
    by_hand = tmp_path / "by_hand.h5"
    done = mpiexec(2, "run", scenario, "-o", by_hand)

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("overlay ") == 1
    for ours, theirs in zip(read_run(run_file).overlays, read_run(by_hand).overlays, strict=True):
        assert np.array_equal(ours.wall_clock_s, theirs.wall_clock_s)
        assert ours.history["train_loss"] == pytest.approx(theirs.history["train_loss"], rel=1e-5)


@pytest.mark.parametrize(("rank", "times"), [(0, 1), (1, 0)])
def test_only_process_0_reads_the_data_to_check_them(small_scenario, monkeypatch, rank, times):
    checked = []
    monkeypatch.setattr(
        "scenarios.studies.run.check_data", lambda _config, **settings: checked.append(settings["silos"])
    )
    monkeypatch.setenv("PMI_RANK", str(rank))
    monkeypatch.setenv("PMI_SIZE", "2")
    plan = plan_run(parse_scenario(small_scenario, source="small.toml"))

    assert checked == [plan.graph.silos] * times
    assert [job.silo_labels for job in plan.trainings] == [plan.graph.labels] * 2


@pytest.mark.parametrize("trains", [True, False])
def test_an_existing_output_ends_all_processes(tmp_path, scenario, small_scenario, trains):
    if not trains:
        scenario.write_text(
            small_scenario[: small_scenario.index("[training]")].replace(
                'compute = "10 ms"', 'preset = "inaturalist"'
            )
        )
    (tmp_path / "x.h5").touch()
    done = mpiexec(2, "run", scenario, "-o", tmp_path / "x.h5")

    assert done.returncode == 2
    assert done.stderr.count("--force replaces it") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "patched",
    [
        # The writer's disk is full in the middle of the first overlay's training.
        "runfile.training_rows.HistoryWriter.flush",
        # The first process fails before it has told the others to train.
        "runfile.writer.write_head",
        # Another process fails on its way to the training.
        "studies.run.TrainingJob",
    ],
)
def test_a_process_that_fails_alone_ends_the_others(tmp_path, scenario, patched):
    rank = 1 if patched.endswith("TrainingJob") else 0
    owner, name = patched.rsplit(".", 1)
    scenario.write_text(scenario.read_text() + 'executor = "loop"\n')
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        f"if os.environ.get('PMI_RANK') == '{rank}':\n"
        "    import scenarios.runfile.writer, scenarios.studies.run\n"
        "    def broken(*args, **kwargs):\n"
        "        raise OSError(28, 'No space left on device')\n"
        f"    scenarios.{owner}.{name} = broken\n"
    )
    start = time.monotonic()
    done = mpiexec(2, "run", scenario, "-o", tmp_path / "x.h5", site=tmp_path)

    assert done.returncode == 1
    assert f"process {rank} failed" in done.stderr
    assert "No space left on device" in done.stderr
    assert time.monotonic() - start < 30
    assert not (tmp_path / "x.h5").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("design", "gean"), "did you mean 'geant'?"),
        (("design", "geant", "--nosuch"), "No such option"),
        (("run", "no.toml", "-o", "x.h5"), "no.toml: cannot be read"),
    ],
)
def test_wrong_input_is_said_once(arguments, message):
    done = mpiexec(3, *arguments)

    assert done.returncode == 2
    assert done.stderr.count(message) == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_says_where_the_finished_rounds_are(tmp_path, scenario, small_scenario, number, code):
    text = small_scenario.replace("rounds = 12", "rounds = 20000")
    scenario.write_text(text + 'checkpoint_every = 20\nexecutor = "loop"\n')
    process = subprocess.Popen(
        [MPIEXEC, "-n", "2", SILOSIM, "run", scenario, "-o", tmp_path / "x.h5"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    partial = tmp_path / "x.h5.partial"
    # Not before: an interrupt of the simulation, which may compile first, leaves nothing to keep.
    end = time.monotonic() + 80
    while not checkpoint_rounds(checkpoints_path(tmp_path / "x.h5") / "star") and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)

    assert process.returncode == code
    assert f"the finished rounds are in {partial}" in errors
    assert "Traceback" not in errors
    assert [overlay.kind for overlay in read_run(partial).overlays] == ["star", "ring"]


def test_a_command_that_does_not_train_runs_once(run_file):
    done = mpiexec(3, "show", run_file)

    assert done.returncode == 0
    assert done.stdout.count("overlay ") == 1


def test_another_mpis_launcher_is_one_line_and_exit_code_3(tmp_path, scenario):
    # Open MPI's mpiexec tells its processes their number in variables that MPICH does not read.
    environment = os.environ | {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}
    done = subprocess.run(
        [SILOSIM, "run", scenario, "-o", tmp_path / "x.h5"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )

    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "another MPI" in done.stderr
    assert sorted(tmp_path.iterdir()) == [scenario]

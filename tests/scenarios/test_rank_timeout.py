"""Runs whose ranks hang or cannot start, as the command ends; with processes for seconds where marked slow."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenarios.runfile.artifacts import checkpoints_path
from scenarios.runfile.reader import read_run

SILOSIM = Path(sys.executable).parent / "silosim"
HANGING = """
import os
if os.environ.get("PMI_RANK") == "1":
    import training.optimization.schedules as schedules
    def hang(settings, k, epoch):
        if k == 6:
            import threading
            threading.Event().wait()
        return 0.1
    schedules.SCHEDULES["constant"] = hang
"""


@pytest.fixture
def run(silosim, tmp_path, monkeypatch):
    """Run a scenario in this process, while its ranks, in new ones, begin with a file."""

    def run(scenario, path, text):
        (tmp_path / "sitecustomize.py").write_text(text)
        places = filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")])
        with monkeypatch.context() as patch:
            patch.setenv("PYTHONPATH", os.pathsep.join(places))
            return silosim("run", scenario, "-o", path)

    return run


@pytest.mark.slow
def test_a_rank_that_hangs_ends_the_run_with_3_and_keeps_its_checkpoints(
    run, scenario, small_scenario, tmp_path
):
    text = small_scenario.replace('"star", ', "").replace("log_every = 5", "log_every = 1")
    text = text.replace("ranks = 1", 'ranks = 2\nrank_timeout = "4 s"')
    scenario.write_text(text + 'checkpoint_every = 4\nexecutor = "loop"\n')
    path, began = tmp_path / "x.h5", time.monotonic()
    done = run(scenario, path, HANGING).failed(3)
    assert time.monotonic() - began < 60
    kept, error = done.err.splitlines()[-2:]
    assert (
        kept
        == f"silosim: the finished rounds are in {path}.partial; --resume continues from the last checkpoint"
    )
    assert error.startswith("silosim: error: rank 1 on ")
    assert error.endswith("made no progress for longer than rank_timeout(='4 s'); all ranks were ended.")
    assert (checkpoints_path(path) / "ring" / "round-000004").is_dir()
    (ring,) = read_run(path.with_name("x.h5.partial")).overlays
    assert ring.history["round"].tolist() == [*range(7)]


def test_a_limit_without_a_unit_names_its_key(silosim, scenario, small_scenario, tmp_path):
    scenario.write_text(small_scenario.replace("ranks = 1", "ranks = 1\nrank_timeout = 10"))
    done = silosim("run", scenario, "-o", tmp_path / "x.h5")
    assert done.code == 2
    assert done.err.splitlines()[-1] == (
        f"silosim: error: {scenario}: training.rank_timeout(=10) must be a number with a unit, for instance '25.4 ms'."
    )


MISSING = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            raise {error}
sys.meta_path.insert(0, Missing())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "error", "told"),
    [
        (
            "mpi4py",
            "ModuleNotFoundError(name)",
            "more than one rank needs mpi4py; install it with: pip install mpi4py mpich",
        ),
        (
            "mpi4py.MPI",
            "RuntimeError('cannot load MPI library')",
            "mpi4py finds no MPI library: cannot load MPI library; install one with: pip install mpich",
        ),
    ],
)
def test_without_mpi_two_ranks_end_with_3_and_what_to_install(
    scenario_of_two_ranks, tmp_path, module, error, told
):
    (tmp_path / "sitecustomize.py").write_text(MISSING.format(module=module, error=error))
    places = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    # A new process, as this one has imported MPI.
    done = subprocess.run(
        [SILOSIM, "run", scenario_of_two_ranks, "-o", tmp_path / "x.h5"],
        env=os.environ | {"PYTHONPATH": places},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == f"silosim: error: {told}"
    assert "Traceback" not in done.stderr


def test_a_launchers_variable_that_is_no_number_ends_any_command_in_one_line(silosim, monkeypatch):
    monkeypatch.setenv("PMI_RANK", "x")
    monkeypatch.setenv("PMI_SIZE", "2")
    done = silosim("design", "gaia")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "silosim: error: PMI_RANK(='x') must be a whole number, as mpiexec and srun set it; without one of them the "
        "variable must not be set.\n"
    )

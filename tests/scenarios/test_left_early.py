"""A run is complete once the last row of every overlay has arrived, whatever exit status its processes have."""

import os
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

from scenarios.runfile.artifacts import checkpoints_path
from scenarios.runfile.reader import read_run
from training import HistoryRow

SILOSIM = Path(sys.executable).parent / "silosim"
MPIEXEC = Path(sys.executable).parent / "mpiexec"

LEAVER = """
import ctypes, os, sys
if os.environ.get("PMI_RANK", "0") == os.environ.get("LEAVER"):
    import training.engine.rank_silos
    mix, calls = training.engine.rank_silos.RankSilos.mix, []
    def leave(self, number):
        calls.append(number)
        if len(calls) == 7:
            {}
        mix(self, number)
    training.engine.rank_silos.RankSilos.mix = leave
"""
WAYS = {"os._exit": "os._exit(0)", "sys.exit": "sys.exit(0)", "C": "ctypes.CDLL(None)._exit(0)"}


class Stopping:
    """A backend whose rows are those of some rounds."""

    def __init__(self, rounds):
        self.rounds = rounds

    def check(self, config):
        pass

    def train(self, job):
        for k in self.rounds:
            yield HistoryRow(
                round=k,
                train_loss=1.0,
                train_accuracy=0.5,
                test_loss=1.0,
                test_accuracy=0.5,
                consensus_distance=0.0,
                silo_loss=(1.0,) * job.silos,
            )
        if len(self.rounds) == 1:
            sys.exit(0)


@pytest.mark.parametrize(
    ("rounds", "message"),
    [
        ([], "0 of 4 rows arrived before the training ended: backend(='mpi') has ended."),
        ([0, 5, 10], "3 of 4 rows arrived before the training ended: backend(='mpi') has ended."),
        ([0], f"1 of 4 rows arrived before the training ended: sys.exit(0) was called in {__file__}, line "),
        (
            [0, 5, 5],
            "backend(='mpi') gave a row of round 5 after that of round 5; with rounds(=12) and log_every(=5) ",
        ),
        ([0, 3], "backend(='mpi') gave a row of round 3 after that of round 0; with"),
        ([0, 15], "backend(='mpi') gave a row of round 15 after that of round 0; with"),
        ([-5], "backend(='mpi') gave a row of round -5; with"),
    ],
)
def test_a_backend_that_ends_early_has_failed(silosim, scenario, tmp_path, monkeypatch, rounds, message):
    for owner in ("scenarios.studies.run", "scenarios.studies.train"):
        monkeypatch.setattr(f"{owner}.load_backend", lambda *_: Stopping(rounds))
    done = silosim("run", scenario, "-o", tmp_path / "x.h5")

    assert done.code == 1
    assert f"silosim: the finished rounds are in {tmp_path / 'x.h5.partial'}\n" in done.err
    assert done.err.splitlines()[-1].startswith(f"silosim: error: star: {message}")
    assert not (tmp_path / "x.h5").exists()
    with h5py.File(tmp_path / "x.h5.partial") as file:
        kept = file["training/star/round"][:]
        good = [k for k in dict.fromkeys(rounds) if k in (0, 5, 10)]
        assert kept.tolist() == good + [-1] * (4 - len(good))


def test_rows_of_the_last_round_and_few_others_are_a_whole_run(silosim, scenario, tmp_path, monkeypatch):
    """As those of a resumed run that logs more often than before it was cut short."""
    for owner in ("scenarios.studies.run", "scenarios.studies.train"):
        monkeypatch.setattr(f"{owner}.load_backend", lambda *_: Stopping([0, 12]))
    silosim("run", scenario, "-o", tmp_path / "x.h5").ok()
    assert read_run(tmp_path / "x.h5").overlays[0].history["round"].tolist() == [0, 12]


def leaver(path, rank, way):
    """Environment in which a rank leaves in its seventh round of the first overlay."""
    site = path.parent / "site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(LEAVER.format(WAYS[way]))
    places = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    return {"PYTHONPATH": places, "LEAVER": str(rank)}


def run(scenario, path, *, rank, launcher=(), way="os._exit", resume=False):
    """Run the scenario, in which a rank leaves."""
    return subprocess.run(
        [*map(str, launcher), SILOSIM, "run", scenario, "-o", path, *(["--resume"] if resume else [])],
        env=os.environ | leaver(path, rank, way),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.fixture
def checkpointed(scenario, small_scenario):
    """Make the small scenario of one overlay with rows of all rounds and checkpoints."""

    def make(ranks):
        text = small_scenario.replace('"star", ', "").replace("log_every = 5", "log_every = 1")
        text = text.replace("ranks = 1", f"ranks = {ranks}")
        scenario.write_text(text + 'checkpoint_every = 4\nexecutor = "loop"\n')
        return scenario

    return make


def assert_left(errors, path, way):
    """The run says who left, and has kept the rows and a checkpoint."""
    where = {"C": "a rank exited with status 0 and reported no error."}
    cause = where.get(way, f"{way}(0) was called in {path.parent / 'site' / 'sitecustomize.py'}, line 9.")
    told = errors.splitlines()
    assert told[-1].endswith(f" of 13 rows arrived before the training ended: {cause}")
    rows = int(told[-1].removeprefix("silosim: error: ring: ").partition(" ")[0])
    assert rows in (6, 7)  # MPICH may end rank 0 before it has told the last one
    assert told[-2] == (
        f"silosim: the finished rounds are in {path}.partial; --resume continues from the last checkpoint"
    )
    assert not path.exists()
    assert (checkpoints_path(path) / "ring" / "round-000004").is_dir()
    (ring,) = read_run(path.with_name("x.h5.partial")).overlays
    assert ring.history["round"].tolist() == [*range(rows)]


@pytest.mark.slow
@pytest.mark.parametrize(("rank", "way"), [(1, "os._exit"), (0, "C"), (0, "sys.exit")])
def test_a_rank_that_leaves_early_leaves_a_run_that_goes_on(
    silosim, checkpointed, tmp_path, monkeypatch, rank, way
):
    scenario, path = checkpointed(2), tmp_path / "x.h5"
    # Of the ranks alone, which are new processes.
    for name, value in leaver(path, rank, way).items():
        monkeypatch.setenv(name, value)
    left = silosim("run", scenario, "-o", path).failed(1)
    assert_left(left.err, path, way)


@pytest.mark.slow
def test_it_may_leave_again_and_the_run_goes_on(silosim, checkpointed, tmp_path):
    scenario, path = checkpointed(1), tmp_path / "x.h5"
    left = run(scenario, path, rank=0)
    assert left.returncode == 1
    assert_left(left.stderr, path, "os._exit")
    # Six rounds after the beginning.
    assert "silosim: error: ring: 7 of 13 rows arrived before" in left.stderr
    again = run(scenario, path, rank=0, resume=True)
    assert again.returncode == 1
    # Six rounds after the checkpoint of round 4.
    assert "silosim: error: ring: 11 of 13 rows arrived before" in again.stderr
    assert "resumed from round 8" in silosim("run", scenario, "-o", path, "--resume").ok().err
    assert read_run(path).overlays[0].history["round"].tolist() == [*range(13)]
    assert not checkpoints_path(path).exists()


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_under_an_outer_launcher_too(checkpointed, tmp_path, rank):
    scenario, path = checkpointed(2), tmp_path / "x.h5"
    left = run(scenario, path, launcher=[MPIEXEC, "-n", "2"], rank=rank)

    assert left.returncode == 1
    assert "Traceback" not in left.stderr
    called = f"os._exit(0) was called in {tmp_path / 'site' / 'sitecustomize.py'}, line 9"
    counted = "7 of 13 rows arrived before the training ended" if rank == 0 else "not all of 13 rows arrived"
    assert f"silosim: error: ring: {counted}: {called}" in left.stderr
    assert not path.exists()
    assert (checkpoints_path(path) / "ring" / "round-000004").is_dir()
    assert (tmp_path / "x.h5.partial").exists()


@pytest.mark.slow
def test_under_an_outer_launcher_what_leaves_without_python_leaves_a_partial_file(checkpointed, tmp_path):
    """MPICH's launcher then ends the others without a word, and returns 0."""
    scenario, path = checkpointed(2), tmp_path / "x.h5"
    run(scenario, path, launcher=[MPIEXEC, "-n", "2"], rank=1, way="C")

    assert not path.exists()
    assert (checkpoints_path(path) / "ring" / "round-000004").is_dir()
    assert (tmp_path / "x.h5.partial").exists()

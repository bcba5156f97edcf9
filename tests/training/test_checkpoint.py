"""A training that was cut short goes on as if nothing had happened, on any number of ranks."""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from topologies.errors import TrainingError
from training import HistoryRow, MixingPlan, Notice, load_backend
from training.checkpoints.checkpoint import find_checkpoint
from training.checkpoints.folder import checkpoint_path, checkpoint_rounds
from training.checkpoints.silo_files import read_silos, silo_state, write_silos
from training.data.datasets import load_dataset
from training.engine.communicator import SingleRank
from training.engine.rank_silos import RankSilos
from training.mpi.job_file import write_job
from training.mpi_environment import rank_environment
from training.notice import from_line

KILLER = """
import os, signal
if int(os.environ.get("PMI_RANK", "0")) == int(os.environ.get("KILL_RANK", "-1")):
    import training.engine.rank_silos
    mix, calls = training.engine.rank_silos.RankSilos.mix, []
    def mix_or_die(self, round_index):
        calls.append(round_index)
        if len(calls) > int(os.environ["KILL_AT"]):
            os.kill(os.getpid(), signal.SIGKILL)
        mix(self, round_index)
    training.engine.rank_silos.RankSilos.mix = mix_or_die
"""


PROGRAM = """
import sys
from pathlib import Path
from training import load_backend
from training.mpi.job_file import read_job
from training.notice import to_line
for report in load_backend("mpi").train(read_job(Path(sys.argv[1]))):
    print(to_line(report), flush=True)
"""


@pytest.fixture
def alternating(make_job, tmp_path, ring):
    """A CNN on seven silos, dense rounds among sparse ones; checkpoints every third round on request."""
    plan = MixingPlan(
        matrices=np.stack([ring(7), np.full((7, 7), 1 / 7)]), index=np.arange(16, dtype=np.int64) % 3 // 2
    )

    def make(*, ranks, every=3):
        job = make_job(
            silos=7,
            rounds=16,
            local_steps=2,
            mixing=plan,
            model="cnn",
            momentum=0.9,
            executor="loop",
            ranks=ranks,
            checkpoint_every=every,
        )
        return replace(job, directory=tmp_path / "checkpoints")

    return make


@pytest.fixture
def killed(tmp_path, monkeypatch):
    """Train until one rank gets SIGKILL before it mixes for the last time; gives the reports so far."""

    (tmp_path / "sitecustomize.py").write_text(KILLER)

    def train(job, rank, rounds):
        paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
        with monkeypatch.context() as patch:
            for name, value in (("PYTHONPATH", paths), ("KILL_RANK", rank), ("KILL_AT", rounds)):
                patch.setenv(name, str(value))
            return _reports(job)

    def _reports(job):
        reports = []
        if job.config.ranks > 1:
            with pytest.raises(TrainingError, match=r"killed by signal 9 \(SIGKILL\)"):
                reports.extend(load_backend("mpi").train(job))
            return reports
        write_job(tmp_path / "job.npz", job)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, tmp_path / "job.npz"],
            env=rank_environment(os.environ),
            stdout=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == -signal.SIGKILL
        return [from_line(line) for line in done.stdout.splitlines()]

    return train


@pytest.mark.slow
def test_ranks_killed_in_mid_round_change_nothing(rows_of, alternating, killed, tmp_path):
    reference = rows_of(alternating(ranks=1, every=0))
    random = np.random.default_rng(1)
    checkpoint = 0
    for ranks in (1, 2):
        # Of the rounds that this attempt makes, so many that it writes one checkpoint at least.
        rounds = int(random.integers(3, 6))
        reports = killed(alternating(ranks=ranks), int(random.integers(ranks)), rounds)
        rows = [report for report in reports if isinstance(report, HistoryRow)]
        assert rows == reference[: len(rows)]
        # Another rank may not have told the last row when the job ends.
        assert checkpoint + rounds - 1 <= rows[-1].round <= checkpoint + rounds
        checkpoint = checkpoint_rounds(tmp_path / "checkpoints")[-1]
        assert checkpoint in (rows[-1].round // 3 * 3, (rows[-1].round // 3 - 1) * 3)
    last = list(load_backend("mpi").train(alternating(ranks=1)))
    assert Notice(f"resumed from round {checkpoint} of {tmp_path / 'checkpoints'}") in last
    assert [report for report in last if isinstance(report, HistoryRow)] == reference
    assert checkpoint_rounds(tmp_path / "checkpoints") == [15, 16]


@pytest.mark.parametrize(
    "settings",
    [
        {"optimizer": "adam", "learning_rate": 0.01},
        {"momentum": 0.9},
        {"learning_rate_schedule": "inverse_sqrt"},
        {"learning_rate_schedule": "halved_each_epoch", "batch_size": 64},
        {"learning_rate_schedule": "cosine", "warm_up_rounds": 2, "weight_decay": 0.1},
        {"learning_rate_schedule": "step", "decay_every": 2, "clip_norm": 0.1},
        {"optimizer": "adam", "learning_rate": 0.01, "objective": "samples"},
    ],
)
def test_every_optimizer_and_schedule_goes_on(rows_of, checkpointing, make_job, settings):
    settings = {"rounds": 6, "local_steps": 3, **settings}
    reference = rows_of(make_job(**{"learning_rate": 0.2, "executor": "loop", **settings}))
    # Schedules follow from the round alone; what keeps a state of its own is stopped at more rounds.
    has_state = settings.get("optimizer") == "adam" or "momentum" in settings
    for stop_at in (0, 1, 2, 5) if has_state else (0, 5):
        job = checkpointing(**settings)
        assert not job.directory.exists()
        assert rows_of(job, stop_at=stop_at) == reference[: stop_at + 1]
        assert rows_of(checkpointing(**settings)) == reference
        shutil.rmtree(job.directory)


class Killed(BaseException):
    """What stands for SIGKILL within this process: no handler of errors expects it."""


class Steps:
    """Counts steps of writing, and ends the training before one of them."""

    def __init__(self, monkeypatch):
        self.left = 10**9
        self.renamed = []
        # What reaches the disk shows after a loss of power only, and takes seconds in thousands of files.
        monkeypatch.setattr(os, "fsync", self.step(os.fstat))
        for owner, name in ((os, "link"), (shutil, "rmtree")):
            monkeypatch.setattr(owner, name, self.step(getattr(owner, name)))
        for name in ("mkdir", "rename", "replace", "open", "unlink"):
            monkeypatch.setattr(Path, name, self.step(getattr(Path, name)))

    def step(self, original):
        def counted(*arguments, **options):
            self.left -= 1
            if self.left < 0:
                raise Killed
            result = original(*arguments, **options)
            if original.__name__ == "rename":
                self.renamed.append(Path(result).name)
            return result

        return counted


@pytest.mark.slow
def test_a_kill_at_any_step_of_writing_leaves_the_last_whole_checkpoint(
    rows_of, checkpointing, make_job, monkeypatch
):
    # Few samples are evaluated, a hundred times and more.
    settings = {"silos": 2, "rounds": 3, "evaluate": 0.1}
    job = checkpointing(every=1, keep_models=True, **settings)
    reference = rows_of(make_job(learning_rate=0.2, executor="loop", **settings))
    steps = Steps(monkeypatch)
    for deaths in range(1000):
        steps.left, steps.renamed = deaths, []
        try:
            rows_of(job)
        except Killed:
            steps.left = 10**9
        else:
            break
        named = [int(name[-6:]) for name in steps.renamed if not name.endswith(".partial")]
        whole = checkpoint_rounds(job.directory)
        assert whole[-1:] == named[-1:]
        assert len(whole) >= min(len(named), 2)
        assert rows_of(job) == reference
        assert checkpoint_rounds(job.directory) == [2, 3]
        assert not list(job.directory.glob("*.partial"))
        shutil.rmtree(job.directory)
    assert 30 < deaths < 1000


def test_a_training_may_go_on_with_other_rows_and_more_rounds(rows_of, checkpointing, make_job):
    rows_of(checkpointing(rounds=6, log_every=1), stop_at=5)
    reference = rows_of(make_job(rounds=9, learning_rate=0.2, executor="loop"))
    seldom = rows_of(checkpointing(rounds=9, log_every=4, target_accuracy=0.5, ranks=7, device="auto"))
    assert seldom == [reference[k] for k in (0, 4, 8, 9)]
    assert rows_of(checkpointing(rounds=9, every=5)) == [reference[k] for k in (0, 1, 2, 3, 4, 8, 9)]


def test_a_row_that_the_checkpoint_lacks_is_measured(rows_of, checkpointing, make_job):
    rows_of(checkpointing(rounds=6, log_every=5, every=2), stop_at=5)
    reference = rows_of(make_job(rounds=6, learning_rate=0.2, executor="loop"))
    assert rows_of(checkpointing(rounds=6, log_every=1)) == [reference[k] for k in (0, 4, 5, 6)]


class Part(SingleRank):
    """One of several ranks, as far as its silos' state goes."""

    def __init__(self, rank, size):
        self.rank, self.size = rank, size


def test_the_whole_state_moves_to_other_ranks(make_job, tmp_path):
    job = make_job(silos=5, optimizer="adam", learning_rate=0.01, batch_size=8)
    data = load_dataset("digits")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(72, 10))

    def rank_silos(rank, size):
        return RankSilos(job, model, data, communicator=Part(rank, size), device=torch.device("cpu"))

    files, written = {}, {}
    for rank in range(2):
        silos = rank_silos(rank, 2)
        for step in range(3 + rank):
            silos.local_step(step, 0.01, round_index=step)
        silos.diverged_in[-1] = 3 + rank
        files[silos.own] = tmp_path / f"{rank}.npz"
        write_silos(files[silos.own], silos)
        for position, silo in enumerate(silos.own):
            written[silo] = {name: rows[position].clone() for name, rows in silo_state(silos).items()}
    names = {
        "parameters",
        "buffers",
        "diverged_in",
        "optimizer/mean",
        "optimizer/square",
        "counters/1.num_batches_tracked",
    }
    assert {int(state["counters/1.num_batches_tracked"]) for state in written.values()} == {3, 4}
    for rank in range(3):
        silos = rank_silos(rank, 3)
        read_silos(files, silos)
        state = silo_state(silos)
        assert state.keys() == names
        for position, silo in enumerate(silos.own):
            for name in names:
                assert torch.equal(state[name][position], written[silo][name])
        twin = silos.models.modules[0] if silos.own else None
        assert twin is None or torch.equal(twin[1].running_mean, silos.models.buffers[0][:2])


@pytest.mark.slow
@pytest.mark.parametrize("made", ["loop", "vmap"])
def test_the_executor_is_not_chosen_anew(rows_of, checkpointing, make_job, monkeypatch, made):
    reference = rows_of(make_job(rounds=6, learning_rate=0.2, executor=made))
    rows_of(checkpointing(rounds=6, executor=made), stop_at=5)
    # A measurement would fail.
    monkeypatch.setattr("training.engine.executors.choice.measure", None)
    with pytest.raises(TypeError):
        rows_of(make_job(executor="auto"))
    assert rows_of(checkpointing(rounds=6, executor="auto")) == reference


def test_an_executor_may_be_named_anew(rows_of, checkpointing, make_job):
    rows_of(checkpointing(rounds=6, executor="loop"), stop_at=5)
    rows = rows_of(checkpointing(rounds=6, executor="vmap"))
    reference = rows_of(make_job(rounds=6, learning_rate=0.2, executor="loop"))
    assert rows[:5] == reference[:5]
    assert [row.train_loss for row in rows] == pytest.approx([row.train_loss for row in reference], rel=1e-5)


def test_the_newest_checkpoint_is_found_and_what_a_kill_left_is_removed(tmp_path):
    folder = tmp_path / "new" / "run"
    assert find_checkpoint(folder, SingleRank()) is None
    checkpoint_path(folder, 0).mkdir()
    assert find_checkpoint(folder, SingleRank()) == 0
    for round_index in (3, 12, 1_000_000):
        checkpoint_path(folder, round_index).mkdir()
    (folder / "round-000015.partial").mkdir()
    (folder / "best.pt.partial").touch()
    (folder / "best.pt").touch()

    assert find_checkpoint(folder, SingleRank()) == 1_000_000
    assert checkpoint_rounds(folder) == [12, 1_000_000]
    assert sorted(path.name for path in folder.iterdir()) == ["best.pt", "round-000012", "round-1000000"]


def test_the_first_rank_decides_which_checkpoint_is_the_newest(tmp_path):
    class Other(SingleRank):
        rank, size = 1, 2

        def __init__(self, first):
            self.first = first

        def sum(self, values):
            assert values.tolist() == [0.0]
            return values + self.first

    checkpoint_path(tmp_path, 5).mkdir()
    (tmp_path / "round-000007.partial").mkdir()
    for first, found in ((-1, None), (0, 0), (4, 4)):
        assert find_checkpoint(tmp_path, Other(first)) == found
    # It leaves removing to the first one.
    assert len(list(tmp_path.iterdir())) == 2

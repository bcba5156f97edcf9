"""The check of a training's memory: its errors, the plan that it returns, and real peaks."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch

from topologies.errors import MachineError
from training.data.datasets import load_dataset
from training.dpasgd import train_rank
from training.engine.communicator import SingleRank
from training.engine.initial_model import initial_model
from training.memory.memory_budget import check_rank_memory
from training.mpi.backend import MpiBackend
from training.notice import Notice


def check(job, communicator):
    dataset = load_dataset(job.config.dataset)
    model = initial_model(job.config, dataset, seed=job.seed)
    return check_rank_memory(job, model, dataset, communicator=communicator, device=torch.device("cpu"))


def test_the_plan_is_at_most_six_lines_of_80_columns(make_job, monkeypatch):
    monkeypatch.setattr("training.memory.memory_budget.available_bytes", lambda: 1.234e11)
    monkeypatch.setattr("training.memory.memory_budget.PLENTY", math.inf)

    job = make_job(silos=30, batch_size=1024, partition="iid", model="cnn", executor="vmap")
    text = check(job, SingleRank())

    lines = text.splitlines()
    assert len(lines) <= 6
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("memory in GB (10^9 bytes) of rank 0, 30 of 30 silos, 30 at once: ")
    assert lines[-1].endswith(" more, 123 available")


def test_a_training_that_cannot_fit_ends_before_anything_is_allocated(make_job, monkeypatch):
    monkeypatch.setattr("training.memory.memory_budget.available_bytes", lambda: 4e7)
    monkeypatch.setattr("training.dpasgd.RankSilos", lambda *_, **__: pytest.fail("allocated"))
    reports = train_rank(make_job(silos=4, model="cnn", executor="vmap"), SingleRank())

    with pytest.raises(
        MachineError, match=r"training must fit into memory: rank 0 on .* 0\.040 GB are available"
    ):
        next(reports)


def test_the_first_report_is_the_plan(make_job):
    first, *_rest = train_rank(make_job(silos=4, rounds=1), SingleRank())

    assert isinstance(first, Notice)
    assert first.text.startswith("memory")


class Second:
    """The first of two ranks; the second is on another machine, which has no memory left."""

    size = 2

    def __init__(self, other, *, rank=0):
        self._others, self.rank = list(other), rank

    def sum(self, values):
        if values.shape[1:] not in ((8,), (2,)):
            return values
        total = values.copy()
        total[1] = self._others.pop(0)
        return total


def test_the_first_rank_speaks_for_a_machine_without_memory(make_job):
    ranks = Second([[5, 0, 9e9, 0, 2, 2e9, 0, 0], [7e9, np.inf]])

    with pytest.raises(MachineError, match=r"rank 1 on the machine of rank 1 .* 9\.00 GB more, 7\.00 GB"):
        check(make_job(silos=4, executor="loop"), ranks)


def test_another_rank_waits_for_the_first_one_to_speak(make_job, monkeypatch):
    monkeypatch.setattr("training.memory.memory_budget.PLENTY", math.inf)
    ranks = Second([[5, 0, 9e9, 0, 2, 2e9, 0, 0], [7e9, np.inf]], rank=1)
    # The numbers of both ranks are added up in its own row.
    text = check(make_job(silos=4, executor="loop"), ranks)

    assert text.startswith("memory in GB (10^9 bytes) of rank 0, 2 of 4 silos: ")


# Each case in a process of its own, whose peak begins at what the first one holds: that one imports torch once for all.
PEAK = """
import os, re, sys
import numpy as np
import training.dpasgd as dpasgd, training.memory.memory_plan as memory
from training.memory.memory_budget import resident_bytes
from training import MixingPlan, TrainingConfig, TrainingJob
from training.engine.communicator import SingleRank
from training.data.datasets import Dataset

def measure(model, side, silos, samples):
    random = np.random.default_rng(0)
    channels = 3 if model.startswith("resnet") else 1
    def part(count):
        inputs = random.standard_normal((count, channels, side, side), dtype=np.float32)
        return inputs, random.integers(0, 62, count)
    (a, b), (c, d) = part(samples), part(20)
    data = Dataset(train_inputs=a, train_labels=b, test_inputs=c, test_labels=d, classes=62)
    dpasgd.load_dataset = lambda *_: data
    plans, plan = [], memory.plan_memory
    def noted(*arguments, **options):
        plans.append(resident_bytes() + plan(*arguments, **options).new)
        return plan(*arguments, **options)
    memory.plan_memory = noted
    config = TrainingConfig(model=model, partition="iid", rounds=1, learning_rate=1e-4, executor="loop")
    mixing = MixingPlan.constant(np.full((silos, silos), 1 / silos), 1)
    job = TrainingJob(config=config, silos=silos, local_steps=1, seed=0, mixing=mixing)
    list(dpasgd.train_rank(job, SingleRank()))
    # The peak that getrusage knows may be that of the program which started this one.
    peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
    print(model, plans[0], int(peak[1]) * 1024, flush=True)

for case in sys.argv[1:]:
    model, *numbers = case.split(",")
    child = os.fork()
    if not child:
        measure(model, *map(int, numbers))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""

CASES = ("femnist_cnn,28,22,440", "resnet18,48,4,60", "softmax,32,250,500")
"""Model, side of the pictures, silos and samples."""


@pytest.fixture(scope="module")
def peaks():
    """Planned and real peak of each model, in bytes."""
    command = [sys.executable, "-c", PEAK, *CASES]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout
    rows = (line.split() for line in output.splitlines())
    return {model: (float(planned), float(peak)) for model, planned, peak in rows}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("model", [case.split(",")[0] for case in CASES])
def test_the_plan_is_within_a_quarter_of_the_real_peak(peaks, model):
    planned, peak = peaks[model]
    assert planned == pytest.approx(peak, rel=0.25)


@pytest.mark.slow
def test_ranks_that_cannot_hold_a_batch_end_with_one_error(make_job):
    job = make_job(silos=3, ranks=2, batch_size=10**11, executor="loop")

    with pytest.raises(MachineError) as error:
        list(MpiBackend().train(job))

    assert str(error.value).startswith(
        "training must fit into memory: 2 ranks with 3 silos on the machine of rank 0 would take "
    )
    assert str(error.value).endswith(
        "not one silo per rank would fit: take fewer ranks or a smaller batch_size."
    )

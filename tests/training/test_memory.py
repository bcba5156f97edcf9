"""The memory plan: counted by hand, against what autograd and the arena hold, and against real peaks."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from topologies.errors import MachineError
from training import MixingPlan
from training.activations import Activations, Affine, measure_activations
from training.arena import padded
from training.communicator import Alone
from training.datasets import Dataset
from training.dpasgd import train_rank
from training.exchange import silo_blocks
from training.hosted import HostedSilos
from training.memory import LIBRARIES, VMAP_LIBRARIES, check_memory, plan_memory
from training.models import MODELS, build_model
from training.mpi_backend import MpiBackend
from training.notice import Notice

SHAPES = {
    "bilstm": (7, 100),
    "char_gru": (9,),
    "cnn": (1, 8, 8),
    "femnist_cnn": (1, 28, 28),
    "resnet18": (3, 40, 40),
    "resnet50": (3, 40, 40),
    "softmax": (1, 8, 8),
}


def dataset_of(shape, *, classes=10, samples=60, tokens=False):
    random = np.random.default_rng(0)
    labels = (samples, *shape) if tokens else samples

    def inputs(count):
        values = random.standard_normal((count, *shape), dtype=np.float32)
        return random.integers(0, classes, (count, *shape)) if tokens else values

    return Dataset(
        train_inputs=inputs(samples),
        train_labels=random.integers(0, classes, labels),
        test_inputs=inputs(10),
        test_labels=random.integers(0, classes, (10, *shape) if tokens else 10),
        classes=classes,
    )


def kept_by(model, inputs):
    """Bytes of the storages, other than parameters and buffers, that a training step's graph keeps."""
    own = {tensor.untyped_storage().data_ptr() for tensor in (*model.parameters(), *model.buffers())}
    kept = {}

    def pack(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        scores = model(inputs).flatten(0, -2)
        loss = nn.functional.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.int64))
    assert loss.requires_grad
    return sum(storage.nbytes() for place, storage in kept.items() if place not in own)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_activations_of_larger_batches_are_those_that_autograd_keeps(name):
    tokens = name == "char_gru"
    dataset = dataset_of(SHAPES[name], tokens=tokens)
    model = build_model(name, input_shape=SHAPES[name], classes=10, seed=0)
    before = {key: value.clone() for key, value in model.state_dict().items()}

    activations = measure_activations(model, dataset)

    model.eval()
    found = kept_by(model, torch.from_numpy(dataset.train_inputs[:16]))
    assert activations.kept.at(16).sum() == pytest.approx(found, rel=0.02)
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


def test_softmax_activations_by_hand():
    # Kept: 64 inputs, 10 log-probabilities and a label per sample, and the total weight. Largest layer: 64 in and out.
    model = build_model("softmax", input_shape=(1, 8, 8), classes=10, seed=0)

    activations = measure_activations(model, dataset_of((1, 8, 8)))

    assert activations.kept.at(16).sum() == 16 * (4 * 64 + 4 * 10 + 8) + 4
    assert activations.evaluation_bytes(16) == 1.5 * 16 * 4 * (64 + 64)
    assert activations.training_bytes(16) == 16 * 304 + 4 + 3 * 16 * 512


def test_data_that_cannot_be_used_are_not_read():
    labels = np.full(0, 99)
    empty = Dataset(
        train_inputs=np.zeros((0, 1, 8, 8), np.float32),
        train_labels=labels,
        test_inputs=np.zeros((0, 1, 8, 8), np.float32),
        test_labels=labels,
        classes=10,
    )
    model = build_model("cnn", input_shape=(1, 8, 8), classes=10, seed=0)

    assert measure_activations(model, empty).training_bytes(4) > 0


def plan_of(job, dataset, *, rank=0, ranks=1):
    model = build_model(
        job.config.model, input_shape=dataset.train_inputs.shape[1:], classes=dataset.classes, seed=0
    )
    activations = Activations(
        kept=Affine(fixed_bytes=np.zeros(1), sample_bytes=np.array([100.0])),
        passing=Affine(fixed_bytes=np.zeros(1), sample_bytes=np.array([10.0])),
    )
    cuts = np.array_split(np.arange(len(dataset.train_labels)), job.silos)
    return plan_memory(job, model, dataset, cuts, activations, rank=rank, ranks=ranks)


@pytest.mark.parametrize(
    ("settings", "rows"),
    [
        ({"optimizer": "sgd"}, 0),
        ({"optimizer": "sgd", "momentum": 0.9}, 1),
        ({"optimizer": "adam"}, 3),
        ({"optimizer": "sgd", "objective": "samples"}, 1),
    ],
)
def test_a_plan_by_hand(make_job, settings, rows):
    # A ring of 4 silos on 2 ranks: each hosts 2 and receives 1 row.
    dataset = dataset_of((1, 8, 8))
    plan = plan_of(make_job(silos=4, batch_size=16, executor="loop", **settings), dataset, rank=0, ranks=2)
    row = 4 * padded(650)

    assert plan.models == 2 * 3 * row
    assert plan.gradients == 2 * row
    assert plan.optimizer == 2 * rows * row
    assert plan.data == 30 * (256 + 8) + 10 * (256 + 8)
    assert plan.step == 16 * 100 + 3 * 16 * 10 + row
    assert plan.metrics == row + 2 * row + max(2 * 2 * row, 1.5 * 15 * 10)
    assert plan.libraries == LIBRARIES
    assert plan.new == sum(
        (plan.models, plan.gradients, plan.optimizer, plan.data, plan.libraries, max(plan.step, plan.metrics))
    )


def test_stacked_models_have_all_activations_at_once(make_job):
    loop, stacked = (
        plan_of(make_job(silos=5, executor=name), dataset_of((1, 8, 8))) for name in ("loop", "vmap")
    )

    assert (loop.at_once, stacked.at_once) == (1, 5)
    assert stacked.step == 5 * loop.step
    assert stacked.libraries == LIBRARIES + VMAP_LIBRARIES
    assert stacked.per_silo > loop.per_silo


def test_models_and_gradients_are_those_of_the_arena(make_job):
    job = make_job(silos=3, model="cnn", executor="loop")
    dataset = dataset_of((1, 8, 8))
    model = build_model("cnn", input_shape=(1, 8, 8), classes=10, seed=0)
    arena = HostedSilos(job, model, dataset, communicator=Alone(), device=torch.device("cpu")).arena
    plan = plan_of(job, dataset)
    windows = {tensor.untyped_storage().data_ptr(): tensor for tensor in (arena.rows, arena.gradients)}
    arena.mix(torch.eye(3), 0)
    windows[arena.rows.untyped_storage().data_ptr()] = arena.rows

    assert plan.models + plan.gradients == sum(w.untyped_storage().nbytes() for w in windows.values())


def test_every_rank_that_hosts_nothing_has_a_plan(make_job):
    plan = plan_of(make_job(silos=2), dataset_of((1, 8, 8)), rank=2, ranks=3)

    assert silo_blocks(2, 3)[2] == range(2, 2)
    assert (plan.silos, plan.models, plan.step, plan.per_silo) == (0, 0, 0, 0)


def check(job, **changes):
    dataset = dataset_of((1, 8, 8))
    model = build_model(job.config.model, input_shape=(1, 8, 8), classes=10, seed=0)
    return check_memory(job, model, dataset, communicator=Alone(), device=torch.device("cpu"), **changes)


def test_the_plan_is_at_most_six_lines_of_80_columns(make_job, monkeypatch):
    monkeypatch.setattr("training.memory.available_bytes", lambda: 1.234e11)

    text = check(make_job(silos=30, batch_size=1024, partition="iid", model="cnn", executor="vmap"))

    lines = text.splitlines()
    assert len(lines) <= 6
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("memory in GB (10^9 bytes) of rank 0, 30 of 30 silos, 30 at once: ")
    assert lines[-1].endswith(" more, 123 available")


def test_a_training_that_cannot_fit_ends_before_anything_is_allocated(make_job, monkeypatch):
    monkeypatch.setattr("training.memory.available_bytes", lambda: 4e7)
    monkeypatch.setattr("training.dpasgd.HostedSilos", lambda *_, **__: pytest.fail("allocated"))
    reports = train_rank(make_job(silos=4, model="cnn", executor="vmap"), Alone())

    with pytest.raises(
        MachineError, match=r"training must fit into memory: rank 0 on .* 0\.040 GB are available"
    ):
        next(reports)


def test_the_first_report_is_the_plan(make_job):
    first, *_rest = train_rank(make_job(silos=4, rounds=1), Alone())

    assert isinstance(first, Notice)
    assert first.text.startswith("memory in GB")


class Second:
    """The second of two ranks on another machine, which has no room."""

    rank, size = 0, 2

    def __init__(self, other):
        self._others = list(other)

    def sum(self, values):
        if values.shape[1:] not in ((8,), (2,)):
            return values
        total = values.copy()
        total[1] = self._others.pop(0)
        return total


def test_the_first_rank_speaks_for_a_machine_without_room(make_job):
    job = make_job(silos=4, executor="loop")
    dataset = dataset_of((1, 8, 8))
    model = build_model("softmax", input_shape=(1, 8, 8), classes=10, seed=0)
    ranks = Second([[5, 0, 9e9, 0, 2, 2e9, 0, 0], [7e9, np.inf]])

    with pytest.raises(MachineError, match=r"rank 1 on the machine of rank 1 .* 9\.00 GB more, 7\.00 GB"):
        check_memory(job, model, dataset, communicator=ranks, device=torch.device("cpu"))


PEAK = """
import re, sys
import numpy as np
import training.dpasgd as dpasgd, training.memory as memory
from training import MixingPlan, TrainingConfig, TrainingJob
from training.communicator import Alone
from training.datasets import Dataset

model, side, silos, samples = sys.argv[1], *map(int, sys.argv[2:])
random = np.random.default_rng(0)
channels = 3 if model.startswith("resnet") else 1
def part(count):
    return random.standard_normal((count, channels, side, side), dtype=np.float32), random.integers(0, 62, count)
(a, b), (c, d) = part(samples), part(20)
data = Dataset(train_inputs=a, train_labels=b, test_inputs=c, test_labels=d, classes=62)
dpasgd.load_dataset = lambda *_: data
plans, plan = [], memory.plan_memory
def noted(*arguments, **options):
    plans.append(plan(*arguments, **options))
    return plans[-1]
memory.plan_memory = noted
config = TrainingConfig(model=model, partition="iid", rounds=1, learning_rate=1e-4, executor="loop")
mixing = MixingPlan.constant(np.full((silos, silos), 1 / silos), 1)
list(dpasgd.train_rank(TrainingJob(config=config, silos=silos, local_steps=1, seed=0, mixing=mixing), Alone()))
# The peak that getrusage knows outlives the start of a program: it may be that of the program which started this one.
peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
print(plans[0].held + plans[0].new, int(peak[1]) * 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize(
    "case", [("femnist_cnn", 28, 22, 440), ("resnet18", 48, 4, 60)], ids=["femnist_cnn", "resnet18"]
)
def test_the_plan_is_within_a_quarter_of_the_real_peak(case):
    command = [sys.executable, "-c", PEAK, *map(str, case)]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    planned, peak = map(float, output.split())

    assert planned == pytest.approx(peak, rel=0.25)


def test_a_matrix_without_neighbours_needs_no_received_rows(make_job):
    job = make_job(silos=4, executor="loop", mixing=MixingPlan.constant(np.eye(4), 3))

    assert plan_of(job, dataset_of((1, 8, 8)), rank=1, ranks=2).models == 2 * 2 * 4 * padded(650)


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

"""The memory plan: counted by hand, and against what autograd, the parameter buffer, mixing and staging hold."""

import gc
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from training import MixingPlan, TrainingConfig
from training.data.datasets import Dataset
from training.data.readers.image_files import ImageFiles
from training.engine.communicator import SingleRank
from training.engine.exchange import plan_exchange, silo_blocks
from training.engine.executors.graphs import STREAMS
from training.engine.parameter_buffer import padded
from training.memory.memory_plan import (
    LIBRARIES,
    MESSAGE,
    MIXING,
    VMAP_LIBRARIES,
    Activations,
    Affine,
    activations_of,
    measure_activations,
    plan_memory,
)
from training.models import MODELS, build_model
from training.models.pooled_convolution import PooledConvolution
from training.mpi.staging import Staging

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


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name == "resnet50" else ()) for name in sorted(MODELS)],
)
def test_activations_of_larger_batches_are_those_that_autograd_keeps(name):
    tokens = name == "char_gru"
    dataset = dataset_of(SHAPES[name], tokens=tokens)
    model = build_model(name, input_shape=SHAPES[name], classes=10, seed=0)
    before = {key: value.clone() for key, value in model.state_dict().items()}

    activations = measure_activations(model, dataset, kernels=True)

    model.eval()
    found = kept_by(model, torch.from_numpy(dataset.train_inputs[:16]))
    assert activations.saved.at(16).sum() == pytest.approx(found, rel=0.02)
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


def test_softmax_activations_by_hand():
    # Kept: 64 inputs, 10 log-probabilities and a label per sample, and the total weight. Largest layer: 64 in and out.
    model = build_model("softmax", input_shape=(1, 8, 8), classes=10, seed=0)

    activations = measure_activations(model, dataset_of((1, 8, 8)), kernels=True)

    assert activations.saved.at(16).sum() == 16 * (4 * 64 + 4 * 10 + 8) + 4
    assert activations.evaluation_bytes(16) == 1.5 * 16 * 4 * (64 + 64)
    assert activations.training_bytes(16) == 16 * 304 + 4 + 3 * 16 * 512


@pytest.mark.parametrize(
    ("executor", "precision", "gpu"),
    [("vmap", "float32", False), ("loop", "bf16", False), ("loop", "float32", True)],
)
def test_kernels_count_only_where_they_serve(executor, precision, gpu):
    # PyTorch's layers keep the scores, the pooled numbers and their 8-byte places; kernels keep one byte per place.
    model = build_model("femnist_cnn", input_shape=(1, 28, 28), classes=62, seed=0)
    dataset = dataset_of((1, 28, 28), classes=62)
    by_kernels, by_layers = (
        activations_of(TrainingConfig(model="femnist_cnn", **settings), model, dataset, gpu=gpu)
        for gpu, settings in ((False, {}), (gpu, {"executor": executor, "precision": precision}))
    )
    more = by_layers.saved.at(1).sum() - by_kernels.saved.at(1).sum()
    assert more == pytest.approx(64 * (4 * 24**2 + (4 + 8 - 1) * 12**2))


@pytest.mark.parametrize(
    ("name", "length", "inputs", "outputs", "gates"),
    [("char_gru", 9, 16, 256, 3), ("bilstm", 7, 100, 512, 4)],
)
def test_the_gates_of_a_recurrent_layer_count(name, length, inputs, outputs, gates):
    # Per position its input, its output (in both directions with `bilstm`), and as much again for each gate.
    model = build_model(name, input_shape=SHAPES[name], classes=10, seed=0)
    activations = measure_activations(
        model, dataset_of(SHAPES[name], tokens=name == "char_gru"), kernels=True
    )

    expected = 1.5 * 16 * length * 4 * (inputs + (1 + gates) * outputs)
    assert activations.evaluation_bytes(16) == pytest.approx(expected, rel=1e-12)


class Split(nn.Module):
    """Returns both halves of its input and a number that it was given, no tensor."""

    def forward(self, inputs, number):
        return {"halves": inputs.chunk(2, dim=1), "number": number}


class TwoHalves(nn.Module):
    """A layer that returns no tensor, and one that reads two."""

    def __init__(self):
        super().__init__()
        self.split, self.join = Split(), nn.Bilinear(30, 30, 10)

    def forward(self, inputs):
        first, second = self.split(inputs, 3)["halves"]
        return self.join(first, second)


def test_all_tensors_that_a_layer_reads_or_returns_count():
    """Of each sample 60 numbers are read by the first layer; the second one reads them again and writes 10."""
    activations = measure_activations(TwoHalves(), dataset_of((60,)), kernels=True)

    assert activations.layers.at(16).tolist() == [16 * 4 * 60, 16 * 4 * (60 + 10)]
    nothing = Affine(fixed_bytes=np.zeros(0), sample_bytes=np.zeros(0))
    assert Activations(saved=nothing, layers=nothing).training_bytes(16) == 0


class ReadsByName(TwoHalves):
    def forward(self, inputs):
        first, second = self.split(inputs, 3)["halves"]
        return self.join(input1=first, input2=second)


class ReadsTwice(TwoHalves):
    def forward(self, inputs):
        first, _ = self.split(inputs, 3)["halves"]
        return self.join(first, input2=first)


@pytest.mark.parametrize(("model", "read"), [(ReadsByName, 60), (ReadsTwice, 30)])
def test_tensors_that_are_passed_by_name_count_and_each_once(model, read):
    activations = measure_activations(model(), dataset_of((60,)), kernels=True)

    assert activations.layers.at(16).tolist() == [16 * 4 * 60, 16 * 4 * (read + 10)]


def test_a_model_computes_as_before_once_it_was_measured():
    model = build_model("femnist_cnn", input_shape=(1, 28, 28), classes=62, seed=0)
    layer = next(each for each in model.modules() if isinstance(each, PooledConvolution))
    for kernels, training in ((True, True), (False, False)):
        layer.kernels = kernels
        model.train(training)
        measure_activations(model, dataset_of((1, 28, 28), classes=62), kernels=not kernels)
        assert (layer.kernels, model.training, layer.training) == (kernels, training, training)


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

    assert measure_activations(model, empty, kernels=True).training_bytes(4) > 0


def plan_of(job, dataset, *, rank=0, ranks=1, gpu=False):
    model = build_model(
        job.config.model, input_shape=dataset.train_inputs.shape[1:], classes=dataset.classes, seed=0
    )
    activations = Activations(
        saved=Affine(fixed_bytes=np.zeros(1), sample_bytes=np.array([100.0])),
        layers=Affine(fixed_bytes=np.zeros(1), sample_bytes=np.array([10.0])),
    )
    cuts = np.array_split(np.arange(len(dataset.train_labels)), job.silos)
    return plan_memory(job, model, dataset, cuts, activations, rank=rank, ranks=ranks, gpu=gpu)


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
    assert plan.metrics == row + 2 * row + max(2 * 2 * row, 2 * 2 * 8 * 650, 1.5 * 15 * 10)
    # One matrix: 2 rows of it at 3 silos' columns, the silos' indices, a row to receive and one to send.
    assert plan.weights == 2 * 3 * 4 + 3 * 8 + 2 * MESSAGE + MIXING
    assert plan.staging == 0
    assert plan.libraries == LIBRARIES
    kept = (plan.models, plan.gradients, plan.optimizer, plan.data, plan.weights, plan.libraries)
    assert plan.new == sum(kept) + max(plan.step, plan.metrics)


@pytest.mark.parametrize("gpu", [False, True])
@pytest.mark.parametrize(("sample", "held"), [((3, 32, 32), 30 + 10), ((3, 512, 1024), 10)])
def test_images_that_silos_hold_count(make_job, sample, held, gpu):
    # Of 60 images of 6 MB for training the two ranks hold none, of 10 for tests all.
    arrays = dataset_of((1, 8, 8))
    train, test = (
        ImageFiles(paths=np.arange(count).astype(str), decode=np.zeros, sample=sample) for count in (60, 10)
    )
    dataset = replace(arrays, train_inputs=train, test_inputs=test)
    settings = {"silos": 4, "model": "resnet18", "executor": "loop"}

    plan = plan_of(make_job(**settings), dataset, ranks=2, gpu=gpu)

    assert plan.data == held * 4 * np.prod(sample) + (30 + 10) * 8


def test_stacked_models_have_all_activations_at_once(make_job):
    loop, stacked = (
        plan_of(make_job(silos=5, executor=name), dataset_of((1, 8, 8))) for name in ("loop", "vmap")
    )

    assert (loop.at_once, stacked.at_once) == (1, 5)
    assert stacked.step == 5 * loop.step
    assert stacked.libraries == LIBRARIES + VMAP_LIBRARIES
    assert stacked.per_silo > loop.per_silo


@pytest.mark.parametrize("silos", [1, STREAMS - 1, STREAMS + 2])
def test_recorded_steps_have_activations_of_as_many_silos_as_there_are_streams(make_job, silos):
    settings = {"silos": silos, "device": "auto"}
    loop, recorded = (
        plan_of(make_job(executor=name, **settings), dataset_of((1, 8, 8)), gpu=True)
        for name in ("loop", "graphs")
    )

    assert (loop.at_once, recorded.at_once) == (1, min(STREAMS, silos))
    assert recorded.step == min(STREAMS, silos) * loop.step


@pytest.mark.parametrize("silos", [1, 3])
def test_models_and_gradients_are_those_of_the_models(make_job, make_rank_silos, silos):
    job = make_job(silos=silos, model="cnn", executor="loop")
    dataset = dataset_of((1, 8, 8))
    models = make_rank_silos(job, dataset).models
    plan = plan_of(job, dataset)
    windows = {tensor.untyped_storage().data_ptr(): tensor for tensor in (models.rows, models.gradients)}
    models.mix(torch.eye(silos), 0)
    windows[models.rows.untyped_storage().data_ptr()] = models.rows

    assert plan.models + plan.gradients == sum(w.untyped_storage().nbytes() for w in windows.values())


def test_every_rank_that_hosts_nothing_has_a_plan(make_job):
    plan = plan_of(make_job(silos=2), dataset_of((1, 8, 8)), rank=2, ranks=3)

    assert silo_blocks(2, 3)[2] == range(2, 2)
    assert (plan.silos, plan.gradients, plan.step, plan.per_silo) == (0, 0, 0, 0)
    assert plan.models == 0


def test_a_matrix_without_neighbours_needs_no_received_rows(make_job):
    job = make_job(silos=4, executor="loop", mixing=MixingPlan.constant(np.eye(4), 3))

    assert plan_of(job, dataset_of((1, 8, 8)), rank=1, ranks=2).models == 2 * 2 * 4 * padded(650)


def random_mixing(silos, *, matrices, share):
    """Matrices of means over some silos, and one over all that no round uses."""
    random = np.random.default_rng(1)
    used = (random.random((matrices + 1, silos, silos)) < share) + np.eye(silos)
    used[-1] = 1
    return MixingPlan(matrices=used / used.sum(axis=2, keepdims=True), index=np.arange(matrices).repeat(2))


class Second(SingleRank):
    """The second of three ranks; the rows of the others never come."""

    rank, size = 1, 3


@pytest.mark.parametrize(("ranks", "communicator"), [(1, SingleRank()), (3, Second())])
def test_mixing_weights_are_those_that_the_hosted_silos_keep(make_job, make_rank_silos, ranks, communicator):
    mixing = random_mixing(9, matrices=5, share=0.9)
    job = make_job(silos=9, rounds=10, mixing=mixing)
    dataset = dataset_of((1, 8, 8))
    rank_silos = make_rank_silos(job, dataset, communicator=communicator)
    for k in range(10):
        rank_silos.mix(k)

    kept = rank_silos.exchange._mixings.values()
    plan = plan_of(job, dataset, rank=communicator.rank, ranks=ranks)

    # Of 0.9 of the silos each rank needs all the others in each of these rounds.
    assert len(kept) == 5
    messages = sum(len(each.exchange.sends) + len(each.exchange.receives) for each in kept)
    numbers = sum(each.weights.nbytes + each.exchange.columns.nbytes for each in kept)
    assert messages == (0 if ranks == 1 else 5 * 2 * 6)
    assert plan.weights == numbers + messages * MESSAGE + 5 * MIXING


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "communicator"), [(1, SingleRank()), (3, Second())])
def test_mixing_weights_take_the_memory_that_is_planned(make_job, make_rank_silos, ranks, communicator):
    job = make_job(silos=60, rounds=40, mixing=random_mixing(60, matrices=20, share=0.5))
    dataset = dataset_of((1, 8, 8))
    rank_silos = make_rank_silos(job, dataset, communicator=communicator)
    rank_silos.mix(0)
    # What comes from the interpreter's free lists would not be traced: a full collection empties them.
    gc.collect()
    tracemalloc.start()
    try:
        for k in range(2, 40, 2):
            rank_silos.mix(k)
        gc.collect()
        python = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    found = 20 / 19 * python + sum(each.weights.nbytes for each in rank_silos.exchange._mixings.values())

    # What torch holds of a tensor beside its numbers is not in the sum.
    plan = plan_of(job, dataset, rank=communicator.rank, ranks=ranks)

    assert found < plan.weights < 1.2 * found


def lagged_mixing(silos, *, matrices, share, rounds, most_lag=4):
    """Those means, with lags of any rows but the own ones."""
    plain = random_mixing(silos, matrices=matrices, share=share)
    lags = np.random.default_rng(2).integers(1, most_lag + 1, size=plain.matrices.shape)
    lags[:, range(silos), range(silos)] = 1
    return replace(plain, lags=lags, index=np.arange(rounds + most_lag - 1) % matrices)


@pytest.mark.parametrize(("ranks", "communicator"), [(1, SingleRank()), (3, Second())])
def test_rows_for_later_rounds_take_the_memory_that_is_planned(
    make_job, make_rank_silos, ranks, communicator
):
    mixing = lagged_mixing(9, matrices=3, share=0.3, rounds=12)
    job, dataset = make_job(silos=9, rounds=12, mixing=mixing), dataset_of((1, 8, 8))
    rank_silos = make_rank_silos(job, dataset, communicator=communicator)
    kept = [len(rank_silos.exchange.kept) for k in range(12) if rank_silos.mix(k) is None]

    plan = plan_of(job, dataset, rank=communicator.rank, ranks=ranks)

    assert plan.models == rank_silos.models.rows.untyped_storage().nbytes()
    assert 0 < max(kept) <= len(rank_silos.models.kept)
    found = rank_silos.exchange._weights.values()
    numbers = sum(pairs.nbytes + weights.nbytes for pairs, weights in found)
    assert len(found) == 3 + 3
    assert numbers + 6 * MIXING < plan.weights < 1.5 * (numbers + 9 * MIXING) + 3 * 2 * 20 * MESSAGE


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "communicator"), [(1, SingleRank()), (3, Second())])
def test_lagged_weights_take_the_memory_that_is_planned(make_job, make_rank_silos, ranks, communicator):
    mixing = lagged_mixing(60, matrices=15, share=0.5, rounds=30)
    job, dataset = make_job(silos=60, rounds=30, mixing=mixing), dataset_of((1, 8, 8))
    rank_silos = make_rank_silos(job, dataset, communicator=communicator)
    rank_silos.mix(0)
    gc.collect()
    tracemalloc.start()
    try:
        for k in range(1, 30):
            rank_silos.mix(k)
        gc.collect()
        python = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    found = python + sum(weights.nbytes for _, weights in rank_silos.exchange._weights.values())

    plan = plan_of(job, dataset, rank=communicator.rank, ranks=ranks)

    assert found < plan.weights < 1.2 * found


def test_mixing_with_lags_on_a_gpu_gathers_the_rows_of_a_round(make_job):
    mixing = lagged_mixing(60, matrices=3, share=0.5, rounds=12)
    job, dataset = make_job(silos=60, rounds=12, mixing=mixing), dataset_of((1, 8, 8))
    row = 4 * padded(650)
    # Six silos of the first of ten ranks mix models of all silos, of one round or another.
    most = max(
        len({(silo, lag) for lags in mixing.round_weights(k)[1][:6] for silo, lag in enumerate(lags) if lag})
        for k in range(12)
    )
    on_gpu, here = (plan_of(job, dataset, ranks=10, gpu=gpu) for gpu in (True, False))

    # Beside the average model, in single and in double precision.
    assert on_gpu.metrics == (1 + 2 + most) * row
    assert most > 60
    assert here.metrics < 50 * row


class OnGpu(torch.Tensor):
    device = torch.device("cuda", 0)


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_staging_is_what_rows_between_gpus_pass_through(make_job, share):
    job = make_job(silos=9, rounds=10, mixing=random_mixing(9, matrices=5, share=share))
    blocks = silo_blocks(9, 3)
    staging = Staging(gpu_aware=False, pinned=False, wait=lambda _device: None)
    row = torch.zeros(padded(650)).as_subclass(OnGpu)
    held = {}
    for matrix in job.mixing.matrices[np.unique(job.mixing.index)]:
        exchange = plan_exchange(matrix, blocks, 1)
        sends, receives = ({silo: row for _, silo in pairs} for pairs in (exchange.sends, exchange.receives))
        held |= staging.open(sends, receives)
    size = 4096  # the next power of two, which torch takes where memory is page-locked

    plan = plan_of(job, dataset_of((1, 8, 8)), rank=1, ranks=3, gpu=True)

    assert size / 2 < held.popitem()[1].nbytes <= size
    assert plan.staging == size * (1 + len(held))


@pytest.mark.parametrize(("ranks", "settings"), [(1, {}), (3, {"gpu_aware_mpi": True})])
def test_no_staging_where_no_row_passes_through_the_host(make_job, ranks, settings):
    job = make_job(silos=9, matrix=np.full((9, 9), 1 / 9), **settings)

    assert plan_of(job, dataset_of((1, 8, 8)), ranks=ranks, gpu=True).staging == 0


def test_counting_takes_little_memory_itself(make_job):
    mixing = random_mixing(100, matrices=200, share=0.1)
    job, dataset = make_job(silos=100, rounds=400, mixing=mixing), dataset_of((1, 8, 8), samples=100)
    tracemalloc.start()
    try:
        plan_of(job, dataset, ranks=2, gpu=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < mixing.matrices.nbytes / 4


@pytest.mark.parametrize("exchange", [False, True])
def test_running_statistics_are_the_silos_own_or_travel_with_the_models(make_job, exchange):
    """A ring of 4 silos on 2 ranks: of each window 2 own rows and 1 that comes; statistics of 66 numbers."""
    job = make_job(silos=4, executor="loop", exchange_buffers=exchange)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 33), nn.BatchNorm1d(33), nn.Linear(33, 10))
    none = Affine(fixed_bytes=np.zeros(1), sample_bytes=np.zeros(1))
    activations = Activations(saved=none, layers=none)
    cuts = np.array_split(np.arange(60), 4)
    plan = plan_memory(job, model, dataset_of((1, 8, 8)), cuts, activations, rank=0, ranks=2, gpu=False)
    row, statistics = 4 * padded(64 * 33 + 33 + 2 * 33 + 33 * 10 + 10), 4 * 96

    assert plan.models == (2 * 3 * (row + statistics) if exchange else 2 * 3 * row + 2 * statistics)
    assert plan.gradients == 2 * row


@pytest.mark.parametrize(("gossip", "more"), [("choco", 2), ("error_feedback", 4)])
def test_a_plan_with_compression_by_hand(make_job, gossip, more):
    settings = {"compression": "top_k", "compressed_gossip": gossip, "executor": "loop"}
    plan = plan_of(make_job(silos=4, **settings), dataset_of((1, 8, 8)), ranks=2)

    assert plan.models == (2 * 3 + more) * 4 * padded(650)
    # Beside 2 rows at 3 silos' columns 2 at the own ones, of what is known of the models.
    assert plan.weights == 2 * 3 * 4 + 3 * 8 + 2 * 2 * 4 + 2 * MESSAGE + MIXING


@pytest.mark.parametrize(
    ("outputs", "silos", "gpu", "most"),
    [
        # Two rows in double precision; sums of 65,536 columns; on a GPU models and what is known of them.
        (3000, 2, False, lambda row: 2 * 2 * row),
        (3000, 3, False, lambda _row: 3 * 2 * 8 * 65_536),
        (3000, 3, True, lambda row: 2 * 3 * row),
        # 262,144 columns at a time.
        (5000, 5, True, lambda _row: 2 * 5 * 4 * 262_144),
    ],
)
def test_what_an_evaluation_or_mixing_holds_at_most(make_job, outputs, silos, gpu, most):
    job = make_job(silos=silos, executor="loop", compression="top_k", device="auto")
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, outputs, bias=False))
    none = Affine(fixed_bytes=np.zeros(1), sample_bytes=np.zeros(1))
    activations = Activations(saved=none, layers=none)
    cuts = np.array_split(np.arange(60), silos)
    plan = plan_memory(job, model, dataset_of((1, 8, 8)), cuts, activations, rank=0, ranks=1, gpu=gpu)
    row = 4 * 64 * outputs

    assert plan.metrics == row + 2 * row + most(row)


@pytest.mark.parametrize("rank", [0, 1])
def test_compressed_mixing_on_a_gpu_gathers_own_models_and_what_is_known_of_all(make_job, rank):
    """Each of two ranks has two silos of a ring of four, and hears of one silo after or before them."""
    job = make_job(silos=4, executor="loop", compression="top_k", device="auto")
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 3000, bias=False))
    none = Affine(fixed_bytes=np.zeros(1), sample_bytes=np.zeros(1))
    activations = Activations(saved=none, layers=none)
    cuts = np.array_split(np.arange(60), 4)
    plan = plan_memory(job, model, dataset_of((1, 8, 8)), cuts, activations, rank=rank, ranks=2, gpu=True)
    row = 4 * 64 * 3000

    # Beside the average model, in single and in double precision.
    assert plan.metrics == (1 + 2) * row + (2 + 2 + 1) * row


@pytest.mark.parametrize(
    ("tests", "largest", "at_once"), [(10, 40, 40), (63, 20, 63), (100, 20, 64), (100, 600, 512)]
)
def test_samples_of_an_evaluation_at_once(make_job, tests, largest, at_once):
    """Those of the largest silo or of 64 tests, and never more than 512."""
    job = make_job(silos=2, executor="loop")
    data = replace(
        dataset_of((1, 8, 8), samples=largest + 1),
        test_inputs=np.zeros((tests, 1, 8, 8), np.float32),
        test_labels=np.zeros(tests, dtype=np.int64),
    )
    activations = Activations(
        saved=Affine(fixed_bytes=np.zeros(1), sample_bytes=np.zeros(1)),
        layers=Affine(fixed_bytes=np.zeros(1), sample_bytes=np.array([1e6])),
    )
    model = build_model("softmax", input_shape=(1, 8, 8), classes=10, seed=0)
    cuts = [np.arange(1), np.arange(largest)]
    plan = plan_memory(job, model, data, cuts, activations, rank=0, ranks=1, gpu=False)

    assert plan.metrics == 3 * 4 * padded(650) + 1.5e6 * at_once

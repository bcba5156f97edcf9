import copy

import pytest
import torch
from torch import nn

from topologies.errors import MachineError
from training import load_backend
from training.data.batches import BatchStream
from training.data.datasets import IGNORED, load_dataset
from training.data.shards import Shard
from training.engine.executors import graphs
from training.engine.executors.base import precise, with_fast_layout
from training.engine.executors.graphs import GraphsExecutor
from training.engine.executors.loop import LoopExecutor
from training.engine.executors.vectorized import VectorizedExecutor
from training.engine.parameter_buffer import ParameterBuffer
from training.history import HistoryRow
from training.models import MODELS, build_model

CPU = torch.device("cpu")
SILOS, BATCH = 3, 6
SHAPES = {"cnn": (1, 8, 8), "femnist_cnn": (1, 12, 12), "resnet18": (3, 32, 32), "softmax": (1, 8, 8)}


class Eager:
    """A recorder that repeats a work by doing it again, and notes what it was asked."""

    def __init__(self):
        self.recorded, self.replayed, self.open = 0, 0, False

    def record(self, lane, work):
        assert lane == self.recorded % min(graphs.STREAMS, SILOS)
        assert not self.open
        self.recorded += 1
        work()

        def replay():
            assert self.open
            self.replayed += 1
            work()

        return replay

    def fork(self):
        self.open = True

    def join(self):
        self.open = False


EXECUTORS = pytest.mark.parametrize(
    "make",
    [
        LoopExecutor,
        VectorizedExecutor,
        lambda models, data, precision: GraphsExecutor(models, data, precision, Eager()),
    ],
)


def shards(shape, *, padding=()):
    """Random samples of three silos; all labels of those named in `padding` are padding, and one of every silo."""
    generator = torch.Generator().manual_seed(5)
    made = []
    for silo in range(SILOS):
        labels = torch.randint(4, (20,), generator=generator)
        labels[3 if silo not in padding else slice(None)] = IGNORED
        made.append(
            Shard(
                inputs=torch.randn(20, *shape, generator=generator),
                labels=labels,
                counted=(labels != IGNORED).numpy(),
                batches=BatchStream(size=20, batch_size=BATCH, seed=1, silo=silo),
            )
        )
    return made


def buffer_of(model):
    """Silos whose models differ."""
    models = ParameterBuffer(
        model, silos=SILOS, before=0, after=0, device=CPU, kept=0, exchange_buffers=False
    )
    models.parameters.mul_(1 + 0.1 * torch.arange(SILOS)[:, None])
    return models


def normalized():
    return nn.Sequential(
        nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(108, 4)
    )


def results(executor, models, steps):
    """Losses, gradients and buffers after each step; the window changes in between."""
    found = []
    for step in range(steps):
        losses = executor.gradients(step)
        buffers = [buffer.clone().double() for module in models.modules for buffer in module.buffers()]
        found.append((losses, models.gradients.clone(), *buffers))
        models.mix(torch.eye(SILOS), 0)
    return found


def assert_like_the_loop(make, model, shape, *, padding=(), rtol=1e-5):
    buffers = [buffer_of(model) for _ in range(2)]
    data = shards(shape, padding=padding)
    expected = results(LoopExecutor(buffers[0], data, "float32"), buffers[0], 4)
    found = results(make(buffers[1], data), buffers[1], 4)
    for ours, theirs in zip(found, expected, strict=True):
        assert theirs[1].abs().max() > 0
        for value, reference in zip(ours, theirs, strict=True):
            assert float((value - reference).norm()) <= rtol * float(reference.norm())
    return expected


@pytest.mark.parametrize("name", ["cnn", "femnist_cnn", "softmax"])
@pytest.mark.parametrize("padding", [(), (1,)])
def test_stacked_models_have_the_gradients_of_the_loop(name, padding):
    model = build_model(name, input_shape=SHAPES[name], classes=4, seed=0)
    expected = assert_like_the_loop(
        lambda models, data: VectorizedExecutor(models, data, "float32"), model, SHAPES[name], padding=padding
    )
    for losses, gradients, *_ in expected:
        assert [bool(loss == 0) for loss in losses] == [silo in padding for silo in range(SILOS)]
        assert not gradients[list(padding)].any()


@pytest.mark.parametrize("padding", [(), (0,)])
def test_stacked_models_learn_their_running_statistics_as_the_loop_does(padding):
    expected = assert_like_the_loop(
        lambda models, data: VectorizedExecutor(models, data, "float32"),
        normalized(),
        (1, 8, 8),
        padding=padding,
    )
    counters = expected[-1][4::3]  # running mean, running variance and counter of each silo
    assert [int(counter) for counter in counters] == [0 if silo in padding else 4 for silo in range(SILOS)]


@pytest.mark.slow
def test_a_stacked_resnet_is_as_exact_as_the_loop():
    # Batch norm over six values divides by small variances: both ways differ from float64 by more than rounding.
    model = build_model("resnet18", input_shape=SHAPES["resnet18"], classes=4, seed=0)
    data = shards(SHAPES["resnet18"])
    errors, start = {}, buffer_of(model)
    for way in (LoopExecutor, VectorizedExecutor):
        models = buffer_of(model)
        losses = way(models, data, "float32").gradients(0)
        distances, lengths = [], []
        exacts = [copy.deepcopy(module).double() for module in start.modules]
        for position, (shard, exact) in enumerate(zip(data, exacts, strict=True)):
            batch = torch.from_numpy(shard.batches.batch(0))
            loss = nn.functional.cross_entropy(exact(shard.inputs[batch].double()), shard.labels[batch])
            gradient = torch.cat(
                [part.flatten() for part in torch.autograd.grad(loss, list(exact.parameters()))]
            )
            assert float(losses[position]) == pytest.approx(float(loss.detach()), rel=1e-4)
            distances.append((models.gradients[position, : gradient.numel()] - gradient).norm())
            lengths.append(gradient.norm())
        errors[way] = float(torch.stack(distances).norm() / torch.stack(lengths).norm())
    assert errors[LoopExecutor] < 1e-3
    assert errors[VectorizedExecutor] < 3 * errors[LoopExecutor]


@pytest.mark.parametrize("lanes", [1, 2, 4])
@pytest.mark.parametrize("padding", [(), (2,)])
def test_recorded_steps_have_the_very_gradients_of_the_loop(padding, lanes, monkeypatch):
    monkeypatch.setattr(graphs, "STREAMS", lanes)
    recorder = Eager()
    assert_like_the_loop(
        lambda models, data: GraphsExecutor(models, data, "float32", recorder),
        normalized(),
        (1, 8, 8),
        padding=padding,
        rtol=0.0,
    )
    lanes = min(lanes, SILOS)
    assert recorder.recorded == 2 * lanes  # once for each window
    assert recorder.replayed == 4 * lanes
    assert not recorder.open


@EXECUTORS
def test_bfloat16_gives_nearly_the_same_losses_and_single_precision_gradients(make):
    model = build_model("cnn", input_shape=(1, 8, 8), classes=4, seed=0)
    (exact, gradients), (rough, rounded) = (
        results(make(models, shards((1, 8, 8)), precision), models, 1)[0]
        for models, precision in ((buffer_of(model), "float32"), (buffer_of(model), "bf16"))
    )
    assert rounded.dtype == torch.float32
    assert not torch.equal(rough, exact)
    torch.testing.assert_close(rough.float(), exact, rtol=0.02, atol=0)
    # Eight bits of precision in every layer, and some units on the other side of zero.
    assert float((rounded - gradients).norm() / gradients.norm()) < 0.2


@pytest.mark.parametrize(
    ("name", "shape"), [("softmax", (1, 8, 8)), ("femnist_cnn", (1, 28, 28)), ("bilstm", (7, 5))]
)
def test_bfloat16_acts_on_a_processor_whatever_the_layers(name, shape):
    model = build_model(name, input_shape=shape, classes=4, seed=0)
    (exact, gradients), (rough, rounded) = (
        results(LoopExecutor(models, shards(shape), precision), models, 1)[0]
        for models, precision in ((buffer_of(model), "float32"), (buffer_of(model), "bf16"))
    )
    assert not torch.equal(rounded, gradients)
    torch.testing.assert_close(rough, exact, rtol=0.02, atol=0)
    # As above, and some maxima lie elsewhere.
    assert float((rounded - gradients).norm() / gradients.norm()) < 0.2


@EXECUTORS
def test_a_rank_without_silos_has_nothing_to_do(make):
    models = ParameterBuffer(
        nn.Linear(2, 2), silos=0, before=0, after=0, device=CPU, kept=0, exchange_buffers=False
    )
    assert make(models, [], "float32").gradients(0).shape == (0,)


def test_no_row_of_the_arena_is_copied_for_stacked_models(monkeypatch):
    def copied(*_):
        raise AssertionError("a tensor is copied")

    models = ParameterBuffer(
        normalized(), silos=SILOS, before=0, after=0, device=CPU, kept=0, exchange_buffers=True
    )
    # The copy of a buffer is one of its whole window, and that of a parameter a model more than was planned.
    monkeypatch.setattr(torch.Tensor, "__deepcopy__", copied)
    monkeypatch.setattr(nn.Parameter, "__deepcopy__", copied)
    losses = VectorizedExecutor(models, shards((1, 8, 8)), "float32").gradients(0)
    assert torch.isfinite(losses).all()


def test_a_step_that_cannot_be_recorded_is_one_line_and_changes_nothing():
    class Fails(Eager):
        def record(self, lane, work):
            super().record(lane, work)
            if lane == 1:
                raise torch.AcceleratorError("CUDA error: operation not permitted\nCompile with ...")

    models = buffer_of(normalized())
    before = [buffer.clone() for module in models.modules for buffer in module.buffers()]
    executor = GraphsExecutor(models, shards((1, 8, 8)), "float32", Fails())
    with pytest.raises(MachineError) as raised:
        executor.gradients(0)
    assert str(raised.value) == (
        "executor(=graphs) cannot record a step as a CUDA graph: CUDA error: operation not permitted; "
        "executor loop needs none."
    )
    after = [buffer for module in models.modules for buffer in module.buffers()]
    assert all(torch.equal(*pair) for pair in zip(before, after, strict=True))
    assert not models.gradients.any()


def test_what_the_second_window_cannot_record_shows_at_the_first_step():
    class Fails(Eager):
        def record(self, lane, work):
            if self.recorded == SILOS:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return super().record(lane, work)

    models = buffer_of(normalized())
    with pytest.raises(MachineError, match="CUDA out of memory"):
        GraphsExecutor(models, shards((1, 8, 8)), "float32", Fails()).gradients(0)
    assert models.parity == 0


class OnGpu:
    """Images that say that they are on a GPU."""

    is_cuda = True

    def dim(self):
        return 4

    def to(self, *, memory_format):
        return memory_format


def test_only_images_that_are_computed_in_bfloat16_have_their_channels_last():
    images = OnGpu()
    assert with_fast_layout(images, "bf16") is torch.channels_last
    assert with_fast_layout(images, "float32") is images
    host = torch.zeros(2, 3, 4, 4)
    assert with_fast_layout(host, "bf16") is host


def test_casts_to_bfloat16_are_not_kept():
    before = torch.is_autocast_enabled("cpu"), torch.is_autocast_cache_enabled()
    assert before == (False, True)
    with precise("float32", CPU):
        assert not torch.is_autocast_enabled("cpu")
    with precise("bf16", CPU):
        assert torch.is_autocast_enabled("cpu")
        assert torch.get_autocast_dtype("cpu") == torch.bfloat16
        # What a CUDA graph captures must not depend on casts before it.
        assert not torch.is_autocast_cache_enabled()
    assert before == (torch.is_autocast_enabled("cpu"), torch.is_autocast_cache_enabled())


@pytest.mark.parametrize("name", ["char_gru", "bilstm"])
def test_recurrent_layers_read_the_arenas_rows_and_lay_out_no_weights_of_their_own(name, monkeypatch):
    shape = (7,) if name == "char_gru" else (7, 100)
    model = build_model(name, input_shape=shape, classes=3, seed=0)
    models = ParameterBuffer(model, silos=2, before=0, after=0, device=CPU, kept=0, exchange_buffers=False)
    # On a GPU it would move the weights into memory of cuDNN's order, out of the rows that are mixed.
    monkeypatch.setattr(nn.RNNBase, "flatten_parameters", None)
    inputs = torch.zeros(2, 7, dtype=torch.int64) if name == "char_gru" else torch.ones(2, 7, 100)
    for module, row in zip(models.modules, models.parameters, strict=True):
        before = module(inputs)
        row.mul_(0.5)
        assert not torch.equal(module(inputs), before)
        first, last = row.data_ptr(), row.data_ptr() + 4 * row.numel()
        assert all(first <= weight.data_ptr() < last for weight in module.rnn._flat_weights)


def test_models_say_whether_they_can_be_stacked():
    assert {name for name, spec in MODELS.items() if not spec.vectorizes} == {"bilstm", "char_gru"}


@pytest.mark.slow
def test_training_by_either_executor_gives_the_same_curve(make_job, rows_of):
    loop, stacked = (
        rows_of(make_job(model="cnn", rounds=20, momentum=0.9, learning_rate=0.05, executor=executor))
        for executor in ("loop", "vmap")
    )
    assert loop[-1].train_loss < loop[0].train_loss - 0.1
    for row, other in zip(stacked, loop, strict=True):
        assert row.silo_loss == pytest.approx(other.silo_loss, rel=1e-4)


@pytest.mark.slow
def test_stacked_training_does_not_depend_on_the_number_of_ranks(make_job):
    def curve(ranks):
        job = make_job(silos=5, rounds=3, model="cnn", executor="vmap", ranks=ranks)
        return [row for row in load_backend("mpi").train(job) if isinstance(row, HistoryRow)]

    alone, shared = curve(1), curve(2)
    for row, other in zip(shared, alone, strict=True):
        assert row.silo_loss == pytest.approx(other.silo_loss, rel=1e-5)
        assert row.consensus_distance == pytest.approx(other.consensus_distance, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("model", ["cnn", "femnist_cnn", "softmax"])
def test_plain_descent_makes_the_steps_of_gradients_and_optimizer(make_job, make_rank_silos, model):
    data = load_dataset("digits")
    direct, apart = (make_rank_silos(make_job(model=model, batch_size=7), data) for _ in range(2))
    for step in range(3):
        direct.local_step(step, 0.3, round_index=step)
        apart._executor.gradients(step)
        apart.optimizer.step(apart.models.parameters, apart.models.gradients, 0.3)
        torch.testing.assert_close(direct.models.parameters, apart.models.parameters, rtol=1e-6, atol=1e-6)
        assert not direct.models.gradients.any()
    assert direct.optimizer.steps.tolist() == apart.optimizer.steps.tolist() == [3] * 4


def test_plain_descent_rests_where_a_batch_is_padding():
    models = buffer_of(build_model("softmax", input_shape=SHAPES["softmax"], classes=4, seed=0))
    before = models.parameters.clone()
    losses = LoopExecutor(models, shards(SHAPES["softmax"], padding=(1,)), "float32").descend(0, 0.5)
    moved = (models.parameters != before).any(dim=1)
    assert moved.tolist() == [True, False, True]
    assert (losses > 0).tolist() == [True, False, True]

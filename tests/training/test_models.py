import math
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from torch import nn

from topologies import Workload
from topologies.errors import InputError
from training import TrainingConfig, exchanged_numbers
from training.dpasgd import train_rank
from training.engine.communicator import SingleRank
from training.models import MODELS, build_model, named_models
from training.models.named_models import check_batch_size
from training.models.recurrent import char_gru

CASES = {  # name: shape of a sample, classes
    "bilstm": ((6, 10), 2),
    "char_gru": ((12,), 9),
    "cnn": ((1, 8, 8), 10),
    "femnist_cnn": ((1, 28, 28), 62),
    "resnet18": ((3, 32, 32), 5),
    "resnet50": ((3, 32, 32), 5),
    "softmax": ((1, 8, 8), 10),
}


def size(name: str, input_shape: tuple[int, ...], classes: int) -> int:
    """Number of parameters, none of which is drawn."""
    with torch.device("meta"):
        model = build_model(name, input_shape=input_shape, classes=classes, seed=0)
    return sum(parameter.numel() for parameter in model.parameters())


def vector(model: nn.Module) -> torch.Tensor:
    return nn.utils.parameters_to_vector(model.parameters())


def batch(name: str, samples: int) -> torch.Tensor:
    shape, classes = CASES[name]
    generator = torch.Generator().manual_seed(3)
    if name == "char_gru":
        return torch.randint(classes, (samples, *shape), generator=generator)
    return torch.randn(samples, *shape, generator=generator)


# Drawing ResNet-50's parameters takes long, by the same code as those of ResNet-18.
BUT_THE_LARGEST_QUICKLY = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "resnet50" else ()) for name in CASES]
)


def test_every_model_is_tried():
    assert set(CASES) == set(MODELS)


@pytest.mark.parametrize(
    ("settings", "numbers"),
    [
        ({"model": "softmax"}, 650),
        ({"model": "cnn"}, 21_546),
        ({"model": "cnn", "exchange_buffers": True}, 21_546),
        ({"model": "femnist_cnn", "dataset": "femnist"}, 1_206_590),
        ({"model": "char_gru", "dataset": "shakespeare", "data": "nowhere"}, 632_484),
        ({"model": "bilstm", "dataset": "sentiment140"}, 2_311_170),
    ],
)
def test_what_a_silo_sends_is_known_without_data(settings, numbers):
    assert exchanged_numbers(TrainingConfig(**settings)) == numbers


@pytest.mark.parametrize(("exchange_buffers", "numbers"), [(False, 11_217_552), (True, 11_227_152)])
def test_running_statistics_are_sent_where_they_are_exchanged(monkeypatch, exchange_buffers, numbers):
    monkeypatch.setattr("training.data.readers.inaturalist.inaturalist_classes", lambda _options: 80)
    config = TrainingConfig(model="resnet18", dataset="inaturalist", exchange_buffers=exchange_buffers)
    assert exchanged_numbers(config) == numbers


@pytest.mark.parametrize(
    ("name", "input_shape", "classes", "parameters"),
    [
        ("char_gru", (200,), 100, 632_484),
        ("femnist_cnn", (1, 28, 28), 62, 1_206_590),
        ("bilstm", (25, 100), 2, 2_311_170),
        ("resnet18", (3, 224, 224), 80, 11_217_552),
        ("resnet50", (3, 224, 224), 8_142, 40_190_990),
    ],
)
def test_parameter_counts_of_the_papers_models(name, input_shape, classes, parameters):
    assert size(name, input_shape, classes) == parameters


def test_model_sizes_explain_those_of_the_workloads():
    # The published parameter counts, to the thousand; what ours lack is named, nothing is left over.
    words, embedding = 25_002, 100
    explained = {
        "shakespeare": sum(p.numel() for p in char_gru((200,), 100, embedding=256).parameters()),
        "femnist": size("femnist_cnn", (1, 28, 28), 62),
        "sentiment140": size("bilstm", (25, embedding), 1) + words * embedding,
        "inaturalist": size("resnet18", (3, 224, 224), 80),
        "full_inaturalist": size("resnet50", (3, 224, 224), 8_142),
    }
    assert explained["shakespeare"] == 840_804
    assert explained["sentiment140"] == 4_810_857
    for name, parameters in explained.items():
        bits = Workload.preset(name).model_bits
        assert abs(32 * parameters - bits) < 32 * 1_000
        # What the tables call bits is the size in bytes of a saved state dict: the floats and under 1 % of names.
        published = Workload.preset(name, variant="published").model_bits
        assert 1 <= published / (4 * parameters) < 1.01


@pytest.mark.parametrize("name", CASES)
def test_scores_have_a_row_per_sample_or_position(name):
    shape, classes = CASES[name]
    model = build_model(name, input_shape=shape, classes=classes, seed=0).eval()
    positions = shape if name == "char_gru" else ()
    assert model(batch(name, 3)).shape == (3, *positions, classes)


@BUT_THE_LARGEST_QUICKLY
def test_a_step_against_the_gradient_lowers_the_loss(name):
    shape, classes = CASES[name]
    model = build_model(name, input_shape=shape, classes=classes, seed=1)
    inputs = batch(name, 4)
    labels = torch.randint(classes, (4, *shape) if name == "char_gru" else (4,)).flatten()

    def loss() -> torch.Tensor:
        return nn.functional.cross_entropy(model(inputs).flatten(0, -2), labels)

    before = loss()
    gradients = torch.autograd.grad(before, list(model.parameters()))
    slope = float(sum(gradient.square().sum() for gradient in gradients))
    assert all(gradient.abs().max() > 0 for gradient in gradients)
    with torch.no_grad():
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            parameter -= 0.01 / slope * gradient
    # To first order the loss falls by 0.01.
    assert float((before - loss()).detach()) == pytest.approx(0.01, rel=0.3)


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 7, 9), (1, 1, 1)])
def test_the_cnn_fits_any_image_size(shape):
    model = build_model("cnn", input_shape=shape, classes=4, seed=0)
    assert model(torch.zeros(2, *shape)).shape == (2, 4)


@pytest.mark.parametrize("shape", [(1, 6, 6), (3, 7, 9)])
def test_the_femnist_cnn_fits_images_of_six_pixels_and_more(shape):
    model = build_model("femnist_cnn", input_shape=shape, classes=4, seed=0)
    assert model(torch.zeros(2, *shape)).shape == (2, 4)


def test_the_gru_looks_at_the_past_only():
    model = build_model("char_gru", input_shape=(12,), classes=9, seed=0)
    text = batch("char_gru", 1)
    changed = text.clone()
    changed[0, 7] = (text[0, 7] + 1) % 9
    first, second = model(text), model(changed)
    assert torch.equal(first[:, :7], second[:, :7])
    assert (first[:, 7:] != second[:, 7:]).any(dim=-1).all()


def test_the_lstm_is_read_at_both_ends_of_the_text():
    model = build_model("bilstm", input_shape=(6, 10), classes=2, seed=0)
    sequence = batch("bilstm", 2)
    sequence[1, 4:] = 0  # padding
    sequence[:, 3, 0] = 0  # none: the rest of the vector is not 0
    sequence[0, 5, 0] = 0
    states, _last = model.rnn(sequence)
    forward = torch.stack([states[0, 5, :256], states[1, 3, :256]])
    expected = torch.cat([forward, states[:, 0, 256:]], dim=1) @ model.output.weight.T + model.output.bias
    torch.testing.assert_close(model(sequence), expected)
    assert torch.isfinite(model(torch.zeros(1, 6, 10))).all()


@BUT_THE_LARGEST_QUICKLY
def test_the_initial_model_depends_on_the_seed_alone_and_leaves_the_global_stream(name):
    shape, classes = CASES[name]
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    first = build_model(name, input_shape=shape, classes=classes, seed=4)
    assert torch.equal(torch.rand(3), expected)
    again = build_model(name, input_shape=shape, classes=classes, seed=4)
    other = build_model(name, input_shape=shape, classes=classes, seed=5)
    assert torch.equal(vector(first), vector(again))
    assert not torch.equal(vector(first), vector(other))


@pytest.mark.parametrize("name", ["cnn", "femnist_cnn", "resnet18", "softmax"])
def test_many_models_can_be_computed_at_once(name):
    shape, classes = CASES[name]
    models = [build_model(name, input_shape=shape, classes=classes, seed=seed).eval() for seed in (0, 1)]
    parameters, buffers = torch.func.stack_module_state(models)
    inputs = torch.stack([batch(name, 2), 2 * batch(name, 2)])

    def scores(own: dict, statistics: dict, samples: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(models[0], (own, statistics), (samples,))

    expected = torch.stack([model(samples) for model, samples in zip(models, inputs, strict=True)])
    torch.testing.assert_close(torch.func.vmap(scores)(parameters, buffers, inputs), expected)


def test_an_unknown_model_is_an_error():
    with pytest.raises(
        InputError,
        match=r"model\(='sofmax'\) must be one of bilstm, .*, softmax, or file.py:name or module:name of your own "
        r"\(did you mean 'softmax'\?\)",
    ):
        build_model("sofmax", input_shape=(1, 8, 8), classes=10, seed=0)


def test_samples_that_a_model_cannot_read_are_an_error():
    rule = r"^model\(='resnet18'\) must read samples of shape \(channels, height, width\), not \(200,\)\.$"
    with pytest.raises(InputError, match=rule):
        build_model("resnet18", input_shape=(200,), classes=10, seed=0)
    rule = r"^model\(='softmax'\) must read samples of shape \(channels, height, width\) or \(length, features\), not"
    with pytest.raises(InputError, match=rule):
        build_model("softmax", input_shape=(200,), classes=100, seed=0)
    rule = r"^model\(='cnn'\) must read samples of shape \(channels, height, width\), not \(\)\.$"
    with pytest.raises(InputError, match=rule):
        build_model("cnn", input_shape=(), classes=10, seed=0)
    rule = r"^model\(='softmax'\) must read samples with one input, not 2\.$"
    with pytest.raises(InputError, match=rule):
        build_model("softmax", input_shape=((4,), (1, 8, 8)), classes=10, seed=0)
    with pytest.raises(InputError, match=r"^image\(=5 x 28\) must be at least 6 x 6 pixels"):
        build_model("femnist_cnn", input_shape=(1, 5, 28), classes=10, seed=0)


@pytest.mark.parametrize(
    ("sides", "batch_size", "fits"),
    [
        ((32, 32), 1, False),
        ((33, 32), 1, True),
        ((32, 33), 1, True),
        ((1, 1), 1, False),
        ((1, 1), 2, True),
        ((1, 64), 1, True),
    ],
)
def test_batch_norm_needs_two_values_of_a_channel_where_it_sees_a_pixel_of_each_32(sides, batch_size, fits):
    for name, is_needed in (("resnet18", True), ("resnet50", True), ("cnn", False)):
        refused = pytest.raises(InputError, match=rf"images of {sides[0]} x {sides[1]} pixels: batch norm")
        with refused if is_needed and not fits else nullcontext():
            check_batch_size(name, input_shape=(3, *sides), batch_size=batch_size)


def test_initial_convolutions_of_a_resnet_are_normal_by_fan_out():
    model = build_model("resnet18", input_shape=(3, 32, 32), classes=5, seed=0)
    weight = model.get_parameter("layer4.1.conv2.weight").detach()
    assert float(weight.std()) == pytest.approx(math.sqrt(2 / (512 * 9)), rel=0.005)
    assert float(weight.abs().max() / weight.std()) > 4  # a uniform distribution ends at sqrt(3)
    assert torch.equal(model.get_parameter("layer4.1.bn2.weight"), torch.ones(512))


def test_the_cnn_learns_the_digits(make_job):
    job = make_job(
        silos=1, rounds=150, model="cnn", learning_rate=0.1, momentum=0.9, batch_size=64, log_every=150
    )
    last = list(train_rank(job, SingleRank()))[-1]
    assert last.test_accuracy > 0.95


def test_the_initial_model_of_a_seed_is_that_of_earlier_versions(monkeypatch):
    seeds = []
    probe = named_models.ModelSpec(build=lambda *_: seeds.append(torch.initial_seed()))
    monkeypatch.setattr(named_models, "MODELS", {"probe": probe})
    for seed in (0, 7):
        named_models.build_model("probe", input_shape=(1,), classes=2, seed=seed)
        # Stream 1 of the seed, below 2^62.
        drawn = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,))).integers(2**62)
        assert seeds.pop() == drawn

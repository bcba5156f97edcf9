import json
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from topologies.errors import InputError
from training.models import build_model
from training.models.weights import _replaced, load_weights

KEYS = json.loads((Path(__file__).parent / "data" / "torchvision_resnet_keys.json").read_text())


def resnet(name: str, *, classes: int, seed: int = 0) -> nn.Module:
    return build_model(name, input_shape=(3, 64, 64), classes=classes, seed=seed)


def small(*, classes: int) -> nn.Module:
    """Some layers of ResNet-18 by their names, for what needs neither all of them nor their scores."""
    block = nn.ModuleDict({"bn1": nn.BatchNorm2d(128)})
    conv1, fc = nn.Conv2d(3, 64, 7, bias=False), nn.Linear(512, classes)
    return nn.Sequential(OrderedDict(conv1=conv1, bn1=nn.BatchNorm2d(64), layer2=nn.Sequential(block), fc=fc))


def unsettled(model: nn.Module) -> nn.Module:
    """The model with batch norms that are not the identity."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, value in model.state_dict().items():
            norm = ".bn" in name or name.startswith("bn") or "downsample.1" in name
            if norm and value.is_floating_point():
                value.copy_(0.5 + torch.rand(value.shape, generator=generator))
    return model


def written_out(state: dict[str, Tensor], images: Tensor) -> Tensor:
    """A ResNet in evaluation mode, layer by layer from its state dict."""

    def norm(values: Tensor, name: str) -> Tensor:
        mean, variance = state[f"{name}.running_mean"], state[f"{name}.running_var"]
        scaled = (values - mean[:, None, None]) / (variance[:, None, None] + 1e-5).sqrt()
        return scaled * state[f"{name}.weight"][:, None, None] + state[f"{name}.bias"][:, None, None]

    def conv(values: Tensor, name: str, stride: int) -> Tensor:
        weight = state[f"{name}.weight"]
        return functional.conv2d(values, weight, stride=stride, padding=(weight.shape[-1] - 1) // 2)

    values = functional.max_pool2d(norm(conv(images, "conv1", 2), "bn1").relu(), 3, stride=2, padding=1)
    bottleneck = "layer1.0.conv3.weight" in state
    for stage in range(1, 5):
        block = 0
        while f"layer{stage}.{block}.conv1.weight" in state:
            name = f"layer{stage}.{block}"
            stride = 2 if stage > 1 and block == 0 else 1
            shortcut = values
            if f"{name}.downsample.0.weight" in state:
                shortcut = norm(conv(values, f"{name}.downsample.0", stride), f"{name}.downsample.1")
            if bottleneck:
                values = norm(conv(values, f"{name}.conv1", 1), f"{name}.bn1").relu()
                values = norm(conv(values, f"{name}.conv2", stride), f"{name}.bn2").relu()
                values = norm(conv(values, f"{name}.conv3", 1), f"{name}.bn3")
            else:
                values = norm(conv(values, f"{name}.conv1", stride), f"{name}.bn1").relu()
                values = norm(conv(values, f"{name}.conv2", 1), f"{name}.bn2")
            values = (values + shortcut).relu()
            block += 1
    return values.mean(dim=(2, 3)) @ state["fc.weight"].T + state["fc.bias"]


@pytest.mark.parametrize("name", KEYS)
def test_names_order_and_shapes_are_those_of_torchvision(name):
    state = resnet(name, classes=1000).state_dict()
    assert [(key, list(value.shape)) for key, value in state.items()] == list(KEYS[name].items())


@pytest.mark.parametrize("name", KEYS)
def test_scores_are_those_of_the_network_written_out(name):
    model = unsettled(resnet(name, classes=7)).eval().double()
    images = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(1)).double()
    with torch.no_grad():
        torch.testing.assert_close(model(images), written_out(model.state_dict(), images), rtol=1e-9, atol=0)


def test_a_file_of_torchvisions_layout_loads_completely(tmp_path):
    generator = torch.Generator().manual_seed(2)
    state = {
        name: torch.rand(shape, generator=generator) if shape else torch.tensor(17)
        for name, shape in KEYS["resnet18"].items()
    }
    torch.save(state, tmp_path / "resnet18.pth")
    model = resnet("resnet18", classes=1000)
    before = model.conv1.weight.clone()
    loaded = load_weights(model, tmp_path / "resnet18.pth").state_dict()
    assert all(torch.equal(loaded[name], value) for name, value in state.items())
    assert torch.equal(model.conv1.weight, before)


def test_a_final_layer_for_other_classes_and_missing_counters_keep_their_own_values(tmp_path):
    state = unsettled(small(classes=1000)).state_dict()
    old = {name: value for name, value in state.items() if not name.endswith("num_batches_tracked")}
    torch.save(old, tmp_path / "old.pth")
    model = small(classes=80)
    assert len(old) < len(state)
    loaded = load_weights(model, tmp_path / "old.pth").state_dict()
    for name, value in loaded.items():
        assert torch.equal(value, (model.state_dict() if name.startswith("fc.") else state)[name])


def saved(path: Path, change: str) -> Path:
    """Save a state dict with one fault."""
    state = dict(small(classes=80).state_dict())
    if change == "missing":
        del state["layer2.0.bn1.running_mean"]
    elif change == "shape":
        state["conv1.weight"] = state["conv1.weight"][:, :1].clone()
    elif change == "bias":
        state["fc.bias"] = torch.zeros(81)
    elif change == "features":
        state["fc.weight"] = torch.zeros(81, 256)
    elif change == "unknown":
        state["layer5.weight"] = torch.zeros(1)
    elif change == "not finite":
        state["bn1.weight"] = torch.tensor([1.0] * 63 + [float("nan")])
    elif change == "number":
        state["epoch"] = 3
    torch.save([1] if change == "list" else state, path)
    return path


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ("missing", "must have the model's tensors, layer2.0.bn1.running_mean is missing."),
        ("shape", r"conv1.weight\(shape=\(64, 1, 7, 7\)\) must have the model's shape \(64, 3, 7, 7\)."),
        ("bias", r"fc.bias\(shape=\(81,\)\) must have the model's shape \(80,\)."),
        ("features", r"fc.weight\(shape=\(81, 256\)\) must have the model's shape \(80, 512\)."),
        ("unknown", "must have the model's tensors only, layer5.weight is unknown."),
        ("not finite", "bn1.weight must hold finite numbers."),
        ("list", "must be a state dict: names and tensors, nothing else."),
        ("number", "must be a state dict: names and tensors, nothing else."),
    ],
)
def test_a_file_that_does_not_fit_is_one_error(tmp_path, change, rule):
    path = saved(tmp_path / "weights.pth", change)
    with pytest.raises(InputError, match=rf"^weights\(={path}\):? {rule}$"):
        load_weights(small(classes=80), path)


@pytest.mark.parametrize("content", [b"", b"no weights", b"PK\x03\x04 cut off", b"a stray text", b"J\x01"])
def test_a_file_that_is_no_state_dict_is_one_error(tmp_path, content):
    path = tmp_path / "weights.pth"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"must be a state dict that torch.save wrote\.$"):
        load_weights(nn.Linear(1, 1), path)


def test_a_missing_file_is_one_error(tmp_path):
    with pytest.raises(InputError, match=r"must be a readable file: No such file or directory\.$"):
        load_weights(nn.Linear(1, 1), tmp_path / "weights.pth")


def test_only_a_final_layer_for_another_number_of_classes_is_replaced():
    model = nn.Sequential(OrderedDict(first=nn.Linear(4, 8), last=nn.Linear(8, 3)))

    def stored(classes, features=8, biases=None):
        return {"last.weight": torch.zeros(classes, features), "last.bias": torch.zeros(biases or classes)}

    assert _replaced(model, stored(5)) == ("last.weight", "last.bias")
    for kept in (stored(3), stored(5, 7), stored(5, biases=4), {}, {"last.weight": torch.zeros(5, 8)}):
        assert _replaced(model, kept) == ()
    assert _replaced(model, {**stored(5), "last.weight": torch.zeros(40)}) == ()
    assert _replaced(nn.Sequential(nn.Conv2d(1, 1, 3)), stored(5)) == ()


def test_a_final_layer_without_biases_is_replaced_as_one_with_them():
    model = nn.Sequential(OrderedDict(first=nn.Linear(4, 8), last=nn.Linear(8, 3, bias=False)))
    other = torch.zeros(5, 8)

    assert _replaced(model, {"last.weight": other}) == ("last.weight",)
    assert _replaced(model, {"last.weight": other, "last.bias": torch.zeros(5)}) == ()
    assert _replaced(model, {"last.weight": torch.zeros(3, 8)}) == ()
    assert _replaced(model, {"last.weight": torch.zeros(5, 7)}) == ()

"""The documented layers of plain PyTorch load silosim's models and compute the same."""

from typing import Any

import pytest
import torch
from document_blocks import blocks


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    """The names of the example: `ours` and `plain`."""
    (example,) = [
        block
        for block in blocks("docs/howto/trainings.md")
        if block.language == "python" and "build_model" in block.text
    ]
    exec(compile(example.text, example.page, "exec"), names := {})
    return names


@pytest.mark.parametrize(
    ("model", "shape"), [("softmax", (3, 1, 8, 8)), ("cnn", (3, 1, 8, 8)), ("femnist_cnn", (3, 1, 28, 28))]
)
def test_plain_layers_load_a_kept_model_and_compute_the_same(models, tmp_path, model, shape):
    ours, plain = (models[name][model].eval() for name in ("ours", "plain"))
    images = torch.rand(shape, generator=torch.Generator().manual_seed(1))
    assert not torch.allclose(plain(images), ours(images))

    torch.save(ours.state_dict(), tmp_path / "ring-best.pt")
    plain.load_state_dict(torch.load(tmp_path / "ring-best.pt", weights_only=True), strict=True)
    torch.testing.assert_close(plain(images), ours(images))
    assert {type(layer).__module__.split(".")[0] for layer in plain.modules()} == {"torch"}


def test_the_models_are_those_of_the_tasks(models):
    sizes = {name: sum(p.numel() for p in model.parameters()) for name, model in models["ours"].items()}

    assert sizes == {
        "softmax": 650,
        "cnn": 21_546,
        "femnist_cnn": 1_206_590,
        "char_gru": 632_484,
        "bilstm": 2_311_170,
        "resnet18": 11_217_552,
    }

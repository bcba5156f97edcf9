"""The README's library examples run as printed."""

import contextlib
import io
import re
from pathlib import Path

import pytest
import torch

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def examples():
    """Source, output and names of each example."""
    found = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    printed = []
    for example in found:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(example, "README.md", "exec"), names := {})
        printed.append((example, out.getvalue(), names))
    return printed


def test_the_first_simulates(examples):
    assert "(201, 40)" in examples[0][1]


def test_the_second_shows_the_analysis(examples):
    example, out, _ = examples[1]
    bound_s, paper_s = map(float, out.splitlines()[0].split())

    assert 0 < bound_s <= paper_s
    assert " arcs, any one of which can be added" in out
    for name in ("arc_slack", "free_arcs", "sensitivities", "access_curve", "access_upgrades", "enrich"):
        assert f"{name}(" in example


@pytest.mark.parametrize(
    ("model", "shape"), [("softmax", (3, 1, 8, 8)), ("cnn", (3, 1, 8, 8)), ("femnist_cnn", (3, 1, 28, 28))]
)
def test_plain_layers_load_a_kept_model_and_compute_the_same(examples, tmp_path, model, shape):
    ours, plain = (examples[2][2][name][model].eval() for name in ("ours", "plain"))
    images = torch.rand(shape, generator=torch.Generator().manual_seed(1))
    assert not torch.allclose(plain(images), ours(images))

    torch.save(ours.state_dict(), tmp_path / "ring-best.pt")
    plain.load_state_dict(torch.load(tmp_path / "ring-best.pt", weights_only=True), strict=True)
    torch.testing.assert_close(plain(images), ours(images))
    assert {type(layer).__module__.split(".")[0] for layer in plain.modules()} == {"torch"}


def test_the_models_are_those_of_the_tasks(examples):
    sizes = {
        name: sum(p.numel() for p in model.parameters()) for name, model in examples[2][2]["ours"].items()
    }

    assert sizes == {
        "softmax": 650,
        "cnn": 21_546,
        "femnist_cnn": 1_206_590,
        "char_gru": 632_484,
        "bilstm": 2_311_170,
        "resnet18": 11_217_552,
    }

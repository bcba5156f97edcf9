"""The documented programs train as silosim does on the same data, and what they write is imported without options."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
import torch
from document_blocks import ROOT, blocks

import silosim

EXAMPLES = ROOT / "docs" / "examples"
PAGE = "docs/howto/other_trainers.md"
RECORDED = Path(__file__).parent / "flower_result.json"
"""What the documented app wrote with Flower 1.42."""
TRAINING = """
[training]
dataset = "npz_file"
data = "data.npz"
partition = "parts.csv"
model = "linear.py:linear"
initial_weights = "first.pt"
learning_rate = 0.1
batch_size = 60
rounds = 30
ranks = 1
target_accuracy = 0.75
"""
"""The programs' numbers. A batch is all samples of a silo."""
LINEAR = """
from torch import nn

def linear(input_shape, classes):
    return nn.Linear(input_shape[0], classes, bias=False)
"""
FLOAT32 = 1e-5
"""Programs and silosim compute in float32, in other orders; losses differed by 6e-7 at most."""


def environment(tmp_path):
    """Neither silosim nor what is reported home."""
    own = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_HOME": str(tmp_path / "flwr"), "RAY_USAGE_STATS_ENABLED": "0"}
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | own


def scenario_text():
    """The page's scenario."""
    (found,) = (block.text for block in blocks(PAGE) if block.notes.get("file") == "elsewhere.toml")
    return found


def with_examples(folder):
    """Copy the page's files into a folder."""
    for path in EXAMPLES.glob("*.py"):
        shutil.copy(path, folder)
    (folder / "elsewhere.toml").write_text(scenario_text(), "utf-8")
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return with_examples(tmp_path)


def run(folder, program, python=sys.executable):
    done = subprocess.run(
        [python, program], cwd=folder, env=environment(folder), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def trained_by_silosim(tmp_path_factory):
    """The file of a run on the programs' data, from their model."""
    folder = with_examples(tmp_path_factory.mktemp("silosim"))
    spec = spec_from_file_location("silo_data", EXAMPLES / "silo_data.py")
    data = module_from_spec(spec)
    spec.loader.exec_module(data)
    silos = [data.silo_data(silo) for silo in range(11)]
    x, y = (np.concatenate(part) for part in zip(*silos, strict=True))
    test_x, test_y = data.test_data()
    np.savez(folder / "data.npz", x_train=x, y_train=y, x_test=test_x, y_test=test_y)
    owners = np.repeat(range(11), [len(labels) for _, labels in silos])
    rows = "".join(f"{sample},{silo}\n" for sample, silo in enumerate(owners))
    (folder / "parts.csv").write_text("sample,silo\n" + rows, "utf-8")
    (folder / "linear.py").write_text(LINEAR, "utf-8")
    torch.save({"weight": torch.from_numpy(data.first_model())}, folder / "first.pt")
    (folder / "silosim.toml").write_text(scenario_text() + TRAINING, "utf-8")
    silosim.run(folder / "silosim.toml", folder / "silosim.h5")
    return folder / "silosim.h5"


def overlay_of(path, kind):
    (overlay,) = (overlay for overlay in silosim.open_run(path).overlays if overlay.kind == kind)
    return overlay


def imported(path, kind):
    (overlay,) = silosim.import_metrics(path, f"{kind}.h5", "elsewhere.toml", kinds=[kind]).overlays
    return overlay


@pytest.mark.slow
def test_the_loop_trains_as_silosim_does_on_the_ring(folder, trained_by_silosim):
    ring = overlay_of(trained_by_silosim, "ring")
    shutil.copy(trained_by_silosim, "overlays.h5")
    run(folder, "pytorch_loop.py")
    found = imported("metrics.csv", "ring")

    assert found.history["round"].tolist() == ring.history["round"].tolist() == [*range(31)]
    for name in ("train_loss", "test_loss", "silo_loss"):
        np.testing.assert_allclose(found.history[name], ring.history[name], rtol=FLOAT32)
    # One of 500 test samples may be so near to a boundary that rounding decides.
    np.testing.assert_allclose(found.history["test_accuracy"], ring.history["test_accuracy"], atol=1 / 500)
    # The times are those of silosim's own run: the same network, overlay and steps.
    np.testing.assert_array_equal(found.wall_clock_s, ring.wall_clock_s)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_federated_averaging_of_equal_silos_is_silosims_star(trained_by_silosim):
    star = overlay_of(trained_by_silosim, "star")
    found = imported(RECORDED, "star")

    assert found.history["round"].tolist() == [*range(31)]
    np.testing.assert_allclose(found.history["test_loss"], star.history["test_loss"], rtol=FLOAT32)
    np.testing.assert_allclose(found.history["test_accuracy"], star.history["test_accuracy"], atol=1 / 500)
    # Round 0 is the server's alone; clients measure their own models, each after its steps.
    assert np.isnan(found.history["train_loss"]).tolist() == [True] + [False] * 30
    np.testing.assert_array_equal(found.wall_clock_s, star.wall_clock_s)


def python_with_flower():
    """A Python that has Flower and Ray, or None."""
    apart = Path(sys.prefix) / "flower"
    if (apart / "installed").exists():
        return str(apart / "bin" / "python")
    return sys.executable if find_spec("flwr") and find_spec("ray") else None


@pytest.mark.slow
@pytest.mark.skipif(
    python_with_flower() is None, reason="Flower is not installed: make .venv/flower/installed"
)
def test_the_flower_app_writes_with_flower_what_is_recorded(folder):
    run(folder, "flower_app.py", python_with_flower())
    found, recorded = (json.loads(path.read_text("utf-8")) for path in (folder / "result.json", RECORDED))

    assert {part: len(rounds) for part, rounds in found.items()} == {
        "train_metrics_clientapp": 30,
        "evaluate_metrics_clientapp": 0,
        "evaluate_metrics_serverapp": 31,
    }
    for part, rounds in recorded.items():
        assert found[part].keys() == rounds.keys()
        for number, metrics in rounds.items():
            # Clients answer in any order, and the server adds in that order.
            assert found[part][number] == pytest.approx(metrics, rel=1e-12)

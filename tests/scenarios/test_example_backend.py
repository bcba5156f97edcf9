"""The documented example of a backend plugs in by one class and one entry point."""

import ast
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from scenarios.record import read_run
from training import MixingPlan, TrainingConfig, TrainingJob, load_backend
from training.batches import BatchStream
from training.datasets import load_dataset

EXAMPLE = Path(__file__).parents[2] / "docs" / "example_backend.py"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with the example, as pip would install it."""
    site = tmp_path / "site"
    info = site / "numpy_logistic-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "example_backend.py").write_bytes(EXAMPLE.read_bytes())
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy-logistic\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[silosim.training_backends]\nnumpy_logistic = example_backend:NumpyLogistic\n"
    )
    monkeypatch.syspath_prepend(site)
    yield
    sys.modules.pop("example_backend", None)


def with_example(text):
    return text.replace("[training]\n", '[training]\nbackend = "numpy_logistic"\n')


@pytest.mark.usefixtures("installed")
def test_a_scenario_runs_with_it(silosim, scenario, tmp_path):
    scenario.write_text(with_example(scenario.read_text()).replace("rounds = 12\n", "rounds = 60\n"))
    result = silosim("run", scenario, "-o", tmp_path / "run.h5")
    star, ring = read_run(tmp_path / "run.h5").overlays

    assert result.code == 0, result.err
    for overlay in (star, ring):
        history = overlay.history
        assert history["round"].tolist() == [*range(0, 61, 5)]
        assert history["train_loss"][0] == pytest.approx(np.log(10))
        assert history["train_loss"][-1] < 0.6
        assert history["test_accuracy"][-1] > 0.85
        assert history["consensus_distance"][0] == 0
    assert star.history["consensus_distance"][-1] < 1e-12
    assert ring.history["consensus_distance"][-1] > 1e-3
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["training/ring/silo_loss"].shape == (13, 11)


@pytest.mark.usefixtures("installed")
def test_one_silo_is_plain_sgd_with_autograds_gradient():
    config = TrainingConfig(model="softmax", partition="iid", rounds=5, batch_size=8, learning_rate=0.3)
    plan = MixingPlan.constant(np.ones((1, 1)), 5)
    job = TrainingJob(config=config, silos=1, local_steps=2, seed=7, mixing=plan)
    rows = list(load_backend("numpy_logistic").train(job))

    data = load_dataset("digits")
    x = torch.from_numpy(np.reshape(data.train_inputs, (len(data.train_labels), -1))).double()
    y = torch.from_numpy(data.train_labels)
    model = torch.nn.Linear(x.shape[1], 10, dtype=torch.float64)
    torch.nn.init.zeros_(model.weight)
    torch.nn.init.zeros_(model.bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    order = BatchStream(size=len(y), batch_size=8, seed=7, silo=0)
    losses = [torch.nn.functional.cross_entropy(model(x), y).item()]
    for step in range(10):
        batch = order.batch(step)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
        optimizer.step()
        if step % 2:
            losses.append(torch.nn.functional.cross_entropy(model(x), y).item())
    assert [row.round for row in rows] == [0, 1, 2, 3, 4, 5]
    assert [row.train_loss for row in rows] == pytest.approx(losses, rel=1e-12)
    assert [row.silo_loss[0] for row in rows] == [row.train_loss for row in rows]


@pytest.mark.usefixtures("installed")
def test_what_it_cannot_do_is_one_clear_error(silosim, scenario, tmp_path):
    scenario.write_text(with_example(scenario.read_text()).replace('"softmax"', '"cnn"'))
    result = silosim("run", scenario, "-o", tmp_path / "run.h5")

    assert result.code == 2
    assert "backend(=numpy_logistic) needs model = 'softmax' from zeros, the mean of silos" in result.err
    assert not list(tmp_path.glob("run.h5*"))


def test_without_its_package_the_names_that_are_there_are_listed(silosim, scenario, tmp_path):
    scenario.write_text(with_example(scenario.read_text()))
    result = silosim("run", scenario, "-o", tmp_path / "run.h5")

    assert result.code == 2
    assert "backend(='numpy_logistic') must be one of mpi" in result.err


def test_its_class_has_forty_lines_at_most():
    (example,) = (
        node for node in ast.parse(EXAMPLE.read_text("utf-8")).body if isinstance(node, ast.ClassDef)
    )
    assert example.end_lineno - example.lineno < 40


def test_without_its_package_the_error_says_what_is_missing(silosim, scenario, tmp_path):
    scenario.write_text(with_example(scenario.read_text()))
    result = silosim("run", scenario, "-o", tmp_path / "run.h5")

    assert result.code == 2
    assert (
        "backend(='numpy_logistic') must be one of mpi or another one, once its package is inst" in result.err
    )

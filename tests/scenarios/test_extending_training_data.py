"""The documented examples of a dataset reader and of a model plug in by one entry point each."""

import json
import os
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from scenarios.runfile.reader import read_run
from topologies import InputError
from training import TrainingConfig, load_dataset
from training.models import build_model, model_spec

EXAMPLES = Path(__file__).parents[2] / "docs" / "extending"
ENTRY_POINTS = """
[silosim.datasets]
csv = dataset:CsvDataset
broken = dataset:Path

[silosim.models]
mlp = model:mlp
images_only = model:IMAGES_ONLY
"""
MODEL_SPEC = """
from training import ModelSpec
IMAGES_ONLY = ModelSpec(build=mlp, reads=(("channels", "height", "width"),), vectorizes=False)
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with both examples, as pip would install it; the ranks of a training find it, too."""
    site = tmp_path / "site"
    info = site / "extending-1.0.dist-info"
    info.mkdir(parents=True)
    for name, more in (("dataset", ""), ("model", MODEL_SPEC)):
        (site / f"{name}.py").write_text((EXAMPLES / f"{name}.py").read_text("utf-8") + more, "utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: extending\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(site)
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    yield
    for name in ("dataset", "model"):
        sys.modules.pop(name, None)


@pytest.fixture
def measurements(tmp_path):
    """1,000 points in the plane, whose class is the sign of their first coordinate."""
    points = np.random.default_rng(0).normal(size=(1000, 2))
    path = tmp_path / "measurements.csv"
    rows = [f"{x};{int(x > 0)};{y}" for x, y in points.tolist()]
    path.write_text("\n".join(["x;side;y", *rows]))
    return path


def with_examples(text, data, options='{ label = "side", delimiter = ";" }'):
    return text.replace('model = "softmax"\n', 'model = "mlp"\n').replace(
        "[training]\n", f'[training]\ndataset = "csv"\ndata = "{data}"\ndataset_options = {options}\n'
    )


@pytest.mark.usefixtures("installed")
def test_a_scenario_trains_the_model_on_the_file(silosim, scenario, measurements, tmp_path):
    scenario.write_text(
        with_examples(scenario.read_text(), measurements).replace("rounds = 12", "rounds = 40")
    )
    result = silosim("run", scenario, "-o", tmp_path / "run.h5")

    assert result.code == 0, result.err
    for overlay in read_run(tmp_path / "run.h5").overlays:
        assert overlay.history["test_accuracy"][-1] > 0.9
    with h5py.File(tmp_path / "run.h5") as file:
        # Two layers: 2 inputs and a bias for 16 units, these and a bias for 2 classes, in single precision.
        assert file["workload"].attrs["model_bits"] == 32 * (3 * 16 + 17 * 2)


@pytest.mark.usefixtures("installed")
def test_a_partition_of_the_file(silosim, scenario, measurements):
    scenario.write_text(with_examples(scenario.read_text(), measurements))
    result = silosim("partition", scenario, "--json")

    assert result.code == 0, result.err
    # Every fifth sample of each class is held out.
    labels = np.loadtxt(measurements, delimiter=";", skiprows=1)[:, 1]
    held = sum(int((labels == side).sum()) // 5 for side in (0, 1))
    assert sum(silo["samples"] for silo in json.loads(result.out)["silos"]) == 1000 - held


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("{}", "dataset_options.label is missing: name of the column of labels."),
        ('{ label = "side", delimiter = 3 }', "dataset_options.delimiter(=3) must be a text."),
        (
            '{ label = "side", sep = ";" }',
            "option in dataset_options(='sep') must be one of delimiter, label",
        ),
    ],
)
def test_options_are_checked_before_anything_is_read(silosim, scenario, tmp_path, options, problem):
    scenario.write_text(with_examples(scenario.read_text(), tmp_path / "none.csv", options))
    result = silosim("run", scenario, "-o", tmp_path / "run.h5")

    assert result.code == 2
    assert result.err.startswith(f"silosim: error: {scenario}: training.{problem}")


@pytest.mark.usefixtures("installed")
def test_a_missing_file_is_bad_input(tmp_path):
    config = TrainingConfig(dataset="csv", data=str(tmp_path / "none.csv"), dataset_options={"label": "side"})
    with pytest.raises(InputError, match=r"^data\(='.*none\.csv'\) must be a CSV file\.$"):
        load_dataset(config.dataset, config.data_options)


@pytest.mark.usefixtures("installed")
def test_a_registered_object_that_reads_nothing_is_refused():
    with pytest.raises(
        InputError, match=r"^dataset\(='broken'\): its reader must have load, sample_shape and"
    ):
        TrainingConfig(dataset="broken")


def test_a_built_in_data_set_has_no_options():
    with pytest.raises(InputError, match=r"^dataset_options\(=.*\) must be empty for dataset digits\.$"):
        TrainingConfig(dataset_options={"label": "side"})


@pytest.mark.usefixtures("installed")
def test_a_model_may_say_what_it_reads():
    assert not model_spec("images_only").vectorizes
    with pytest.raises(InputError, match=r"samples of shape \(channels, height, width\), not \(1, 2\)"):
        build_model("images_only", input_shape=(1, 2), classes=2, seed=0)
    with pytest.raises(InputError, match=r"^executor\(=vmap\)"):
        TrainingConfig(model="images_only", executor="vmap")


def test_without_their_package_the_names_that_are_there_are_listed():
    with pytest.raises(InputError, match=r"^dataset\(='csv'\) must be one of digits, fashion_mnist,"):
        TrainingConfig(dataset="csv")
    with pytest.raises(InputError, match=r"^model\(='mlp'\) must be one of bilstm, char_gru, cnn,"):
        TrainingConfig(model="mlp")


@pytest.mark.parametrize("name", ["dataset", "model"])
def test_the_examples_are_short(name):
    assert len((EXAMPLES / f"{name}.py").read_text("utf-8").splitlines()) < 40

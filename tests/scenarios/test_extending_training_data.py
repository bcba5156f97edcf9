"""The documented examples of a dataset reader and of a model plug in by one entry point each."""

import json
import os
from pathlib import Path

import h5py
import numpy as np
import pytest

from scenarios.runfile.reader import read_run
from topologies import InputError, MachineError
from training import DataOptions, TrainingConfig, dataset_reader, load_dataset
from training.models import MODELS, build_model, model_spec

EXAMPLES = Path(__file__).parents[2] / "docs" / "extending"
ENTRY_POINTS = """
[silosim.datasets]
csv = dataset:CsvDataset
broken = dataset:Path
no_class = dataset:np
lost = dataset:NoSuchReader
digits = dataset:NoSuchReader
unreadable = dataset:Unreadable
choices = dataset:Choices
listed = dataset:Listed
strict = dataset:Strict
unknown = dataset:Unknown

[silosim.models]
mlp = model:mlp
images_only = model:IMAGES_ONLY
no_model = model:NO_MODEL
lost = model:no_such_model
softmax = model:no_such_model
"""
READERS = """
from typing import Literal

class Unreadable:
    def load(self, options):
        raise FileNotFoundError(2, "No such file", options.data)
    sample_shape = load
    def count_classes(self, options):
        raise OSError("index is cut short")

@dataclass(frozen=True, kw_only=True)
class Choices(Unreadable):
    columns: int | None = None
    scale: Literal["none", "unit"] = "none"
    fill: Literal["mean"] | float = 0.0

@dataclass(frozen=True, kw_only=True)
class Listed(Unreadable):
    names: list[str] = ()

@dataclass(frozen=True, kw_only=True)
class Unknown(Unreadable):
    names: "NoSuchType" = ()

@dataclass(frozen=True, kw_only=True)
class Strict(Unreadable):
    share: float = 0.5
    def __post_init__(self):
        1 / self.share
"""
MODEL_SPEC = """
from training import ModelSpec
NO_MODEL = 3
IMAGES_ONLY = ModelSpec(build=mlp, reads=(("channels", "height", "width"),), vectorizes=False)
"""


@pytest.fixture
def installed(install_package, monkeypatch):
    """A package with both examples, as pip would install it; the ranks of a training find it, too."""
    modules = {
        name: (EXAMPLES / f"{name}.py").read_text("utf-8") + more
        for name, more in (("dataset", READERS), ("model", MODEL_SPEC))
    }
    site = install_package("extending", ENTRY_POINTS, modules)
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


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


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (
            {"dataset": "no_class"},
            InputError,
            r"^dataset\(='no_class'\): its reader must be a class, not <module",
        ),
        ({"model": "no_model"}, InputError, r"^model\(='no_model'\): .* a ModelSpec or a function, not 3\.$"),
        (
            {"dataset": "lost"},
            MachineError,
            r"^the dataset lost \(dataset:NoSuchReader\) cannot be imported: AttributeError: ",
        ),
        (
            {"model": "lost"},
            MachineError,
            r"^the model lost \(model:no_such_model\) cannot be imported: Attribute",
        ),
    ],
)
def test_an_entry_point_that_cannot_be_used_is_named(settings, error, message):
    with pytest.raises(error, match=message):
        TrainingConfig(**settings)


@pytest.mark.usefixtures("installed")
def test_names_of_silosim_stay_its_own():
    config = TrainingConfig(dataset="digits", model="softmax")

    assert model_spec(config.model) is MODELS["softmax"]
    assert dataset_reader(config.dataset).sample_shape(config.data_options) == (1, 8, 8)


@pytest.mark.usefixtures("installed")
def test_a_name_of_two_packages_is_an_error_where_it_is_asked_for(install_package):
    install_package("other", "[silosim.datasets]\ncsv = other:CsvDataset\n")

    TrainingConfig(dataset="choices")
    with pytest.raises(
        InputError,
        match=r"^the dataset csv is registered more than once in silosim\.datasets: "
        r"dataset:CsvDataset, other:CsvDataset\.$",
    ):
        TrainingConfig(dataset="csv")


@pytest.mark.usefixtures("installed")
def test_what_a_reader_cannot_read_is_bad_input_in_each_of_its_methods():
    reader, options = dataset_reader("unreadable"), DataOptions(data="none.csv")

    for method in (reader.load, reader.sample_shape):
        with pytest.raises(InputError, match=r"^file\(='none\.csv'\) cannot be read: No such file\.$"):
            method(options)
    with pytest.raises(InputError, match=r"^data cannot be read: index is cut short\.$"):
        reader.count_classes(options)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "given", [{}, {"columns": 3}, {"scale": "unit"}, {"fill": "mean"}, {"fill": 1.5}, {"fill": 2}]
)
def test_options_of_several_types_are_accepted(given):
    assert TrainingConfig(dataset="choices", dataset_options=given).dataset_options == given


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("dataset", "given", "message"),
    [
        ("choices", {"columns": "3"}, r"^dataset_options\.columns\(='3'\) must be an integer\.$"),
        ("choices", {"columns": True}, r"^dataset_options\.columns\(=True\) must be an integer\.$"),
        ("choices", {"scale": "un"}, r"^dataset_options\.scale\(='un'\) must be one of 'none', 'unit'\.$"),
        ("choices", {"fill": "m"}, r"^dataset_options\.fill\(='m'\) must be 'mean' or a number\.$"),
        (
            "listed",
            {},
            r"^dataset_options: Listed\.names must be declared as bool, float, int, str or Literal, not list\[str\]",
        ),
        (
            "unknown",
            {},
            "^dataset_options: the types of Unknown cannot be read: NameError: name 'NoSuchType' is not defined",
        ),
        (
            "strict",
            {"share": 0.0},
            r"^dataset_options\(=\{'share': 0\.0\}\): Strict cannot be made: ZeroDivisionError: ",
        ),
    ],
)
def test_wrong_options_and_wrong_declarations_are_named(dataset, given, message):
    with pytest.raises(InputError, match=message):
        TrainingConfig(dataset=dataset, dataset_options=given)


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
    with pytest.raises(
        InputError, match=r"^dataset\(='csv'\) must be one of csv_file, digits, fashion_mnist,"
    ):
        TrainingConfig(dataset="csv")
    with pytest.raises(InputError, match=r"^model\(='mlp'\) must be one of bilstm, char_gru, cnn,"):
        TrainingConfig(model="mlp")


@pytest.mark.parametrize("name", ["dataset", "model"])
def test_the_examples_are_short(name):
    assert len((EXAMPLES / f"{name}.py").read_text("utf-8").splitlines()) < 40

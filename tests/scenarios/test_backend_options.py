"""Options of training backends: what the documented example makes of its own, and what is said of wrong ones."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from scenarios.config.study import parse_study
from scenarios.runfile.reader import read_run
from scenarios.studies.study import study_points
from scenarios.studies.study_points import compute_points
from topologies.errors import InputError, MachineError
from training import BatchStream, MixingPlan, TrainingConfig, TrainingJob, load_backend, load_dataset
from training.checkpoints.fingerprint import check_same, fingerprint

EXAMPLE = Path(__file__).parents[2] / "docs" / "extending" / "training_backend.py"
ENTRY_POINTS = """[silosim.training_backends]
numpy_logistic = training_backend:NumpyLogistic
telling = telling:Telling
broken = telling:Broken
listed = telling:Listed
"""
TELLING = """
from dataclasses import dataclass, field
from training import HistoryRow
from topologies import InputError

@dataclass
class Telling:
    megabits: float = field(metadata={"help": "size of a message"})
    limit: int | None = None

    def check(self, config):
        if self.limit is not None and config.rounds > self.limit:
            raise InputError(f"rounds(={config.rounds}) must be <= {self.limit}.")

    def message_bits(self, config):
        return 1e6 * self.megabits

    def train(self, job):
        told = dict.fromkeys(("train_loss", "train_accuracy", "test_loss", "test_accuracy"), self.megabits)
        for k in (0, job.config.rounds):
            yield HistoryRow(round=k, **told, consensus_distance=0.0, silo_loss=(self.megabits,) * job.silos)

@dataclass
class Broken(Telling):
    megabits: float = 1.0
    def __post_init__(self):
        1 / 0

@dataclass
class Listed(Telling):
    megabits: list[float] = field(default_factory=list)
"""


@pytest.fixture(autouse=True)
def installed(install_package):
    """A package with the example and backends that tell what they got."""
    modules = {"training_backend": EXAMPLE.read_text("utf-8"), "telling": TELLING}
    return install_package("numpy-logistic", ENTRY_POINTS, modules)


def asking(scenario, backend, options):
    """The scenario with a backend, and lines of its table of options."""
    text = scenario.read_text().replace("[training]\n", f'[training]\nbackend = "{backend}"\n')
    scenario.write_text(f"{text}\n[training.backend_options]\n{options}\n")
    return scenario


@pytest.mark.parametrize(
    ("options", "size"),
    # 64 pixels and the bias, ten classes.
    [
        ("", "41.6 kbit"),
        ('sent_as = "float32"', "20.8 kbit"),
        ("bias = false", "40.96 kbit"),
        ('sent_as = "float32"\nbias = false', "20.48 kbit"),
    ],
)
def test_messages_are_as_large_as_the_options_say(silosim, scenario, options, size):
    done = silosim("simulate", asking(scenario, "numpy_logistic", options), "--rounds", 30, "--json").ok()
    assert f"trained model: {size}," in json.loads(done.out)["caption"]


@pytest.mark.usefixtures("placeholder_figures")
def test_a_run_trains_with_the_options_and_is_replayed_without_the_backend(
    silosim, scenario, tmp_path, installed
):
    asking(scenario, "numpy_logistic", 'sent_as = "float32"\nbias = false')
    silosim("run", scenario, "-o", tmp_path / "run.h5").ok()
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["workload"].attrs["model_bits"] == 32 * 64 * 10
    star, ring = read_run(tmp_path / "run.h5").overlays
    assert star.history["test_accuracy"][-1] > 0.5
    assert ring.history["train_loss"][-1] < ring.history["train_loss"][0] == pytest.approx(np.log(10))

    sys.path.remove(str(installed))
    sys.modules.pop("training_backend")
    replayed = silosim("replay", tmp_path / "run.h5", "--access", "1 Gbps", "-o", tmp_path / "again.h5")
    assert "trained model: 20.48 kbit," in replayed.ok().out


def rows_of(options, *, silos=1, rounds=5):
    config = TrainingConfig(model="softmax", partition="iid", rounds=rounds, batch_size=8, learning_rate=0.3)
    plan = MixingPlan.constant(np.full((silos, silos), 1 / silos), rounds)
    job = TrainingJob(config=config, silos=silos, local_steps=1, seed=7, mixing=plan)
    return [*load_backend("numpy_logistic", options).train(job)]


def test_without_a_bias_it_is_plain_sgd_of_weights_alone():
    data = load_dataset("digits")
    x = torch.from_numpy(np.reshape(data.train_inputs, (len(data.train_labels), -1))).double()
    y = torch.from_numpy(data.train_labels)
    model = torch.nn.Linear(x.shape[1], 10, bias=False, dtype=torch.float64)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    order = BatchStream(size=len(y), batch_size=8, seed=7, silo=0)
    losses = [torch.nn.functional.cross_entropy(model(x), y).item()]
    for step in range(5):
        batch = order.batch(step)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
        optimizer.step()
        losses.append(torch.nn.functional.cross_entropy(model(x), y).item())

    assert [row.train_loss for row in rows_of({"bias": False})] == pytest.approx(losses, rel=1e-12)
    assert rows_of({"bias": True})[-1].train_loss != pytest.approx(losses[-1], rel=1e-6)


def test_numbers_of_single_precision_are_rounded_on_their_way():
    # Rounding moves a number by 2^-24 of itself at most, in each of three rounds.
    whole, rounded = (rows_of({"sent_as": sent}, silos=2, rounds=3)[-1] for sent in ("float64", "float32"))
    assert rounded.train_loss != whole.train_loss
    assert rounded.train_loss == pytest.approx(whole.train_loss, rel=1e-6)


def test_values_reach_check_message_bits_and_train(silosim, scenario, tmp_path):
    asking(scenario, "telling", "megabits = 2.5\nlimit = 12")
    silosim("run", scenario, "-o", tmp_path / "run.h5").ok()
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["workload"].attrs["model_bits"] == 2.5e6
        assert file["training/star/train_loss"][:].tolist()[0] == 2.5

    scenario.write_text(scenario.read_text().replace("limit = 12", "limit = 11"))
    refused = silosim("run", scenario, "-o", tmp_path / "second.h5").failed(2)
    assert "rounds(=12) must be <= 11." in refused.err
    assert not list(tmp_path.glob("second*"))


@pytest.mark.parametrize("command", ["run", "simulate", "design"])
@pytest.mark.parametrize(
    ("backend", "options", "problem"),
    [
        (
            "numpy_logistic",
            'sent_a = "float32"',
            "option in backend_options(='sent_a') must be one of bias, sent_as (did you mean 'sent_as'?).",
        ),
        ("numpy_logistic", 'bias = "no"', "backend_options.bias(='no') must be true or false."),
        (
            "numpy_logistic",
            'sent_as = "float16"',
            "backend_options.sent_as(='float16') must be one of 'float64', 'float32'.",
        ),
        ("telling", "", "backend_options.megabits is missing: size of a message."),
        ("telling", "megabits = true", "backend_options.megabits(=True) must be a number."),
        (
            "mpi",
            "bias = true",
            "option in backend_options(='bias') must be left out: backend mpi has no options.",
        ),
        (
            "listed",
            "",
            "backend_options: Listed.megabits must be declared as bool, float, int, str or Literal, not list[float].",
        ),
    ],
)
def test_a_wrong_option_is_one_line_before_anything_is_done(
    silosim, scenario, tmp_path, command, backend, options, problem
):
    output = ("-o", tmp_path / "run.h5") if command == "run" else ()
    refused = silosim(command, asking(scenario, backend, options), *output).failed(2)
    assert refused.err == f"silosim: error: {scenario}: training.{problem}\n"
    assert not list(tmp_path.glob("run.h5*"))


@pytest.mark.parametrize("value", ["3", "{ bias = [true] }"])
def test_options_are_a_table_of_plain_values(silosim, scenario, value):
    scenario.write_text(
        scenario.read_text().replace("[training]\n", f"[training]\nbackend_options = {value}\n")
    )
    refused = silosim("simulate", scenario).failed(2)
    assert refused.err.startswith(f"silosim: error: {scenario}: training.backend_options")
    assert refused.err.count("\n") == 1


def test_from_python_options_are_a_table_and_belong_to_the_backend():
    with pytest.raises(InputError, match=r"^backend_options\(=3\) must be a table\.$"):
        TrainingConfig(backend_options=3)
    with pytest.raises(
        InputError, match=r"^option in backend_options\(='bias'\) must be left out: backend mpi"
    ):
        load_backend("mpi", {"bias": True})
    assert load_backend("numpy_logistic").sent_as == "float64"
    assert load_backend("numpy_logistic", {"sent_as": "float32"}).sent_as == "float32"


def test_what_a_constructor_raises_is_about_its_options_if_there_are_some():
    with pytest.raises(
        MachineError, match=r"^the training backend broken .* cannot be used: ZeroDivisionError"
    ):
        load_backend("broken")
    with pytest.raises(
        InputError, match=r"^backend_options\(=\{'megabits': 2\}\): Broken cannot be made: Zero"
    ):
        load_backend("broken", {"megabits": 2})


def test_a_checkpoint_is_of_its_options_and_older_ones_have_none():
    config = TrainingConfig(model="softmax", rounds=3, backend="numpy_logistic")
    job = TrainingJob(
        config=config, silos=1, local_steps=1, seed=7, mixing=MixingPlan.constant(np.ones((1, 1)), 3)
    )
    own = fingerprint(job, rounds=2)
    older = {name: value for name, value in own.items() if name != "backend_options"}
    other = fingerprint(replace(job, config=replace(config, backend_options={"bias": False})), rounds=2)

    check_same(older, own, checkpoint="x")
    for stored in (own, older):
        with pytest.raises(InputError) as caught:
            check_same(stored, other, checkpoint="x")
        assert str(caught.value) == "backend_options(={'bias': False}) must be {} as in the checkpoint x."


STUDY = """
[network]
underlay = "gaia"
access = "100 Mbps"
[workload]
compute = "10 ms"
[overlays]
kinds = ["star", "stl_fw"]
[training]
backend = "numpy_logistic"
model = "softmax"
[study.grid]
"""


def points_of(grid, folder):
    return study_points(parse_study(STUDY + grid, source="study.toml", folder=folder))


def test_a_study_varies_options_and_so_the_size_of_messages(tmp_path):
    points = points_of("training.backend_options.sent_as = ['float64', 'float32']", tmp_path)
    results = [result.rows[0] for result in compute_points(points, simulate=False, compiled=False)]
    assert [row["training_backend_options_sent_as"] for row in results] == ["float64", "float32"]
    assert [row["error"] for row in results] == ["", ""]
    # All but the bits is the same: cycle time = a + b bits, by any form; here a is what is left without bits.
    (_, double), (_, single) = ((row, row["paper_s"]) for row in results)
    latency = 2 * single - double
    sized = compute_points(
        points_of("workload.model_size = ['83.2 kbit']", tmp_path), simulate=False, compiled=False
    )
    (third,) = (result.rows[0]["paper_s"] for result in sized)
    assert third == pytest.approx(latency + 4 * (single - latency), rel=1e-12)
    assert double > single


@pytest.mark.parametrize(
    ("grid", "problem"),
    [
        (
            "training.backend_options.sent_as = ['float64', 'float16']",
            "training.backend_options.sent_as(='float16') must be one of 'float64', 'float32'.",
        ),
        (
            "training.backend_options.biass = [true]",
            "training.option in backend_options(='biass') must be one of bias, sent_as (did you mean 'bias'?).",
        ),
    ],
)
def test_a_study_with_a_wrong_option_ends_before_a_point_is_computed(silosim, tmp_path, grid, problem):
    file = tmp_path / "study.toml"
    file.write_text(STUDY + grid)
    refused = silosim("study", file, "-o", tmp_path / "table.csv", "--workers", 1).failed(2)
    assert refused.err == f"silosim: error: {file}: {problem}\n"
    assert not (tmp_path / "table.csv").exists()

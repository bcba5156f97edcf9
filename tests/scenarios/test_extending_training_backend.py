"""The documented example of a backend plugs in by one class and one entry point."""

import ast
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from scenarios.runfile.reader import read_run
from topologies import state_of
from topologies.errors import InputError, MachineError, quoted
from training import (
    BatchStream,
    MixingPlan,
    TrainingConfig,
    TrainingJob,
    check_mixing,
    load_backend,
    load_dataset,
)

EXAMPLE = Path(__file__).parents[2] / "docs" / "extending" / "training_backend.py"


SIZE = re.compile(r"    def message_bits.*?\n\n", re.DOTALL)
"""What the example says of its messages."""


@pytest.fixture
def installed(install_package):
    """A package with the example, as pip would install it."""
    install_example(install_package, EXAMPLE.read_text("utf-8"))


@pytest.fixture
def install_saying(install_package):
    """Install the example with something else in place of what it says of its messages."""
    return lambda said: install_example(install_package, SIZE.sub(said, EXAMPLE.read_text("utf-8")))


def install_example(install_package, text):
    entry_points = "[silosim.training_backends]\nnumpy_logistic = training_backend:NumpyLogistic\n"
    return install_package("numpy-logistic", entry_points, {"training_backend": text})


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
        # 8 x 8 pixels and a constant, ten classes, double precision.
        assert file["workload"].attrs["model_bits"] == 64 * 65 * 10


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
@pytest.mark.parametrize("lag", [1, 3])
def test_it_is_not_asked_for_models_of_earlier_rounds(lag):
    states = [state_of([0, 1], [1, 0], [0.5, 0.5], [lag, 1])]
    config = TrainingConfig(model="softmax", rounds=5, backend="numpy_logistic")
    mixing = MixingPlan.periodic(states, silos=2, rounds=5)
    job = TrainingJob(config=config, silos=2, local_steps=1, seed=7, mixing=mixing)
    check_mixing(replace(job, config=replace(config, backend="mpi")))
    if lag == 1:
        check_mixing(job)
        return
    with pytest.raises(InputError) as caught:
        check_mixing(job)
    assert str(caught.value) == (
        "backend(='numpy_logistic') must mix models of earlier rounds: there are lags of up to 3."
    )


@pytest.mark.usefixtures("installed")
def test_it_is_not_asked_to_mix_without_local_steps():
    states = [state_of([0, 1], [1, 0], [0.5, 0.5]), state_of([0], [1], [1.0], computes=False)]
    config = TrainingConfig(model="softmax", rounds=5, backend="numpy_logistic")
    mixing = MixingPlan.periodic(states, silos=2, rounds=5)
    job = TrainingJob(config=config, silos=2, local_steps=1, seed=7, mixing=mixing)
    check_mixing(replace(job, config=replace(config, backend="mpi")))
    with pytest.raises(InputError) as caught:
        check_mixing(job)
    assert str(caught.value) == (
        "backend(='numpy_logistic') must mix without local steps: there are states in which silos do not compute."
    )


def uneven_job():
    """Nobody takes part in the first round, one of two silos with two steps in the second."""
    config = TrainingConfig(model="softmax", rounds=2, backend="numpy_logistic", learning_rate=0.5)
    mixing = MixingPlan.constant(np.eye(2), 2)
    taking_part = np.array([[False, False], [True, False]])
    return TrainingJob(config=config, silos=2, local_steps=2, seed=7, mixing=mixing, taking_part=taking_part)


@pytest.mark.usefixtures("installed")
def test_it_makes_the_steps_of_each_silo():
    check_mixing(uneven_job())
    rows = list(load_backend("numpy_logistic").train(uneven_job()))
    assert rows[1].silo_loss == pytest.approx([np.log(10)] * 2)
    assert rows[2].silo_loss[0] < 0.95 * np.log(10)
    assert rows[2].silo_loss[1] == pytest.approx(np.log(10))


def test_a_backend_that_does_not_say_so_is_not_asked_for_uneven_steps(install_package):
    install_example(install_package, EXAMPLE.read_text("utf-8").replace("    steps_by_silo = True\n", ""))
    check_mixing(replace(uneven_job(), taking_part=None))
    with pytest.raises(InputError) as caught:
        check_mixing(uneven_job())
    assert str(caught.value) == (
        "backend(='numpy_logistic') must make local steps by silo: workload has local_steps_at or participation."
    )


@pytest.mark.usefixtures("installed")
def test_what_it_cannot_do_is_one_clear_error(silosim, scenario, tmp_path):
    scenario.write_text(with_example(scenario.read_text()).replace('"softmax"', '"cnn"'))
    result = silosim("run", scenario, "-o", tmp_path / "run.h5")

    assert result.code == 2
    assert "backend(=numpy_logistic) needs model = 'softmax' from zeros, the mean of silos" in result.err
    assert not list(tmp_path.glob("run.h5*"))


def commands(scenario, tmp_path):
    """Every command that takes its workload from a training."""
    (tmp_path / "m.csv").write_text("round,loss\n0,2\n5,1\n")
    return {
        "simulate": ("simulate", scenario, "--rounds", 30, "--json"),
        "validate": ("validate", scenario, "--rounds", 100, "--json"),
        "import-metrics": (
            "import-metrics",
            tmp_path / "m.csv",
            "--on",
            scenario,
            "-o",
            tmp_path / "m.h5",
            "--json",
        ),
        "run": ("run", scenario, "-o", tmp_path / "run.h5", "--json"),
    }


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("command", ["simulate", "validate", "import-metrics", "run"])
def test_its_messages_are_as_large_as_it_says_unless_the_scenario_does(silosim, scenario, tmp_path, command):
    text = with_example(scenario.read_text())
    scenario.write_text(text)
    done = silosim(*commands(scenario, tmp_path)[command])
    assert done.code == 0, done.err
    assert "trained model: 41.6 kbit," in json.loads(done.out)["caption"]

    scenario.write_text(text.replace("[workload]\n", '[workload]\nmodel_size = "3 Mbit"\n'))
    for file in tmp_path.glob("*.h5"):
        file.unlink()
    done = silosim(*commands(scenario, tmp_path)[command]).ok()
    assert "custom: 3 Mbit," in json.loads(done.out)["caption"]


@pytest.mark.slow
@pytest.mark.parametrize("said", ["", "    def message_bits(self, config):\n        return None\n\n"])
@pytest.mark.parametrize("command", ["simulate", "validate", "import-metrics", "run"])
def test_of_one_that_does_not_say_it_the_scenario_must(
    silosim, scenario, tmp_path, install_saying, command, said
):
    install_saying(said)
    text = with_example(scenario.read_text())
    scenario.write_text(text)
    refused = silosim(*commands(scenario, tmp_path)[command])
    assert refused.code == 2
    assert refused.err.startswith(f"silosim: error: {scenario}: workload.model_size must be given")
    assert "training.backend(='numpy_logistic')" in refused.err
    assert refused.err.count("\n") == 1
    assert not list(tmp_path.glob("*.h5*"))

    for stated, about in (
        ('model_size = "3 Mbit"', "custom: 3 Mbit,"),
        ('preset = "femnist"', "custom, model of femnist: 38.62 Mbit,"),
    ):
        scenario.write_text(text.replace("[workload]\n", f"[workload]\n{stated}\n"))
        done = silosim(*commands(scenario, tmp_path)[command])
        assert done.code == 0, done.err
        assert about in json.loads(done.out)["caption"]
        for file in tmp_path.glob("*.h5"):
            file.unlink()


@pytest.mark.parametrize("said", ["0", "-1", "float('nan')", "float('inf')", "10**309", "'50 MB'", "True"])
def test_no_number_of_bits_is_one_line(silosim, scenario, install_saying, said):
    install_saying(f"    def message_bits(self, config):\n        return {said}\n\n")
    scenario.write_text(with_example(scenario.read_text()))
    refused = silosim("simulate", scenario)
    assert refused.code == 2
    value = {"float('nan')": "nan", "float('inf')": "inf", "10**309": quoted(10**309)}.get(said, said)
    assert refused.err == (
        f"silosim: error: {scenario}: backend(='numpy_logistic'): message_bits(={value}) must be a finite number of "
        "bits > 0.\n"
    )


@pytest.mark.usefixtures("placeholder_figures")
def test_a_run_is_replayed_without_the_backend_that_made_it(silosim, scenario, tmp_path, install_package):
    scenario.write_text(with_example(scenario.read_text()))
    site = install_example(install_package, EXAMPLE.read_text("utf-8"))
    silosim("run", scenario, "-o", tmp_path / "run.h5").ok()
    sys.path.remove(str(site))
    sys.modules.pop("training_backend")
    with pytest.raises(InputError, match="must be mpi, or the name of a backend"):
        load_backend("numpy_logistic")
    replayed = silosim("replay", tmp_path / "run.h5", "--access", "1 Gbps", "-o", tmp_path / "again.h5")
    assert replayed.code == 0, replayed.err
    assert "trained model: 41.6 kbit," in replayed.out


def test_without_its_package_the_names_that_are_there_are_listed(silosim, scenario, tmp_path):
    scenario.write_text(with_example(scenario.read_text()))
    result = silosim("run", scenario, "-o", tmp_path / "run.h5")

    assert result.code == 2
    assert "backend(='numpy_logistic') must be mpi, or" in result.err


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("place", "error", "message"),
    [
        (
            "training_backend:NoSuchBackend",
            MachineError,
            r"^the training backend mine \(.*NoSuchBackend\) cannot be imported: AttributeError: ",
        ),
        ("training_backend:np", InputError, r"^the training backend mine \(.*np\) must be a class\.$"),
        (
            "pathlib:Path",
            InputError,
            r"^the training backend mine \(pathlib:Path\) must have check and train\.$",
        ),
        ("fractions:Decimal.from_float", InputError, r"^the training backend mine .* must be a class\.$"),
    ],
)
def test_an_entry_point_that_is_no_backend_is_named(install_package, place, error, message):
    register(install_package, f"mine = {place}")
    with pytest.raises(error, match=message):
        load_backend("mine")


@pytest.mark.usefixtures("installed")
def test_the_backend_of_silosim_stays_its_own(install_package):
    register(install_package, "mpi = training_backend:NumpyLogistic")
    assert type(load_backend("mpi")).__name__ == "MpiBackend"


@pytest.mark.usefixtures("installed")
def test_a_name_of_two_packages_is_an_error_where_it_is_asked_for(install_package):
    register(install_package, "numpy_logistic = other:Backend")
    with pytest.raises(
        InputError,
        match=r"^the training backend numpy_logistic is registered more than once in silosim\.training_backends: ",
    ):
        load_backend("numpy_logistic")


def register(install_package, entry):
    """Let the entry point of another package be found."""
    install_package("other", f"[silosim.training_backends]\n{entry}\n")


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
        "training.backend(='numpy_logistic') must be mpi, or the name of a backend whose package is installed"
        in result.err
    )

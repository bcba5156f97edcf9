"""A scenario that names code, data and a partition of the user's own: found beside it, run only where it must be."""

import json
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from scenarios.config.scenario import load_scenario
from scenarios.config.training_files import training_beside
from scenarios.runfile.reader import read_run
from training import TrainingConfig
from training.own_code import load_callable

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
from own_parts import own_file

SCENARIO = """
[network]
underlay = "gaia"
access = "100 Mbps"

[workload]
compute = "10 ms"

[overlays]
kinds = ["ring"]

[simulation]
rounds = 20

[training]
ranks = 1
executor = "loop"
model = "own.py:Net"
loss = "own:smoothed"
dataset = "own.py:load"
dataset_options = { samples = 44 }
partition = "parts.csv"
rounds = 4
log_every = 2
batch_size = 4
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A scenario in a folder with its files, while the command is given elsewhere."""
    folder = tmp_path / "study"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    own_file(folder)
    (folder / "parts.csv").write_text("sample,silo\n" + "".join(f"{n},{n % 11}\n" for n in range(44)))
    path = folder / "study.toml"
    path.write_text(SCENARIO)
    return path


def histories(path):
    return [overlay.history for overlay in read_run(Path(path)).overlays]


def test_files_are_found_beside_the_scenario(study):
    training = load_scenario(study)[0].training
    folder = study.parent
    assert (training.model, training.loss) == (f"{folder}/own.py:Net", f"{folder}/own.py:smoothed")
    assert (training.dataset, training.partition) == (f"{folder}/own.py:load", f"{folder}/parts.csv")


def test_files_of_the_working_directory_go_first_and_modules_stay_what_they_are(tmp_path, monkeypatch):
    (tmp_path / "study").mkdir()
    for folder in (tmp_path, tmp_path / "study"):
        own_file(folder)
    monkeypatch.chdir(tmp_path)
    given = TrainingConfig(model="own:Net", loss="torch.nn.functional:cross_entropy", partition="none.csv")
    assert training_beside(tmp_path / "study", given) == given
    (tmp_path / "study" / "lab").mkdir()
    own_file(tmp_path / "study" / "lab", name="nets.py")
    found = training_beside(tmp_path / "study", TrainingConfig(model="lab.nets:Net"))
    assert found.model == f"{tmp_path}/study/lab/nets.py:Net"


@pytest.mark.slow
def test_a_run_trains_it_and_takes_seconds(silosim, study):
    study.write_text(SCENARIO + "keep_models = true\n")
    silosim("run", study, "-o", "run.h5").ok()
    model = load_callable(f"{study.parent}/own.py:Net", field="model")((1, 4, 4), 2)
    model.load_state_dict(torch.load("run.models/ring-last.pt"))
    assert model.second.weight is model.first.weight
    with h5py.File("run.h5") as file:
        assert file["workload"].attrs["model_bits"] == 32 * 59
    assert histories("run.h5")[0]["round"].tolist() == [0, 2, 4]
    # Nothing of it is needed, or run, by what shows or replays the run.
    (study.parent / "own.py").write_text("raise SystemExit(5)\n")
    silosim("show", "run.h5").ok()
    silosim("replay", "run.h5", "--access", "1 Gbps", "-o", "replayed.h5").ok()
    (study.parent / "own.py").unlink()
    silosim("replay", "run.h5", "--access", "1 Gbps", "-o", "again.h5").ok()
    assert histories("again.h5")[0]["test_loss"].tolist() == histories("run.h5")[0]["test_loss"].tolist()


@pytest.mark.slow
def test_two_mpi_ranks_have_the_history_of_one(silosim, study):
    silosim("run", study, "-o", "one.h5").ok()
    study.write_text(SCENARIO.replace("ranks = 1", "ranks = 2"))
    silosim("run", study, "-o", "two.h5").ok()
    for one, two in zip(histories("one.h5"), histories("two.h5"), strict=True):
        for name in one:
            assert np.array_equal(one[name], two[name]), name


LATE = """

class Late(Net):
    def forward(self, images):
        if self.training and len(images) > 2:
            raise ValueError("too late")
        return super().forward(images)
"""


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_failure_on_a_rank_starts_with_the_users_last_line(silosim, study, ranks):
    path = own_file(study.parent, LATE)
    study.write_text(SCENARIO.replace("own.py:Net", "own.py:Late").replace("ranks = 1", f"ranks = {ranks}"))
    result = silosim("run", study, "-o", "run.h5")
    lines = [line for line in result.err.splitlines() if line]
    first = next(number for number, line in enumerate(lines) if line.startswith("silosim: error"))

    assert result.code == 1
    assert lines[first].startswith(f"silosim: error: ValueError: too late ({path}, line ")
    assert lines[first + 1] == "Traceback (most recent call last):"
    assert lines[first + 2].startswith(f'  File "{path}", line ')
    assert lines[-1] == "ValueError: too late"


def test_partition_reads_data_and_file(silosim, study):
    result = silosim("partition", study, "--json").ok()
    assert [silo["samples"] for silo in json.loads(result.out)["silos"]] == [4] * 11


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("own.py:Net", "own.py:Nets", "study/own.py: has no Nets, which model("),
        (
            "own.py:Net",
            "other.py:Net",
            "study.toml: training.model(='other.py:Net') there is no such file beside the scenario",
        ),
        ("own.py:Net", "own.py:load", "must return a torch.nn.Module, not tuple."),
        (
            "own:smoothed",
            "own:two_inputs",
            "must be called with scores, labels: too many positional arguments.",
        ),
        (
            "own.py:load",
            "own.py:Two",
            "must be called with samples: got an unexpected keyword argument 'samples'.",
        ),
        (
            "parts.csv",
            "own.csv",
            "study.toml: training.partition(='own.csv') cannot be read: No such file or directory.",
        ),
        ("own.py:Net", "own.py:", "must be file.py:callable or module:callable to name code of your own."),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(silosim, study, old, new, message):
    study.write_text(SCENARIO.replace(old, new))
    result = silosim("run", study, "-o", "run.h5").failed(2)

    assert result.err.startswith("silosim: error: ")
    assert message in result.err
    assert result.err.count("\n") == 1


def test_a_broken_file_shows_its_traceback_and_exit_code_1(silosim, study):
    (study.parent / "own.py").write_text("import numpy\n\nnumpy.zeros(-1)\n")
    result = silosim("simulate", study).failed(1)
    assert result.err.startswith("silosim: error: ValueError: negative dimensions are not allowed (")
    assert 'own.py", line 3, in <module>' in result.err


@pytest.mark.slow
def test_a_checkpoint_is_of_this_code(silosim, study):
    study.write_text(SCENARIO.replace("rounds = 4", "rounds = 4\ncheckpoint_every = 2"))
    silosim("run", study, "-o", "whole.h5").ok()
    own_file(
        study.parent, LATE.replace("len(images) > 2", "STEPS.append(0) or len(STEPS) > 40") + "\nSTEPS = []\n"
    )
    study.write_text(study.read_text().replace("own.py:Net", "own.py:Late"))
    silosim("run", study, "-o", "run.h5").failed(1)
    own_file(study.parent, LATE)
    refused = silosim("run", study, "-o", "run.h5", "--resume").failed(2)
    assert "of own.py (" in refused.err
    assert "as in the checkpoint" in refused.err

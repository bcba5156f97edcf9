"""Columns of a training: all of them in a new file, NaN for what an older file or another backend lacks."""

import shutil
from dataclasses import fields

import h5py
import numpy as np
import pytest
from edited_run import edited

from scenarios.config.scenario import parse_scenario
from scenarios.metrics_import.columns import ColumnNames
from scenarios.metrics_import.history import read_history
from scenarios.metrics_import.rows import MetricsRow, MetricsRows
from scenarios.runfile.reader import read_run
from scenarios.runfile.training_rows import HistoryWriter, allocate_history
from topologies import InputError
from training import HistoryRow

OPTIONAL = ("objective", "train_top5_accuracy", "test_top5_accuracy", "silo_accuracy")


def test_a_run_has_every_column(run_file):
    for overlay in read_run(run_file).overlays:
        history = overlay.history
        assert list(history) == [field.name for field in fields(HistoryRow)]
        assert all(np.isfinite(column).all() for column in history.values())
        assert history["silo_accuracy"].shape == history["silo_loss"].shape == (4, 11)
        assert (history["test_top5_accuracy"] >= history["test_accuracy"]).all()
        # The first model is the same everywhere: the objective is the mean of the silos' own losses.
        assert history["objective"][0] == pytest.approx(history["silo_loss"][0].mean(), rel=1e-6)


@pytest.mark.usefixtures("placeholder_figures")
def test_a_file_without_the_newer_columns_still_reads(run_file, tmp_path, silosim):
    path = tmp_path / "old.h5"
    shutil.copy(run_file, path)
    with edited(path) as file:
        for kind in ("star", "ring"):
            for name in OPTIONAL:
                del file[f"training/{kind}/{name}"]
    for old, new in zip(read_run(path).overlays, read_run(run_file).overlays, strict=True):
        assert all(np.isnan(old.history[name]).all() for name in OPTIONAL)
        assert old.history["silo_accuracy"].shape == (4, 11)
        np.testing.assert_array_equal(old.history["silo_loss"], new.history["silo_loss"])
    silosim("show", path).ok()
    silosim("plot", path, "-o", tmp_path / "old.png").ok()
    silosim("replay", path, "--access", "1 Gbps", "-o", tmp_path / "replay.h5").ok()
    assert np.isnan(read_run(tmp_path / "replay.h5").overlays[0].history["objective"]).all()


def test_a_file_without_a_column_that_all_have_is_an_error(run_file, tmp_path):
    path = tmp_path / "broken.h5"
    shutil.copy(run_file, path)
    with edited(path) as file:
        del file["training/star/test_loss"]
    with pytest.raises(InputError, match=r"broken\.h5: is not the whole file of a run"):
        read_run(path)


def test_a_backend_that_measures_less_leaves_nan(tmp_path):
    rows = [
        HistoryRow(
            round=k,
            train_loss=0.1,
            train_accuracy=0.2,
            test_loss=0.3,
            test_accuracy=0.4,
            consensus_distance=0.5,
            silo_loss=(k + 0.1, k + 0.2),
        )
        for k in range(3)
    ]
    with h5py.File(tmp_path / "x.h5", "w") as file:
        allocate_history(file, "ring", rows=3, silos=2)
        writer = HistoryWriter(file, "ring", np.arange(4.0))
        for row in rows:
            writer.add(row)
        writer.flush()
        group = file["training/ring"]
        assert group["round"][:].tolist() == [0, 1, 2]
        assert group["silo_loss"][:].tolist() == [[0.1, 0.2], [1.1, 1.2], [2.1, 2.2]]
        assert np.isnan(group["silo_accuracy"][:]).all()
        assert group["silo_accuracy"].shape == (3, 2)
        assert np.isnan(group["objective"][:]).all()


def test_rows_come_sixteen_at_a_time_or_when_two_seconds_are_over(tmp_path, monkeypatch):
    now_s = [100.0]
    monkeypatch.setattr("scenarios.runfile.training_rows.time.monotonic", lambda: now_s[0])
    names = ("train_loss", "train_accuracy", "test_loss", "test_accuracy", "consensus_distance")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        allocate_history(file, "ring", rows=40, silos=2)
        writer = HistoryWriter(file, "ring", np.arange(81.0) / 4)

        def add(count):
            for _ in range(count):
                k = len(taken)
                taken.append(2 * k)
                writer.add(HistoryRow(round=2 * k, silo_loss=(k, k), **dict.fromkeys(names, float(k))))
            return int((file["training/ring/round"][:] >= 0).sum())

        taken = []
        assert add(15) == 0
        assert add(1) == 16
        now_s[0] += 2.0
        assert add(1) == 16
        now_s[0] += 0.5
        assert add(1) == 18
        assert add(15) == 18
        assert add(1) == 34
        assert add(1) == 34
        writer.flush()
        assert file["training/ring/round"][:35].tolist() == taken
        assert file["training/ring/test_loss"][:35].tolist() == [*range(35)]
        # Round 2 k starts at k / 2 seconds.
        assert file["replay/ring/wall_clock_s"][:35].tolist() == [k / 2 for k in range(35)]
        assert np.isnan(file["replay/ring/wall_clock_s"][35:]).all()


@pytest.mark.parametrize(
    ("column", "field"),
    [
        ("val/top5_acc", "test_top5_accuracy"),
        ("acc5", "test_top5_accuracy"),
        ("train top-5 accuracy", "train_top5_accuracy"),
    ],
)
def test_top5_accuracies_of_other_programs_are_imported(column, field):
    rows = [
        MetricsRow(source=f"x.csv, line {k}", values={"round": k, "loss": 2.0 - k, column: 40 + k})
        for k in range(2)
    ]
    foreign = read_history(
        MetricsRows.of(rows), ColumnNames(), ["A", "B"], source="x.csv", percent=True, local_steps=1
    )
    np.testing.assert_allclose(foreign.history[field], [0.40, 0.41])
    assert np.isnan(foreign.history["objective"]).all()
    assert foreign.history["silo_accuracy"].shape == (2, 2)
    assert np.isnan(foreign.history["test_accuracy"]).all()


SCENARIO = '[network]\nunderlay = "gaia"\n[workload]\ncompute = "1 ms"\n[training]\n'


def test_a_task_gives_defaults_that_other_keys_override():
    training = parse_scenario(SCENARIO + 'task = "femnist"\nlearning_rate = 0.01\n', source="x.toml").training
    assert (training.dataset, training.model, training.partition) == ("femnist", "femnist_cnn", "groups")
    assert (training.optimizer, training.learning_rate, training.batch_size) == ("adam", 0.01, 128)
    assert training.learning_rate_schedule == "inverse_sqrt"
    stand_in = parse_scenario(
        SCENARIO + 'dataset = "fashion_mnist"\ntask = "femnist"\n', source="x.toml"
    ).training
    assert (stand_in.dataset, stand_in.model) == ("fashion_mnist", "femnist_cnn")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            'task = "femnst"',
            r"^x\.toml: training\.task\(='femnst'\) must be one of .* \(did you mean 'femnist'\?\)\.$",
        ),
        ("task = 3", r"^x\.toml: training\.task\(=3\) must be one of femnist, "),
        ('tsk = "femnist"', r"^x\.toml: \[training\] has no key 'tsk'; did you mean 'task'"),
        ('task = "femnist"\nbatch_size = 0', r"^x\.toml: training\.batch_size\(=0\) must be >= 1\.$"),
    ],
)
def test_a_wrong_task_is_one_line(line, message):
    with pytest.raises(InputError, match=message):
        parse_scenario(f"{SCENARIO}{line}\n", source="x.toml")


def test_missing_data_are_told_before_anything_is_designed_or_written(
    silosim, scenario, tmp_path, monkeypatch
):
    monkeypatch.setattr("scenarios.studies.run.design_any", None)
    scenario.write_text(scenario.read_text().replace('model = "softmax"', 'task = "femnist"'))
    result = silosim("run", scenario, "-o", tmp_path / "run.h5")
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "must be the femnist folder with train/*.json and test/*.json" in result.err
    assert sorted(tmp_path.iterdir()) == [scenario]


def test_a_scenario_of_a_task_takes_the_models_own_size_and_is_simulated_without_data(silosim, scenario):
    scenario.write_text(scenario.read_text().replace('model = "softmax"', 'task = "femnist"'))
    result = silosim("simulate", scenario, "--json")
    assert result.code == 0, result.err
    # 32 bits for each of 1,206,590 parameters.
    assert "trained model: 38.61 Mbit" in result.out

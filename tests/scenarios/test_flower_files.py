"""Flower's History and Result as JSON: which list is of which metric, and whose test is taken where both tested."""

import json
from itertools import permutations

import numpy as np
import pytest

from scenarios.metrics_import.columns import ColumnNames
from scenarios.metrics_import.history import read_history
from scenarios.metrics_import.readers import read_rows
from scenarios.studies.import_metrics import columns_note
from topologies import InputError

HISTORY = {
    "losses_distributed": [[1, 1.5], [2, 1.25]],
    "losses_centralized": [[0, 2.5], [1, 1.75], [2, 1.0]],
    "metrics_distributed_fit": {"train_loss": [[1, 2.0], [2, 1.5]], "accuracy": [[1, 0.25], [2, 0.5]]},
    "metrics_distributed": {"accuracy": [[1, 0.375], [2, 0.625]]},
    "metrics_centralized": {"accuracy": [[0, 0.125], [1, 0.5], [2, 0.75]]},
}
"""As ``json.dump(vars(history))`` writes a training of two rounds."""
RESULT = {
    "arrays": {},
    "train_metrics_clientapp": {"1": {"train_loss": 2.0, "train_acc": 0.25}, "2": {"train_loss": 1.5}},
    "evaluate_metrics_clientapp": {"1": {"eval_loss": 1.5, "eval_acc": 0.375}, "2": {"eval_loss": 1.25}},
    "evaluate_metrics_serverapp": {
        "0": {"loss": 2.5, "accuracy": 0.125},
        "1": {"loss": 1.75, "accuracy": 0.5},
        "2": {"loss": 1.0, "accuracy": 0.75},
    },
}
"""As ``vars(result)`` is dumped, with metric records as dictionaries."""


def read(tmp_path, found, **names):
    path = tmp_path / "flower.json"
    path.write_text(found if isinstance(found, str) else json.dumps(found, indent=1))
    return read_history(
        read_rows(path), ColumnNames(**names), ("A", "B"), source="flower.json", local_steps=1, percent=False
    )


def message(tmp_path, found, **names):
    with pytest.raises(InputError) as caught:
        read(tmp_path, found, **names)
    text = str(caught.value).replace(f"{tmp_path}/", "")
    assert "\n" not in text
    return text


def column(found, name):
    return [None if np.isnan(x) else x for x in found.history[name].tolist()]


@pytest.mark.parametrize("dumped", [HISTORY, RESULT])
def test_the_servers_test_goes_before_the_clients_and_the_training_is_the_clients(tmp_path, dumped):
    found = read(tmp_path, dumped)

    assert found.history["round"].tolist() == [0, 1, 2]
    assert column(found, "train_loss") == [None, 2.0, 1.5]
    assert column(found, "train_accuracy") == [None, 0.25, 0.5 if dumped is HISTORY else None]
    assert column(found, "test_loss") == [2.5, 1.75, 1.0]
    assert column(found, "test_accuracy") == [0.125, 0.5, 0.75]
    left = {name for field in ("test_loss", "test_accuracy") for name in found.columns.left[field]}
    if dumped is HISTORY:
        assert left == {"losses_distributed", "metrics_distributed/accuracy"}
        assert (
            "test_accuracy is that of metrics_centralized/accuracy; left out: metrics_distributed/accuracy (2 rows)."
            in columns_note(found)
        )
    else:
        assert left == {"evaluate_metrics_clientapp/eval_loss", "evaluate_metrics_clientapp/eval_acc"}


def test_columns_are_chosen_by_their_names(tmp_path):
    metrics = {"test_loss": "losses_distributed", "test_accuracy": "metrics_distributed/accuracy"}
    found = read(tmp_path, HISTORY, metrics=metrics)

    assert found.history["round"].tolist() == [1, 2]
    assert column(found, "test_loss") == [1.5, 1.25]
    assert column(found, "test_accuracy") == [0.375, 0.625]
    assert "must be one of" in message(tmp_path, HISTORY, metrics={"test_loss": "losses"})


def test_a_server_that_measures_no_accuracy_gives_way_for_the_loss_too(tmp_path):
    found = read(tmp_path, HISTORY | {"metrics_centralized": {}})

    assert found.columns.metrics["test_loss"] == "losses_distributed"
    assert found.columns.metrics["test_accuracy"] == "metrics_distributed/accuracy"
    alone = read(tmp_path, {"losses_centralized": [[0, 2.5]], "losses_distributed": [[1, 1.5]]})
    assert alone.columns.metrics == {"test_loss": "losses_centralized"}


@pytest.mark.parametrize(
    "name", ["accuracy", "acc", "cen_accuracy", "central_evaluate_acc", "val_acc", "eval-accuracy"]
)
def test_usual_names_of_an_accuracy_are_known(tmp_path, name):
    found = read(tmp_path, {"metrics_centralized": {"other": [[0, 7.0]], name: [[0, 0.5]]}})
    assert column(found, "test_accuracy") == [0.5]


def test_rounds_as_texts_are_in_the_order_of_their_numbers(tmp_path):
    record = {str(k): {"loss": float(k)} for k in (1, 2, 10)}
    for order in permutations(record):
        found = read(tmp_path, {"evaluate_metrics_serverapp": {k: record[k] for k in order}})
        assert found.history["round"].tolist() == found.history["test_loss"].tolist() == [1, 2, 10]


def test_texts_that_are_no_rounds_come_after_the_numbers(tmp_path):
    found = {"evaluate_metrics_serverapp": {k: {"loss": 1.0} for k in ("last", "2", "10")}}
    assert message(tmp_path, found).endswith(
        "evaluate_metrics_serverapp/loss, entry 3: round(='last') must be a whole number >= 0 and <= 2147483647."
    )


def test_pairs_may_be_objects_and_nothing_may_be_null(tmp_path):
    found = read(
        tmp_path,
        {"losses_distributed": [{"round": 1, "loss": 0.5}], "metrics_distributed": None, "seed": 3},
    )
    assert column(found, "test_loss") == [0.5]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            {"losses_distributed": [], "metrics_centralized": {"accuracy": []}},
            "flower.json: has no rounds: no values in losses_distributed, metrics_centralized.",
        ),
        (
            {"losses_distributed": [[1, 2.0], 3]},
            "flower.json, losses_distributed, entry 2: (=3) must be [round, value].",
        ),
        (
            {"losses_distributed": {"1": 2.0}},
            "flower.json, losses_distributed: (={'1': 2.0}) must be a list of [round, value].",
        ),
        (
            {"metrics_centralized": [[1, 0.5]]},
            "flower.json, metrics_centralized: (=[[1, 0.5]]) must be an object of names and values.",
        ),
        (
            {"evaluate_metrics_serverapp": {"1": "{'loss': 1}"}},
            "flower.json, evaluate_metrics_serverapp, round 1: (=\"{'loss': 1}\") must be an object of names and "
            "values.",
        ),
        (
            {"losses_distributed": [[1, 2.0], [1, 1.0]]},
            "flower.json, losses_distributed, entry 2: round(=1) must not be given twice for losses_distributed; see "
            "entry 1.",
        ),
        (
            {"losses_distributed": [[2, 2.0], [1, 1.0]]},
            "flower.json, losses_distributed, entry 2: round(=1) must ascend for losses_distributed: entry 1 has 2.",
        ),
        (
            '{"losses_distributed": [[1, NaN]]}',
            "flower.json, losses_distributed, entry 1: losses_distributed(=nan) must be a finite number.",
        ),
        (
            {"metrics_centralized": {"accuracy": [[0, 12.5]]}},
            "flower.json, metrics_centralized/accuracy, entry 1: metrics_centralized/accuracy(=12.5) must be >= 0 and "
            "<= 1; --percent says that accuracies are in percent.",
        ),
        (
            {"metrics_centralized": {"f1": [[0, 0.5]]}},
            "flower.json: has no column loss or accuracy; --loss or --accuracy must name one of round, "
            "metrics_centralized/f1.",
        ),
        (
            {"config": {"lr": 0.1}, "results": [1, 2]},
            "flower.json: is JSON of another kind (an object with config, results): must be objects line by line, a "
            "list of objects, an object with log_history, or one of Flower's with any of losses_centralized, "
            "losses_distributed, metrics_distributed_fit, metrics_centralized, metrics_distributed, "
            "train_metrics_clientapp, evaluate_metrics_serverapp, evaluate_metrics_clientapp.",
        ),
    ],
)
def test_other_forms_have_one_clear_line(tmp_path, found, expected):
    assert message(tmp_path, found) == expected


def test_a_run_is_written_and_says_whose_test_it_has(silosim, tmp_path):
    path = tmp_path / "flower.json"
    path.write_text(json.dumps(HISTORY))
    result = silosim(
        *("import-metrics", path, "--on", "gaia", "--workload", "femnist", "--kind", "ring", "--json"),
        *("--target-accuracy", 0.7, "-o", tmp_path / "run.h5"),
    ).ok()
    assert json.loads(result.out)["rows"][0]["rounds_to_target"] == 2
    assert "test_accuracy from metrics_centralized/accuracy" in " ".join(result.err.split())

"""Files as trainers leave them: their steps and epochs become rounds, their summaries do not stand for the history."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboardX import SummaryWriter

from scenarios.metrics_import.columns import ColumnNames
from scenarios.metrics_import.history import read_history
from scenarios.metrics_import.readers import read_rows
from scenarios.metrics_import.rounds import Counting, counts_from_0
from scenarios.metrics_import.rows import MetricsRow, MetricsRows
from scenarios.runfile.reader import read_run
from scenarios.studies.import_metrics import columns_note
from topologies import InputError

LABELS = ("Rome", "Oslo")
EPOCHS = range(12)


def read(path, *, local_steps, shift=None, **names):
    return read_history(
        read_rows(path),
        ColumnNames(**names),
        LABELS,
        source=path.name,
        local_steps=local_steps,
        shift=shift,
        percent=False,
    )


def rounds_of(found, field):
    history = found.history
    return history["round"][np.isfinite(history[field])].tolist()


@pytest.fixture
def lightning(tmp_path):
    """CSVLogger's metrics.csv of 12 epochs of 50 steps: epoch and step count from 0, each logger call has a line."""
    path = tmp_path / "metrics.csv"
    rows = "".join(f"{k},{50 * k + 49},{2 / (k + 1)},\n{k},{50 * k + 49},,{(k + 1) / 12.5}\n" for k in EPOCHS)
    path.write_text("epoch,step,train_loss,val_acc\n" + rows)
    return path


@pytest.fixture
def transformers(tmp_path):
    """A trainer_state.json of 12 epochs of 50 steps, logged every 10, with the summary that ends the log."""
    log = []
    for step in range(10, 601, 10):
        log.append(
            {"epoch": step / 50, "grad_norm": 1.0, "learning_rate": 1e-3, "loss": 60 / step, "step": step}
        )
        if step % 50 == 0:
            log.append(
                {"epoch": step / 50, "eval_accuracy": step / 625, "eval_loss": 50 / step, "step": step}
            )
    log.append({"epoch": 12.0, "step": 600, "total_flos": 1e12, "train_loss": 0.4, "train_runtime": 9.5})
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps({"best_metric": None, "global_step": 600, "log_history": log}, indent=2))
    return path


@pytest.fixture
def keras(tmp_path):
    """CSVLogger's file of 12 epochs, which count from 0; its accuracy is the training's."""
    path = tmp_path / "log.csv"
    rows = "".join(f"{k},0.9,{2 / (k + 1)},{(k + 1) / 12.5},{3 / (k + 1)}\n" for k in EPOCHS)
    path.write_text("epoch,accuracy,loss,val_accuracy,val_loss\n" + rows)
    return path


def test_steps_that_count_from_0_end_at_their_round(lightning):
    found = read(lightning, local_steps=50)

    assert found.history["round"].tolist() == [*range(1, 13)]
    assert found.history["test_accuracy"].tolist() == [(k + 1) / 12.5 for k in EPOCHS]
    assert found.history["train_loss"].tolist() == [2 / (k + 1) for k in EPOCHS]
    assert columns_note(found)[1] == "step 49 to 599 are local steps, counted from 0: 50 are a round."
    # Where a step is a round, only the count from 0 says that 49 is the 50th.
    assert read(lightning, local_steps=1).history["round"].tolist() == [*range(50, 601, 50)]
    assert read(lightning, local_steps=1, shift=0).history["round"].tolist() == [*range(49, 600, 50)]
    assert read(lightning, local_steps=25).history["round"].tolist() == [*range(2, 25, 2)]


@pytest.mark.parametrize(
    ("options", "rounds"),
    [
        (("--local-steps", 50), 10),
        (("--local-steps", 50, "--unit", "steps"), 10),
        (("--local-steps", 50, "--unit", "epochs"), 10),
        (("--local-steps", 50, "--round", "epoch"), 10),
        (("--local-steps", 50, "--unit", "rounds"), 499),
        (("--local-steps", 100), 5),
    ],
)
def test_the_time_is_that_of_the_rounds(silosim, lightning, tmp_path, options, rounds):
    run = tmp_path / "run.h5"
    workload = ("--model-size", "45 MB", "--compute", "25 ms", "--kind", "ring", "--target-accuracy", 0.8)
    result = silosim("import-metrics", lightning, "--on", "gaia", *workload, *options, "--json", "-o", run)
    (row,) = json.loads(result.out)["rows"]
    (ring,) = read_run(run).overlays

    assert result.code == 0, result.err
    assert row["rounds_to_target"] == rounds
    # Every step takes 25 ms, every round's model some time besides.
    assert row["time_to_target_s"] > rounds * options[1] * 0.025
    assert ring.first_round_at(0.8) == (rounds, row["time_to_target_s"])


def test_a_log_of_transformers_is_read_whole_and_its_summary_is_left(transformers):
    found = read(transformers, local_steps=50)
    history = found.history

    assert (found.columns.round, found.columns.unit, found.counting.shift) == ("step", "steps", 0)
    assert history["round"].tolist() == [*range(1, 13)]
    assert found.columns.metrics["train_loss"] == "loss"
    # Of five losses in a round the last one holds at its end.
    np.testing.assert_allclose(history["train_loss"], [60 / (50 * k) for k in range(1, 13)], rtol=1e-15)
    np.testing.assert_allclose(history["test_accuracy"], [50 * k / 625 for k in range(1, 13)], rtol=1e-15)
    notes = columns_note(found)
    assert "train_loss from loss (12 of 60 values: the last of each round)" in notes[0]
    assert notes[1] == "step 10 to 600 are local steps: 50 are a round."
    assert notes[2] == "train_loss is that of loss; left out: train_loss (1 row)."


def test_steps_and_epochs_within_a_round_hold_at_its_end(transformers):
    assert read(transformers, local_steps=20).history["round"].tolist() == [*range(1, 31)]
    assert rounds_of(read(transformers, local_steps=20), "test_accuracy") == [
        3,
        5,
        8,
        10,
        13,
        15,
        18,
        20,
        23,
        25,
        28,
        30,
    ]
    epochs = read(transformers, local_steps=50, unit="epochs")
    assert (epochs.columns.round, epochs.counting.shift) == ("epoch", 0)
    assert epochs.history["round"].tolist() == [*range(1, 13)]
    np.testing.assert_array_equal(
        epochs.history["train_loss"], read(transformers, local_steps=50).history["train_loss"]
    )


def test_an_evaluation_before_the_first_epoch_does_not_move_the_others(tmp_path):
    log = [{"epoch": 0, "step": 0, "eval_loss": 3.0}]
    log += [{"epoch": k, "step": 50 * k, "loss": 1 / k, "eval_loss": 2 / k} for k in (1, 2, 3)]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))

    for options in ({"unit": "epochs"}, {"unit": "steps"}):
        found = read(path, local_steps=50, **options)
        assert rounds_of(found, "test_loss") == [0, 1, 2, 3]
        assert rounds_of(found, "train_loss") == [1, 2, 3]


def test_a_log_of_keras_counts_epochs_from_0_and_its_accuracy_is_the_trainings(keras):
    with pytest.raises(InputError, match="--round 'epoch' takes each epoch for one round"):
        read(keras, local_steps=50)
    found = read(keras, local_steps=50, round="epoch")

    assert found.history["round"].tolist() == [*range(1, 13)]
    assert found.history["test_accuracy"].tolist() == [(k + 1) / 12.5 for k in EPOCHS]
    assert found.history["test_loss"].tolist() == [3 / (k + 1) for k in EPOCHS]
    notes = columns_note(found)
    assert notes[1] == "epoch 0 to 11 are epochs, counted from 0: each is taken for one round."
    assert notes[2] == "test_accuracy is that of val_accuracy; left out: accuracy (12 rows)."
    assert read(keras, local_steps=50, round="epoch", shift=0).history["round"].tolist() == [*range(12)]


def test_a_validation_that_is_not_in_every_epoch_stays_the_test(tmp_path):
    path = tmp_path / "log.csv"
    rows = "".join(f"{k},0.9,1.0,{0.5 if k % 2 else ''}\n" for k in range(6))
    path.write_text("epoch,accuracy,loss,val_accuracy\n" + rows)
    found = read(path, local_steps=1, unit="epochs")

    assert found.columns.metrics["test_accuracy"] == "val_accuracy"
    assert rounds_of(found, "test_accuracy") == [2, 4, 6]
    assert rounds_of(found, "train_loss") == [1, 2, 3, 4, 5, 6]


@pytest.fixture(params=[False, True])
def board(request, tmp_path):
    """TensorBoard's events of steps 49, 99, ..., with and without the scalar of the epoch; the step may be anything."""
    with SummaryWriter(str(tmp_path / "logs")) as writer:
        for k in EPOCHS:
            writer.add_scalar("train_loss", 2 / (k + 1), 50 * k + 49)
            if request.param:
                writer.add_scalar("epoch", k, 50 * k + 49)
    return tmp_path / "logs", request.param


def test_a_step_alone_is_asked_about_and_one_beside_epochs_is_a_local_step(board):
    path, has_epochs = board
    if has_epochs:
        assert read(path, local_steps=50).history["round"].tolist() == [*range(1, 13)]
    else:
        question = "step may count rounds or local steps: --unit rounds, or --unit steps with --local-steps, must say"
        for local_steps in (50, None):
            with pytest.raises(InputError, match=question):
                read(path, local_steps=local_steps)
    assert read(path, local_steps=50, unit="steps").history["round"].tolist() == [*range(1, 13)]
    assert read(path, local_steps=50, unit="rounds").history["round"].tolist() == [*range(49, 600, 50)]


@pytest.mark.parametrize(
    ("head", "names", "rule"),
    [
        (
            "global_step,loss",
            {},
            "global_step counts local steps: --local-steps must say how many are a round",
        ),
        ("epoch,step,loss", {}, "step counts local steps: --local-steps must say how many are a round"),
        (
            "step,loss",
            {"unit": "steps"},
            "step counts local steps: --local-steps must say how many are a round",
        ),
        ("epoch,loss", {"round": "epoch"}, "--local-steps must say how many local steps one has"),
        ("k,loss", {"round": "k", "unit": "epochs"}, "--local-steps must say how many local steps one has"),
        ("iteration,loss", {}, "iteration may count rounds or local steps"),
        ("step,loss", {"round": "step"}, "step may count rounds or local steps"),
        ("iterations,loss", {}, "iterations may count rounds or local steps"),
        ("train_steps,loss", {"round": "train_steps"}, "train_steps may count rounds or local steps"),
        ("Batch,loss", {"round": "Batch"}, "Batch may count rounds or local steps"),
        ("num_updates,loss", {"round": "num_updates"}, "num_updates may count rounds or local steps"),
        ("local_step,loss", {}, "local_step counts local steps: --local-steps must say"),
        ("steps,epoch,loss", {}, "steps counts local steps: --local-steps must say"),
        ("current epoch,loss", {"round": "current epoch"}, "--local-steps must say how many local steps"),
    ],
)
def test_what_is_not_clearly_a_round_is_asked_about(tmp_path, head, names, rule):
    path = tmp_path / "a.csv"
    path.write_text(f"{head}\n{','.join('1' * len(head.split(',')))}\n")
    with pytest.raises(InputError) as caught:
        read(path, local_steps=None, **names)

    assert str(caught.value).startswith("a.csv: ")
    assert rule in str(caught.value)
    assert read(path, local_steps=None, **names | {"unit": "rounds"}).history["round"].tolist() == [1]


def test_another_unit_is_an_error_with_the_known_ones(lightning):
    with pytest.raises(InputError, match=r"unit\(='step'\) must be one of epochs, rounds, steps"):
        read(lightning, local_steps=50, unit="step")


@pytest.mark.parametrize(
    ("steps", "shift"),
    [
        ([9, 19, 29], 1),
        ([49, 149, 599], 1),
        ([1, 10, 20], 0),  # the first and every tenth
        ([1, 11, 21], 0),
        ([0, 50, 100], 0),
        ([50, 100], 0),
        ([0, 1, 2], 0),
        ([7], 0),
        ([49, 99, 130], 0),  # the end of the last epoch is another's
    ],
)
def test_steps_count_from_0_where_they_end_equal_intervals(steps, shift):
    rows = [MetricsRow(source=f"f, line {step}", values={"global_step": step, "loss": 1.0}) for step in steps]
    found = read_history(
        MetricsRows.of(rows), ColumnNames(), LABELS, source="f", local_steps=1, percent=False
    )

    assert found.counting.shift == shift
    assert found.history["round"].tolist() == [step + shift for step in steps]


@pytest.mark.parametrize(
    ("unit", "numbers", "expected"),
    [
        ("rounds", {"train_loss": [0, 1]}, False),
        ("epochs", {"train_loss": [0, 1]}, True),
        ("epochs", {"train_loss": [0, 1.5]}, False),
        ("epochs", {"train_loss": [0, 1], "train_accuracy": [1, 2]}, False),
        ("epochs", {"train_loss": [0, 1], "train_accuracy": [0, 0.5]}, False),
        ("epochs", {"train_loss": [1, 2], "test_loss": [0, 1]}, False),
        ("epochs", {"test_loss": [0, 1]}, True),
        ("steps", {"train_loss": [1, 3]}, True),
        ("steps", {"train_loss": [49, 99], "train_accuracy": [50, 100]}, False),
        ("steps", {"train_loss": [49, 99], "train_accuracy": [50]}, True),
        ("steps", {"train_loss": [50, 100], "test_loss": [49, 99]}, False),
        ("steps", {"test_loss": [49, 99]}, True),
        ("steps", {"train_loss": [49]}, False),
    ],
)
def test_all_metrics_of_the_training_tell_whether_a_column_counts_from_0(unit, numbers, expected):
    given = {metric: [float(number) for number in some] for metric, some in numbers.items()}
    assert counts_from_0(unit, given) is expected


@given(st.integers(0, 10**6), st.integers(1, 1000), st.integers(0, 1))
def test_a_round_is_done_with_its_last_step(step, per_round, shift):
    counting = Counting(column="step", unit="steps", shift=shift, per_round=per_round)
    (found,) = counting.rounds_of(np.array([float(step)]))
    found = int(found)

    assert found - 1 < Fraction(step + shift, per_round) <= found


def test_a_column_with_more_rows_goes_before_one_with_a_better_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "round,train_loss,loss,test_acc,val_acc,acc\n1,,3,,0.1,0.3\n2,,2,,0.2,0.4\n3,9,1,0.5,,0.5\n"
    )
    found = read(path, local_steps=1)

    assert found.columns.metrics == {"train_loss": "loss", "test_accuracy": "val_acc"}
    assert found.history["train_loss"].tolist() == [3, 2, 1]
    assert columns_note(found)[1:] == (
        "train_loss is that of loss; left out: train_loss (1 row).",
        "test_accuracy is that of val_acc; left out: acc (3 rows), test_acc (1 row).",
    )
    named = read(path, local_steps=1, metrics={"train_loss": "train_loss"})
    assert rounds_of(named, "train_loss") == [3]


@pytest.mark.parametrize("names", [("train_loss", "train/loss"), ("Loss", "loss"), ("val_loss", "Val Loss")])
def test_a_summary_does_not_hide_a_history_of_nearly_the_same_name(tmp_path, names):
    path = tmp_path / "a.csv"
    path.write_text(f"round,{names[0]},{names[1]}\n1,,3\n2,,2\n3,9,1\n")
    found = read(path, local_steps=1)
    metric = "test_loss" if "val" in names[0] else "train_loss"

    assert found.history[metric].tolist() == [3, 2, 1]
    assert columns_note(found)[1:] == (f"{metric} is that of {names[1]}; left out: {names[0]} (1 row).",)


def test_means_of_epochs_and_losses_of_steps_are_known_by_their_ends(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "epoch,step,train_loss_step,train_loss_epoch\n0,4,3,\n0,9,2,\n0,9,,2.5\n1,14,1.5,\n1,19,1,\n1,19,,1.25\n"
    )
    found = read(path, local_steps=10)

    assert (found.history["round"].tolist(), found.history["train_loss"].tolist()) == ([1, 2], [2, 1])
    assert columns_note(found)[2:] == (
        "train_loss is that of train_loss_step; left out: train_loss_epoch (2 rows).",
    )
    means = read(path, local_steps=10, metrics={"train_loss": "train_loss_epoch"})
    assert means.history["train_loss"].tolist() == [2.5, 1.25]


def test_a_list_of_objects_names_the_entry_of_an_error(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"round": 0, "loss": 1}, {"round": 1, "loss": "x"}], indent=1))
    with pytest.raises(InputError, match=r"a.json, entry 2: loss\(='x'\) must be a finite number"):
        read(path, local_steps=1)
    path.write_text("[1]")
    with pytest.raises(InputError, match=r"a.json, entry 1: \(=1\) must be a JSON object"):
        read(path, local_steps=1)
    path.write_text('{"round": 0, "loss": 1}\n{"round": 1, "loss": 0.5}\n')
    assert read(path, local_steps=1).history["round"].tolist() == [0, 1]


def test_a_json_file_of_one_line_has_one_row_or_says_what_a_line_must_be(tmp_path):
    path = tmp_path / "a.json"
    for text in ('{"round": 3, "loss": 0.5}\n', '\n [{"round": 3,\n"loss": 0.5}]'):
        path.write_text(text)
        found = read(path, local_steps=1)
        assert (found.history["round"].tolist(), found.history["train_loss"].tolist()) == ([3], [0.5])
    path.write_text("7\n")
    with pytest.raises(
        InputError, match=r"a.json: is JSON of another kind \(7\): must be objects line by line"
    ):
        read(path, local_steps=1)
    path.write_text('{\n"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}\n')
    with pytest.raises(
        InputError, match=r"kind \(an object with a, b, c, d, e\): must be objects line by line"
    ):
        read(path, local_steps=1)

"""The best and the last average model, as plain PyTorch loads them."""

import json
import math

import pytest
import torch
from torch import nn

from training import HistoryRow
from training.checkpoints.model_export import is_better, read_row, state_dict, write_model
from training.data.datasets import load_dataset
from training.engine.parameter_buffer import bind, float_buffers, padded
from training.models import build_model


def row(k, *, accuracy=0.5, loss=1.0):
    return HistoryRow(
        round=k,
        train_loss=1.0,
        train_accuracy=0.5,
        test_loss=loss,
        test_accuracy=accuracy,
        consensus_distance=0.0,
        silo_loss=(1.0,),
    )


@pytest.mark.parametrize(
    ("later", "best", "better"),
    [
        (row(0), None, True),
        (row(1, accuracy=0.6), row(0), True),
        (row(1, accuracy=0.4, loss=0.1), row(0), False),
        (row(1, loss=0.9), row(0), True),
        (row(1, loss=1.1), row(0), False),
        (row(1), row(0), False),
        (row(1, accuracy=math.nan), row(0), False),
        (row(1, accuracy=math.nan), None, False),
        (row(1, accuracy=0.6, loss=math.nan), row(0), False),
        (row(1, accuracy=0.6, loss=math.inf), row(0), True),
    ],
)
def test_the_best_row(later, best, better):
    assert is_better(later, best) is better


def evaluated(path):
    """Loss and accuracy on the test set, with nothing but PyTorch and the model's class."""
    data = load_dataset("digits")
    model = build_model("cnn", input_shape=(1, 8, 8), classes=10, seed=99)
    model.load_state_dict(torch.load(path, weights_only=True))
    labels = torch.from_numpy(data.test_labels)
    with torch.no_grad():
        scores = model.eval()(torch.from_numpy(data.test_inputs[:]))
    accuracy = (scores.argmax(dim=1) == labels).double().mean()
    return float(nn.functional.cross_entropy(scores.double(), labels)), float(accuracy)


# Not resumed, and resumed where the best model is of after the checkpoint, or of before it.
@pytest.mark.parametrize("stop_at", [None, 11, *(pytest.param(k, marks=pytest.mark.slow) for k in (5, 14))])
def test_the_models_are_those_of_their_rows_whether_resumed_or_not(checkpointing, rows_of, stop_at):
    # A rate at which the accuracy goes up and down.
    job = checkpointing(
        every=4, silos=2, model="cnn", rounds=15, learning_rate=0.7, dirichlet_alpha=0.1, keep_models=True
    )
    if stop_at is not None:
        rows_of(job, stop_at=stop_at)
    rows = rows_of(job)
    best = max(rows, key=lambda row: (row.test_accuracy, -row.test_loss, -row.round))
    assert 0 < best.round < 15
    for name, expected in (("best", best), ("last", rows[-1])):
        assert read_row(job.directory, name) == expected
        loss, accuracy = evaluated(job.directory / f"{name}.pt")
        assert accuracy == expected.test_accuracy
        assert loss == pytest.approx(expected.test_loss, rel=1e-6)


@pytest.mark.parametrize("log_every", [1, 3])
def test_a_training_that_is_to_end_at_its_checkpoint_has_a_last_model(checkpointing, rows_of, log_every):
    def job(rounds):
        return checkpointing(
            every=4,
            silos=2,
            model="cnn",
            rounds=rounds,
            log_every=log_every,
            keep_models=True,
            learning_rate=0.1,
            momentum=0.9,
        )

    before = rows_of(job(12), stop_at=6)
    rows = rows_of(job(4))
    assert [row.round for row in rows] == [k for k in range(5) if k % log_every == 0 or k == 4]
    assert rows[:-1] == [row for row in before if row.round < 4]
    assert read_row(job(4).directory, "last") == rows[-1]
    loss, accuracy = evaluated(job(4).directory / "last.pt")
    assert accuracy == rows[-1].test_accuracy
    assert loss == pytest.approx(rows[-1].test_loss, rel=1e-6)
    assert rows_of(job(4)) == rows


def test_a_best_model_from_after_the_checkpoint_is_not_taken_for_one_before_it(checkpointing, rows_of):
    job = checkpointing(rounds=6, keep_models=True)
    before = rows_of(job, stop_at=5)[:5]
    write_model(job.directory, "best", {"weight": torch.zeros(1)}, row(5, accuracy=1.0))
    rows = rows_of(job)
    assert rows[:5] == before
    assert read_row(job.directory, "best") == max(rows, key=lambda row: row.test_accuracy)


@pytest.mark.slow
def test_an_average_resnet_has_the_models_own_keys_and_a_silos_counters(tmp_path):
    model = build_model("resnet18", input_shape=(3, 32, 32), classes=80, seed=1)
    silo = build_model("resnet18", input_shape=(3, 32, 32), classes=80, seed=1)
    silo(torch.zeros(2, 3, 32, 32))
    buffers = torch.zeros(padded(sum(buffer.numel() for _owner, _name, buffer in float_buffers(model))))
    average = bind(model, torch.zeros(sum(p.numel() for p in model.parameters())), buffers=buffers)
    write_model(tmp_path, "best", state_dict(average, silo), row(3))
    # Each tensor is saved for itself, not with the row that it is a view of.
    assert (tmp_path / "best.pt").stat().st_size < 4.01 * sum(
        v.numel() for v in model.state_dict().values()
    ) + 1e5

    stored = torch.load(tmp_path / "best.pt", weights_only=True)
    assert list(stored) == list(model.state_dict())
    assert {int(value) for key, value in stored.items() if key.endswith("num_batches_tracked")} == {1}
    for key, value in model.state_dict().items():
        assert key.endswith("num_batches_tracked") or torch.equal(stored[key], value)
    build_model("resnet18", input_shape=(3, 32, 32), classes=80, seed=2).load_state_dict(stored)
    assert json.loads((tmp_path / "best.json").read_text())["round"] == 3


def test_where_files_have_one_name_only_they_are_copied(checkpointing, rows_of, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    job = checkpointing(rounds=4, keep_models=True)
    rows = rows_of(job)
    assert rows_of(job) == rows
    for name in ("best", "last"):
        assert torch.load(job.directory / f"{name}.pt", weights_only=True)

"""Losses and accuracies of known scores, and what they count."""

import json
import math
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

from training import HistoryRow
from training.data.datasets import IGNORED, Dataset
from training.engine.communicator import SingleRank
from training.engine.initial_model import initial_model
from training.engine.metrics import Meter, chunk_size, evaluate


class Samples(NamedTuple):
    inputs: torch.Tensor
    labels: torch.Tensor


class Scores(nn.Module):
    """The inputs are the scores."""

    def forward(self, scores):
        return scores


def test_measuring_does_not_change_running_statistics_and_uses_them():
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 2))
    norm = model[0]
    norm.running_mean.copy_(torch.tensor([3.0, -1.0]))
    inputs, labels = torch.tensor([[3.0, -1.0], [4.0, 0.0]]), torch.tensor([0, 1])

    loss = evaluate(model, inputs, labels).loss

    assert norm.running_mean.tolist() == [3.0, -1.0]
    assert int(norm.num_batches_tracked) == 0
    assert model.training
    normalised = (inputs - norm.running_mean) / torch.sqrt(1 + torch.tensor(norm.eps))
    expected = nn.functional.cross_entropy(model[1](normalised), labels, reduction="sum")
    assert abs(loss - float(expected.detach())) < 1e-6


def test_the_top_five_are_those_with_fewer_than_five_larger_scores():
    # Seven classes with falling scores: the label's place is the number of larger scores.
    scores = torch.arange(7.0, 0.0, -1.0).repeat(7, 1)
    found = evaluate(Scores(), scores, torch.arange(7))
    assert (found.correct, found.correct_top5) == (1, 5)
    assert found.loss == pytest.approx(
        float(nn.functional.cross_entropy(scores.double(), torch.arange(7), reduction="sum"))
    )


@pytest.mark.parametrize(
    ("scores", "label", "correct", "in_top5"),
    [
        ([1, 1, 1, 1, 1, 1, 1], 6, False, True),
        ([1, 1, 1, 1, 1, 1, 1], 0, True, True),
        ([2, 2, 2, 2, 1, 1, 1], 6, False, True),
        ([2, 2, 2, 2, 2, 1, 1], 6, False, False),
    ],
)
def test_equal_scores_are_no_larger_and_the_first_of_them_is_predicted(scores, label, correct, in_top5):
    found = evaluate(Scores(), torch.tensor([scores], dtype=torch.float32), torch.tensor([label]))
    assert (bool(found.correct), bool(found.correct_top5)) == (correct, in_top5)


@pytest.mark.parametrize("classes", [1, 2, 5])
def test_with_five_classes_or_fewer_all_are_in_the_top_five(classes):
    scores = torch.randn(40, classes, generator=torch.Generator().manual_seed(1))
    assert evaluate(Scores(), scores, torch.arange(40) % classes).correct_top5 == 40


def test_padding_does_not_count_and_sequences_longer_than_a_chunk_are_summed():
    generator = torch.Generator().manual_seed(2)
    scores = torch.randn(700, 3, 9, generator=generator)
    labels = torch.randint(9, (700, 3), generator=generator)
    labels[::2, 1:] = IGNORED
    labels[600] = IGNORED
    kept = labels != IGNORED
    found = evaluate(Scores(), scores, labels)
    place = (scores > scores.gather(2, labels.clamp(min=0)[..., None])).sum(dim=2)
    assert found.correct == int((place[kept] == 0).sum())
    assert found.correct_top5 == int((place[kept] < 5).sum())
    expected = nn.functional.cross_entropy(scores[kept].double(), labels[kept], reduction="sum")
    assert found.loss == pytest.approx(float(expected), rel=1e-6)


@pytest.mark.parametrize("model", ["softmax", "char_gru"])
def test_rows_are_those_of_each_sample_measured_by_hand(make_job, make_rank_silos, model):
    rng = np.random.default_rng(3)
    tokens = model == "char_gru"
    shape = (30, 6) if tokens else (30, 1, 2, 2)
    inputs = rng.integers(8, size=shape) if tokens else rng.normal(size=shape).astype(np.float32)
    labels = rng.integers(8, size=(30, 6) if tokens else 30)
    if tokens:
        labels[rng.random((30, 6)) < 0.3] = IGNORED
    data = Dataset(
        train_inputs=inputs[:24],
        train_labels=labels[:24],
        test_inputs=inputs[24:],
        test_labels=labels[24:],
        classes=8,
    )
    job = make_job(silos=3, rounds=1, model=model, partition="iid", batch_size=4, learning_rate=0.5)
    rank_silos = make_rank_silos(job, data)
    for step in range(3):
        rank_silos.local_step(step, 0.5, round_index=0)
    average = initial_model(job.config, data, seed=0)
    meter = Meter(
        average, data, silos=3, communicator=SingleRank(), device=torch.device("cpu"), evaluate=1, seed=0
    )
    row, _diverged_in = meter.measure(0, rank_silos)

    models = [nn.utils.parameters_to_vector(module.parameters()) for module in rank_silos.models.modules]
    nn.utils.vector_to_parameters(torch.stack(models).double().mean(dim=0).float(), average.parameters())
    by_hand = [average_of(average, [shard]) for shard in rank_silos.shards]
    tests = Samples(inputs=torch.from_numpy(data.test_inputs), labels=torch.from_numpy(data.test_labels))
    own = [
        average_of(module, [shard])
        for module, shard in zip(rank_silos.models.modules, rank_silos.shards, strict=True)
    ]
    pooled = average_of(average, rank_silos.shards)
    assert (row.train_loss, row.train_accuracy, row.train_top5_accuracy) == pytest.approx(pooled, rel=1e-6)
    assert (row.test_loss, row.test_accuracy, row.test_top5_accuracy) == pytest.approx(
        average_of(average, [tests]), rel=1e-6
    )
    assert row.objective == pytest.approx(np.mean([loss for loss, *_ in by_hand]), rel=1e-6)
    assert row.silo_loss == pytest.approx([loss for loss, *_ in own], rel=1e-6)
    assert row.silo_accuracy == pytest.approx([accuracy for _, accuracy, _ in own], rel=1e-6)
    assert 0 < row.train_accuracy < row.train_top5_accuracy < 1


def average_of(model, shards):
    """Mean loss, accuracy and top-5 accuracy, label by label."""
    losses, correct, top5 = [], [], []
    for shard in shards:
        with torch.no_grad():
            scores = model(shard.inputs).flatten(0, -2).double()
        for row, label in zip(scores, shard.labels.flatten().tolist(), strict=True):
            if label != IGNORED:
                losses.append(float(torch.logsumexp(row, 0) - row[label]))
                order = row.argsort(descending=True).tolist()
                correct.append(order[0] == label)
                top5.append(label in order[:5])
    return np.mean(losses), np.mean(correct), np.mean(top5)


def test_a_row_of_a_backend_that_measures_less_survives_its_line():
    row = HistoryRow(
        round=3,
        train_loss=0.1,
        train_accuracy=0.2,
        test_loss=1 / 3,
        test_accuracy=0.4,
        consensus_distance=0.5,
        silo_loss=(0.1, 0.2),
    )
    read = HistoryRow.from_json(row.to_json())
    assert (read.test_loss, read.silo_loss, read.silo_accuracy) == (1 / 3, (0.1, 0.2), ())
    assert math.isnan(read.objective)
    assert math.isnan(read.test_top5_accuracy)
    assert json.loads(row.to_json())["round"] == 3


@pytest.mark.parametrize(
    ("shape", "size"), [((1, 8, 8), 512), ((200,), 512), ((3, 224, 224), 27), ((), 512), ((1 << 23,), 1)]
)
def test_fewer_large_samples_are_measured_at_a_time(shape, size):
    assert chunk_size(shape) == size


@pytest.mark.parametrize(
    ("samples", "shape", "batches"),
    [(40, (3, 256, 256), [21, 19]), (1_025, (2,), [512, 512, 1]), (512, (2,), [512]), (0, (2,), [])],
)
@pytest.mark.parametrize("reverse", [False, True])
def test_all_samples_are_measured_some_at_a_time_and_each_time_is_progress(samples, shape, batches, reverse):
    """Four million numbers at a time, but no more than 512 samples; in the order that is asked for."""
    seen, told = [], []

    class Recorded(Scores):
        def forward(self, scores):
            seen.append(len(scores))
            return scores.flatten(1)[:, :2]

    inputs, labels = torch.zeros(()).expand(samples, *shape), torch.zeros(samples, dtype=torch.int64)
    labels[samples // 2 :] = IGNORED
    chosen = torch.arange(samples).flip(0) if reverse else None
    found = evaluate(
        Recorded(), inputs, labels, chosen, progress=SimpleNamespace(step=lambda: told.append(1))
    )
    assert (seen, len(told)) == (batches, len(batches))
    # Of two equal scores the first is predicted.
    assert found == pytest.approx((samples // 2 * math.log(2), samples // 2, samples // 2))


def test_a_loss_of_the_users_counts_once_for_each_label_of_a_chunk():
    """A mean of NaN, as of no label at all, counts nothing."""

    def loss(_scores, truth):
        counted = (truth != IGNORED).sum()
        return 2.5 * counted / counted

    labels = torch.full((520,), IGNORED)
    labels[:3] = 0
    assert evaluate(Scores(), torch.zeros(520, 2), labels, loss=loss).loss == 3 * 2.5
    labels[515] = 1
    assert evaluate(Scores(), torch.zeros(520, 2), labels, loss=loss).loss == 4 * 2.5

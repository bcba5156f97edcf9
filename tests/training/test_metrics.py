"""Measuring a model with batch normalisation."""

import torch
from torch import nn

from training.metrics import evaluate


def test_measuring_does_not_change_running_statistics_and_uses_them():
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 2))
    norm = model[0]
    norm.running_mean.copy_(torch.tensor([3.0, -1.0]))
    inputs, labels = torch.tensor([[3.0, -1.0], [4.0, 0.0]]), torch.tensor([0, 1])

    loss, _ = evaluate(model, inputs, labels)

    assert norm.running_mean.tolist() == [3.0, -1.0]
    assert int(norm.num_batches_tracked) == 0
    assert model.training
    normalised = (inputs - norm.running_mean) / torch.sqrt(1 + torch.tensor(norm.eps))
    expected = nn.functional.cross_entropy(model[1](normalised), labels, reduction="sum")
    assert abs(loss - float(expected.detach())) < 1e-6

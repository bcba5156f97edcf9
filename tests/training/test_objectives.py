"""Silos that weigh the same, and silos that weigh as their samples."""

import numpy as np
import pytest
import torch
from torch import nn

from training.data.datasets import IGNORED, Dataset
from training.dpasgd import train_round
from training.engine.communicator import SingleRank
from training.engine.initial_model import initial_model
from training.engine.metrics import Meter
from training.optimization.objectives import silo_weights

SIZES = (1, 4, 6)


def unlike_silos(*, tokens: bool = False) -> Dataset:
    """Three groups of 1, 4 and 6 samples, in which each class has another share."""
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(3), SIZES)
    if tokens:
        inputs = rng.integers(5, size=(11, 7))
        labels = rng.integers(5, size=(11, 7))
        # Group 2 has as many labels that count as group 1: 28 of 42.
        labels[5:, 3:] = np.where(np.arange(4) < [[3], [3], [1], [1], [1], [1]], labels[5:, 3:], IGNORED)
    else:
        inputs = rng.normal(size=(11, 1, 3, 3)).astype(np.float32)
        labels = np.array([0, 0, 0, 1, 0, 2, 2, 2, 1, 2, 2])
    return Dataset(
        train_inputs=inputs,
        train_labels=labels,
        test_inputs=inputs[:2],
        test_labels=labels[:2],
        classes=5 if tokens else 3,
        train_groups=groups,
        group_names=("a", "b", "c"),
    )


@pytest.fixture
def weighted_job(make_job):
    def make(**settings):
        # Twelve samples per batch: every silo draws each of its samples equally often.
        return make_job(
            silos=3,
            rounds=1,
            partition="groups",
            batch_size=12,
            matrix=np.full((3, 3), 1 / 3),
            **{"learning_rate": 0.3, "objective": "samples", **settings},
        )

    return make


def pooled_loss(model, data, index=slice(None)):
    scores = model(torch.from_numpy(data.train_inputs[index])).flatten(0, -2)
    return nn.functional.cross_entropy(scores, torch.from_numpy(data.train_labels[index]).flatten())


def vector(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def gradient(model, loss):
    return torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(model.parameters()))])


def test_weights_are_shares_that_sum_to_one():
    labels = np.array([1.0, 4.0, 5.0])
    np.testing.assert_allclose(silo_weights("samples", labels), [0.1, 0.4, 0.5])
    np.testing.assert_allclose(silo_weights("silos", labels), [1 / 3] * 3)


@pytest.mark.parametrize(("model", "tokens"), [("softmax", False), ("char_gru", True)])
@pytest.mark.parametrize("objective", ["samples", "silos"])
def test_a_round_on_the_complete_graph_is_a_step_along_the_objectives_gradient(
    weighted_job, make_rank_silos, model, tokens, objective
):
    job, data = weighted_job(model=model, objective=objective), unlike_silos(tokens=tokens)
    rank_silos = make_rank_silos(job, data)
    start = initial_model(job.config, data, seed=job.seed)
    if objective == "samples":
        loss = pooled_loss(start, data)
    else:
        loss = sum(pooled_loss(start, data, data.train_groups == group) for group in range(3)) / 3
    expected = vector(start) - 0.3 * gradient(start, loss)
    train_round(job, rank_silos, 0)
    for module in rank_silos.models.modules:
        # Parameters are up to 4: a few roundings of each.
        torch.testing.assert_close(vector(module), expected, rtol=0, atol=1e-6)
    other = pooled_loss(start, data, [0])
    assert (vector(start) - 0.3 * gradient(start, other) - expected).abs().max() > 1e-3


@pytest.mark.parametrize("tokens", [False, True])
def test_the_weighted_objective_is_the_training_loss_and_the_other_the_mean_of_silos(
    weighted_job, make_rank_silos, tokens
):
    data = unlike_silos(tokens=tokens)
    job = weighted_job(model="char_gru" if tokens else "softmax")
    rank_silos = make_rank_silos(job, data)
    start = initial_model(job.config, data, seed=job.seed)
    per_silo = [float(pooled_loss(start, data, data.train_groups == group).detach()) for group in range(3)]
    for objective, expected in (
        ("samples", float(pooled_loss(start, data).detach())),
        ("silos", np.mean(per_silo)),
    ):
        meter = Meter(
            start,
            data,
            silos=3,
            communicator=SingleRank(),
            device=torch.device("cpu"),
            evaluate=1,
            seed=0,
            objective=objective,
        )
        row, _diverged_in = meter.measure(0, rank_silos)
        assert row.objective == pytest.approx(expected, rel=1e-6)
        assert sorted(row.silo_loss) == pytest.approx(sorted(per_silo), rel=1e-6)
    assert abs(np.mean(per_silo) - float(pooled_loss(start, data).detach())) > 1e-3


def test_steps_of_adam_are_as_much_longer_as_those_of_sgd(weighted_job, make_rank_silos):
    # Adam's first step is the rate for every parameter, whatever the gradient's length.
    rank_silos = make_rank_silos(weighted_job(optimizer="adam", learning_rate=0.01), unlike_silos())
    before = rank_silos.models.parameters.clone()
    rank_silos.local_step(0, 0.01, round_index=0)
    steps = (rank_silos.models.parameters - before).abs().amax(dim=1)
    sizes = np.array([len(shard.labels) for shard in rank_silos.shards])
    assert sorted(sizes) == sorted(SIZES)
    np.testing.assert_allclose(steps, 0.01 * 3 * sizes / 11, rtol=1e-4)


def test_momentum_gathers_weighted_gradients(weighted_job, make_rank_silos):
    weighted, plain = (
        make_rank_silos(weighted_job(momentum=0.9, objective=objective), unlike_silos())
        for objective in ("samples", "silos")
    )
    factor = torch.tensor([[3 * len(shard.labels) / 11] for shard in plain.shards])
    for step in range(2):
        moved = []
        for rank_silos in (weighted, plain):
            # The same gradients for both: the models are where they were.
            before = rank_silos.models.parameters.clone()
            rank_silos.local_step(step, 0.1, round_index=0)
            moved.append(rank_silos.models.parameters - before)
            rank_silos.models.parameters.copy_(before)
        torch.testing.assert_close(moved[0], factor * moved[1], rtol=1e-4, atol=1e-6)

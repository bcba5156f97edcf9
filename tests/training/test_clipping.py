import math

import numpy as np
import pytest
import torch

from training.engine.communicator import SingleRank
from training.optimization.clipping import clip_norms, clip_values


@pytest.mark.parametrize("largest", [0.5, 3.0, 1e6])
def test_norms_are_clipped_as_torch_clips_those_of_a_model(largest):
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(4, 37, generator=generator) * torch.tensor([[0.0], [1e-3], [0.4], [30.0]])
    references = [[row[:5].clone(), row[5:].clone()] for row in rows]  # two layers, one norm
    clip_norms(rows, largest)
    for row, layers in zip(rows, references, strict=True):
        parameters = [torch.nn.Parameter(torch.zeros_like(layer)) for layer in layers]
        for parameter, layer in zip(parameters, layers, strict=True):
            parameter.grad = layer
        torch.nn.utils.clip_grad_norm_(parameters, largest)
        torch.testing.assert_close(row, torch.cat([parameter.grad for parameter in parameters]))


def test_a_norm_of_five_by_hand():
    rows = torch.tensor([[3.0, 4.0], [0.3, 0.4]], dtype=torch.float64)
    clip_norms(rows, 1.0)
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0.3, 0.4]]


def test_values_are_clipped_as_torch_clips_them():
    rows = torch.tensor([[-3.0, 0.2, 0.5, math.nan]])
    clip_values(rows, 0.5)
    assert rows[0, :3].tolist() == [-0.5, pytest.approx(0.2), 0.5]
    assert rows[0, 3].isnan()


@pytest.mark.parametrize("executor", ["loop", "vmap"])
@pytest.mark.parametrize(
    ("settings", "clip"),
    [
        ({"clip_norm": 0.3}, lambda model: torch.nn.utils.clip_grad_norm_(model.parameters(), 0.3)),
        ({"clip_value": 0.01}, lambda model: torch.nn.utils.clip_grad_value_(model.parameters(), 0.01)),
    ],
)
def test_steps_are_those_of_torch_with_clipping_before_the_decay(
    make_job, make_rank_silos, executor, settings, clip
):
    job = make_job(silos=2, weight_decay=0.05, executor=executor, matrix=np.eye(2), **settings)
    rank_silos = make_rank_silos(job, communicator=SingleRank())
    models = [torch.nn.Linear(64, 10) for _ in range(2)]
    for model, own in zip(models, rank_silos.models.modules, strict=True):
        torch.nn.utils.vector_to_parameters(
            torch.nn.utils.parameters_to_vector(own.parameters()).detach().clone(), model.parameters()
        )
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.5, weight_decay=0.05) for model in models]
    was_clipped = False
    for step in range(4):
        for shard, model, optimizer in zip(rank_silos.shards, models, optimizers, strict=True):
            batch = torch.from_numpy(shard.batches.batch(step))
            optimizer.zero_grad()
            scores = model(shard.inputs[batch].flatten(1))
            torch.nn.functional.cross_entropy(scores, shard.labels[batch]).backward()
            before = torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).clone()
            clip(model)
            after = torch.cat([parameter.grad.flatten() for parameter in model.parameters()])
            was_clipped |= not torch.equal(before, after)
            optimizer.step()
        rank_silos.local_step(step, 0.5, round_index=step)
    assert was_clipped
    for model, own in zip(models, rank_silos.models.modules, strict=True):
        torch.testing.assert_close(
            torch.nn.utils.parameters_to_vector(own.parameters()),
            torch.nn.utils.parameters_to_vector(model.parameters()),
            rtol=1e-5,
            atol=1e-6,
        )

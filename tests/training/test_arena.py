import numpy as np
import pytest
import torch
from torch import nn

from training.arena import Arena

CPU = torch.device("cpu")


def arena_of(rows: torch.Tensor) -> Arena:
    """An arena whose rows start with given values, shape (silos, parameters)."""
    arena = Arena(nn.Linear(rows.shape[1] - 1, 1), silos=len(rows), before=0, after=0, device=CPU)
    arena.parameters[:, : rows.shape[1]] = rows
    return arena


def test_parameters_and_gradients_are_views_into_rows():
    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))
    arena = Arena(model, silos=3, before=2, after=1, device=CPU)
    vector = nn.utils.parameters_to_vector(model.parameters()).detach()
    for row in arena.parameters:
        assert torch.equal(row[: vector.numel()], vector)
        assert torch.equal(row[vector.numel() :], torch.zeros(len(row) - vector.numel()))
    arena.modules[1](torch.ones(1, 3)).sum().backward()
    assert arena.gradients[1].abs().sum() > 0
    assert arena.gradients[[0, 2]].abs().sum() == 0
    arena.parameters[1].zero_()
    assert float(arena.modules[1](torch.ones(1, 3)).detach()) == 0.0
    assert torch.equal(nn.utils.parameters_to_vector(model.parameters()).detach(), vector)


def test_rows_are_contiguous_and_start_on_cache_lines():
    arena = Arena(nn.Linear(4, 3), silos=3, before=1, after=0, device=CPU)
    assert arena.parameters.is_contiguous()
    assert all(row.is_contiguous() and row.data_ptr() % 64 == 0 for row in arena.parameters)


def test_received_rows_take_part_in_silo_order():
    arena = Arena(nn.Linear(1, 1), silos=2, before=1, after=2, device=CPU)
    for position, value in {-1: 1.0, 0: 10.0, 1: 100.0, 2: 1000.0, 3: 10000.0}.items():
        arena.received(position).fill_(value)
    arena.mix(torch.tensor([[0.5, 0.25, 0.25, 0.0], [0.0, 0.0, 0.5, 0.5]]), -1)
    assert arena.parameters[:, 0].tolist() == [0.5 + 2.5 + 25, 50 + 500]
    arena.mix(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), 0)
    assert arena.parameters[:, 0].tolist() == [550, 28]


@pytest.mark.parametrize("silos", [1, 5, 40])
def test_a_doubly_stochastic_matrix_keeps_the_average(ring, silos):
    rows = torch.randn(silos, 30, generator=torch.Generator().manual_seed(0))
    arena = arena_of(rows)
    weights = torch.from_numpy(ring(silos)).float()
    for _ in range(50):
        arena.mix(weights, 0)
    torch.testing.assert_close(arena.parameters[:, :30].mean(dim=0), rows.mean(dim=0), rtol=0, atol=1e-6)


def test_consensus_distance_decays_by_the_second_singular_value(ring):
    # The ring's matrix is normal, so ||A x - mean|| = sigma_2 ||x - mean|| on the span of its second singular vectors.
    matrix = ring(8)
    _left, values, right = np.linalg.svd(matrix)
    assert values[1] == pytest.approx(np.cos(np.pi / 8))
    arena = arena_of(torch.from_numpy(np.outer(right[1], np.linspace(1, 2, 20))).float())
    distances = []
    for _ in range(10):
        rows = arena.parameters.double()
        distances.append(float((rows - rows.mean(dim=0)).square().sum(dim=1).mean().sqrt()))
        arena.mix(torch.from_numpy(matrix).float(), 0)
    assert np.array(distances[1:]) / np.array(distances[:-1]) == pytest.approx(np.cos(np.pi / 8), rel=1e-5)

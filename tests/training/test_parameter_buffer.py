from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from training.engine.communicator import pieces
from training.engine.exchange import plan_exchange, silo_blocks
from training.engine.parameter_buffer import ParameterBuffer, bind, mix_gathered

empty_buffer = partial(ParameterBuffer, device=torch.device("cpu"), kept=0, exchange_buffers=False)


def buffer_of(rows: torch.Tensor) -> ParameterBuffer:
    """An models whose rows start with given values, shape (silos, parameters)."""
    models = empty_buffer(nn.Linear(rows.shape[1] - 1, 1), silos=len(rows), before=0, after=0)
    models.parameters[:, : rows.shape[1]] = rows
    return models


def test_parameters_and_gradients_are_views_into_rows():
    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))
    models = empty_buffer(model, silos=3, before=2, after=1)
    vector = nn.utils.parameters_to_vector(model.parameters()).detach()
    for row in models.parameters:
        assert torch.equal(row[: vector.numel()], vector)
        assert torch.equal(row[vector.numel() :], torch.zeros(len(row) - vector.numel()))
    models.modules[1](torch.ones(1, 3)).sum().backward()
    assert models.gradients[1].abs().sum() > 0
    assert models.gradients[[0, 2]].abs().sum() == 0
    models.parameters[1].zero_()
    assert float(models.modules[1](torch.ones(1, 3)).detach()) == 0.0
    assert torch.equal(nn.utils.parameters_to_vector(model.parameters()).detach(), vector)


def test_rows_are_contiguous_and_start_on_cache_lines():
    models = empty_buffer(nn.Linear(4, 3), silos=3, before=1, after=0)
    assert models.parameters.is_contiguous()
    assert all(row.is_contiguous() and row.data_ptr() % 64 == 0 for row in models.parameters)


def test_received_rows_take_part_in_silo_order():
    models = empty_buffer(nn.Linear(1, 1), silos=2, before=1, after=2)
    for position, value in {-1: 1.0, 0: 10.0, 1: 100.0, 2: 1000.0, 3: 10000.0}.items():
        models.received(position).fill_(value)
    models.mix(torch.tensor([[0.5, 0.25, 0.25, 0.0], [0.0, 0.0, 0.5, 0.5]]), -1)
    assert models.parameters[:, 0].tolist() == [0.5 + 2.5 + 25, 50 + 500]
    models.mix(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), 0)
    assert models.parameters[:, 0].tolist() == [550, 28]


def test_kept_rows_take_part_wherever_they_lie_and_stay():
    models = empty_buffer(nn.Linear(1, 1), silos=2, before=1, after=0, kept=3)
    for place, value in enumerate([1.0, 10.0, 100.0]):
        models.kept[place].fill_(value)
    for values in ([2.0, 1000.0, 4000.0], [4.0, 8.0, 16.0]):
        for position, value in zip((-1, 0, 1), values, strict=True):
            models.received(position).fill_(value)
        numbers = np.array(
            [models.kept_number(2), models.number(1), models.number(-1), models.kept_number(0)]
        )
        weights = torch.tensor([[0.5, 0.25, 0.0, 0.25], [0.0, 0.5, 0.5, 0.0]])
        expected = torch.empty(2, 32)
        mix_gathered(weights, models._all, torch.from_numpy(numbers), expected)
        models.mix_scattered(weights, numbers)
        assert models.rows[:, 0].tolist() == [50 + values[2] / 4 + 0.25, values[2] / 2 + values[0] / 2]
        assert torch.equal(models.rows, expected)
        assert models.kept[:, 31].tolist() == [1, 10, 100]


@pytest.mark.parametrize("silos", [1, 5, 40])
def test_a_doubly_stochastic_matrix_keeps_the_average(ring, silos):
    rows = torch.randn(silos, 30, generator=torch.Generator().manual_seed(0))
    models = buffer_of(rows)
    weights = torch.from_numpy(ring(silos)).float()
    for _ in range(50):
        models.mix(weights, 0)
    torch.testing.assert_close(models.parameters[:, :30].mean(dim=0), rows.mean(dim=0), rtol=0, atol=1e-6)


def test_consensus_distance_decays_by_the_second_singular_value(ring):
    # The ring's matrix is normal, so ||A x - mean|| = sigma_2 ||x - mean|| on the span of its second singular vectors.
    matrix = ring(8)
    _left, values, right = np.linalg.svd(matrix)
    assert values[1] == pytest.approx(np.cos(np.pi / 8))
    models = buffer_of(torch.from_numpy(np.outer(right[1], np.linspace(1, 2, 20))).float())
    distances = []
    for _ in range(10):
        rows = models.parameters.double()
        distances.append(float((rows - rows.mean(dim=0)).square().sum(dim=1).mean().sqrt()))
        models.mix(torch.from_numpy(matrix).float(), 0)
    assert np.array(distances[1:]) / np.array(distances[:-1]) == pytest.approx(np.cos(np.pi / 8), rel=1e-5)


def normalized() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Linear(2, 1))


def test_a_model_without_buffers_has_the_same_rows_either_way():
    model = nn.Linear(3, 2)
    plain, exchanging = (
        empty_buffer(model, silos=2, before=1, after=1, exchange_buffers=flag) for flag in (False, True)
    )
    assert plain.buffers.shape == exchanging.buffers.shape == (2, 0)
    assert torch.equal(plain.rows, exchanging.rows)
    assert torch.equal(plain.rows, plain.parameters)
    assert plain.rows.data_ptr() == plain.parameters.data_ptr()


@pytest.mark.parametrize("exchange", [False, True])
def test_running_statistics_are_those_of_the_silos_own_batches(exchange):
    model = normalized()
    models = empty_buffer(model, silos=3, before=1, after=0, exchange_buffers=exchange)
    batch = torch.randn(8, 3, generator=torch.Generator().manual_seed(0))
    hidden = model[0](batch).detach()
    before = models.buffers.clone()
    models.modules[1](batch)
    # Batch norm keeps mean and variance (divided by n - 1), each 0.9 times the old value and 0.1 times the new one.
    expected = torch.cat([0.1 * hidden.mean(dim=0), 0.9 + 0.1 * hidden.var(dim=0)])
    torch.testing.assert_close(models.buffers[1, :4], expected)
    assert torch.equal(models.buffers[[0, 2]], before[[0, 2]])
    assert [int(module[1].num_batches_tracked) for module in models.modules] == [0, 1, 0]
    assert int(model[1].num_batches_tracked) == 0


@pytest.mark.parametrize("exchange", [False, True])
def test_evaluation_reads_the_rows_and_leaves_them(exchange):
    models = empty_buffer(normalized(), silos=2, before=0, after=0, exchange_buffers=exchange)
    module = models.modules[1].eval()
    models.buffers[1, :4] = torch.tensor([0.5, -1.0, 4.0, 0.25])
    rows = models.buffers.clone()
    inputs = torch.ones(1, 3)
    hidden = (module[0](inputs) - rows[1, :2]) / (rows[1, 2:4] + 1e-5).sqrt()
    torch.testing.assert_close(module(inputs), module[2](hidden))
    assert torch.equal(models.buffers, rows)


@pytest.mark.parametrize("exchange", [False, True])
def test_mixing_takes_buffers_along_only_if_they_are_exchanged(exchange):
    models = empty_buffer(normalized(), silos=2, before=1, after=0, exchange_buffers=exchange)
    assert models.received(-1).shape == models.rows[0].shape
    assert models.rows.is_contiguous()
    assert all(row.data_ptr() % 64 == 0 for row in (*models.rows, *models.parameters, *models.buffers))
    models.received(-1).fill_(8.0)
    models.parameters[0], models.parameters[1] = 2.0, 4.0
    models.buffers[0], models.buffers[1] = 1.0, 3.0
    models.modules[0][1].num_batches_tracked.fill_(5)
    models.mix(torch.tensor([[0.25, 0.75, 0.0], [0.0, 0.5, 0.5]]), -1)
    assert models.parameters[:, 0].tolist() == [3.5, 3.0]
    expected = [2.75, 2.0] if exchange else [1.0, 3.0]
    assert [float(module[1].running_mean[1]) for module in models.modules] == expected
    assert [float(module[1].running_var[1]) for module in models.modules] == expected
    assert [int(module[1].num_batches_tracked) for module in models.modules] == [5, 0]


def test_a_bound_average_model_reads_averaged_buffers():
    model = normalized()
    row, buffers = torch.zeros(32), torch.zeros(16)
    average = bind(model, row, buffers=buffers).eval()
    assert buffers[:4].tolist() == [0, 0, 1, 1]
    buffers[2:4] = 4.0
    assert average[1].running_var.tolist() == [4, 4]
    assert model[1].running_var.tolist() == [1, 1]
    own = bind(model, row)
    own[1].running_var.fill_(9.0)
    assert model[1].running_var.tolist() == [1, 1]
    assert buffers[2:4].tolist() == [4, 4]


def test_rows_do_not_depend_on_which_rank_hosts_a_silo():
    model = normalized()
    together = empty_buffer(model, silos=3, before=0, after=0, exchange_buffers=True)
    apart = [
        empty_buffer(model, silos=silos, before=1, after=2, exchange_buffers=True) for silos in (1, 0, 2)
    ]
    assert torch.equal(together.rows, torch.cat([models.rows for models in apart]))


@pytest.mark.parametrize("exchange", [False, True])
def test_two_windows_take_turns(exchange):
    models = empty_buffer(normalized(), silos=2, before=1, after=1, exchange_buffers=exchange)
    views = {
        name: [] for name in ("parity", "rows", "parameters", "buffers", "gradients", "modules", "received")
    }
    for _ in range(4):
        views["parity"].append(models.parity)
        views["modules"].append(models.modules)
        views["received"].append(models.received(2).data_ptr())
        for name in ("rows", "parameters", "buffers", "gradients"):
            views[name].append(getattr(models, name).data_ptr())
        models.mix(torch.eye(2), 0)
    assert views["parity"] == [0, 1, 0, 1]
    for name, seen in views.items():
        assert seen[:2] == seen[2:]
        shared = name == "gradients" or (name == "buffers" and not exchange)
        assert (seen[0] == seen[1]) == shared, name


def test_both_sets_of_modules_read_their_window_and_add_to_the_same_gradients():
    models = empty_buffer(nn.Linear(2, 1), silos=2, before=0, after=0)
    inputs = torch.tensor([[2.0, 3.0]])
    for _ in range(3):
        models.parameters[:, :3] = torch.tensor([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]])
        assert [float(module(inputs).detach()) for module in models.modules] == [132, 264]
        models.gradients.zero_()
        models.modules[1](inputs).sum().backward()
        assert models.gradients[:, :3].tolist() == [[0, 0, 0], [2, 3, 1]]
        models.mix(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), 0)
        assert [float(module(inputs).detach()) for module in models.modules] == [264, 132]


@pytest.mark.parametrize("exchange", [False, True])
def test_counters_count_on_over_both_windows(exchange):
    models = empty_buffer(normalized(), silos=2, before=0, after=0, exchange_buffers=exchange)
    for done in range(1, 4):
        models.modules[0](torch.randn(4, 3))
        models.mix(torch.eye(2), 0)
        assert [int(module[1].num_batches_tracked) for module in models.modules] == [done, 0]


def test_nothing_of_the_other_window_leaks():
    models = empty_buffer(nn.Linear(2, 1), silos=1, before=1, after=1)
    for _ in range(2):
        models.received(-1).fill_(1.0)
        models.rows.fill_(2.0)
        models.received(1).fill_(3.0)
        old = [models.received(position) for position in (-1, 0, 1)]
        models.mix(torch.tensor([[0.5, 0.25, 2.0]]), -1)
        assert models.rows[0].tolist() == [7.0] * 32
        for row in old:
            row.fill_(torch.nan)


def mixed_by(ranks: int, matrix: np.ndarray, rows: torch.Tensor, length: int) -> torch.Tensor:
    """The rows after one mixing by a number of ranks, columns in pieces of a length."""
    blocks = silo_blocks(len(rows), ranks)
    mixed = []
    for rank, own in enumerate(blocks):
        columns = plan_exchange(matrix, blocks, rank).columns
        before = int((columns < own.start).sum())
        after = int((columns >= own.stop).sum())
        model = nn.Linear(rows.shape[1] - 1, 1)
        models = empty_buffer(model, silos=len(own), before=before, after=after)
        for position, silo in enumerate(columns, -before):
            models.received(position).copy_(rows[silo])
        models.mix(
            torch.from_numpy(matrix[own.start : own.stop, columns]).float(),
            -before,
            columns=pieces(slice(0, rows.shape[1]), length),
        )
        mixed.append(models.rows)
    return torch.cat(mixed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("silos", "ranks", "width"),
    [(7, (2, 3, 7), 32), (22, (2, 3, 20), 4096), (40, (3, 40), 992), (265, (3, 128), 96)],
)
@pytest.mark.parametrize("share", [0.15, 1.0])
def test_mixed_rows_have_the_same_bits_for_any_number_of_ranks(silos, ranks, width, share):
    rng = np.random.default_rng(silos)
    matrix = np.where(rng.random((silos, silos)) < share, rng.random((silos, silos)), 0) + np.eye(silos)
    matrix /= matrix.sum(axis=1, keepdims=True)
    rows = torch.from_numpy(rng.standard_normal((silos, width))).float()
    alone = mixed_by(1, matrix, rows, width)
    for number in ranks:
        assert torch.equal(mixed_by(number, matrix, rows, width), alone)
        assert torch.equal(mixed_by(number, matrix, rows, 48), alone)
    torch.testing.assert_close(alone.double(), torch.from_numpy(matrix) @ rows.double(), rtol=0, atol=1e-6)

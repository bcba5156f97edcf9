"""Batch norm's running statistics: they stay in their silo, or are mixed like parameters."""

import numpy as np
import pytest
import torch

from training.data.datasets import Dataset
from training.dpasgd import train_round
from training.engine.communicator import SingleRank
from training.engine.metrics import Meter

pytestmark = pytest.mark.slow

MATRIX = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])


@pytest.fixture(scope="module")
def pictures():
    """Small images of two classes, brighter from silo to silo."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(3), 4)
    inputs = (rng.normal(size=(12, 3, 32, 32)) + groups[:, None, None, None]).astype(np.float32)
    return Dataset(
        train_inputs=inputs,
        train_labels=np.arange(12) % 2,
        test_inputs=inputs[:2],
        test_labels=np.arange(2),
        classes=2,
        train_groups=groups,
        group_names=("dark", "grey", "bright"),
    )


@pytest.fixture
def job_of(make_job):
    def make(**settings):
        return make_job(
            silos=3,
            rounds=1,
            model="resnet18",
            partition="groups",
            batch_size=2,
            learning_rate=0.01,
            matrix=MATRIX,
            **settings,
        )

    return make


@pytest.mark.parametrize("exchange_buffers", [False, True])
def test_statistics_are_mixed_on_request_only(job_of, make_rank_silos, pictures, exchange_buffers):
    job = job_of(exchange_buffers=exchange_buffers)
    rank_silos = make_rank_silos(job, pictures)
    rank_silos.local_step(0, 0.01, round_index=0)
    parameters, buffers = (
        rank_silos.models.parameters.clone(),
        rank_silos.models.buffers.double().numpy().copy(),
    )
    assert buffers.shape == (3, 9_600)
    assert np.abs(buffers - buffers.mean(axis=0)).max() > 0.05
    rank_silos.mix(0)
    mixed = torch.from_numpy(MATRIX).float() @ parameters
    torch.testing.assert_close(rank_silos.models.parameters, mixed, rtol=1e-5, atol=1e-7)
    expected = MATRIX @ buffers if exchange_buffers else buffers
    np.testing.assert_allclose(rank_silos.models.buffers, expected, rtol=1e-5, atol=1e-7)
    for module, row in zip(rank_silos.models.modules, expected, strict=True):
        np.testing.assert_allclose(module.bn1.running_mean, row[:64], rtol=1e-5, atol=1e-7)
        assert int(module.bn1.num_batches_tracked) == 1


def test_statistics_leave_the_parameters_of_all_rounds_as_they_are(job_of, make_rank_silos, pictures):
    # In training a batch is normalized by itself: an exchange changes what is measured, not what is learnt.
    alone, mixed = (
        make_rank_silos(job_of(exchange_buffers=exchanged, local_steps=2), pictures)
        for exchanged in (False, True)
    )
    rows = []
    for rank_silos, exchanged in ((alone, False), (mixed, True)):
        job = job_of(exchange_buffers=exchanged, local_steps=2)
        train_round(job, rank_silos, 0)
        meter = Meter(
            rank_silos.models.modules[0],
            pictures,
            silos=3,
            communicator=SingleRank(),
            device=torch.device("cpu"),
            evaluate=1,
            seed=0,
        )
        rows.append(meter.measure(1, rank_silos)[0])
    torch.testing.assert_close(alone.models.parameters, mixed.models.parameters, rtol=1e-6, atol=1e-8)
    # The mean over silos, with which the average model is measured, is kept by columns that sum to 1.
    assert rows[1].train_loss == pytest.approx(rows[0].train_loss, rel=1e-4)
    assert np.abs(np.subtract(rows[1].silo_loss, rows[0].silo_loss)).min() > 1e-3

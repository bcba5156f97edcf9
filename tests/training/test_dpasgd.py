import math
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from topologies.errors import InputError, MachineError, TrainingError
from training import MixingPlan, load_backend
from training.checkpoints.folder import checkpoint_rounds
from training.config import TrainingConfig
from training.data.batches import BatchStream
from training.data.datasets import load_dataset
from training.data.partitions import split
from training.dpasgd import DIVERGENCE_CHECK_ROUNDS, _learning_rate, check_finite
from training.dpasgd import train_rank as train_and_report
from training.engine.communicator import SingleRank
from training.engine.exchange import plan_exchange
from training.history import HistoryRow
from training.models import build_model


def train_rank(job, communicator):
    """The rows without the notices."""
    with closing(train_and_report(job, communicator)) as reports:
        yield from (report for report in reports if isinstance(report, HistoryRow))


class ByHand:
    """DPASGD with torch's own optimizers and a loop over layers, for comparison."""

    def __init__(self, job, make_optimizer):
        data = load_dataset("digits")
        config = job.config
        parts = split(
            config.partition, data.train_labels, silos=job.silos, alpha=config.dirichlet_alpha, seed=job.seed
        )
        self.job = job
        self.inputs = [torch.from_numpy(data.train_inputs[part]) for part in parts]
        self.labels = [torch.from_numpy(data.train_labels[part]) for part in parts]
        self.test = torch.from_numpy(data.test_inputs), torch.from_numpy(data.test_labels)
        self.models = [
            build_model(config.model, input_shape=(1, 8, 8), classes=10, seed=job.seed) for _ in parts
        ]
        self.optimizers = [make_optimizer(model.parameters()) for model in self.models]
        self.batches = [
            BatchStream(size=part.size, batch_size=config.batch_size, seed=job.seed, silo=silo)
            for silo, part in enumerate(parts)
        ]

    def round(self, k):
        steps = self.job.local_steps
        for silo, model in enumerate(self.models):
            for step in range(k * steps, (k + 1) * steps):
                batch = torch.from_numpy(self.batches[silo].batch(step))
                self.optimizers[silo].zero_grad()
                scores = model(self.inputs[silo][batch])
                nn.functional.cross_entropy(scores, self.labels[silo][batch]).backward()
                self.optimizers[silo].step()
        matrix = self.job.mixing.matrices[self.job.mixing.index[k]]
        with torch.no_grad():
            for layer in zip(*(model.parameters() for model in self.models), strict=True):
                old = [parameter.clone() for parameter in layer]
                for i, parameter in enumerate(layer):
                    parameter.copy_(sum(matrix[i, j] * old[j] for j in range(len(old))))

    def vectors(self):
        return torch.stack(
            [nn.utils.parameters_to_vector(model.parameters()).detach().double() for model in self.models]
        )

    def average_metrics(self, inputs, labels):
        average = build_model(self.job.config.model, input_shape=(1, 8, 8), classes=10, seed=0)
        nn.utils.vector_to_parameters(self.vectors().mean(dim=0).float(), average.parameters())
        with torch.no_grad():
            scores = average(inputs)
        accuracy = (scores.argmax(dim=1) == labels).double().mean()
        return float(nn.functional.cross_entropy(scores, labels)), float(accuracy)

    def check(self, row):
        train = self.average_metrics(torch.cat(self.inputs), torch.cat(self.labels))
        assert (row.train_loss, row.train_accuracy) == pytest.approx(train, rel=1e-5)
        assert (row.test_loss, row.test_accuracy) == pytest.approx(self.average_metrics(*self.test), rel=1e-5)
        with torch.no_grad():
            own = [
                float(nn.functional.cross_entropy(model(inputs), labels))
                for model, inputs, labels in zip(self.models, self.inputs, self.labels, strict=True)
            ]
        assert row.silo_loss == pytest.approx(own, rel=1e-5)
        vectors = self.vectors()
        distance = (vectors - vectors.mean(dim=0)).square().sum(dim=1).mean().sqrt()
        assert row.consensus_distance == pytest.approx(float(distance), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("settings", "make_optimizer"),
    [
        ({"learning_rate": 0.5}, lambda parameters: torch.optim.SGD(parameters, lr=0.5)),
        (
            {"learning_rate": 0.05, "momentum": 0.9, "model": "cnn"},
            lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9),
        ),
        (
            {"learning_rate": 0.01, "optimizer": "adam"},
            lambda parameters: torch.optim.Adam(parameters, lr=0.01),
        ),
        (
            {"learning_rate": 0.5, "weight_decay": 0.1},
            lambda parameters: torch.optim.SGD(parameters, lr=0.5, weight_decay=0.1),
        ),
    ],
)
@pytest.mark.parametrize("silos", [1, 3])
def test_training_equals_torch_optimizers_and_averaging_by_hand(make_job, silos, settings, make_optimizer):
    complete = np.full((silos, silos), 1 / silos)
    job = make_job(silos=silos, rounds=4, local_steps=2, matrix=complete, **settings)
    by_hand = ByHand(job, make_optimizer)
    rows = list(train_rank(job, SingleRank()))
    assert [row.round for row in rows] == list(range(5))
    for k, row in enumerate(rows):
        by_hand.check(row)
        if k < 4:
            by_hand.round(k)
    assert rows[0].train_loss > rows[-1].train_loss


def test_a_schedule_of_row_stochastic_matrices_equals_mixing_by_hand(make_job):
    matrices = np.random.default_rng(0).dirichlet(np.ones(6), size=(2, 6))
    mixing = MixingPlan(matrices=matrices, index=np.array([1, 0, 0, 1]))
    job = make_job(silos=6, rounds=4, mixing=mixing, learning_rate=0.5)
    by_hand = ByHand(job, lambda parameters: torch.optim.SGD(parameters, lr=0.5))
    for k, row in enumerate(train_rank(job, SingleRank())):
        by_hand.check(row)
        if k < 4:
            by_hand.round(k)


def test_the_inverse_sqrt_schedule_lowers_the_rate_by_round(make_job):
    settings = {"silos": 1, "learning_rate": 0.4}
    decaying = list(
        train_rank(make_job(rounds=2, learning_rate_schedule="inverse_sqrt", **settings), SingleRank())
    )
    job = make_job(rounds=2, **settings)
    by_hand = ByHand(job, lambda parameters: torch.optim.SGD(parameters, lr=0.4))
    by_hand.round(0)
    by_hand.optimizers[0].param_groups[0]["lr"] = 0.4 / math.sqrt(2)
    by_hand.round(1)
    by_hand.check(decaying[-1])


def test_softmax_learns_the_digits_on_a_ring_of_silos_with_unlike_data(make_job):
    job = make_job(silos=5, rounds=100, learning_rate=0.5, dirichlet_alpha=0.3, log_every=100)
    first, last = train_rank(job, SingleRank())
    assert first.test_accuracy < 0.3
    assert last.test_accuracy > 0.9
    assert last.consensus_distance > 0


def test_without_learning_every_silo_keeps_the_common_initial_model(make_job):
    rows = list(train_rank(make_job(silos=5, rounds=4, learning_rate=0.0), SingleRank()))
    assert all(row.consensus_distance < 1e-6 for row in rows)
    assert rows[-1].test_loss == pytest.approx(rows[0].test_loss, rel=1e-6)


@pytest.mark.parametrize(
    ("rounds", "log_every", "logged"),
    [(7, 3, [0, 3, 6, 7]), (6, 3, [0, 3, 6]), (2, 9, [0, 2]), (1, 1, [0, 1])],
)
def test_rows_come_every_few_rounds_and_at_the_end(make_job, rounds, log_every, logged):
    rows = train_rank(make_job(silos=2, rounds=rounds, log_every=log_every), SingleRank())
    assert [row.round for row in rows] == logged


def test_logging_does_not_change_the_training(make_job):
    often, seldom = (
        list(train_rank(make_job(rounds=6, log_every=every, learning_rate=0.5), SingleRank()))[-1]
        for every in (1, 6)
    )
    assert often == seldom


def test_the_seed_decides_everything(make_job):
    first, again, other = (
        list(train_rank(make_job(seed=seed, learning_rate=0.5), SingleRank())) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_divergence_names_the_silo_that_diverged_first():
    check_finite(np.full(4, math.inf), TrainingConfig())
    with pytest.raises(TrainingError) as caught:
        check_finite(np.array([math.inf, 5, 3, 3]), TrainingConfig())
    assert str(caught.value) == (
        "training diverged: silo 2 has no finite loss in round 3; learning_rate(=0.1) must be smaller."
    )
    with pytest.raises(
        TrainingError, match=r"^training diverged: Rome \(silo 1\) has no finite loss in round 5;"
    ):
        check_finite(np.array([math.inf, 5]), TrainingConfig(), ("Oslo", "Rome"))


@pytest.mark.parametrize("log_every", [1, 5])
def test_no_row_shows_a_loss_that_is_not_finite(make_job, log_every):
    # The first step leaves finite parameters of about 1e29, whose products overflow in the next forward pass.
    rows = []
    settings = {"rounds": 5, "learning_rate": 1e30, "model": "cnn", "log_every": log_every}
    job = make_job(silos=2, silo_labels=("Oslo", "Rome"), **settings)
    with pytest.raises(TrainingError, match=r"diverged: Oslo \(silo 0\) has no finite loss in round 1;"):
        rows.extend(row.round for row in train_rank(job, SingleRank()))
    assert rows == [0]


def test_more_silos_than_samples_is_an_error(make_job):
    with pytest.raises(InputError, match=r"silos\(=1443\) must be <= 1442"):
        next(train_rank(make_job(silos=1443, rounds=1), SingleRank()))


def test_each_distinct_matrix_is_planned_once(make_job, monkeypatch):
    planned = []

    def plan(matrix, blocks, rank):
        planned.append(matrix)
        return plan_exchange(matrix, blocks, rank)

    monkeypatch.setattr("training.engine.plain_exchange.plan_exchange", plan)
    mixing = MixingPlan(
        matrices=np.stack([np.eye(3), np.full((3, 3), 1 / 3)]), index=np.array([1, 0, 0, 1, 1])
    )
    list(train_rank(make_job(silos=3, rounds=5, mixing=mixing), SingleRank()))
    assert [matrix[0, 0] for matrix in planned] == [1 / 3, 1]


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_missing_gpu_is_a_machine_error_and_auto_uses_the_processor(make_job):
    job = make_job(device="cuda")
    with pytest.raises(MachineError, match=r"device\(=cuda\) needs a GPU"):
        next(train_rank(job, SingleRank()))
    auto = replace(job, config=replace(job.config, device="auto"))
    assert len(list(train_rank(auto, SingleRank()))) == 4


def test_the_number_of_threads_is_restored(make_job):
    torch.set_num_threads(2)
    try:
        rows = train_rank(make_job(), SingleRank())
        next(rows)
        assert torch.get_num_threads() == 1
        rows.close()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_divergence_ends_a_training_long_before_its_next_row(make_job, tmp_path, ranks):
    # Checkpoints show how far it came: every silo's loss is infinite or not a number from the second round on.
    job = make_job(
        model="cnn", rounds=10_000, log_every=10_000, checkpoint_every=4, learning_rate=1e30, ranks=ranks
    )
    rows = []
    with pytest.raises(TrainingError, match=r"^training diverged: silo \d has no finite loss in round 1;"):
        rows.extend(load_backend("mpi").train(replace(job, directory=tmp_path)))
    assert [row.round for row in rows if isinstance(row, HistoryRow)] == [0]
    assert max(checkpoint_rounds(tmp_path)) < DIVERGENCE_CHECK_ROUNDS


def test_a_loss_of_the_users_that_is_not_finite_at_first_is_named():
    own = TrainingConfig(loss="mine.py:loss")
    with pytest.raises(TrainingError, match=r"loss\(='mine.py:loss'\) gives none with the first models"):
        check_finite(np.array([math.inf, 0.0]), own)
    with pytest.raises(TrainingError, match=r"in round 1; learning_rate\(=0.1\) must be smaller"):
        check_finite(np.array([math.inf, 1.0]), own)


def test_with_compression_the_consensus_step_may_be_the_cause():
    with pytest.raises(TrainingError) as caught:
        check_finite(np.array([2.0]), TrainingConfig(compression="sign", learning_rate=0.5))
    assert str(caught.value) == (
        "training diverged: silo 0 has no finite loss in round 2; learning_rate(=0.5), or consensus_step, must be "
        "smaller."
    )


@pytest.mark.parametrize(
    ("settings", "rates"),
    [
        # Two silos make three steps a round of ten samples each: 60 samples are an epoch.
        ({"learning_rate_schedule": "halved_each_epoch"}, [0.4, 0.8, 0.8, 0.4, 0.2, 0.1]),
        (
            {"learning_rate_schedule": "step", "decay_every": 2, "decay_factor": 0.5},
            [0.4, 0.8, 0.8, 0.8, 0.4, 0.4],
        ),
        # A quarter of the way from 0.8 to 0.2 in each of four rounds: 0.5 + 0.3 cos(k pi / 4).
        (
            {"learning_rate_schedule": "cosine", "final_learning_rate": 0.2},
            [0.4, 0.8, 0.8, 0.5 + 0.3 * math.sqrt(0.5), 0.5, 0.5 - 0.3 * math.sqrt(0.5)],
        ),
    ],
)
def test_schedules_begin_after_the_warm_up(make_job, settings, rates):
    job = make_job(
        silos=2, rounds=6, local_steps=3, batch_size=10, learning_rate=0.8, warm_up_rounds=2, **settings
    )
    assert [_learning_rate(job, number, samples=60) for number in range(6)] == pytest.approx(rates, rel=1e-12)


def test_only_rounds_with_local_steps_count_for_a_schedule(make_job):
    mixing = MixingPlan(
        matrices=np.stack([np.eye(2), np.full((2, 2), 0.5)]),
        index=np.array([0, 0, 1, 0, 1, 0]),
        computes=np.array([True, False]),
    )
    settings = {"learning_rate_schedule": "cosine", "learning_rate": 0.8, "warm_up_rounds": 2}
    job = make_job(silos=2, rounds=6, mixing=mixing, **settings)
    # Four such rounds: two of warm-up, and two in which the rate falls from 0.8 to 0.
    assert [_learning_rate(job, number, samples=60) for number in range(4)] == pytest.approx(
        [0.4, 0.8, 0.8, 0.4]
    )

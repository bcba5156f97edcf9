"""Silos that make different numbers of local steps, or none in some rounds."""

import numpy as np
import pytest
import torch
from torch import nn

from topologies.errors import InputError
from training import HistoryRow, check_resumable, load_backend
from training.data.shards import NO_STEP
from training.dpasgd import train_round
from training.engine.communicator import SingleRank
from training.step_plan import StepPlan

STEPS = np.array([1, 4, 2])
TAKING_PART = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1]], dtype=bool)


def test_steps_of_a_round_and_before_it_by_hand():
    plan = StepPlan(local_steps=STEPS, taking_part=TAKING_PART)
    assert [plan.of_round(k).tolist() for k in range(4)] == [[1, 4, 0], [0, 4, 2], [0, 0, 0], [1, 4, 2]]
    assert [plan.before(k).tolist() for k in range(5)] == [
        *([0, 0, 0], [1, 4, 0], [1, 8, 2], [1, 8, 2], [2, 12, 4]),
    ]
    even = StepPlan(local_steps=np.array([3, 3]))
    assert (even.is_even, plan.is_even, StepPlan(local_steps=STEPS).is_even) == (True, False, False)
    assert even.before(5).tolist() == [15, 15]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"local_steps": np.array([1, 0, 1])}, "must be whole numbers >= 1"),
        ({"local_steps": np.array([1, 2])}, "must be one number, or one for each of 3 silos"),
        ({"taking_part": TAKING_PART[:, :2]}, "must hold one bool for each round and each of 3 silos"),
        ({"taking_part": TAKING_PART[:3]}, r"taking_part\(rounds=3\) must have 4 rounds or more"),
    ],
)
def test_plans_that_do_not_fit_are_refused(make_job, given, message):
    with pytest.raises(InputError, match=message):
        make_job(silos=3, rounds=4, **given)


@pytest.mark.parametrize("executor", ["loop", "vmap"])
@pytest.mark.parametrize(
    ("settings", "make_optimizer"),
    [
        ({}, lambda parameters: torch.optim.SGD(parameters, lr=0.3)),
        (
            {"momentum": 0.9, "weight_decay": 0.02},
            lambda parameters: torch.optim.SGD(parameters, lr=0.3, momentum=0.9, weight_decay=0.02),
        ),
        (
            {"optimizer": "adam", "learning_rate": 0.02},
            lambda parameters: torch.optim.Adam(parameters, lr=0.02),
        ),
    ],
)
def test_each_silo_is_torch_with_its_own_steps_on_its_own_batches(
    make_job, make_rank_silos, executor, settings, make_optimizer
):
    job = make_job(
        silos=3,
        rounds=4,
        local_steps=STEPS,
        taking_part=TAKING_PART,
        executor=executor,
        **{"learning_rate": 0.3, **settings},
    )
    rank_silos = make_rank_silos(job, communicator=SingleRank())
    models = [nn.Linear(64, 10) for _ in range(3)]
    for model, own in zip(models, rank_silos.models.modules, strict=True):
        start = nn.utils.parameters_to_vector(own.parameters()).detach().clone()
        nn.utils.vector_to_parameters(start, model.parameters())
    optimizers = [make_optimizer(model.parameters()) for model in models]
    made = [0, 0, 0]
    for k in range(4):
        for silo, (model, optimizer) in enumerate(zip(models, optimizers, strict=True)):
            shard = rank_silos.shards[silo]
            for _ in range(STEPS[silo] * TAKING_PART[k, silo]):
                batch = torch.from_numpy(shard.batches.batch(made[silo]))
                optimizer.zero_grad()
                scores = model(shard.inputs[batch].flatten(1))
                nn.functional.cross_entropy(scores, shard.labels[batch]).backward()
                optimizer.step()
                made[silo] += 1
        with torch.no_grad():
            rows = torch.stack([nn.utils.parameters_to_vector(model.parameters()) for model in models])
            mixed = torch.tensor(job.mixing.matrices[0]).float() @ rows
            for model, row in zip(models, mixed, strict=True):
                nn.utils.vector_to_parameters(row.clone(), model.parameters())
        train_round(job, rank_silos, k)
    assert made == rank_silos.optimizer.steps.tolist() == [2, 12, 4]
    for model, own in zip(models, rank_silos.models.modules, strict=True):
        torch.testing.assert_close(
            nn.utils.parameters_to_vector(own.parameters()),
            nn.utils.parameters_to_vector(model.parameters()),
            rtol=1e-5,
            atol=1e-6,
        )


def test_the_same_number_for_each_silo_is_that_number(make_job, rows_of):
    reference = rows_of(make_job(silos=3, rounds=2, local_steps=2))
    assert rows_of(make_job(silos=3, rounds=2, local_steps=np.array([2, 2, 2]))) == reference
    # Through the other code: all take part in all rounds.
    everybody = rows_of(make_job(silos=3, rounds=2, local_steps=2, taking_part=np.ones((2, 3), dtype=bool)))
    assert [row.train_loss for row in everybody] == pytest.approx(
        [row.train_loss for row in reference], rel=1e-6
    )


def test_a_silo_that_makes_no_step_keeps_running_statistics_and_state(make_job, make_rank_silos):
    job = make_job(silos=2, model="cnn", optimizer="adam", executor="vmap", local_steps=np.array([1, 2]))
    rank_silos = make_rank_silos(job, communicator=SingleRank())
    before = rank_silos.models.parameters.clone()
    rank_silos.local_step(np.array([NO_STEP, 0]), 0.1, round_index=0)
    assert torch.equal(rank_silos.models.parameters[0], before[0])
    assert not torch.equal(rank_silos.models.parameters[1], before[1])
    assert not any(state[0].any() for state in rank_silos.optimizer.state.values())
    assert rank_silos.optimizer.steps.tolist() == [0, 1]


def test_the_epoch_counts_the_steps_of_all_silos(make_job, make_rank_silos):
    # 7 steps of 206 samples in the first round are the 1,442 digits, 6 in the second are not as many again.
    job = make_job(
        silos=3,
        rounds=4,
        local_steps=STEPS,
        taking_part=np.array([[1, 1, 1], [0, 1, 1], [0, 0, 0], [1, 1, 1]], dtype=bool),
        batch_size=206,
        learning_rate_schedule="halved_each_epoch",
    )
    rank_silos, rates = make_rank_silos(job, communicator=SingleRank()), {}
    rank_silos.local_step = lambda _step, rate, *, round_index: rates.setdefault(round_index, rate)
    for k in range(4):
        train_round(job, rank_silos, k)
    assert rates == {0: 0.1, 1: 0.05, 3: 0.05}


@pytest.mark.parametrize("stop_at", [1, 3])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_uneven_steps_go_on_after_a_checkpoint(rows_of, checkpointing, make_job, stop_at, optimizer):
    settings = {
        "silos": 3,
        "rounds": 4,
        "local_steps": STEPS,
        "taking_part": TAKING_PART,
        "optimizer": optimizer,
        "learning_rate": 0.02,
    }
    reference = rows_of(make_job(**settings))
    assert rows_of(checkpointing(**settings), stop_at=stop_at) == reference[: stop_at + 1]
    if stop_at == 3:
        for other in ({"taking_part": ~TAKING_PART}, {"local_steps": 2}):
            with pytest.raises(InputError, match=f"{next(iter(other))}.* as in the checkpoint"):
                check_resumable(checkpointing(**settings | other))
    assert rows_of(checkpointing(**settings)) == reference


@pytest.mark.slow
def test_uneven_steps_are_the_same_on_any_number_of_ranks_whose_processes_take_seconds(make_job):
    def rows(ranks):
        job = make_job(
            silos=3,
            rounds=4,
            local_steps=STEPS,
            taking_part=TAKING_PART,
            optimizer="adam",
            learning_rate=0.02,
            clip_norm=0.5,
            evaluate=0.2,
            ranks=ranks,
        )
        return [row for row in load_backend("mpi").train(job) if isinstance(row, HistoryRow)]

    reference = rows(1)
    assert len(reference) == 5
    # Blocks of two silos and of one, which makes no step in one round.
    assert rows(2) == reference


def test_even_averages_of_some_silos_steps_are_federated_averaging_at_another_rate(make_job, make_rank_silos):
    """Of 2 of 4 silos with one step of SGD: `x + (1 / 4) sum d_i` at twice the rate is the mean over the two."""
    taking_part = np.array([[True, False, True, False]])
    complete = np.full((4, 4), 0.25)
    settings = {"silos": 4, "rounds": 1, "matrix": complete, "taking_part": taking_part}
    alone = make_rank_silos(make_job(**settings, learning_rate=0.2), communicator=SingleRank())
    alone.local_step(0, 0.2, round_index=0)
    federated = alone.models.parameters[[0, 2]].mean(dim=0)

    job = make_job(**settings, learning_rate=0.4)
    rank_silos = make_rank_silos(job, communicator=SingleRank())
    train_round(job, rank_silos, 0)
    for row in rank_silos.models.parameters:
        torch.testing.assert_close(row, federated, rtol=1e-5, atol=1e-6)

import numpy as np
import pytest
import torch

from training.dpasgd import train_round
from training.engine.communicator import SingleRank
from training.job import MixingPlan
from training.optimization.schedules import SCHEDULES, RateSettings, epoch_of


@pytest.mark.parametrize(
    ("round_index", "epoch"), [(0, 0), (16, 0), (17, 1), (33, 1), (34, 2), (10**12, 60_000_000_000)]
)
def test_an_epoch_ends_when_the_silos_together_have_drawn_all_samples(round_index, epoch):
    # 3 steps of 4 samples in 5 silos are 60 samples per round; 1,000 are drawn within round 16.
    assert epoch_of(round_index * 3 * 5, batch_size=4, samples=1000) == epoch


def test_a_round_may_last_several_epochs():
    assert [epoch_of(k, batch_size=8, samples=3) for k in range(4)] == [0, 2, 5, 8]


def test_the_rate_is_halved_each_epoch_and_never_overflows():
    settings = RateSettings(
        learning_rate=0.1, rounds=9, decay_every=1, decay_factor=0.9, final_learning_rate=0.0
    )
    halved = SCHEDULES["halved_each_epoch"]
    assert [halved(settings, k, epoch) for k, epoch in ((0, 0), (9, 1), (3, 2), (5, 10))] == [
        0.1,
        0.05,
        0.025,
        0.1 / 1024,
    ]
    assert halved(settings, 0, 10**9) == 0


def rates_of(job, make_rank_silos):
    """Rate of every local step of a training, by round and step."""
    rank_silos, seen = make_rank_silos(job, communicator=SingleRank()), []
    rank_silos.local_step = lambda step, rate, *, round_index: seen.append((round_index, step, rate))
    for k in range(job.config.rounds):
        train_round(job, rank_silos, k)
    return seen


@pytest.mark.parametrize(
    ("settings", "rates"),
    [
        ({}, [0.4] * 5),
        ({"learning_rate_schedule": "inverse_sqrt"}, [0.4, 0.4 / 2**0.5, 0.4 / 3**0.5, 0.2, 0.4 / 5**0.5]),
        # 2 silos, 2 steps, 250 samples each: 1,000 of the 1,442 digits per round.
        ({"learning_rate_schedule": "halved_each_epoch"}, [0.4, 0.4, 0.2, 0.1, 0.1]),
        (
            {"learning_rate_schedule": "step", "decay_every": 2, "decay_factor": 0.5},
            [0.4, 0.4, 0.2, 0.2, 0.1],
        ),
        (
            {"learning_rate_schedule": "cosine", "warm_up_rounds": 1, "final_learning_rate": 0.1},
            [0.4, 0.4, 0.25 + 0.15 / 2**0.5, 0.25, 0.25 - 0.15 / 2**0.5],
        ),
        ({"warm_up_rounds": 4}, [0.1, 0.2, 0.3, 0.4, 0.4]),
        # Epochs, too, are counted from the end of the warm-up on.
        ({"learning_rate_schedule": "halved_each_epoch", "warm_up_rounds": 2}, [0.2, 0.4, 0.4, 0.4, 0.2]),
        ({"learning_rate_schedule": "cosine", "warm_up_rounds": 5}, [0.08, 0.16, 0.24, 0.32, 0.4]),
    ],
)
def test_every_local_step_of_a_round_has_its_rate(make_job, make_rank_silos, settings, rates):
    job = make_job(silos=2, rounds=5, local_steps=2, batch_size=250, learning_rate=0.4, **settings)
    assert rates_of(job, make_rank_silos) == [
        (k, step, pytest.approx(rates[k])) for k in range(5) for step in (2 * k, 2 * k + 1)
    ]


@pytest.mark.parametrize("warm_up_rounds", [0, 1, 3])
@pytest.mark.parametrize(
    ("settings", "reference"),
    [
        ({}, lambda optimizer, _rounds: torch.optim.lr_scheduler.ConstantLR(optimizer, 1.0)),
        (
            {"learning_rate_schedule": "step", "decay_every": 3, "decay_factor": 0.3},
            lambda optimizer, _rounds: torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.3),
        ),
        (
            {"learning_rate_schedule": "cosine", "final_learning_rate": 0.02},
            lambda optimizer, rounds: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, rounds, 0.02),
        ),
        (
            {"learning_rate_schedule": "inverse_sqrt"},
            lambda optimizer, _rounds: torch.optim.lr_scheduler.LambdaLR(
                optimizer, lambda k: (k + 1) ** -0.5
            ),
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:The epoch parameter")
def test_rates_are_those_of_torch_schedulers(make_job, make_rank_silos, settings, reference, warm_up_rounds):
    rounds = 12
    job = make_job(silos=1, rounds=rounds, learning_rate=0.7, warm_up_rounds=warm_up_rounds, **settings)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.7)
    scheduler = reference(optimizer, rounds - warm_up_rounds)
    if warm_up_rounds:
        warm_up = torch.optim.lr_scheduler.LinearLR(
            optimizer, 1 / warm_up_rounds, total_iters=warm_up_rounds - 1
        )
        both = [warm_up, scheduler]
        scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, both, [warm_up_rounds])
    expected = []
    for _ in range(rounds):
        expected.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    assert [rate for _, _, rate in rates_of(job, make_rank_silos)] == pytest.approx(expected, rel=1e-12)


def test_rounds_without_local_steps_do_not_count_for_a_schedule(make_job, make_rank_silos):
    plan = MixingPlan(
        matrices=np.array([np.eye(2), np.full((2, 2), 0.5)]),
        index=np.array([0, 1, 0, 1, 0, 1]),
        computes=np.array([True, False]),
    )
    job = make_job(silos=2, rounds=6, mixing=plan, learning_rate=0.4, learning_rate_schedule="cosine")
    # Three rounds with steps: cos(0), cos(pi / 3) and cos(2 pi / 3).
    assert rates_of(job, make_rank_silos) == [
        (0, 0, 0.4),
        (2, 1, pytest.approx(0.3)),
        (4, 2, pytest.approx(0.1)),
    ]

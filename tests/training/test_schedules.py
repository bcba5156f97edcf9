import pytest

from training.dpasgd import train_round
from training.engine.communicator import SingleRank
from training.optimization.schedules import SCHEDULES, epoch_of


@pytest.mark.parametrize(
    ("round_index", "epoch"), [(0, 0), (16, 0), (17, 1), (33, 1), (34, 2), (10**12, 60_000_000_000)]
)
def test_an_epoch_ends_when_the_silos_together_have_drawn_all_samples(round_index, epoch):
    # 3 steps of 4 samples in 5 silos are 60 samples per round; 1,000 are drawn within round 16.
    assert epoch_of(round_index, local_steps=3, batch_size=4, silos=5, samples=1000) == epoch


def test_a_round_may_last_several_epochs():
    assert [epoch_of(k, local_steps=1, batch_size=8, silos=1, samples=3) for k in range(4)] == [0, 2, 5, 8]


def test_the_rate_is_halved_each_epoch_and_never_overflows():
    halved = SCHEDULES["halved_each_epoch"]
    assert [halved(0.1, k, epoch) for k, epoch in ((0, 0), (9, 1), (3, 2), (5, 10))] == [
        0.1,
        0.05,
        0.025,
        0.1 / 1024,
    ]
    assert halved(0.1, 0, 10**9) == 0


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        ("constant", [0.4] * 5),
        ("inverse_sqrt", [0.4, 0.4 / 2**0.5, 0.4 / 3**0.5, 0.2, 0.4 / 5**0.5]),
        # 2 silos, 2 steps, 250 samples each: 1,000 of the 1,442 digits per round.
        ("halved_each_epoch", [0.4, 0.4, 0.2, 0.1, 0.1]),
    ],
)
def test_every_local_step_of_a_round_has_its_rate(make_job, make_rank_silos, schedule, rates):
    job = make_job(
        silos=2, rounds=5, local_steps=2, batch_size=250, learning_rate=0.4, learning_rate_schedule=schedule
    )
    rank_silos = make_rank_silos(job, communicator=SingleRank())
    seen = []
    rank_silos.local_step = lambda step, rate, *, round_index: seen.append((round_index, step, rate))
    for k in range(5):
        train_round(job, rank_silos, k)
    assert seen == [(k, step, pytest.approx(rates[k])) for k in range(5) for step in (2 * k, 2 * k + 1)]

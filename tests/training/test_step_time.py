"""The time of a local step, on a clock whose every reading is known."""

import itertools

import numpy as np
import pytest
import torch

from topologies.errors import InputError, MachineError
from training import TrainingConfig
from training.engine.rank_silos import RankSilos
from training.step_time import WARM_UP, StepTimes, measure_step

SOFTMAX = TrainingConfig(model="softmax", partition="iid", executor="loop")


def clock_of(durations):
    """Time stands still between steps: the k-th step takes the k-th duration."""
    readings = []
    for number, duration in enumerate(durations):
        readings += [100.0 * number, 100.0 * number + duration]
    return iter(readings).__next__


def test_the_first_steps_do_not_count_and_the_rest_all_do():
    durations = [64.0] * WARM_UP + [1.0, 2.0, 3.0, 4.0, 100.0 / 8]

    times = measure_step(SOFTMAX, seed=0, steps=5, silos=1, clock=clock_of(durations))

    np.testing.assert_array_equal(times.times_s, [1, 2, 3, 4, 12.5])
    assert (times.median_s, times.quartiles_s, times.silos) == (3.0, (2.0, 4.0), 1)


def test_median_and_quartiles_of_an_even_number_lie_between():
    times = StepTimes(hardware="", silos=2, times_s=np.array([4.0, 1.0, 3.0, 2.0]))

    assert times.median_s == 2.5
    assert times.quartiles_s == (1.75, 3.25)


def test_one_step_is_its_own_quartile():
    times = measure_step(SOFTMAX, seed=0, steps=1, silos=1, clock=clock_of([0.0] * WARM_UP + [0.5]))

    assert (times.median_s, times.quartiles_s) == (0.5, (0.5, 0.5))


def test_real_steps_are_made_in_order_by_all_silos(monkeypatch):
    made = []
    step = RankSilos.local_step

    def noted(rank_silos, number, rate, *, round_index):
        made.append((len(rank_silos.own), number, rate, torch.get_num_threads()))
        step(rank_silos, number, rate, round_index=round_index)

    monkeypatch.setattr(RankSilos, "local_step", noted)
    times = measure_step(SOFTMAX, seed=0, steps=3, silos=4, clock=itertools.count().__next__)

    assert made == [(4, number, 0.1, 1) for number in range(WARM_UP + 3)]
    np.testing.assert_array_equal(times.times_s, [1, 1, 1])


def test_a_choice_of_the_executor_is_told():
    auto = TrainingConfig(model="softmax", partition="iid", executor="auto")

    assert "vmap" in measure_step(auto, seed=0, steps=1, silos=1).notices[0]
    assert measure_step(SOFTMAX, seed=0, steps=1, silos=1).notices == ()


def test_what_does_not_fit_ends_before_anything_is_allocated(monkeypatch):
    monkeypatch.setattr("training.memory.memory_budget.available_bytes", lambda: 3e7)
    monkeypatch.setattr("training.engine.rank_silos.RankSilos", lambda *_, **__: pytest.fail("allocated"))

    with pytest.raises(
        MachineError, match=r"^training must fit into memory: rank 0 on .* 0\.030 GB are avail"
    ):
        measure_step(SOFTMAX, seed=0, steps=1, silos=3)


@pytest.mark.parametrize("name", ["steps", "silos"])
def test_less_than_one_is_an_error(name):
    with pytest.raises(InputError, match=rf"{name}\(=0\) must be >= 1"):
        measure_step(SOFTMAX, seed=0, **{"steps": 1, "silos": 1, name: 0})

"""What a finished timeline tells of itself: its confidence interval and its one line."""

import numpy as np
import pytest

from simulator import (
    Empirical,
    Exponential,
    FlowArc,
    Lognormal,
    SteadyState,
    Timeline,
    Trace,
    simulate_flows,
    stream,
)
from simulator.compute_times import Constant
from simulator.job import make_job
from simulator.statistics.confidence import cycle_time_interval

PAIR = [
    FlowArc(source=0, target=1, latency_s=0.0, links=()),
    FlowArc(source=1, target=0, latency_s=0.0, links=()),
]


def simulated(compute, rounds):
    return simulate_flows(PAIR, link_capacity_bps=[], message_bits=0, compute=compute, rounds=rounds)


def test_an_exact_cycle_time_has_no_width():
    interval = simulated(Constant(compute_s=np.array([1.0, 3.0])), 20).confidence_interval()
    assert (interval.mean, interval.half_width, interval.confidence) == (3.0, 0.0, 0.95)


def test_an_estimate_has_the_interval_of_its_batch_means():
    # Each round takes the longer of two exponential times of mean 1 s: 1.5 s in the mean, with variance 1.25 s^2.
    timeline = simulated(Exponential(mean_s=np.ones(2), seed=4), 4000)
    interval = timeline.confidence_interval()
    assert interval.low < 1.5 < interval.high
    expected_s = 1.96 * np.sqrt(1.25 / 3000)
    assert 0.5 * expected_s < interval.half_width < 2 * expected_s
    assert interval == cycle_time_interval(timeline.round_start_s.mean(axis=1), silos=2)


def test_too_few_rounds_have_no_interval():
    timeline = simulated(Exponential(mean_s=np.ones(2), seed=4), 399)
    assert timeline.confidence_interval() is None
    assert timeline.cycle_time_s > 0


def test_rounds_after_the_first_silo_has_ended_do_not_count():
    # Silo 1 is 50 rounds behind, and twice as fast once silo 0 has ended the job of 600 rounds at 600 s.
    first_s = np.arange(601.0)
    second_s = np.where(first_s <= 550, first_s + 50, 600 + (first_s - 550) / 2)
    timeline = Timeline(
        round_start_s=np.column_stack((first_s, second_s)),
        arrival_s=np.zeros((600, 0)),
        link_bits=np.zeros(0),
        steady=SteadyState(cycle_time_s=0.9, is_exact=False),
        engine="simpy",
    )
    interval = timeline.confidence_interval()
    assert (interval.mean, interval.half_width) == (pytest.approx(1.0), pytest.approx(0.0, abs=1e-9))


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (Constant(compute_s=np.array([1.0, 3.0])), "Constant(2 silos, 1 to 3 s)"),
        (Trace(table_s=np.ones((5, 2)), repeat=True), "Trace(5 rounds, 2 silos, 1 s, repeat)"),
        (Lognormal(mean_s=np.ones(2), cv=0.5, seed=3), "Lognormal(2 silos, mean 1 s, cv=0.5, seed=3)"),
        (Exponential(mean_s=np.ones(40), seed=3), "Exponential(40 silos, mean 1 s, seed=3)"),
        (
            Empirical(samples_s=np.arange(9.0), silos=2, seed=3),
            "Empirical(2 silos, 9 samples, 0 to 8 s, seed=3)",
        ),
    ],
)
def test_computing_times_are_one_line(shown, text):
    assert repr(shown) == text


def test_results_are_one_line():
    compute = Constant(compute_s=np.array([1.0, 3.0]))
    job = make_job(PAIR, link_capacity_bps=[], message_bits=0, compute=compute, rounds=20)
    assert repr(job) == "Job(2 silos, 2 arcs, 20 rounds, sharing='maxmin', queueing='fifo')"
    assert repr(job.sharing) == "SharingModel('maxmin')"
    block = next(stream(job, block_rounds=8))
    assert repr(block) == "Block(rounds 0 to 7, now_s=24.0)"
    assert repr(block.messages) == "Messages(8 rounds, 2 arcs)"
    assert repr(simulated(compute, 20)) == "Timeline(20 rounds, 2 silos, 3000 ms / round, engine='simpy')"

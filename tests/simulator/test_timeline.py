"""What a finished timeline tells of itself: its confidence interval and its one line."""

from dataclasses import replace

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
from topologies import InputError

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


def of_rounds(steady, further_s=()):
    """Two silos whose first three rounds, and the end of the job, are simulated; and later starts."""
    return Timeline(
        round_start_s=np.array([[0.0, 0.0], [3.0, 1.0], [4.0, 5.0], [7.0, 8.0]]),
        arrival_s=np.zeros((3, 0)),
        link_bits=np.zeros(0),
        steady=steady,
        engine="simpy",
        further_start_s=np.reshape(further_s, (-1, 2)),
    )


PERIOD = SteadyState(cycle_time_s=2.5, is_exact=True, period_rounds=2, period_s=5.0, transient_rounds=3)


@pytest.mark.parametrize(
    ("round_", "starts_s"),
    [
        (0, [0, 0]),
        (3, [7, 8]),
        (4, [10, 10]),
        (5, [12, 13]),
        (6, [15, 15]),  # that of round 4, a period later
        (7, [17, 18]),  # that of round 3, two periods later
        (2003, [5007, 5008]),
    ],
)
def test_starts_of_any_round_of_a_job_that_repeats(round_, starts_s):
    timeline = of_rounds(PERIOD, [[10.0, 10.0], [12.0, 13.0]])
    assert timeline.start_s(round_).tolist() == starts_s


def test_starts_that_are_asked_for_are_copies():
    timeline = of_rounds(PERIOD, [[10.0, 10.0]])
    for round_ in (3, 4):
        timeline.start_s(round_)[:] = 99.0
    assert (timeline.start_s(3).tolist(), timeline.start_s(4).tolist()) == ([7, 8], [10, 10])


@pytest.mark.parametrize(
    ("round_", "message"),
    [
        (-1, "round(=-1) must be >= 0."),
        (4, "round(=4) must be <= 3, the simulated rounds: they hold no period."),
    ],
)
@pytest.mark.parametrize("missing", ["period_rounds", "period_s", "transient_rounds"])
def test_rounds_that_are_not_known(round_, message, missing):
    timeline = of_rounds(replace(PERIOD, **{missing: None}))
    with pytest.raises(InputError) as caught:
        timeline.start_s(round_)
    assert str(caught.value) == message
    assert timeline.start_s(3).tolist() == [7, 8]

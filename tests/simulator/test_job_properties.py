"""What a job says of itself: lags, periods and whether it is a max-plus linear system."""

import math

import numpy as np
import pytest

from simulator import Constant, FlowArc, Lognormal, Trace, make_job, simulate_flows
from simulator.rounds import RoundPlan


class Repeating(RoundPlan):
    """Both arcs in every round, with a lag that is stated, after so many rounds again."""

    rounds = period = longest_lag = None

    def __init__(self, rounds, *, period=None, longest_lag=1):
        self.rounds, self.period, self.longest_lag = rounds, period, longest_lag

    def active(self, _round):
        return np.arange(2)

    def sending_s(self, _round):
        return np.ones(2)


def job_of(rounds=10, *, plan=None, compute=None, sharing="equal", **slow_start):
    pair = [
        FlowArc(source=i, target=1 - i, latency_s=0.5, links=(i,), rate_bps=1.0, **slow_start)
        for i in range(2)
    ]
    return make_job(
        pair,
        link_capacity_bps=[1.0, 1.0],
        message_bits=1.0,
        compute=compute or Constant(compute_s=[1.0, 1.0]),
        rounds=rounds,
        plan=plan,
        sharing=sharing,
    )


def test_no_lag_reaches_back_before_the_job():
    assert [job_of(k, plan=Repeating(k, longest_lag=3)).longest_lag for k in (1, 2, 3, 4, 9)] == [
        1,
        2,
        3,
        3,
        3,
    ]
    assert [job_of(9, plan=Repeating(9, longest_lag=lag)).regular_from for lag in (1, 2, 5)] == [0, 1, 4]
    assert (job_of().longest_lag, job_of().regular_from) == (1, 0)


@pytest.mark.parametrize(
    ("period", "compute", "found"),
    [
        (4, None, 4),
        (None, None, None),
        (4, Trace(table_s=[[1.0, 2.0]], repeat=True), 4),
        (4, Trace(table_s=[[1.0, 2.0]] * 10), None),
        (4, Lognormal(mean_s=[1.0, 1.0], cv=0.5, seed=1), None),
    ],
)
def test_the_period_of_arcs_and_computing_times(period, compute, found):
    assert job_of(plan=Repeating(10, period=period), compute=compute).period == found


@pytest.mark.parametrize(
    ("settings", "linear"),
    [
        ({}, True),
        ({"sharing": "maxmin"}, False),
        ({"plan": Repeating(10, period=2)}, True),
        ({"plan": Repeating(10)}, False),
        ({"compute": Lognormal(mean_s=[1.0, 1.0], cv=0.5, seed=1)}, False),
        ({"slow_start_s": 0.1, "slow_start_after_s": -math.inf}, True),
        ({"slow_start_s": 0.1, "slow_start_after_s": 0.0}, False),
        ({"slow_start_s": 0.1}, False),
        ({"slow_start_after_s": 0.0}, True),
    ],
)
def test_constant_rates_that_repeat_are_a_max_plus_linear_system(settings, linear):
    job = job_of(**settings)
    assert job.is_max_plus == linear
    assert job.starts_slowly == ("slow_start_s" in settings)


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_messages_that_wait_in_every_round_repeat(engine):
    """A ring whose last arc takes 10 s: up to two more messages wait for it."""
    ring = [FlowArc(source=i, target=(i + 1) % 4, latency_s=0.5, links=(i,)) for i in range(4)]
    timeline = simulate_flows(
        ring,
        link_capacity_bps=[1.0, 1.0, 1.0, 0.1],
        message_bits=1.0,
        compute_s=[1.0] * 4,
        rounds=20,
        engine=engine,
        messages=True,
    )
    steady, ready_s = timeline.steady, timeline.round_start_s[:-1, 3] + 1.0
    start_s, last_bit_s = timeline.messages.start_s[:, 3], timeline.messages.last_bit_s[:, 3]

    assert (steady.is_exact, steady.period_rounds, steady.period_s) == (
        True,
        1,
        pytest.approx(10.0, rel=1e-12),
    )
    np.testing.assert_allclose(start_s[1:], last_bit_s[:-1], rtol=1e-12)
    assert max(int(((ready_s <= at) & (start_s > at)).sum()) for at in start_s[10:18]) == 2

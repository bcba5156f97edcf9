"""The cycle time of a timeline, and which rounds a simulation collects."""

from dataclasses import fields, replace

import numpy as np
import pytest

from scenarios.simulation.collect import FEWEST_ROUNDS, _shows_period, collect
from scenarios.simulation.cycle_time import simulated_cycle_time
from simulator import Lognormal, SteadyState, Timeline, overlay_job, simulate
from simulator.block import Messages
from simulator.statistics.confidence import least_rounds, rounds_for_interval
from topologies import design


@pytest.fixture(scope="module")
def ring(graph, work):
    return design("ring", graph, work)


def timeline_of(last_s, steady):
    """One silo's round starts."""
    start_s = np.array(last_s, dtype=float)[:, None]
    return Timeline(
        round_start_s=start_s,
        arrival_s=np.empty((len(start_s) - 1, 0)),
        link_bits=np.empty(0),
        steady=steady,
        engine="simpy",
    )


def test_an_interval_takes_a_quarter_more_rounds_than_counts():
    assert [rounds_for_interval(silos) for silos in (2, 40)] == [
        5 * least_rounds(silos) // 4 for silos in (2, 40)
    ]


def test_an_exact_cycle_time_is_the_mean_over_the_last_period():
    # Two rounds take 3 s, after one that takes longer.
    steady = SteadyState(cycle_time_s=1.5, is_exact=True, period_rounds=2, period_s=3.0, transient_rounds=1)
    found = simulated_cycle_time(timeline_of([0, 4, 5, 7, 8, 10], steady), np.array([0]))

    assert (found.cycle_time_s, found.half_width_s, found.is_exact) == (1.5, 0.0, True)
    assert (found.first_round, found.rounds, found.simulated_rounds) == (3, 2, 5)
    assert (found.period_rounds, found.period_s, found.transient_rounds) == (2, 3.0, 1)


def test_a_period_longer_than_the_rounds_is_cut_to_them():
    steady = SteadyState(cycle_time_s=1.0, is_exact=True, period_rounds=9, period_s=9.0, transient_rounds=0)
    found = simulated_cycle_time(timeline_of(range(5), steady), np.array([0]))

    assert (found.first_round, found.rounds) == (0, 4)


def test_an_exact_cycle_time_without_a_period_is_estimated_over_the_last_half():
    steady = SteadyState(cycle_time_s=99.0, is_exact=True)
    found = simulated_cycle_time(timeline_of([0, 9, 10, 11, 12], steady), np.array([0]))

    assert (found.cycle_time_s, found.half_width_s, found.is_exact) == (1.0, None, False)
    assert (found.first_round, found.rounds) == (2, 2)
    assert (found.period_rounds, found.period_s, found.transient_rounds) == (None, None, None)


@pytest.mark.parametrize("messages", [False, True])
@pytest.mark.parametrize("sharing", ["equal", "maxmin"])
def test_what_is_collected_is_what_is_simulated(ring, sharing, messages):
    job = overlay_job(ring, 30, sharing=sharing)
    found = collect(job, np.arange(ring.graph.silos), title="", messages=messages)
    expected = simulate(ring, 30, sharing=sharing, messages=True)

    np.testing.assert_array_equal(found.round_start_s, expected.round_start_s)
    np.testing.assert_array_equal(found.arrival_s, expected.arrival_s)
    np.testing.assert_allclose(found.link_bits, expected.link_bits, rtol=1e-12)
    assert found.steady == expected.steady
    assert (found.messages is None) == (not messages)
    if found.messages is not None:
        for field in fields(Messages):
            np.testing.assert_array_equal(
                getattr(found.messages, field.name), getattr(expected.messages, field.name)
            )


def test_a_job_that_repeats_ends_after_some_rounds_where_an_interval_is_asked_for(ring):
    silos = np.arange(ring.graph.silos)
    job = overlay_job(ring, 5000)
    whole, ended = collect(job, silos, title=""), collect(job, silos, title="", until=0.1)

    assert len(whole.round_start_s) == 5001
    assert FEWEST_ROUNDS < len(ended.round_start_s) - 1 < 1000
    assert len(ended.arrival_s) == len(ended.round_start_s) - 1
    assert ended.steady.is_exact
    assert ended.steady.cycle_time_s == pytest.approx(whole.steady.cycle_time_s, rel=1e-12)


def test_a_period_shows_in_more_rounds_than_a_hundred_and_than_it_has():
    def steady(period_rounds, transient_rounds=3):
        return SteadyState(
            cycle_time_s=1.0,
            is_exact=True,
            period_s=float(period_rounds),
            period_rounds=period_rounds,
            transient_rounds=transient_rounds,
        )

    assert not _shows_period(None, 1000)
    assert [_shows_period(steady(2), rounds) for rounds in (99, 100, 101)] == [False, False, True]
    enough = [rounds for rounds in range(150, 250) if _shows_period(steady(190), rounds)]
    # The transient and one period; of the last block the round that follows is not there yet.
    assert enough == [*range(194, 250)]


def test_random_computing_times_end_where_the_interval_is_narrow_enough(ring):
    silos = np.arange(ring.graph.silos)
    compute = Lognormal(mean_s=ring.compute_s, cv=0.3, seed=1)
    job = replace(overlay_job(ring, 20_000), compute=compute)
    wide, narrow = (collect(job, silos, title="", until=until) for until in (0.2, 0.003))

    assert len(wide.round_start_s) < len(narrow.round_start_s) < 20_001
    assert not narrow.steady.is_exact
    found = simulated_cycle_time(narrow, silos)
    assert found.half_width_s <= 0.003 * found.cycle_time_s


def two_silos(first_s, second_s, steady=None, rounds=40):
    """Round starts of two silos whose rounds take so long each."""
    start_s = np.arange(rounds + 1)[:, None] * np.array([first_s, second_s])
    return Timeline(
        round_start_s=start_s,
        arrival_s=np.empty((rounds, 0)),
        link_bits=np.empty(0),
        steady=steady or SteadyState(cycle_time_s=9.0, is_exact=False),
        engine="compiled",
    )


def test_rounds_that_start_after_a_silo_has_ended_the_job_do_not_count():
    # Silo 0 has ended after 100 s, in which silo 1 starts its rounds 0 to 33.
    steady = SteadyState(cycle_time_s=3.0, is_exact=True, period_rounds=2, period_s=6.0, transient_rounds=1)
    exact = simulated_cycle_time(two_silos(2.5, 3.0, steady), np.array([1]))
    assert (exact.first_round, exact.rounds, exact.simulated_rounds, exact.engine) == (31, 2, 40, "compiled")

    found = simulated_cycle_time(two_silos(2.5, 3.0), np.array([1]))
    assert (found.cycle_time_s, found.half_width_s, found.is_exact) == (3.0, None, False)
    assert found.first_round + found.rounds == 33
    assert (found.counts_disturbed, found.throughout, found.asked) == (False, None, None)
    assert simulated_cycle_time(two_silos(2.5, 3.0), np.array([0, 1])).cycle_time_s == pytest.approx(2.75)
    # One that is named twice counts twice.
    assert simulated_cycle_time(two_silos(2.25, 3.0), np.array([0, 0, 1])).cycle_time_s == pytest.approx(2.5)


def test_where_half_of_the_rounds_are_disturbed_all_count():
    found = simulated_cycle_time(two_silos(1.4, 3.0), np.array([1]))
    assert found.first_round + found.rounds == 40
    assert found.counts_disturbed


def test_many_rounds_have_an_interval():
    rounds = least_rounds(2)
    found = simulated_cycle_time(two_silos(3.0, 3.0, rounds=rounds), np.array([0, 1]))
    assert (found.cycle_time_s, found.is_exact) == (pytest.approx(3.0), False)
    assert found.half_width_s == pytest.approx(0.0, abs=1e-9)
    assert found.first_round + found.rounds == rounds
    assert found.first_round > 0
    few = simulated_cycle_time(two_silos(3.0, 3.0, rounds=rounds - 1), np.array([0, 1]))
    assert few.half_width_s is None

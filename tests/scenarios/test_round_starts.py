"""Round starts that come block by block, on dates worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.simulation.round_starts import RoundStarts
from simulator import Block, SteadyState
from simulator.block import Messages

ROUNDS = 40


def fed(start_s, *, absences=(), rounds=ROUNDS, ended=True):
    """The starts of a job, in blocks of 7 rounds; an ended one has a row more than rounds."""
    start_s = np.array(start_s, dtype=float)
    silos = start_s.shape[1]
    job = SimpleNamespace(
        silos=silos, rounds=rounds, absences=absences, is_max_plus=False, computes=(True,), regular_from=0
    )
    found = RoundStarts(job)
    complete = len(start_s) - ended
    for first in range(0, complete, 7):
        count = min(7, complete - first)
        rows = start_s[first : first + count + (ended and first + count == complete)]
        none = np.empty((count, 0))
        messages = Messages(start_s=none, last_bit_s=none, arrival_s=none, bound_link=none.astype(np.int32))
        found.add(
            Block(first_round=first, round_start_s=rows, messages=messages, link_bits=np.empty(0), now_s=0.0)
        )
    return found


def steps(*each_s, rounds=ROUNDS):
    """Silos with rounds of constant length."""
    return np.arange(rounds + 1)[:, None] * np.array(each_s)


def proven(transient_rounds, period_rounds=2, period_s=6.0):
    return SteadyState(
        cycle_time_s=period_s / period_rounds,
        is_exact=True,
        period_rounds=period_rounds,
        period_s=period_s,
        transient_rounds=transient_rounds,
    )


def test_what_is_kept_are_the_mean_and_the_last_start_of_each_round():
    found = fed(steps(2.0, 3.0))

    assert found.last_s.tolist() == [3.0 * k for k in range(ROUNDS + 1)]
    assert found.so_far.mean_s.tolist() == [2.5 * k for k in range(ROUNDS + 1)]
    assert found.so_far.rounds == ROUNDS


def test_rounds_that_start_after_the_first_silo_has_ended_do_not_count():
    # Silo 0 has ended after 100 s, in which silo 1 starts its rounds 0 to 33.
    found = fed(steps(2.5, 3.0))

    assert found.counted.rounds == 33
    assert not found.counts_disturbed


def test_where_half_of_the_rounds_or_more_are_disturbed_all_count():
    # Silo 0 has ended after 56 s, in which silo 1 starts its rounds 0 to 18.
    found = fed(steps(1.4, 3.0))

    assert found.counted.rounds == ROUNDS
    assert found.counts_disturbed


def test_before_the_job_has_ended_all_rounds_count():
    found = fed(steps(1.5, 3.0)[:22], ended=False)

    assert found.counted.rounds == 21
    assert not found.counts_disturbed


@pytest.mark.parametrize("back", [ROUNDS, ROUNDS + 5])
def test_a_silo_that_is_away_at_the_end_has_not_ended_the_job(back):
    start_s = steps(2.0, 2.0)
    start_s[3:, 1] = 6.0
    found = fed(start_s, absences=[(1, 3, back)])
    steady, estimate = found.steady_state(None)

    assert found.counted.rounds == ROUNDS
    assert not found.counts_disturbed
    assert (steady.cycle_time_s, steady.is_exact) == (2.0, False)
    assert estimate.cycle_time_s == 2.0


def test_a_silo_that_is_back_for_the_last_round_ends_the_job_with_the_others():
    start_s = steps(2.0, 3.0)
    start_s[3:, 0] = 6.0
    start_s[ROUNDS - 1 :, 0] = [90.0, 100.0]
    found = fed(start_s, absences=[(0, 3, ROUNDS - 1)])

    # Silo 0 has ended after 100 s.
    assert found.counted.rounds == 33


def test_without_a_proof_the_cycle_time_is_the_slope_of_the_last_half():
    start_s = steps(2.0, 2.0)
    start_s[:10] *= 0.5
    steady, estimate = fed(start_s).steady_state(None)

    assert steady == SteadyState(cycle_time_s=2.0, is_exact=False)
    assert estimate.cycle_time_s == 2.0


def period_of_two(rounds=ROUNDS):
    """Rounds of 2 s and 4 s in turn, after a first one of 9 s."""
    dates_s = np.cumsum([0.0, 9.0, *np.tile([2.0, 4.0], rounds)[: rounds - 1]])
    return np.stack((dates_s, dates_s), axis=1)


@pytest.mark.parametrize("claimed", [1, 2, 5, 37])
def test_a_proven_period_gets_the_transient_that_the_rounds_show(claimed):
    assert fed(period_of_two()).steady_state(proven(claimed)) == (proven(1), None)


def test_a_proven_period_that_the_rounds_do_not_hold_leaves_the_cycle_time():
    # 41 dates hold the transient and the period: the last of these dates is one too many.
    assert fed(period_of_two()).steady_state(proven(39)) == (proven(39), None)
    only = SteadyState(cycle_time_s=3.0, is_exact=True)
    assert fed(period_of_two()).steady_state(proven(40)) == (only, None)
    # Silo 0 runs ahead, and has ended when the other starts round 34.
    start_s = period_of_two()
    start_s[:, 0] *= 5 / 6
    last_s = start_s.max(axis=1)
    undisturbed = int((last_s <= start_s[-1].min()).sum())
    assert fed(start_s).steady_state(proven(undisturbed - 1)) == (only, None)


def test_a_proof_without_a_period_is_taken_as_it_is():
    only = SteadyState(cycle_time_s=3.0, is_exact=True)

    assert fed(period_of_two()).steady_state(only) == (only, None)


def test_of_many_silos_only_the_first_rounds_are_kept_for_the_transient(monkeypatch):
    monkeypatch.setattr("scenarios.simulation.round_starts._HEAD", 20)
    found = fed(period_of_two())

    # 20 numbers are 10 rounds of 2 silos; with one more, the period must end before it.
    assert found.steady_state(proven(8)) == (proven(1), None)
    assert found.steady_state(proven(9)) == (proven(9), None)


def test_the_last_start_is_that_of_the_latest_silo_also_where_some_are_away():
    start_s = steps(2.0, 3.0)
    start_s[3:6, 0] = 6.0
    start_s[6:, 0] = 6.0 + 2.0 * np.arange(1, ROUNDS - 4)
    found = fed(start_s, absences=[(0, 3, 6)])

    assert found.last_s[:3].tolist() == [0.0, 3.0, 6.0]
    assert found.last_s[6:].tolist() == [3.0 * k for k in range(6, ROUNDS + 1)]

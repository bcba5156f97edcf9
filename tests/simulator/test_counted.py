"""Cycle times where silos are away: which starts are followed, over which rounds, by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_networks import network

from simulator import Absence, Pause, overlay_job, simulate
from simulator.statistics.confidence import (
    StopRule,
    cycle_time_interval,
    estimated_cycle_time,
    paired_difference,
)
from simulator.statistics.steady_state import estimated_steady_state
from simulator.world.counted_silos import Counted, Presence, Starts, counted_together
from topologies import Workload, build_overlay

ROUND_S = 11.004
"""10 s of computing, 1 s on a core link that no other arc crosses, 4 ms of latency."""
EVERYBODY = [(i, j) for i in range(3) for j in range(3) if i != j]


def triangle(arcs=EVERYBODY, compute_s=(10.0, 10.0, 10.0)):
    """Silos A, B and C; between each two a core link of their own."""
    graph = network(
        [(0, 1), (1, 2), (0, 2)],
        [0.0] * 3,
        [1e6] * 3,
        up_bps=math.inf,
        down_bps=math.inf,
        bandwidth="bottleneck",
    )
    work = Workload(model_bits=1e6, compute_s=np.array(compute_s))
    return build_overlay("test", graph, work, arcs)


def away(*missed, silo="C"):
    """Events without a silo in the rounds ``first <= k < back`` of each pair."""
    return [Absence(silo=silo, first_round=first, rounds=back - first) for first, back in missed]


ONE_AWAY = {
    "at the start": [(0, 30)],
    "until the rounds counted begin": [(10, 50)],
    "from their first to their last one": [(50, 99)],
    "in the middle": [(60, 80)],
    "at the end": [(70, 100)],
    "all the time": [(0, 100)],
    "twice": [(20, 55), (90, 95)],
    "for a round": [(75, 76)],
}


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@pytest.mark.parametrize("missed", ONE_AWAY.values(), ids=ONE_AWAY)
def test_who_is_there_takes_as_long_for_each_round_as_ever(missed, sharing):
    timeline = simulate(triangle(), 100, sharing=sharing, events=away(*missed))

    assert timeline.cycle_time_s == pytest.approx(ROUND_S, rel=1e-12)
    assert not timeline.cycle_time_is_exact


def test_the_mean_start_of_all_is_what_was_wrong():
    gone = simulate(triangle(), 100, events=away((10, 100))).round_start_s[:100].mean(axis=1)

    assert (gone[-1] - gone[49]) / 50 == pytest.approx(2 / 3 * ROUND_S, rel=1e-12)


def test_what_an_absence_saves_is_counted_and_no_more():
    # C computes for 20 s, and the others wait 1.004 s more for its model, which is no part of the pace but for the
    # first round with C again.
    timeline = simulate(triangle(compute_s=(10.0, 10.0, 20.0)), 100, events=away((60, 80)))

    assert timeline.cycle_time_s == pytest.approx((20 * ROUND_S + 30 * 20.0 + 1.004) / 50, rel=1e-12)


def test_a_pause_makes_all_wait_and_counts():
    events = [Pause(silo="C", first_round=70, duration_s=100.0)]

    assert simulate(triangle(), 100, events=events).cycle_time_s == pytest.approx(ROUND_S + 2.0, rel=1e-12)


@pytest.mark.parametrize("missed", [(60, 100), (30, 100), (30, 75), (30, 51)])
def test_silos_that_run_ahead_on_a_ring_are_not_taken_for_the_pace(missed):
    # A -> B -> C -> A: without C nothing holds A, which computes for 1 s, and B takes 2 s; with C a round takes 4 s.
    ring = triangle([(0, 1), (1, 2), (2, 0)], compute_s=(1.0, 2.0, 4.0))
    timeline = simulate(ring, 100, events=away(missed))
    a_s, b_s, _ = timeline.round_start_s.T
    counted = Starts.of(timeline.round_start_s, timeline.absences).counted(50, 100)
    first, back = missed

    assert a_s[back - 1] - a_s[first + 1] == pytest.approx(back - first - 2, rel=1e-12)
    last_s = np.maximum(a_s, b_s)
    assert counted.throughout == (0, 1)
    assert counted.cycle_time_s == pytest.approx((last_s[100] - last_s[50]) / 50, rel=1e-12)
    if missed == (30, 100):
        # The last of these rounds brings C back, and nobody has waited for it yet.
        assert counted.cycle_time_s == pytest.approx(2.0, rel=1e-12)
        assert timeline.cycle_time_s == pytest.approx(2.0, rel=1e-12)


def test_dates_after_a_return_do_not_hold_what_others_were_ahead_by():
    ring = triangle([(0, 1), (1, 2), (2, 0)], compute_s=(1.0, 2.0, 4.0))
    start_s = simulate(ring, 100, events=away((10, 50))).round_start_s
    # Silo A is far ahead when the rounds counted begin, and waits for C in the first of them.
    assert start_s[50, 0] < start_s[50, 2] - 30
    counted = Starts.of(start_s, [(2, 10, 50)]).counted(50, 100)

    assert counted.throughout == (0, 1, 2)
    assert counted.cycle_time_s < (start_s[100].mean() - start_s[50].mean()) / 50 - 0.1
    # A round on the ring takes (1 + 2 + 4 + 3 * 1.004) / 3 s on the mean, or 4 s where C alone sets the pace.
    assert counted.cycle_time_s == pytest.approx(4.0, abs=4.0 / 50)


def test_silos_that_are_away_in_turn_leave_a_part_of_the_rounds():
    turns = [
        Absence(silo="A", first_round=20, rounds=40),
        Absence(silo="B", first_round=70, rounds=5),
        Absence(silo="C", first_round=90, rounds=5),
    ]
    timeline = simulate(triangle(), 100, events=turns)
    counted = Starts.of(timeline.round_start_s, timeline.absences).counted(50, 100, last=True)

    # A is there from round 60 on, C until round 90: both for 40 rounds, of which the last ones are taken.
    assert (counted.first_round, counted.rounds, counted.throughout) == (60, 40, (0,))
    assert counted.asked == (50, 100)
    assert timeline.cycle_time_s == pytest.approx(ROUND_S, rel=1e-12)


def test_an_absence_that_lasts_until_somebody_is_heard_counts_as_long():
    ring = triangle([(0, 1), (1, 2), (2, 0)])
    absences = [Absence(silo=silo, first_round=2, rounds=5) for silo in "BC"]
    job = overlay_job(ring, 12, events=absences)

    assert sorted(job.absences) == [(1, 2, 7), (2, 2, 8)]


def steady(growth_s, silos=3):
    """Starts of silos that grow alike, shape (n, silos)."""
    start_s = np.concatenate(([0.0], np.cumsum(growth_s)))
    return np.tile(start_s[:, np.newaxis], silos) + np.linspace(0.0, 1.0, silos)


def frozen(start_s, absences):
    """The same with silos that are away."""
    found = start_s.copy()
    for silo, first, back in absences:
        found[first:back, silo] = start_s[first, silo]
    return found


@pytest.mark.parametrize("absences", [[(2, 100, 1000)], [(2, 300, 400)], [(0, 10, 300), (2, 900, 990)]])
def test_interval_and_estimate_are_those_of_who_is_there(absences):
    growth_s = np.random.default_rng(1).lognormal(0.0, 0.3, 1000)
    start_s = steady(growth_s)
    starts = Starts.of(frozen(start_s, absences), absences)
    found = estimated_cycle_time(starts, silos=3)
    alone = cycle_time_interval(start_s[:, 1], silos=3)

    assert (found.interval.mean, found.interval.half_width) == pytest.approx((alone.mean, alone.half_width))
    assert cycle_time_interval(starts, silos=3) == found.interval
    assert 1 in found.counted.throughout
    few = estimated_cycle_time(starts.until(301), silos=3)
    assert few.interval is None
    assert few.cycle_time_s == pytest.approx(growth_s[150:300].mean(), rel=1e-12)


def test_an_interval_needs_as_many_rounds_of_a_silo_as_of_all():
    growth_s = np.ones(1000)
    long = [(0, 251, 260), (1, 500, 510), (2, 995, 999)]
    short = [(silo, first, first + 5) for silo in range(3) for first in range(260 + 70 * silo, 900, 210)]
    found, none = (
        estimated_cycle_time(Starts.of(frozen(steady(growth_s), absences), absences), silos=3)
        for absences in (long, short)
    )

    # Silo 0 is there from round 260 on, silo 2 from round 260 to 995: 740 rounds of 20 batches.
    assert (found.counted.first_round, found.counted.rounds) == (260, 740)
    assert found.counted.asked is None
    assert found.interval.half_width < 1e-12
    assert none.interval is None
    assert none.cycle_time_s == pytest.approx(1.0, rel=1e-12)
    assert none.counted.asked == (500, 1000)


def test_the_stop_rule_follows_who_is_there():
    rng = np.random.default_rng(3)
    start_s = steady(rng.lognormal(0.0, 0.3, 20_000))
    absences = [(0, 10, 20_000)]
    starts, alone = Starts.of(frozen(start_s, absences), absences), StopRule(0.01, silos=3)
    rule, looks = StopRule(0.01, silos=3), range(100, 20_001, 100)
    stop = next(n for n in looks if rule.is_met(starts.until(n + 1)))

    assert stop == next(n for n in looks if alone.is_met(start_s[: n + 1, 1]))
    interval = cycle_time_interval(starts.until(stop + 1), silos=3)
    assert interval.low <= 1.05 * math.exp(0.045)
    assert interval.half_width <= 0.01 * interval.mean
    # Three silos whose mean start stands still for a third grow by two thirds.
    assert interval.low > 0.9 * math.exp(0.045)


def test_a_difference_is_of_silos_that_are_there_in_both():
    growth_s = np.random.default_rng(5).exponential(1.0, 1000)
    mine, its = [(0, 300, 500)], [(0, 300, 600), (2, 990, 1000)]
    starts = Starts.of(frozen(steady(growth_s + 0.01), mine), mine)
    others = Starts.of(frozen(steady(growth_s), its), its)
    found = paired_difference(starts, others, silos=3)

    assert found.mean == pytest.approx(0.01, rel=1e-9)
    assert found.half_width < 1e-9
    turns = [(0, 300, 310), (1, 500, 510), (2, 700, 710)]
    both = counted_together([starts, Starts.of(frozen(steady(growth_s), turns), turns)], 260, 1000)
    assert [(one.first_round, one.rounds) for one in both] == [(310, 690), (310, 690)]


def test_without_absences_it_is_the_mean_start_and_for_few_rounds_the_last():
    start_s = np.cumsum(np.random.default_rng(0).exponential(1.0, (101, 4)), axis=0)
    starts = Starts.of(start_s)

    assert starts.counted(20, 100).start_s.tolist() == start_s[20:].mean(axis=1).tolist()
    assert starts.counted(20, 100, last=True).start_s.tolist() == start_s[20:].max(axis=1).tolist()
    picked = Starts.of(start_s, silos=np.array([1, 1, 3])).counted(20, 100)
    assert picked.start_s == pytest.approx(start_s[20:, [1, 1, 3]].mean(axis=1))


def test_a_silo_that_is_away_to_the_end_has_not_ended_the_job():
    presence = Presence.of([(2, 5, 10), (1, 0, 4)], 3)

    assert presence.first_end_s(np.array([40.0, 39.0, 12.0]), 10) == 39.0
    assert presence.first_end_s(np.array([40.0, 39.0, 12.0]), 12) == 12.0
    assert Presence.of([(0, 5, 10)], 1).first_end_s(np.array([12.0]), 10) == 12.0


def test_rounds_count_in_which_a_silo_is_away_to_the_end():
    start_s = np.stack([10.0 * np.arange(101)] * 3, axis=1)
    start_s[80:, 2] = start_s[80, 2]
    start_s[80:, :2] = start_s[80, 0] + 5.0 * np.arange(21)[:, np.newaxis]

    steady = estimated_steady_state(start_s, [(2, 80, 100)], (True,), 0)

    # Rounds 50 to 99: thirty of 10 s and twenty of 5 s. Without those after the silo left it would be 10 s.
    assert steady.cycle_time_s == pytest.approx((30 * 10 + 20 * 5) / 50)


def test_one_silo():
    assert Starts.of(np.arange(11.0)[:, np.newaxis]).counted(5, 10).cycle_time_s == 1.0


@given(data=st.data(), silos=st.integers(1, 5), first=st.integers(0, 20), rounds=st.integers(1, 30))
def test_the_rounds_counted_are_the_longest_in_which_a_silo_is_there(data, silos, first, rounds):
    there = np.array(data.draw(st.lists(st.integers(1, 2**silos - 1), min_size=50, max_size=50)))
    present = (there[:, np.newaxis] >> np.arange(silos)) & 1 == 1
    absences = [
        (silo, int(begin), int(back))
        for silo in range(silos)
        for begin, back in zip(
            *(np.flatnonzero(np.diff(np.r_[1, present[:, silo], 1]) == step) for step in (-1, 1)), strict=True
        )
    ]
    end = first + rounds
    start_s = np.cumsum(np.ones((51, silos)), axis=0)
    counted = Starts.of(start_s, absences).counted(first, end)
    runs = [
        (b - a, b) for a in range(first, end) for b in range(a + 1, end + 1) if present[a:b].all(axis=0).any()
    ]

    assert (counted.rounds, counted.first_round + counted.rounds) == max(runs)
    rows = slice(counted.first_round, counted.first_round + counted.rounds)
    everybody = np.flatnonzero(present[rows].all(axis=0)).tolist()
    assert counted.throughout in (None, tuple(everybody))
    if counted.throughout is None:
        assert everybody == list(range(silos))
    assert (counted.asked is None) == (max(runs)[0] == rounds)
    assert Presence.of(absences, silos).throughout(first, end) or counted.asked


@pytest.mark.parametrize(
    ("computes", "missed", "parts"),
    [
        ((True,), (0, 2), (0, 2)),
        ((True,), (3, 5), (3, 5)),
        ((True, False), (0, 1), (0, 1)),
        ((True, False), (1, 2), (0, 1)),
        ((False, True), (0, 1), (0, 0)),
        ((False, True), (2, 4), (0, 2)),
        ((True, False, False), (4, 9), (1, 3)),
    ],
)
def test_who_is_away_misses_the_parts_that_begin_before_or_in_its_rounds(computes, missed, parts):
    presence = Presence.of([(1, *missed)], silos=2).computing(computes)
    assert presence.missed == ((), (parts,))


@pytest.mark.parametrize(
    ("computes", "first", "rounds", "lacks"),
    [
        ((True,), 0, 1, False),
        ((True, False), 0, 1, False),
        ((True, True), 0, 2, True),
        ((True, True), 2, 2, False),
        ((True, True), 0, 4, False),
        ((True, True), 5, 3, True),
        ((True, True, True), 2, 3, True),
        ((True, True, True), 3, 3, False),
        ((True, True, True), 20, 4, True),
        ((True, True, True, False), 3, 3, False),
    ],
)
def test_a_mean_lacks_a_period_that_is_not_whole_or_the_first(computes, first, rounds, lacks):
    counted = Counted(first_round=first, start_s=np.arange(rounds + 1.0), computes=computes, regular_from=0)
    assert counted.lacks_period is lacks


@pytest.mark.parametrize(("rounds", "first", "kept"), [(2, 8, 4), (3, 9, 3), (5, 7, 5), (6, 7, 5), (4, 8, 4)])
def test_whole_periods_are_the_last_rounds_and_all_where_there_is_none(rounds, first, kept):
    counted = Counted(first_round=7, start_s=np.arange(6.0), regular_from=0).whole(rounds)
    assert (counted.first_round, counted.rounds) == (first, kept)
    assert counted.start_s[-1] == 5.0


@pytest.mark.parametrize(
    ("first", "end", "affects"), [(40, 50, False), (40, 51, True), (62, 70, True), (63, 70, False)]
)
def test_an_absence_affects_as_many_rounds_after_it_as_there_are_silos(first, end, affects):
    presence = Presence.of([(1, 50, 60)], 3)
    assert presence.affects(first, end) is affects
    starts = Starts.of(np.arange(240.0).reshape(80, 3), [(1, 50, 60)])
    assert (starts.counted(first, end).throughout is not None) is affects


def test_the_job_ends_with_the_first_silo_that_is_there_in_its_last_round():
    presence, end_s = Presence.of([(2, 5, 10)], 3), np.array([40.0, 39.0, 12.0])
    assert [presence.first_end_s(end_s, rounds) for rounds in (5, 6, 10, 11)] == [12.0, 39.0, 39.0, 12.0]
    everybody = Presence.of([(0, 5, 10), (1, 5, 10)], 2)
    assert everybody.first_end_s(np.array([14.0, 12.0]), 10) == 12.0


@pytest.mark.parametrize(
    ("first", "end", "parts"),
    [(0, 15, [(5, 10)]), (0, 25, [(5, 10), (20, 25)]), (7, 9, [(7, 9)]), (12, 20, []), (0, 5, [])],
)
def test_stretches_lie_between_the_rounds_missed(first, end, parts):
    presence = Presence.of([(0, 0, 5), (0, 10, 20)], 1)
    assert list(presence.stretches(first, end)) == parts


def test_with_long_lags_the_last_start_counts_for_as_many_rounds_as_lags_on_the_way():
    start_s = np.cumsum(np.random.default_rng(0).exponential(1.0, (12, 3)), axis=0)
    # Messages are missing for two rounds; a way to a silo has at most three arcs.
    starts = Starts.of(start_s).computing((True,), 2)
    assert starts.counted(5, 11).start_s.tolist() == start_s[5:].max(axis=1).tolist()
    assert starts.counted(6, 11).start_s.tolist() == start_s[6:].mean(axis=1).tolist()


def test_of_several_groups_that_are_there_the_last_silo_counts():
    start_s = np.array([[0.0, 1, 2]]) + 4.0 * np.arange(10)[:, np.newaxis]
    # Silo 0 was away in round 0, which the others may still be ahead by.
    counted = Starts.of(start_s, [(0, 0, 1)]).counted(2, 9)
    assert counted.throughout == (0, 1, 2)
    assert counted.start_s.tolist() == start_s[2:, 2].tolist()


@pytest.mark.parametrize(
    ("computes", "rows", "kept"),
    [
        ((True, False, False), 3, [0, 2]),  # the last start of all stands for the second
        ((True, False, False), 2, [0, 1]),
        ((False, False, True), 2, [0, 1]),
        ((False, False, True), 3, [0, 2]),  # no round that computes is over
        ((False, True), 2, [0, 1]),
        ((False, True), 3, [1, 2]),
        ((True, False), 4, [0, 2]),
        ((False, True), 4, [1, 3]),
        ((True, False), 5, [0, 2, 4]),
    ],
)
def test_rounds_are_those_in_which_silos_compute(computes, rows, kept):
    start_s = np.cumsum(np.random.default_rng(0).exponential(1.0, (rows, 3)), axis=0)
    starts = Starts.of(start_s).computing(computes, regular_from=0)
    assert starts.mean_s.tolist() == start_s[kept].mean(axis=1).tolist()
    assert starts.last_s[:, 0].tolist() == start_s[kept].max(axis=1).tolist()
    assert starts.rounds == len(kept) - 1


def test_starts_of_pieces_are_those_of_the_whole():
    start_s = np.cumsum(np.random.default_rng(0).exponential(1.0, (9, 3)), axis=0)
    absences = [(1, 2, 4)]
    whole = Starts.of(start_s, absences)
    joined = Starts.of(start_s[:4], absences).joined(Starts.of(start_s[4:], absences))
    assert joined.mean_s.tolist() == whole.mean_s.tolist()
    assert joined.last_s.tolist() == whole.last_s.tolist()


@pytest.mark.parametrize(
    ("period", "regular_from", "rounds", "first", "kept"),
    [
        (1, 0, 10, 5, 5),
        (1, 0, 11, 5, 6),
        (1, 0, 3, 1, 2),
        (6, 0, 10, 4, 6),
        (6, 2, 10, 4, 6),  # all that is left after the warm-up of twice two rounds
        (8, 2, 10, 5, 5),  # no period is left there
        (4, 4, 4, 0, 4),  # messages are missing in all rounds
        (1, 3, 7, 6, 1),
        (1, 3, 6, 3, 3),
        (1, 3, 3, 1, 2),
    ],
)
def test_the_latest_rounds_are_the_last_half_of_whole_periods_after_the_warm_up(
    period, regular_from, rounds, first, kept
):
    starts = Starts.of(np.arange(rounds + 1.0)[:, np.newaxis]).computing((True,) * period, regular_from)
    counted = starts.latest()
    assert (counted.first_round, counted.rounds) == (first, kept)


def test_without_absences_the_mean_start_counts_unless_the_last_one_is_asked_for():
    start_s = np.cumsum(np.random.default_rng(0).exponential(1.0, (5, 3)), axis=0)
    starts = Starts.of(start_s)
    mean_s, last_s = start_s.mean(axis=1)[2:].tolist(), start_s.max(axis=1)[2:].tolist()
    assert starts.latest().start_s.tolist() == mean_s
    assert starts.latest(last=True).start_s.tolist() == last_s
    for last, expected_s in ((False, mean_s), (True, last_s)):
        for counted in counted_together([starts, starts], 2, 4, last=last):
            assert counted.start_s.tolist() == expected_s
    assert [one.start_s.tolist() for one in counted_together([starts], 2, 4)] == [mean_s]

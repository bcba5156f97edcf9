"""Events: what is refused, in one line each."""

import math
from dataclasses import replace

import pytest

from simulator import Constant
from simulator.world.absence_rounds import AbsenceTimes, MissedRounds
from simulator.world.absences import Absence, Pause, PlacedAbsence, PlacedPause
from simulator.world.background import ConstantShare, OnOffFlow
from simulator.world.capacities import CapacityTrace
from simulator.world.changes import CapacityChange, FlowChange, RouteChange
from simulator.world.effects import Effects
from simulator.world.failures import LinkFailure, down_times
from topologies import InputError

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConstantShare(share=1.0), "share(=1.0) must be >= 0 and < 1."),
        (lambda: ConstantShare(share=-0.1), "share(=-0.1) must be >= 0 and < 1."),
        (lambda: ConstantShare(share=NAN), "share(=nan) must be >= 0 and < 1."),
        (lambda: on_off(peak_bps=0.0), "peak_bps(=0.0) must be finite and > 0."),
        (lambda: on_off(peak_bps=INF), "peak_bps(=inf) must be finite and > 0."),
        (lambda: on_off(mean_on_s=NAN), "mean_on_s(=nan) must be finite and > 0."),
        (lambda: on_off(mean_off_s=-1.0), "mean_off_s(=-1.0) must be finite and > 0."),
        (lambda: on_off(seed=-1), "seed(=-1) must be >= 0."),
        (
            lambda: trace([], []),
            "date_s must have one dimension and one or more numbers, not the shape (0,).",
        ),
        (lambda: trace([0.0], "x"), "capacity_bps(='x') must hold numbers."),
        (lambda: trace([0.0], [1.0, 2.0]), "capacity_bps must hold one number per date: 1, not 2."),
        (lambda: trace([-1.0], [1.0]), "date_s[0](=-1.0) must be finite and >= 0."),
        (lambda: trace([0.0, NAN], [1.0, 1.0]), "date_s[1](=nan) must be finite and >= 0."),
        (lambda: trace([0.0], [-1.0]), "capacity_bps[0](=-1.0) must be finite and >= 0."),
        (lambda: trace([0.0], [INF]), "capacity_bps[0](=inf) must be finite and >= 0."),
        (lambda: trace([2.0, 1.0], [1.0, 1.0]), "date_s[1](=1.0) must be > date_s[0](=2.0)."),
        (lambda: trace([1.0, 1.0], [1.0, 1.0]), "date_s[1](=1.0) must be > date_s[0](=1.0)."),
        (lambda: trace([0.0], [0.0]), "capacity_bps[-1](=0.0) must be > 0: the last one holds permanently."),
        (
            lambda: trace([0.0], [0.0], period_s=1.0),
            "capacity_bps must hold a number > 0: the trace repeats without end.",
        ),
        (
            lambda: trace([0.0, 5.0], [1.0, 0.0], period_s=5.0),
            "period_s(=5.0) must be finite and > date_s[-1](=5.0).",
        ),
        (
            lambda: trace([0.0], [1.0], period_s=NAN),
            "period_s(=nan) must be finite and > date_s[-1](=0.0).",
        ),
        (lambda: trace([0.0], [1.0], job_start_s=-1.0), "job_start_s(=-1.0) must be finite and >= 0."),
        (lambda: LinkFailure(link=0, from_s=-1.0), "from_s(=-1.0) must be finite and >= 0."),
        (lambda: LinkFailure(link=0, from_s=NAN), "from_s(=nan) must be finite and >= 0."),
        (lambda: LinkFailure(link=0, from_s=2.0, until_s=2.0), "until_s(=2.0) must be > from_s(=2.0)."),
        (lambda: LinkFailure(link=0, from_s=2.0, until_s=NAN), "until_s(=nan) must be > from_s(=2.0)."),
        (
            lambda: down_times([failed(5.0, 9.0), failed(0.0, 5.0)]),
            "events[0].from_s(=5.0) must be > events[1].until_s(=5.0): it is the same link.",
        ),
        (
            lambda: down_times([failed(0.0, INF), failed(5.0, 6.0)]),
            "events[1].from_s(=5.0) must be > events[0].until_s(=inf): it is the same link.",
        ),
        (lambda: Absence(silo=0, first_round=-1, rounds=1), "first_round(=-1) must be >= 0."),
        (lambda: Absence(silo=0, first_round=0, rounds=0), "rounds(=0) must be >= 1."),
        (lambda: Absence(silo=0, first_round=0.5, rounds=1), "first_round(=0.5) must be an integer."),
        (lambda: Pause(silo=1, first_round=-1, duration_s=1.0), "first_round(=-1) must be >= 0."),
        (lambda: Pause(silo=1, first_round=0, duration_s=-1.0), "duration_s(=-1.0) must be finite and >= 0."),
        (lambda: Pause(silo=1, first_round=0, duration_s=2e9), "duration_s(=2000000000.0) must be <= 1e+09."),
        (lambda: Pause(silo=1, first_round=0, duration_s=NAN), "duration_s(=nan) must be finite and >= 0."),
        (lambda: Pause(silo=1, first_round=0, duration_s=INF), "duration_s(=inf) must be finite and >= 0."),
        (
            lambda: away((1, 4, 3)),
            "events[0].first_round + rounds(=7) must be <= 6, the rounds of the job.",
        ),
        (
            lambda: away((1, 2, 3), (1, 0, 3)),
            "events[0].first_round(=2) must be >= 3, the end of events[1] of the same silo.",
        ),
        (
            lambda: away((0, 0, 3), (1, 2, 1), (2, 1, 2)),
            "events[1] must leave a silo to round 2: all others miss it.",
        ),
        (
            lambda: times(away((1, 2, 2)), (3, 1.0)),
            "events[7].first_round(=3) must not be a round that the silo misses.",
        ),
        (
            lambda: times(away(), (3, 1.0), (3, 2.0)),
            "events[8].first_round(=3) must not be that of events[7] of the same silo.",
        ),
        (
            lambda: times(away(), (6, 1.0)),
            "events[7].first_round(=6) must be < 6, the rounds of the job.",
        ),
        (
            lambda: CapacityChange(date_s=-1.0, link=0, capacity_bps=1.0),
            "date_s(=-1.0) must be finite and >= 0.",
        ),
        (
            lambda: CapacityChange(date_s=0.0, link=0, capacity_bps=NAN),
            "capacity_bps(=nan) must be finite and >= 0.",
        ),
        (
            lambda: RouteChange(date_s=0.0, arc=0, links=(), latency_s=-1.0),
            "latency_s(=-1.0) must be finite and >= 0.",
        ),
        (
            lambda: FlowChange(date_s=NAN, flow=0, links=(), peak_bps=1.0),
            "date_s(=nan) must be finite and >= 0.",
        ),
        (
            lambda: FlowChange(date_s=0.0, flow=0, links=(), peak_bps=INF),
            "peak_bps(=inf) must be finite and >= 0.",
        ),
    ],
)
def test_bad_entries(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message


def test_an_absence_may_follow_another_at_once():
    assert away((1, 3, 1), (1, 0, 3)).during(3).tolist() == [False, True, False]


def on_off(peak_bps=1.0, mean_on_s=1.0, mean_off_s=1.0, seed=0):
    return OnOffFlow(peak_bps=peak_bps, mean_on_s=mean_on_s, mean_off_s=mean_off_s, seed=seed)


def trace(date_s, capacity_bps, **period):
    return CapacityTrace(link=0, date_s=date_s, capacity_bps=capacity_bps, **period)


def failed(from_s, until_s):
    return Effects(outages={3: (from_s, until_s)})


def away(*absences):
    placed = [
        PlacedAbsence(place=place, silo=silo, first_round=k, rounds=n)
        for place, (silo, k, n) in enumerate(absences)
    ]
    return MissedRounds(placed, 3, 6)


def times(missed, *pauses):
    placed = [
        PlacedPause(place=place, silo=1, first_round=k, duration_s=duration_s)
        for place, (k, duration_s) in enumerate(pauses, start=7)
    ]
    return AbsenceTimes(Constant(compute_s=[1.0, 1.0, 1.0]), missed, placed)


@pytest.mark.parametrize(
    ("make", "pair"),
    [
        (lambda share: ConstantShare(share=share), (math.nextafter(1.0, 0.0), 1.0)),
        (lambda share: ConstantShare(share=share), (0.0, -5e-324)),
        # 0.1 ms together.
        (lambda mean_s: on_off(mean_on_s=mean_s, mean_off_s=mean_s), (5e-5, math.nextafter(5e-5, 0.0))),
        (lambda peak_bps: on_off(peak_bps=peak_bps), (5e-324, 0.0)),
        (
            lambda duration_s: Pause(silo=0, first_round=0, duration_s=duration_s),
            (1e9, math.nextafter(1e9, INF)),
        ),
        (lambda duration_s: Pause(silo=0, first_round=0, duration_s=duration_s), (0.0, -5e-324)),
        (lambda rounds: Absence(silo=0, first_round=0, rounds=rounds), (1, 0)),
        (lambda until_s: LinkFailure(link=0, from_s=0.0, until_s=until_s), (5e-324, 0.0)),
        (lambda from_s: down_times([failed(0.0, 5.0), failed(from_s, 6.0)]), (math.nextafter(5.0, INF), 5.0)),
        (lambda period_s: trace([0.0, 5.0], [1.0, 0.0], period_s=period_s), (math.nextafter(5.0, INF), 5.0)),
        (lambda last_bps: trace([0.0, 5.0], [0.0, last_bps]), (5e-324, 0.0)),
        (lambda first_bps: trace([0.0, 5.0], [first_bps, 0.0], period_s=6.0), (5e-324, 0.0)),
    ],
)
def test_the_last_number_that_is_taken_and_the_first_that_is_not(make, pair):
    taken, beyond = pair
    make(taken)
    with pytest.raises(InputError):
        make(beyond)


def test_a_trace_is_shown_on_one_line():
    trace = CapacityTrace(link="A - B", date_s=[0.0, 5.0], capacity_bps=[1e9, 2e8])
    assert repr(trace) == "<CapacityTrace of 'A - B': 2 dates, 2e+08 to 1e+09 bit/s>"
    assert repr(replace(trace, period_s=86_400.0)).endswith(", every 86400 s>")

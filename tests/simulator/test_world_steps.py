"""What events are in numbers, by hand: values by date, links that are down, loads, and rounds that silos miss."""

import math
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest

from simulator import Constant
from simulator.world.absence_ends import extended
from simulator.world.absence_rounds import AbsenceTimes, MissedRounds, PresentArcs, placed
from simulator.world.absences import PlacedAbsence, PlacedPause
from simulator.world.background import OnOffFlow, on_off_changes
from simulator.world.dated_steps import job_steps
from simulator.world.dynamic_network import _capacity_changes, _factors, _first_on, _up
from simulator.world.effects import Effects
from simulator.world.failures import down_times, links_down
from simulator.world.routed_demands import LinkLoad, matrix_steps
from topologies import InputError


@pytest.mark.parametrize(
    ("job_start_s", "period_s", "steps"),
    [
        (0.0, None, [(0, 7), (2, 10), (5, 20)]),
        (2.0, None, [(0, 10), (3, 20)]),
        (3.0, None, [(0, 10), (2, 20)]),
        (9.0, None, [(0, 20)]),
        (0.0, 8.0, [(0, 20), (2, 10), (5, 20), (10, 10), (13, 20), (18, 10)]),
        (17.0, 8.0, [(0, 20), (1, 10), (4, 20), (9, 10), (12, 20), (17, 10)]),
        (13.0, 8.0, [(0, 20), (5, 10), (8, 20), (13, 10), (16, 20), (21, 10)]),
    ],
)
def test_values_by_date_of_a_job(job_start_s, period_s, steps):
    found = job_steps(
        np.array([2.0, 5.0]), np.array([10.0, 20.0]), period_s=period_s, job_start_s=job_start_s, before=7.0
    )
    assert list(islice(found, 6)) == steps


@pytest.mark.parametrize(
    ("period_s", "job_start_s", "steps"),
    [
        (None, 0.0, [(0, 0), (4, 1)]),
        (None, 3.0, [(0, 0), (1, 1)]),
        (None, 5.0, [(0, 1)]),
        (9.0, 5.0, [(0, 1), (4, 0), (8, 1)]),
    ],
)
def test_which_matrix_holds_from_each_date_on(period_s, job_start_s, steps):
    assert list(islice(matrix_steps(np.array([0.0, 4.0]), period_s, job_start_s), 3)) == steps


def load(bps, *, date_s=(0.0, 1.0, 3.0), period_s=None, job_start_s=0.0, dates=(), scale=1.0):
    return LinkLoad(
        date_s=np.array(date_s),
        load_bps=np.array(bps),
        period_s=period_s,
        job_start_s=job_start_s,
        dates=dates,
        scale=scale,
    )


@pytest.mark.parametrize(
    ("bps", "how", "steps"),
    [
        ([4.0, 4.0, 4.0], {"period_s": 5.0}, [(0, 4)]),
        ([0.0, 0.0, 0.0], {}, [(0, 0)]),
        ([4.0, 4.0, 6.0], {}, [(0, 4), (3, 6)]),
        ([4.0, 6.0, 4.0], {}, [(0, 4), (1, 6), (3, 4)]),
        ([4.0, 6.0, 4.0], {"job_start_s": 2.0}, [(0, 6), (1, 4)]),
        ([4.0, 6.0, 4.0], {"period_s": 5.0}, [(0, 4), (1, 6), (3, 4), (6, 6), (8, 4)]),
    ],
)
def test_a_load_has_a_step_where_it_changes(bps, how, steps):
    assert list(islice(load(bps, **how).steps(), 5)) == steps


@pytest.mark.parametrize(
    ("how", "largest", "when"),
    [
        ({}, (1.0, 9.0), "at 1 s"),
        ({"job_start_s": 2.0}, (0.0, 9.0), "at 0 s"),
        ({"job_start_s": 3.5}, (0.0, 8.0), "at 0 s"),
        ({"job_start_s": 3.5, "period_s": 5.0}, (2.5, 9.0), "at 2.5 s"),
        ({"dates": ("Monday", "Tuesday", "Friday")}, (1.0, 9.0), "at Tuesday"),
    ],
)
def test_the_largest_load_and_when_it_is(how, largest, when):
    found = load([4.0, 9.0, 8.0], **how)
    assert (found.largest(), found.largest_when()) == (largest, when)


@pytest.mark.parametrize(
    ("share", "scale", "said"),
    [(5 / 7, 1.0, "0.7142"), (0.5, 3.0, "1.499"), (0.25001, 1.0, "0.25"), (1e-7, 2.0, "1.999e-07")],
)
def test_a_fitting_scale_is_rounded_down(share, scale, said):
    assert load([1.0, 2.0, 3.0], scale=scale).fitting(share) == f"with a scale of at most {said}"


def outage(link, from_s, until_s=math.inf):
    return Effects(outages={link: (from_s, until_s)})


def test_links_that_are_down_by_date():
    downs = down_times([outage(5, 6.0), outage(3, 1.0, 4.0), Effects(), outage(5, 2.0, 4.0)])
    assert downs == {5: ((2.0, 4.0), (6.0, math.inf)), 3: ((1.0, 4.0),)}
    assert links_down(downs) == [(1.0, {3}), (2.0, {3, 5}), (4.0, set()), (6.0, {5})]
    assert _up(downs[5]) == [(2.0, 0.0), (4.0, 1.0), (6.0, 0.0)]


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(1.0, 4.0), (4.5, 5.0)], None),
        ([(1.0, 4.0), (0.25, 0.75)], None),
        (
            [(1.0, 4.0), (4.0, 5.0)],
            "events[1].from_s(=4.0) must be > events[0].until_s(=4.0): it is the same link.",
        ),
        (
            [(1.0, 4.0), (3.0, 5.0)],
            "events[1].from_s(=3.0) must be > events[0].until_s(=4.0): it is the same link.",
        ),
        (
            [(1.0, 4.0), (0.5, 1.5)],
            "events[0].from_s(=1.0) must be > events[1].until_s(=1.5): it is the same link.",
        ),
    ],
)
def test_a_link_is_back_before_it_fails_again(spans, message):
    effects = [outage(3, *span) for span in spans]
    if message is None:
        assert down_times(effects) == {3: tuple(sorted(spans))}
        return
    with pytest.raises(InputError) as caught:
        down_times(effects)
    assert str(caught.value) == message


def capacities(*, left=1.0, trace=None, factors=(), load_steps=None):
    steps = None if trace is None else SimpleNamespace(steps=lambda stated_bps: [(0.0, stated_bps), *trace])
    taken = None if load_steps is None else SimpleNamespace(steps=lambda: load_steps)
    found = list(_capacity_changes(7, left, 10.0, steps, factors, taken))
    assert all(change.link == 7 for change in found)
    return [(change.date_s, change.capacity_bps) for change in found]


def test_the_capacity_of_a_link_follows_all_that_happens_to_it():
    assert capacities(factors=[[(1.0, 0.5), (3.0, 1.0)]]) == [(1, 5), (3, 10)]
    assert capacities(trace=[(2.0, 4.0)], left=0.5) == [(0, 5), (2, 2)]
    # A factor, a part that others take, and a load, which takes no more than there is.
    assert capacities(
        left=0.5,
        trace=[(4.0, 20.0)],
        factors=[[(1.0, 0.5)], [(2.0, 0.0), (3.0, 1.0)]],
        load_steps=[(0.0, 1.0), (5.0, 6.0)],
    ) == [(0, 5), (0, 4), (1, 1.5), (2, 0), (3, 1.5), (4, 4), (5, 0)]


def test_the_first_event_on_a_link_is_that_of_its_trace():
    effects = [
        Effects(factors={4: [(0.0, 0.5)]}),
        outage(2, 1.0),
        Effects(capacities={4: None}),
        Effects(capacities={4: None}),
    ]
    assert (_first_on(effects, 4), _first_on(effects[:2], 4), _first_on(effects[1:2], 4)) == (2, 0, 0)
    assert _first_on(effects, 5) == 1


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([(1.0, 0.0), (1.0, 1.0)], None),
        (
            [(2.0, 1.0), (1.0, 0.5)],
            "events[1] must have factors in ascending order of dates, but 1.0 s comes after 2.0 s.",
        ),
        ([(1.0, -0.1)], "events[1].factor(=-0.1) must be >= 0 and <= 1."),
        ([(1.0, 1.1)], "events[1].factor(=1.1) must be >= 0 and <= 1."),
    ],
)
def test_factors_are_shares_in_the_order_of_their_dates(steps, message):
    effects = [Effects(factors={4: [(0.0, 0.5)]}), Effects(factors={4: steps})]
    if message is None:
        assert _factors(effects) == {4: [[(0.0, 0.5)], steps]}
        return
    with pytest.raises(InputError) as caught:
        _factors(effects)
    assert str(caught.value) == message


def test_an_on_off_flow_is_on_for_its_share_of_the_time():
    flow = OnOffFlow(peak_bps=5.0, mean_on_s=1.0, mean_off_s=3.0, seed=2)
    changes = list(islice(on_off_changes(flow, 4), 4000))
    dates_s = np.array([change.date_s for change in changes])
    peaks_bps = np.array([change.peak_bps for change in changes])

    assert {(change.flow, change.links) for change in changes} == {(4, (4,))}
    assert (np.diff(dates_s) > 0).all()
    assert (peaks_bps == np.resize([peaks_bps[0], 5.0 - peaks_bps[0]], 4000)).all()
    on_s, off_s = (np.diff(dates_s)[peaks_bps[:-1] == bps] for bps in (5.0, 0.0))
    # Means of 2,000 exponential times are within a tenth, which is more than four standard deviations.
    assert on_s.mean() == pytest.approx(1.0, rel=0.1)
    assert off_s.mean() == pytest.approx(3.0, rel=0.1)
    firsts = [next(on_off_changes(flow, direction)) for direction in range(400)]
    at_start = [change.date_s == 0 for change in firsts]
    assert {change.peak_bps for change in firsts} == {5.0}
    assert 0.25 - 0.09 < np.mean(at_start) < 0.25 + 0.09


def missed(*spans, silos=3, rounds=10):
    return MissedRounds(
        [
            PlacedAbsence(place=place, silo=silo, first_round=first, rounds=back - first)
            for place, (silo, first, back) in enumerate(spans)
        ],
        silos,
        rounds,
    )


def test_who_misses_which_rounds():
    found = missed((1, 2, 4), (2, 3, 10), (1, 6, 7))
    away = [found.during(k).tolist() for k in range(10)]
    assert [[k for k in range(10) if away[k][silo]] for silo in range(3)] == [
        [],
        [2, 3, 6],
        [3, 4, 5, 6, 7, 8, 9],
    ]
    back = [found.back_after(k).tolist() for k in range(10)]
    assert [[k for k in range(10) if back[k][silo]] for silo in range(3)] == [[], [3, 6], [9]]
    for first in range(10):
        assert found.present(first, 3).tolist() == [
            [not each for each in row] for row in [*away, [False] * 3, [False] * 3][first : first + 3]
        ]


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(0, 8, 10)], None),
        ([(0, 2, 4), (0, 4, 6)], None),
        ([(0, 2, 5), (1, 2, 5)], None),
        ([(0, 8, 11)], "events[0].first_round + rounds(=11) must be <= 10, the rounds of the job."),
        (
            [(0, 4, 6), (1, 0, 1), (0, 2, 5)],
            "events[0].first_round(=4) must be >= 5, the end of events[2] of the same silo.",
        ),
        ([(0, 2, 4), (1, 2, 5), (2, 3, 6)], "events[2] must leave a silo to round 3: all others miss it."),
        ([(0, 2, 4), (1, 2, 5), (2, 4, 6)], None),
    ],
)
def test_absences_fit_the_job_and_each_other(spans, message):
    if message is None:
        missed(*spans)
        return
    with pytest.raises(InputError) as caught:
        missed(*spans)
    assert str(caught.value) == message


def test_messages_of_a_round_are_from_those_who_are_there_to_those_who_are_or_come_back():
    source, target = np.array([(i, j) for i in range(3) for j in range(3) if i != j]).T
    plan = PresentArcs(source, target, missed((1, 2, 4)), sending_s=lambda active: 2.0 * active)

    def arcs(k):
        active = plan.active(k)
        assert plan.sending_s(k).tolist() == (2.0 * active).tolist()
        return list(zip(source[active].tolist(), target[active].tolist(), strict=True))

    everybody = list(zip(source.tolist(), target.tolist(), strict=True))
    assert [arcs(k) for k in (1, 2, 3, 4)] == [
        everybody,
        [(0, 2), (2, 0)],
        [(0, 1), (0, 2), (2, 0), (2, 1)],
        everybody,
    ]
    assert plan.rounds == 10
    some = SimpleNamespace(active=lambda k: np.array([0, 1]) if k % 2 else np.array([2, 5]))
    planned = PresentArcs(source, target, missed((1, 2, 4)), sending_s=lambda active: active, plan=some)
    assert [planned.active(k).tolist() for k in (1, 2, 3, 4)] == [[0, 1], [], [0, 1], [2, 5]]


def test_computing_times_with_absences_and_pauses():
    compute = Constant(compute_s=[1.0, 2.0, 3.0])
    pauses = [
        PlacedPause(place=1, silo=0, first_round=2, duration_s=5.0),
        PlacedPause(place=2, silo=0, first_round=4, duration_s=7.0),
        PlacedPause(place=3, silo=2, first_round=4, duration_s=9.0),
    ]
    times = AbsenceTimes(compute, missed((1, 2, 4)), pauses)
    assert (times.silos, times.period) == (3, None)
    assert times.rows(1, 4).tolist() == [[1, 2, 3], [6, 0, 3], [1, 0, 3], [8, 2, 12]]
    assert times.rows(2, 2).tolist() == [[6, 0, 3], [1, 0, 3]]
    assert times.rows(3, 1).tolist() == [[1, 0, 3]]


@pytest.mark.parametrize(
    ("pauses", "message"),
    [
        ([(0, 9)], None),
        ([(1, 4)], None),
        ([(0, 5), (2, 5)], None),
        ([(0, 10)], "events[1].first_round(=10) must be < 10, the rounds of the job."),
        ([(0, 5), (0, 5)], "events[2].first_round(=5) must not be that of events[1] of the same silo."),
        ([(1, 3)], "events[1].first_round(=3) must not be a round that the silo misses."),
    ],
)
def test_pauses_are_in_rounds_that_their_silos_compute(pauses, message):
    effects = [Effects(absences={1: (2, 2)}), *(Effects(pauses={silo: (k, 1.0)}) for silo, k in pauses)]
    if message is None:
        absences, found = placed(effects, 3, rounds=10)
        assert absences == [PlacedAbsence(place=0, silo=1, first_round=2, rounds=2)]
        assert [(pause.place, pause.silo, pause.first_round) for pause in found] == [
            (place, *pause) for place, pause in enumerate(pauses, 1)
        ]
        return
    with pytest.raises(InputError) as caught:
        placed(effects, 3, rounds=10)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("spans", "backs"),
    [
        # A ring: 0 sends to 1, 1 to 2, 2 to 0.
        ([(1, 2, 4)], [4]),
        ([(1, 2, 4), (0, 3, 5)], [6, 5]),  # 0 sends again in round 5
        ([(1, 2, 4), (0, 4, 5)], [4, 5]),
        ([(1, 2, 4), (0, 3, 5), (1, 5, 7)], [5, 5, 7]),  # up to its next absence
    ],
)
def test_an_absence_lasts_until_somebody_sends_who_is_there(spans, backs):
    absences = [
        PlacedAbsence(place=place, silo=silo, first_round=first, rounds=back - first)
        for place, (silo, first, back) in enumerate(spans)
    ]
    found = extended(absences, lambda silo, _: np.array([(silo - 1) % 3]), rounds=12)
    assert [one.back for one in found] == backs
    assert [(one.place, one.silo, one.first_round) for one in found] == [
        (place, silo, first) for place, (silo, first, _) in enumerate(spans)
    ]


def test_an_absence_must_end_while_somebody_sends():
    absence = PlacedAbsence(place=3, silo=1, first_round=2, rounds=2)
    with pytest.raises(InputError) as caught:
        extended([absence], lambda *_: np.array([1]), rounds=5)
    rule = "must leave time to come back: from round 3 on, no silo is there that sends to it."
    assert str(caught.value) == f"events[3].first_round + rounds(=4) {rule}"

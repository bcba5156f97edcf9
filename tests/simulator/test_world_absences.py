"""Silos that are away: hand-computed dates on a ring and a STAR."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_networks import network

from simulator import Absence, Pause, Trace, overlay_job, simulate
from topologies import AccessLinks, InputError, Underlay, Workload, build_overlay, connectivity, design_random

COMPUTE_S = np.array([1.0, 2.0, 4.0])


def overlay(arcs, *, hub=None, up_bps=10.0, bits=0.0):
    """Silos A, B and C compute for 1, 2 and 4 s; all links are 0 km long, so that the latency is 4 ms."""
    ends = [(0, 1), (1, 2), (0, 2)]
    graph = network(ends, [0.0] * 3, [1e9] * 3, up_bps=up_bps, down_bps=math.inf)
    return build_overlay("test", graph, Workload(model_bits=bits, compute_s=COMPUTE_S), arcs, hub=hub)


RING = [(0, 1), (1, 2), (2, 0)]
STAR = [(0, 1), (0, 2), (1, 0), (2, 0)]
L = 0.004


def starts(job, rounds, *absences, sharing="maxmin", **how):
    return simulate(job, rounds, sharing=sharing, events=absences, **how)


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_a_ring_goes_on_without_a_silo(sharing):
    timeline = starts(overlay(RING), 4, Absence(silo="C", first_round=1, rounds=2), sharing=sharing)
    # Round 0: A waits for C (4 s), B for A, C for B.
    # Rounds 1 and 2: A waits for nobody, B for A; C is away from 4 s on.
    # Round 3: C waits for B's model of round 2; A still has none of C's to wait for.
    a, b, c = [0.0, 4 + L], [0.0, 2.0], [0.0, 4.0]
    a += [5 + L, 6 + L]
    b += [
        a[1] + 1 + L,
        a[2] + 1 + L,
    ]  # A's model comes at 5.008 s, B has computed by 4 s; then 6.008 and 7.008 s
    b[3] = max(b[2] + 2, a[2] + 1 + L)
    c += [4.0, b[2] + 2 + L]
    a.append(max(a[3] + 1, c[3] + 4 + L))
    b.append(max(b[3] + 2, a[3] + 1 + L))
    c.append(max(c[3] + 4, b[3] + 2 + L))
    np.testing.assert_allclose(timeline.round_start_s, np.transpose([a, b, c]), rtol=1e-14)
    arrived = np.isfinite(timeline.arrival_s)
    # Arcs A -> B, B -> C, C -> A.
    assert arrived.tolist() == [
        [True, True, True],
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_a_star_goes_on_without_a_silo(sharing):
    timeline = starts(overlay(STAR, hub=0), 3, Absence(silo=2, first_round=1, rounds=1), sharing=sharing)
    # A round ends at the hub when the slowest model is in, and 4 ms later at the others. C is away in round 1 and
    # gets the average of that round, B and the hub go on with B's 2 s.
    hub = [0.0, 4 + L, 4 + L + L + 2 + L]
    hub.append(hub[2] + L + 4 + L)
    others = [date_s + L for date_s in hub[1:]]
    expected = np.transpose([hub, [0.0, *others], [0.0, *others]])
    np.testing.assert_allclose(timeline.round_start_s, expected, rtol=1e-14)
    assert np.isfinite(timeline.arrival_s[1]).tolist() == [True, True, True, False]


def test_constant_rates_follow_the_degrees_of_the_round():
    # The hub's 10 bit/s uplink serves two silos, or one alone: 10 bits take 2 s or 1 s.
    job = overlay(STAR, hub=0, bits=10.0)
    timeline = starts(job, 2, Absence(silo=2, first_round=0, rounds=1), sharing="equal")
    # B: 2 s and 1 s up by 3.004 s; the hub's average goes to B and to C, which is back.
    np.testing.assert_allclose(timeline.round_start_s[1], [3 + L, 5 + 2 * L, 5 + 2 * L], rtol=1e-14)
    longer = starts(job, 3, Absence(silo=2, first_round=0, rounds=2), sharing="equal")
    np.testing.assert_allclose(longer.round_start_s[1], [3 + L, 4 + 2 * L, 0.0], rtol=1e-14)


def test_a_hub_that_is_away_leaves_all_silos_alone():
    timeline = starts(overlay(STAR, hub=0), 4, Absence(silo="A", first_round=1, rounds=2))
    b, c = 4 + 2 * L, 4 + 2 * L
    assert timeline.round_start_s[1] == pytest.approx([4 + L, b, c], rel=1e-14)
    assert timeline.round_start_s[2] == pytest.approx([4 + L, b + 2, c + 4], rel=1e-14)
    # B and C go on; the hub is back when their models of round 2 are in.
    assert timeline.round_start_s[3] == pytest.approx([c + 8 + L, b + 4, c + 8], rel=1e-14)


def square(arcs, *, hub=None):
    """Four silos that compute for 1 s on a ring of links without length; 10 bits take 1 s on an uplink."""
    underlay = Underlay(
        name="square",
        variant="corrected",
        labels=tuple("ABCD"),
        latitude_deg=np.zeros(4),
        longitude_deg=np.zeros(4),
        ends=[(0, 1), (1, 2), (2, 3), (3, 0)],
        length_km=[0.0] * 4,
        capacity_bps=[1e9] * 4,
    )
    graph = connectivity(underlay, access=AccessLinks(up_bps=10.0, down_bps=math.inf))
    return build_overlay("test", graph, Workload(model_bits=10.0, compute_s=np.ones(4)), arcs, hub=hub)


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_neighbours_that_are_away_come_back_one_after_the_other(engine):
    absences = [Absence(silo=silo, first_round=2, rounds=5) for silo in "BC"]
    timeline = starts(square([(0, 1), (1, 2), (2, 3), (3, 0)]), 12, *absences, engine=engine)
    a, b, c, d = timeline.round_start_s.T
    hop_s = 1 + L  # from the last bit's start to the arrival
    # B gets A's model of round 6 and starts round 7 with it. Nobody can send to C in that round: C misses round 7 too,
    # and starts round 8 with B's model of round 7.
    assert b[7] == pytest.approx(a[6] + 1 + hop_s, rel=1e-14)
    assert c[7] == c[2]
    assert c[8] == pytest.approx(b[7] + 1 + hop_s, rel=1e-14)
    # D hears nobody until then, and waits for C's model of round 8.
    assert d[8] == pytest.approx(d[3] + 5, rel=1e-14)
    assert d[9] == pytest.approx(c[8] + 1 + hop_s, rel=1e-14)
    came = np.isfinite(timeline.arrival_s)
    assert np.flatnonzero(~came[:, 0]).tolist() == [2, 3, 4, 5]  # A -> B
    assert np.flatnonzero(~came[:, 1]).tolist() == [2, 3, 4, 5, 6]  # B -> C
    assert np.flatnonzero(~came[:, 2]).tolist() == [2, 3, 4, 5, 6, 7]  # C -> D
    assert came[:, 3].all()


def test_a_hub_and_a_silo_that_leave_together():
    absences = [Absence(silo=silo, first_round=1, rounds=2) for silo in "AD"]
    timeline = starts(square([(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)], hub=0), 6, *absences)
    hub, _, _, d = timeline.round_start_s.T
    # The hub is back with the models of round 2; its average of round 3 is the first that D can get.
    assert d[3] == d[1] < hub[3] < hub[4] < d[4]
    assert np.flatnonzero(np.isnan(timeline.arrival_s[:, -1])).tolist() == [1, 2, 3]  # D -> A


@given(data=st.data(), seed=st.integers(0, 1000), kind=st.sampled_from(["ring", "star", "matcha"]))
def test_nobody_comes_back_before_a_silo_that_was_there(data, seed, kind):
    rounds = 24
    arcs = {
        "ring": [(0, 1), (1, 2), (2, 3), (3, 0)],
        "star": [(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)],
    }
    if kind == "matcha":
        job = design_random(
            "matcha", square(arcs["ring"]).graph, Workload(model_bits=10.0, compute_s=np.ones(4))
        )
    else:
        job = square(arcs[kind], hub=0 if kind == "star" else None)
    # Silo D is always there; the others leave once and should be back by round 12.
    absences = [
        Absence(silo=silo, first_round=first, rounds=data.draw(st.integers(1, 12 - first)))
        for silo in data.draw(st.sets(st.sampled_from("ABC"), min_size=1))
        for first in [data.draw(st.integers(1, 11))]
    ]
    drawn = seed if kind == "matcha" else None
    timeline = starts(job, rounds, *absences, seed=drawn)
    start_s, arcs = timeline.round_start_s, overlay_job(job, rounds, seed=drawn).arcs
    for absence in absences:
        silo, end = "ABC".index(absence.silo), absence.first_round + absence.rounds
        same = start_s[:, silo] == start_s[absence.first_round, silo]
        back = int(np.flatnonzero(same)[-1]) + 1  # its first round that starts later than it left
        assert back >= end
        in_arcs = [number for number, arc in enumerate(arcs) if arc.target == silo]
        came_s = timeline.arrival_s[back - 1, in_arcs]
        assert start_s[back, silo] == np.nanmax(came_s)
        for number in np.asarray(in_arcs)[np.isfinite(came_s)].tolist():
            assert start_s[back, silo] > start_s[back - 1, arcs[number].source] + 1.0


def test_a_silo_that_hears_nobody_any_more_cannot_come_back():
    absences = [Absence(silo=silo, first_round=2, rounds=4) for silo in "BC"]
    with pytest.raises(InputError) as caught:
        starts(square([(0, 1), (1, 2), (2, 3), (3, 0)]), 6, *absences)
    assert str(caught.value) == (
        "events[1].first_round + rounds(=6) must leave time to come back: from round 5 on, no silo is there that "
        "sends to it."
    )


def test_a_silo_that_comes_late_and_one_that_leaves_early():
    late = starts(overlay(RING), 2, Absence(silo="A", first_round=0, rounds=1))
    assert late.round_start_s[1] == pytest.approx([4 + L, 2.0, 4.0], rel=1e-14)
    early = starts(overlay(RING), 2, Absence(silo="A", first_round=1, rounds=1))
    plain = simulate(overlay(RING), 2)
    assert early.round_start_s[1].tolist() == plain.round_start_s[1].tolist()


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_a_pause_is_a_longer_computing_time(sharing):
    job = overlay(RING, bits=10.0)
    table_s = np.tile(COMPUTE_S, (6, 1))
    table_s[2, 1] += 7.0
    table_s[4, 0] += 0.5
    longer = simulate(job, 6, sharing=sharing, compute=Trace(table_s=table_s))
    pauses = [
        Pause(silo="A", first_round=4, duration_s=0.5),
        Pause(silo="B", first_round=2, duration_s=7.0),
    ]
    paused = starts(job, 6, *pauses, sharing=sharing)
    assert paused.round_start_s.tolist() == longer.round_start_s.tolist()
    assert paused.round_start_s[-1, 0] > simulate(job, 6, sharing=sharing).round_start_s[-1, 0]


def test_absences_and_rounds_that_are_drawn():
    graph = overlay(RING).graph
    matcha = design_random("matcha", graph, Workload(model_bits=10.0, compute_s=COMPUTE_S))
    plain = simulate(matcha, 12, seed=3)
    absent = starts(matcha, 12, Absence(silo="B", first_round=4, rounds=5), seed=3)
    assert absent.round_start_s[:5].tolist() == plain.round_start_s[:5].tolist()
    sent, used = np.isfinite(absent.arrival_s), np.isfinite(plain.arrival_s)
    assert np.all(sent <= used)
    kept = np.isin(np.arange(12), np.arange(4, 9), invert=True)
    assert sent[kept].tolist() == used[kept].tolist()


def test_an_absence_must_fit_the_job():
    with pytest.raises(
        InputError, match=r"^events\[0\]\.first_round \+ rounds\(=5\) must be <= 4, the rounds of"
    ):
        starts(overlay(RING), 4, Absence(silo="C", first_round=1, rounds=4))
    with pytest.raises(InputError, match=r"^events\[0\]\.silo\(='X'\) must be one of A, B, C"):
        starts(overlay(RING), 4, Absence(silo="X", first_round=1, rounds=1))

"""The parts of a timeline's figure on the page of a run, on dates made by hand and ten units a second."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hand_timeline import periodic_timeline

from scenarios.pages import timeline_section as section
from scenarios.report.tables import Column, Table
from scenarios.report.timeline_rows import COMPUTE_PART, RECEIVE_PART, SEND_PART, MessageBars
from topologies import InputError

ROWS = np.arange(3.0)


def across(seconds):
    return 10.0 * np.asarray(seconds, dtype=float)


def middle(row, part=(0.0, 0.0)):
    """Height of a part of a row: rows of 20 below a margin of 8."""
    return 8 + 20 * (row + 0.5 + (part[0] + part[1]) / 2)


def test_long_names_are_cut_and_those_of_the_circuit_are_marked():
    made = periodic_timeline(labels=("a" * 18, "b" * 19, "<c>"), circuit=((2, 0),))
    labels = list(section._labels(made, [2, 0, 1]))
    assert labels == [
        f'<text class="critical" x="124" y="{middle(0) + 4:.1f}" text-anchor="end">&lt;c&gt;</text>',
        f'<text x="124" y="{middle(1) + 4:.1f}" text-anchor="end">{"a" * 18}</text>',
        f'<text x="124" y="{middle(2) + 4:.1f}" text-anchor="end">{"b" * 17}\u2026</text>',
    ]


def test_computing_and_starts_are_in_the_row_of_their_silo():
    away, computes, starts = section._silos(periodic_timeline(), [1, 0], np.array([1.0, 0.0, np.nan]), across)
    assert away == ""
    y, up, down = (middle(0, part) for part in (COMPUTE_PART, (-0.42, -0.42), (0.04, 0.04)))
    # Silo 1 computes from 1 to 3 and from 6 to 7, silo 0 from 0 to 4 and from 4 to 7.
    own = f"M10.0,{y:.1f}H30.0M60.0,{y:.1f}H70.0"
    other = f"M0.0,{y + 20:.1f}H40.0M40.0,{y + 20:.1f}H70.0"
    assert computes == f'<path class="computes" stroke-width="9.2" d="{own}{other}"/>'
    strokes = [
        f"M{x:.1f},{up + 20 * row:.1f}V{down + 20 * row:.1f}"
        for row, xs in ((0, (10, 60, 100)), (1, (0, 40, 70)))
        for x in xs
    ]
    assert starts == f'<path class="starts" d="{"".join(strokes)}"/>'


def test_a_silo_that_does_not_come_back_is_away_to_the_border():
    made = periodic_timeline()
    is_away = np.array([[False, True, False], [False, True, True]])
    next_start_s = np.array([[4.0, 6.0, 5.0], [7.0, 6.0, 9.0]])
    gone = replace(made, activity=replace(made.activity, is_away=is_away, next_start_s=next_start_s))
    away, computes, starts = section._silos(gone, [1, 2], ROWS, across)
    y, other = middle(1), middle(2)
    assert away == (
        f'<path class="away" stroke-width="17.0" d="M10.0,{y:.1f}H60.0M60.0,{y:.1f}H950.0M50.0,{other:.1f}H90.0"/>'
    )
    assert computes.count("M") == 1
    # Its last round has no start and no end.
    assert starts.count("M") == 1


def test_messages_of_one_height_are_one_path():
    bars = MessageBars(
        silo=np.array([0, 1, 2, 0]),
        begin_s=np.array([1.0, 2.0, 3.0, 4.0]),
        end_s=np.array([2.0, 3.0, 4.0, 5.0]),
        low=np.array([0.08, 0.08, 0.08, 0.16]),
        high=np.array([0.24, 0.24, 0.24, 0.24]),
    )
    drawn = section._bars(bars, np.array([0.0, 1.0, np.nan]), across, "sends")
    first, second = (middle(row, (0.08, 0.24)) for row in (0, 1))
    thin = middle(0, (0.16, 0.24))
    assert drawn == (
        f'<path class="sends" stroke-width="3.2" d="M10.0,{first:.1f}H20.0M20.0,{second:.1f}H30.0"/>'
        f'<path class="sends" stroke-width="1.6" d="M40.0,{thin:.1f}H50.0"/>'
    )


def test_the_circuit_is_a_line_for_each_message_and_each_computing():
    # Of the arcs 0 to 1 and 1 to 0 the first has a message: that of round 3, sent at 1, which arrives at 6.
    made = periodic_timeline(circuit=((0, 0), (1, 0)), period=1)
    send, receive = middle(0, SEND_PART), middle(1, RECEIVE_PART)
    assert section._circuit(made, ROWS, across) == (
        f'<path class="onway" d="M10.0,{send:.1f}L60.0,{receive:.1f}"/>'
    )
    for hidden in ([0.0, np.nan, 2.0], [np.nan, 1.0, 2.0]):
        assert section._circuit(made, np.array(hidden), across) == ""
    own = periodic_timeline(circuit=((1, 0),), period=1)
    y = middle(1, COMPUTE_PART)
    assert (
        section._circuit(own, ROWS, across)
        == f'<path class="onway" d="M10.0,{y:.1f}H30.0M60.0,{y:.1f}H70.0"/>'
    )
    assert section._circuit(own, np.array([0.0, np.nan, 2.0]), across) == ""
    assert section._circuit(periodic_timeline(circuit=None), ROWS, across) == ""


@pytest.mark.parametrize(("length", "shown"), [(4, True), (5, False)])
def test_a_name_is_in_the_gap_that_has_room_for_it(length, shown):
    # Silo 2 waits for silo 0 from 3 to 5: at 14 units a second just the room of five letters of 5.6.
    wide = periodic_timeline(labels=("x" * length, "B", "C"), lags=np.ones((2, 4), dtype=int))
    names = list(section._names(wide, ROWS, lambda seconds: 14.0 * np.asarray(seconds, dtype=float)))
    of_silo_2 = [name for name in names if f'y="{middle(2, COMPUTE_PART) + 3:.1f}"' in name]
    assert len(of_silo_2) == shown
    if shown:
        assert f'x="{14 * 4:.1f}"' in of_silo_2[0]
        assert of_silo_2[0].endswith(f">{'x' * length}</text>")
    assert not list(section._names(wide, np.full(3, np.nan), across))


def test_the_figure_is_said_in_words():
    # Spans of 6.5, 9 and 7 s; the silos wait 0, 6 and 2 s of them.
    said = section._said(periodic_timeline(), 3)
    assert said == (
        f"3 silos, 500.0 ms to 9.000 s: of all their time {100 * 8 / 22.5:.3g} % is waiting for models. The table "
        "below has the numbers of each silo."
    )
    assert " The first 2 of 3 silos are drawn." in section._said(periodic_timeline(), 2)


def scaled(factor):
    """The same timeline, so many times as long."""
    made = periodic_timeline()
    activity, sent = (
        replace(part, **{name: factor * getattr(part, name) for name in names})
        for part, names in (
            (made.activity, ("start_s", "compute_s", "next_start_s")),
            (made.sent, ("start_s", "last_bit_s", "arrival_s", "first_arrival_s")),
        )
    )
    dates = {"begin_s": factor * made.begin_s, "end_s": factor * made.end_s}
    return replace(made, activity=activity, sent=sent, **dates)


def test_the_part_that_is_waiting_is_that_of_any_length():
    assert "35.6 % is waiting" in section._said(scaled(1.0), 3)
    assert "35.6 % is waiting" in section._said(scaled(0.01), 3)
    assert "3 silos, 0 s to 0 s: of all their time 0 % is waiting for models." in section._said(
        scaled(0.0), 3
    )
    # Dates that are all the same are at the beginning.
    drawn = section.timeline_svg(scaled(0.0), "t")
    assert set(re.findall(r"M([\d.]+),", re.search('class="starts" d="([^"]*)"', drawn)[1])) == {"130.0"}
    assert "nan" not in drawn


def test_the_axis_has_its_unit_and_ticks_within_the_dates():
    made = periodic_timeline(begin_s=2.0, end_s=9.0)
    parts = list(section._time_axis(made, 9.07, across, 100.0))
    assert parts[-1] == '<text x="540" y="94" text-anchor="middle">simulated time (ms)</text>'
    places = [float(x) for part in parts for x in re.findall(r'class="grid" d="M([\d.]+),8V60"', part)]
    assert places
    assert min(places) >= 20.0
    assert max(places) <= 90.7
    labels = [part for part in parts[:-1] if part.startswith("<text")]
    assert len(labels) == len(places)
    assert all('y="75"' in label for label in labels)
    # In milliseconds: at 10 units a second the number is a hundred times the place.
    for label, place in zip(labels, places, strict=True):
        assert float(re.search(">([\\d.]+)<", label)[1].replace(",", "")) == pytest.approx(100 * place)


def test_the_whole_figure_has_its_height_and_ends():
    drawn = section.timeline_svg(periodic_timeline(), "t")
    assert 'viewBox="0 0 960 108"' in drawn
    assert 'id="t" ' in drawn
    assert 'aria-labelledby="t-title t-said"' in drawn
    # Silo 0 is in the first row: the circuit begins with it.
    assert 'class="sends" stroke-width="1.6" d="M177.8,' in drawn
    assert 'class="receives"' in drawn
    # The dates from 0.5 to 9 s take the width from 130 to 950 less a hundredth.
    x = [
        float(found)
        for found in re.findall(r"[MH]([\d.]+),?", re.search('class="starts" d="([^"]*)"', drawn)[1])
    ]
    assert min(x) == 130.0
    assert max(x) == 950.0
    end = 130 + 820 * (9.0 - 0.5) / (8.5 * 1.01)
    assert any(abs(each - end) < 0.06 for each in x)


# The section


def test_the_first_timeline_is_open():
    made = SimpleNamespace(
        timeline=periodic_timeline(), table=Table(caption="c", columns=[Column(key="a", title="a")], rows=[])
    )
    first, second = section._overlay(made, 0), section._overlay(made, 1)
    assert first.startswith("<details open><summary>o (2 states), rounds 3 to 4</summary>")
    assert second.startswith("<details><summary>o (2 states), rounds 3 to 4</summary>")
    assert 'id="timeline-0"' in first
    assert 'id="timeline-1"' in second
    assert "Numbers of this timeline" in second


def overlay(kind, rounds):
    return SimpleNamespace(kind=kind, simulation=SimpleNamespace(rounds=rounds))


def shown(kind):
    return SimpleNamespace(timeline=SimpleNamespace(kind=kind))


def test_the_rounds_are_the_first_that_all_overlays_have(monkeypatch):
    asked = []

    def timelines(path, *, rounds, overlay):
        asked.append((path, rounds, overlay))
        return [shown(kind) for kind in overlay]

    monkeypatch.setattr(section, "timelines", timelines)
    section._first_rounds("x", [overlay("a", 9), overlay("b", 2)])
    section._first_rounds("x", [overlay("a", 9)])
    assert asked == [("x", slice(0, 2), ["a", "b"]), ("x", slice(0, 3), ["a"])]


def test_only_overlays_that_were_simulated_have_a_timeline_and_eight_of_them(monkeypatch):
    monkeypatch.setattr(section, "_MOST_OVERLAYS", 2)
    monkeypatch.setattr(
        section, "_first_rounds", lambda _path, each: ([shown(one.kind) for one in each], ["noted"])
    )
    monkeypatch.setattr(section, "_overlay", lambda one, place: f"[{place} {one.timeline.kind}]")

    def made(*rounds):
        overlays = [overlay(f"o{place}", number) for place, number in enumerate(rounds)]
        return section.timeline_section(SimpleNamespace(path="x", record=SimpleNamespace(overlays=overlays)))

    assert made(0, 0) == ""
    two, three = made(5, 0, 5), made(5, 5, 5)
    assert "[0 o0][1 o2]" in two
    assert '<p class="note">noted</p>' in two
    assert "Timelines are of the first" not in two
    assert "[0 o0][1 o1]<" in three
    assert "Timelines are of the first 2 of 3 overlays; silosim timeline has all." in three


def test_of_one_overlay_without_a_timeline_the_reason_is_said(monkeypatch):
    def timelines(_path, *, rounds, overlay):
        raise InputError(f"{overlay} {rounds.stop}")

    monkeypatch.setattr(section, "timelines", timelines)
    assert section._first_rounds("x", [overlay("a", 1)]) == ((), ["No timeline of a: ['a'] 1"])
    found, notes = section._first_rounds("x", [overlay("a", 1), overlay("b", 9)])
    assert list(found) == []
    assert notes == ["No timeline of a: ['a'] 1", "No timeline of b: ['b'] 3"]

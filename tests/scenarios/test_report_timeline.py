"""The timeline on the page of a run: dates, rows and words are those of the run."""

import re
from dataclasses import replace

import numpy as np
import pytest
from edited_run import edited
from page_reader import PageReader
from pair_run import CYCLE_S, write_pair_run

from scenarios.pages import timeline_section as section
from scenarios.pages.run_facts import run_facts
from scenarios.pages.run_page import page_of
from scenarios.studies.timeline import timelines
from topologies import InputError


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    return run_facts(write_pair_run(tmp_path_factory.mktemp("timeline") / "pair.h5"))


def seconds(across, timeline):
    """Dates of places along the page."""
    end_s = timeline.end_s + 0.01 * (timeline.end_s - timeline.begin_s)
    return (across - section._LEFT) / (section._WIDTH - section._LEFT - section._RIGHT) * end_s


def test_rounds_start_where_the_run_says(facts):
    (shown,) = timelines(facts.path, rounds=slice(0, 3), overlay="ring é")
    drawn = section.timeline_svg(shown.timeline, "t")
    starts = re.search(r'class="starts" d="([^"]+)"', drawn)[1]
    places = np.array([float(x) for x in re.findall(r"M([0-9.]+),", starts)])

    # Of both silos, with the end of the last round.
    assert seconds(places, shown.timeline) == pytest.approx(
        [k * CYCLE_S for _ in range(2) for k in range(4)], abs=1e-3 * CYCLE_S
    )
    assert places.max() < section._WIDTH - section._RIGHT


def test_each_figure_has_words_and_a_table(facts):
    read = PageReader(page_of(facts))
    figures = [attributes for tag, attributes in read.tags if attributes.get("class") == "timeline"]
    ids = {attributes["id"] for _, attributes in read.tags if "id" in attributes}
    said = "".join(read.texts)

    assert len(figures) == 2
    assert all(set(each["aria-labelledby"].split()) <= ids for each in figures)
    assert said.count("Numbers of this timeline") == 2
    # Computing is 10 ms of a round of 34.85 ms, all else is waiting.
    assert f"of all their time {100 * (1 - 0.01 / CYCLE_S):.3g} % is waiting for models." in said


def test_an_absence_is_a_line_to_its_end_or_to_the_border(facts):
    (shown,) = timelines(facts.path, rounds=slice(0, 3), overlay="ring é")
    timeline, activity = shown.timeline, shown.timeline.activity
    is_away, next_start_s = activity.is_away.copy(), activity.next_start_s.copy()
    is_away[1:, 1] = True
    # Of the last round nobody knows when it would end there.
    next_start_s[2, 1] = activity.start_s[2, 1]
    away = replace(
        activity,
        is_away=is_away,
        next_start_s=next_start_s,
        compute_s=np.where(is_away, 0, activity.compute_s),
    )
    drawn = section.timeline_svg(replace(timeline, activity=away), "t")
    (path,) = re.findall(r'class="away" [^>]*d="([^"]+)"', drawn)
    begin, end = (np.array([float(x) for x in re.findall(rf"{mark}([0-9.]+)", path)]) for mark in "MH")

    assert seconds(begin, timeline) == pytest.approx([CYCLE_S, 2 * CYCLE_S], abs=1e-3 * CYCLE_S)
    assert seconds(end[:1], timeline) == pytest.approx([2 * CYCLE_S], abs=1e-3 * CYCLE_S)
    assert end[1] == section._WIDTH - section._RIGHT


def test_an_overlay_without_a_timeline_is_said_and_the_others_are_drawn(facts, monkeypatch):
    def only_one(path, *, rounds, overlay):
        if len(overlay) > 1 or overlay == ["ring é"]:
            raise InputError(f"{', '.join(overlay)} lost its dates.")
        return timelines(path, rounds=rounds, overlay=overlay)

    monkeypatch.setattr(section, "timelines", only_one)
    kinds = [each.kind for each in facts.record.overlays]
    found, notes = section._first_rounds(facts.path, facts.record.overlays)

    assert [shown.timeline.kind for shown in found] == [kind for kind in kinds if kind != "ring é"]
    assert notes == ["No timeline of ring é: ring é lost its dates."]


def test_of_many_silos_the_first_rows_are_drawn(facts, monkeypatch):
    monkeypatch.setattr(section, "MOST_SILOS", 1)
    (shown,) = timelines(facts.path, rounds=slice(0, 1), overlay="ring é")
    drawn = section.timeline_svg(shown.timeline, "t")

    assert "The first 1 of 2 silos are drawn." in drawn
    assert "nan" not in drawn


def test_a_run_without_simulation_has_no_timeline_and_one_that_cannot_be_read_says_why(run_file, tmp_path):
    path = tmp_path / "small.h5"
    path.write_bytes(run_file.read_bytes())
    with edited(path) as file:
        attrs = file["simulation/ring"].attrs
        attrs["cycle_time_s"], attrs["rounds"] = np.nan, 0
        file["simulation/star/round_start_s"][1:] += 1.0
    there = section.timeline_section(run_facts(path))

    assert "Timeline of star" in there
    assert "Timeline of ring" not in there
    assert "this is another simulation" in there

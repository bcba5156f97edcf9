"""The slider, the table and the marks in charts of a study's page, on tables made by hand."""

import re

import numpy as np
import pandas
import pytest
from page_reader import PageReader, table_cells

from scenarios.pages import study_page, study_slider
from scenarios.pages.study_page import (
    _axis,
    _cell,
    _common,
    _errors,
    _is_marked,
    _key_text,
    _keys_text,
    _numbers,
    _repeated,
    _rows,
    _shown,
)
from scenarios.pages.study_slider import CapacityPoints, capacity_points, chart_marks, study_slider_data
from scenarios.report.study_lines import OverlayLine, StudyLines, StudyPanel
from scenarios.report.svg_chart import ChartLine, chart_axis, chart_x, chart_y

ABSENT = ["-", None]


def table_of(paper_s, *, capacities=(1e6, 1e7), overlays=("star", "ring"), besides=None, **columns):
    """A study over the capacity and, inside it, other keys, with a row for each overlay."""
    keys = besides or {}
    combinations = [dict(zip(keys, values, strict=True)) for values in zip(*keys.values(), strict=True)] or [
        {}
    ]
    rows = [
        {"access_bps": capacity, **one, "network": "net", "overlay": overlay, "point": f"{place}-{capacity}"}
        for capacity in capacities
        for place, one in enumerate(combinations)
        for overlay in overlays
    ]
    return pandas.DataFrame(rows).assign(paper_s=pandas.Series(paper_s, dtype=float), **columns)


def test_cells_have_the_times_the_ratio_to_the_shortest_and_the_busiest_link():
    table = table_of(
        [3.0, 2.0, 0.25, 0.5],
        serialized_s=[4.0, None, np.inf, 0.5],
        load_bound_s=[1.0, 2.5, 0.125, None],
        busiest_link=["A", None, "B", "C"],
    )
    points = capacity_points(table)
    assert (points.capacities_bps, points.choices, points.overlays) == ((1e6, 1e7), ("",), ("star", "ring"))
    assert points.left_out == 0
    ((first, second),) = points.cells
    # Without simulation the larger of paper and load counts: 3 s and 2.5 s.
    assert first == [
        [["3.000 s", 3.0], ["4.000 s", 4.0], ["1.000 s", 1.0], ABSENT, ["1.20x", 1.2], ["A", None]],
        [["2.000 s", 2.0], ABSENT, ["2.500 s", 2.5], ABSENT, ["shortest", 1.0], ABSENT],
    ]
    assert second == [
        [["250.0 ms", 0.25], ABSENT, ["125.0 ms", 0.125], ABSENT, ["shortest", 1.0], ["B", None]],
        [["500.0 ms", 0.5], ["500.0 ms", 0.5], ABSENT, ABSENT, ["2.00x", 2.0], ["C", None]],
    ]


def test_paper_below_load_is_marked_and_an_interval_is_beside_its_time():
    table = table_of(
        [1.0] * 4,
        simulated_s=[2.0, 4.0, None, 1.0],
        simulated_half_width_s=[0.5, None, 0.5, 0.0],
        paper_below_load=[True, False, None, True],
    )
    ((first, second),) = capacity_points(table).cells
    assert [cells[0][0] for cells in (*first, *second)] == ["!1.000 s", "1.000 s", "1.000 s", "!1.000 s"]
    assert [cells[0][1] for cells in (*first, *second)] == [1.0] * 4
    assert [cells[3] for cells in (*first, *second)] == [
        ["2.000 s \u00b1 500.0 ms", 2.0],
        ["4.000 s", 4.0],
        ABSENT,
        ["1.000 s \u00b1 0 s", 1.0],
    ]
    # An overlay without a simulation is not compared.
    assert [cells[4] for cells in (*first, *second)] == [
        ["shortest", 1.0],
        ["2.00x", 2.0],
        ABSENT,
        ["shortest", 1.0],
    ]


def test_times_of_0_are_the_shortest_without_a_ratio():
    ((first, _),) = capacity_points(table_of([0.0, 1.0, 1.0, 1.0])).cells
    assert [cells[4] for cells in first] == [["shortest", 1.0], ABSENT]


def test_combinations_of_other_keys_that_vary_are_chosen_from():
    table = table_of(
        range(1, 13),
        capacities=(1e7, 1e6, np.inf),
        besides={"local_steps": [1, 5], "model_size_bits": [8e6, 8e6], "seed": [0, None]},
        error=[None] * 11 + ["no"],
    )
    points = capacity_points(table)
    # No place of the slider is an unlimited capacity.
    assert points.capacities_bps == (1e6, 1e7)
    assert points.choices == ("local steps per round 1, seed 0", "local steps per round 5, seed none")
    times = [[[cells[0][1] for cells in there] for there in chosen] for chosen in points.cells]
    assert times == [[[5, 6], [1, 2]], [[7, 8], [3, 4]]]


@pytest.mark.parametrize(("room", "choices"), [(12, 3), (11, 2), (8, 2), (7, 1), (4, 1), (1, 1)])
def test_so_many_combinations_have_room(monkeypatch, room, choices):
    monkeypatch.setattr(study_slider, "_MOST_ROWS", room)
    points = capacity_points(table_of(range(1, 13), besides={"local_steps": [1, 2, 3]}))
    # Each takes four rows: two capacities and two overlays.
    assert len(points.choices) == len(points.cells) == choices
    assert points.left_out == 3 - choices
    page = study_slider.study_slider(points)
    assert (f"{3 - choices} more combinations have no room here" in page) == (choices < 3)


@pytest.mark.parametrize(
    "table",
    [
        table_of([1.0, 2.0], capacities=(1e6,)),
        table_of([1.0, 2.0] * 2, capacities=(1e6, np.inf)),
        table_of([1.0, 2.0] * 2).astype({"access_bps": str}),
        table_of([1.0, 2.0] * 2).drop(columns="network"),
        table_of([1.0, 2.0] * 2, error=[None, None, "no", "no"]),
    ],
)
def test_without_two_capacities_as_numbers_there_is_no_slider(table):
    assert capacity_points(table) is None


def points_of(cells, *, choices=("",), left_out=0):
    return CapacityPoints(
        capacities_bps=(1e6, 1e7), choices=choices, overlays=("a<b", "c"), cells=cells, left_out=left_out
    )


CELLS = [["1.000 s", 1.0], ABSENT, ABSENT, ABSENT, ["shortest", 1.0], ["A uplink", None]]


def test_the_table_begins_at_the_first_capacity_and_combination():
    page = study_slider.study_slider(points_of([[[CELLS, None], [None, CELLS]]]))
    read = PageReader(page)
    texts = [said for said in read.texts if said.strip()]
    at = texts.index("a<b")
    assert texts[at : at + 14] == ["a<b", "1.000 s", "-", "-", "-", "shortest", "A uplink", "c", *["-"] * 6]
    rows = [attributes for tag, attributes in read.tags if tag == "tr" and "data-row" in attributes]
    assert [(row["data-row"], row.get("class")) for row in rows] == [("0", "chosen"), ("1", None)]
    cells = [attributes for tag, attributes in read.tags if tag == "td"]
    assert [cell["data-value"] for cell in cells] == ["1.0", "", "", "", "1.0", *[""] * 7]
    assert [cell.get("class") for cell in cells[:6]] == ["number"] * 5 + [None]
    heads = [
        attributes.get("class")
        for tag, attributes in read.tags
        if tag == "th" and attributes["scope"] == "col"
    ]
    assert heads == [None, *["number"] * 5, None]
    assert '<span class="at">1 Mbps</span><span id="choice-text"></span>' in page
    assert "<select" not in page
    assert "None" not in page
    assert 'aria-valuetext="1 Mbps"' in page
    assert "more combinations" not in page
    several = study_slider.study_slider(
        points_of([[[CELLS, CELLS]] * 2] * 2, choices=("x 1", "x 2"), left_out=1200)
    )
    assert '<span id="choice-text">, x 1</span>' in several
    assert '<option value="0">x 1</option><option value="1">x 2</option>' in several
    assert "1,200 more combinations have no room here" in several
    assert study_slider_data(points_of([[]], choices=("x 1",))) == {
        "names": ["1 Mbps", "10 Mbps"],
        "choices": ["x 1"],
        "ratio": 4,
        "cells": [[]],
    }


def line(overlay="a", x=(1e6, 1e7), y=(2.0, 1.0), **changes):
    given = {"paper": None, "below": np.zeros(len(x), dtype=bool), "low": None, "high": None}
    given |= {name: None if value is None else np.array(value) for name, value in changes.items()}
    return OverlayLine(overlay=overlay, x=np.array(x, dtype=float), y=np.array(y, dtype=float), **given)


def lines_of(*lines, x="access_bps", y="paper_s", categories=None, title=""):
    return StudyLines(
        x=x,
        y=y,
        is_curve=False,
        is_joined=True,
        categories=categories,
        overlays=("a",),
        panels=[StudyPanel(title=title, lines=list(lines))],
        spread=None,
        seeds="",
        title="",
        notes=(),
    )


def test_marks_are_on_the_lines_at_each_capacity():
    points = points_of([[]])
    x = chart_axis("x", [np.array([1e6, 1e7])], is_x=True, is_log=True)
    y = chart_axis("y", [np.array([1.0, 4.0])], is_x=False, is_log=True)
    across = chart_x(x, np.array([1e6, 1e7]))
    down = chart_y(y, np.array([1.0, 2.0, 4.0]))
    drawn = [
        ChartLine(style="k0", x=np.array([1e7, 1e6]), y=np.array([4.0, 1.0])),
        ChartLine(style="k1", x=np.array([1e7]), y=np.array([2.0])),
        ChartLine(style="k2", x=np.array([1e6, 1e7]), y=np.array([1.0, 0.0])),
        ChartLine(style="k3", x=np.array([1e6, 1e7]), y=np.array([1.0, 1.0]), is_thin=True),
    ]
    made = chart_marks(points, lines_of(line()), drawn, x, y)
    first, second = (f"{at:.1f}" for at in across)
    assert f'<line class="cursor" data-places="{first} {second}" x1="{first}" y1="12" x2="{first}"' in made
    both = f'data-places="{first},{down[0]:.1f} {second},{down[2]:.1f}" cx="{first}" cy="{down[0]:.1f}"'
    assert f'<circle class="mark f-k0" {both}' in made
    # A line without a point there has no mark: at the first capacity it is off.
    later = f'data-places="- {second},{down[1]:.1f}" cx="{first}" cy="0.0"'
    assert f'<circle class="mark f-k1 off" {later}' in made
    assert f'<circle class="mark f-k2" data-places="{first},{down[0]:.1f} -"' in made
    assert "f-k3" not in made
    assert chart_marks(points, lines_of(line(), x="core_bps"), drawn, x, y) == ""
    assert chart_marks(points, lines_of(line(), categories=["1", "2"]), drawn, x, y) == ""


@pytest.mark.parametrize(
    ("value", "cell"),
    [(None, ""), (float("nan"), ""), (np.float64("nan"), ""), (pandas.NA, ""), (0.0, "0"), (1 / 3, "0.333333"),
     (np.float32(0.5), "0.5"), (1234567.0, "1.23457e+06"), (5, "5"), ("x", "x"), (True, "True")],
)  # fmt: skip
def test_cells_are_texts_and_a_missing_value_is_none(value, cell):
    assert _cell(value) == cell


@pytest.mark.parametrize(
    ("column", "value", "shown"),
    [
        ("access_bps", 1e8, "100 Mbps"),
        ("access_bps", None, ""),
        ("model_size_bits", 8e6, "8 Mbit"),
        ("paper_s", 0.25, "250 ms"),
        ("paper_s", float("nan"), ""),
        ("local_steps", 5, "5"),
        ("budget", 0.123456789, "0.123457"),
        ("ranges", '{"core_bps": [1e8, 1e9], "compute_s": [0.5, 1]}', "core capacity 100 Mbps to 1 Gbps; "),
        ("ranges", None, ""),
    ],
)
def test_values_have_their_units(column, value, shown):
    found = _shown(column, value)
    assert found.startswith(shown) if column == "ranges" and value else found == shown


def test_a_key_without_a_value_is_none():
    assert _key_text("core_bps", {"core_bps": None}) == "none"
    assert _key_text("core_bps", {"core_bps": 1e9}) == "1 Gbps"


def test_what_all_rows_share_is_said_once():
    table = table_of([1.0] * 4, rounds=[5, 5, 5, 5], engine=["a", "a", "b", "b"], seed=[1] * 4)
    assert _common(table) == ["network", "rounds"]
    assert _common(table.assign(network=None)) == ["network", "rounds"]
    assert _common(table.assign(rounds=[5, 5, None, 5])) == ["network"]
    assert _common(table.assign(point="p")) == ["network", "rounds"]


def test_the_keys_that_vary_are_listed():
    table = table_of([1.0] * 8, besides={"local_steps": [1, 5]})
    assert _keys_text(table) == "access capacity and local steps per round"
    assert _keys_text(table.drop(columns=["access_bps", "local_steps"])) == "one point"
    assert _keys_text(table.drop(columns="network")) == "one point"
    assert (
        _keys_text(pandas.DataFrame({"point": ["p"], "access_bps": [1.0], "network": ["n"]}))
        == "access capacity"
    )


@pytest.mark.parametrize(
    ("up_bps", "repeated"),
    [
        ([1e6, 1e6, 1e7, 1e7], True),
        ([1e6, 1e6, 1e7, 1e6], False),
        ([1e6, 1e6, 1e7, None], False),
        (None, False),
    ],
)
def test_a_column_that_says_the_same_as_one_before_it_is_left_out(up_bps, repeated):
    table = table_of([1.0] * 4)
    table = table if up_bps is None else table.assign(access_up_bps=up_bps)
    assert _repeated(table) == ({"access_up_bps"} if repeated else set())
    assert _repeated(table.drop(columns="access_bps")) == set()
    assert "kind" in _repeated(table.assign(kind=table["overlay"]))
    # Where both are missing they say the same.
    missing = table.assign(access_up_bps=[1e6, None, 1e7, 1e7], access_bps=[1e6, None, 1e7, 1e7])
    assert _repeated(missing) == {"access_up_bps"}


def test_rows_are_shown_without_what_is_said_elsewhere(monkeypatch):
    monkeypatch.setattr(study_page, "_MOST_ROWS", 3)
    table = table_of(
        [1.0, 2.0, 3.0, 4.0],
        rounds=9,
        paper_below_load=[False, True, True, True],
        note=None,
        load_bound_s=[0.5, None, 1.0, 2.0],
        error=[None] * 4,
    )
    page = _rows(table)
    heads = re.findall('<th scope="col"( class="number")?>([^<]*)</th>', page)
    assert [(head, bool(number)) for number, head in heads] == [
        ("access capacity", True),
        ("overlay", False),
        ("cycle time, paper", True),
        ("cycle time, load bound", True),
    ]
    rows = table_cells(page)
    assert rows == [
        ["1 Mbps", "star", "1 s", "500 ms"],
        ["1 Mbps", "ring", "!2 s", ""],
        ["10 Mbps", "star", "!3 s", "1 s"],
    ]
    assert "the first 3 of 4" in page
    assert "!: paper is below load" in page
    assert "!: paper" not in _rows(table.assign(paper_below_load=[False, False, False, True]))


def test_errors_have_their_point_and_overlay(monkeypatch):
    table = table_of([1.0] * 4, error=[None, "no <hub>", "late", "never"])
    table.loc[2, "overlay"] = None
    assert _errors(table.drop(columns="error")) == ""
    assert _errors(table.assign(error=None)) == ""
    assert table_cells(_errors(table)) == [
        ["access capacity 1 Mbps", "ring", "no <hub>"],
        ["access capacity 10 Mbps", "", "late"],
        ["access capacity 10 Mbps", "ring", "never"],
    ]
    monkeypatch.setattr(study_page, "_MOST_ERRORS", 2)
    assert "the first 2 of 3" in _errors(table)
    assert len(table_cells(_errors(table))) == 2


def test_points_of_a_figure_are_a_table():
    marked = line(y=(2.0, 4.0), paper=(0.25, 0.5), below=(True, False))
    rows = table_cells(_numbers(lines_of(line("b", y=(1.0, 0.5)), marked, y="simulated_s", title="seed: 1")))
    assert rows == [
        ["seed: 1", "b", "1 Mbps", "1 s", ""],
        ["seed: 1", "b", "10 Mbps", "500 ms", ""],
        ["seed: 1", "a", "1 Mbps", "2 s", "!250 ms"],
        ["seed: 1", "a", "10 Mbps", "4 s", "500 ms"],
    ]
    # Of the paper's own line the mark is at its value; a point without a place is left out.
    papers = line(x=(0, np.nan), y=(2.0, 3.0), below=(True, True))
    assert table_cells(_numbers(lines_of(papers, x="local_steps", categories=["all", "some"]))) == [
        ["", "a", "all", "!2 s", ""]
    ]


@pytest.mark.parametrize(
    ("changes", "y", "marked"),
    [
        ({"below": (False, True)}, "paper_s", True),
        ({"below": (False, True)}, "simulated_s", False),
        ({"below": (True, False), "paper": (1.0, 1.0)}, "simulated_s", True),
        ({"paper": (1.0, 1.0)}, "paper_s", False),
    ],
)
def test_a_mark_is_explained_where_one_is_drawn(changes, y, marked):
    assert _is_marked(lines_of(line("b"), line(**changes), y=y)) == marked


@pytest.mark.parametrize(
    ("values", "is_log"),
    [([1.0, 10.0], False), ([1.0, 10.5], True), ([0.0, 10.5], False), ([np.nan, np.inf], False)],
)
def test_an_axis_over_more_than_a_decade_is_logarithmic(values, is_log):
    assert _axis("local_steps", [np.array(values), np.array([[1.0]])], is_x=True).is_log == is_log

"""Which charts a study's page has, with their legend, notes and lines, on tables made by hand."""

import re
from dataclasses import replace

import numpy as np
import pytest
from page_reader import table_cells
from test_study_plot import ACCESS, study
from test_study_table_page import line, lines_of, points_of

from scenarios.pages import study_page
from scenarios.pages.study_page import _figure, _figures, chosen_lines
from topologies import InputError

FEW = ACCESS[:2]


def two_besides(b=("x", "y", "z"), **columns):
    """A study of one overlay over the capacity, `a` and `b`, of which a figure can show two."""
    return study(overlays=["ring"], access_bps=FEW, a=[1, 2], b=b).assign(**columns)


@pytest.mark.parametrize(
    ("columns", "y"),
    [
        ({}, "simulated_s"),
        ({"time_to_target_s": np.nan}, "simulated_s"),
        ({"time_to_target_s": 5.0}, "time_to_target_s"),
    ],
)
def test_one_figure_of_the_time_to_the_target_where_there_is_one(columns, y):
    (found,), notes = chosen_lines(study(access_bps=FEW).assign(**columns))
    assert (found.x, found.y, notes) == ("access_bps", y, [])


@pytest.mark.parametrize(
    ("panels", "facet", "fixed"),
    [
        # The last key that has few enough values makes panels; of the others each value makes a figure.
        (3, "b", [{"a": [1]}, {"a": [2]}]),
        (2, "a", [{"b": ["x"]}, {"b": ["y"]}, {"b": ["z"]}]),
        (1, None, [{"a": [a], "b": [b]} for a in (1, 2) for b in ("x", "y", "z")]),
    ],
)
def test_of_several_keys_one_makes_panels_and_the_others_figures(monkeypatch, panels, facet, fixed):
    table = two_besides(time_to_target_s=5.0)
    monkeypatch.setattr(study_page, "keys_besides", lambda _: ["a", "b"])

    def drawn(given, *, y, facet=None, where=None):
        assert (given is table, y) == (True, "time_to_target_s")
        if where is None:
            raise InputError("several keys vary.")
        return facet, where

    monkeypatch.setattr(study_page, "study_lines", drawn)
    monkeypatch.setattr(study_page, "_MOST_PANELS", panels)
    every = [(facet, where) for where in fixed]
    assert chosen_lines(table) == (every, [])
    monkeypatch.setattr(study_page, "_MOST_FIGURES", len(every))
    assert chosen_lines(table) == (every, [])
    monkeypatch.setattr(study_page, "_MOST_FIGURES", len(every) - 1)
    keys = " and ".join(fixed[0])
    assert chosen_lines(table) == (
        every[:-1],
        [
            f"Charts are of the first {len(every) - 1} of {len(every)} combinations of {keys}; "
            "silosim plot --where draws others."
        ],
    )


def test_without_a_value_there_is_no_chart_and_the_page_says_why():
    nothing = {"simulated_s": np.nan, "paper_s": np.nan}
    said = "No chart: y(='paper_s') has no value in any row."
    assert chosen_lines(study(access_bps=FEW).assign(**nothing)) == ([], [said])
    assert chosen_lines(two_besides("xy", **nothing)) == ([], [said])
    assert _figures(study(access_bps=FEW).assign(**nothing), ["ring"], None) == [
        "<h2>Charts</h2>",
        '<p class="note">No chart: y(=&#x27;paper_s&#x27;) has no value in any row.</p>',
    ]


def test_a_figure_without_a_value_is_left_out_beside_others():
    table = two_besides("xy")
    table.loc[table["a"] == 2, ["simulated_s", "paper_s"]] = np.nan
    (found,), notes = chosen_lines(table)
    assert ("a 1" in found.title, notes) == (True, [])


def legend(parts):
    return re.findall(r"<li>(?:<svg.*?</svg>)?(.*?)</li>", parts[1])


@pytest.mark.parametrize(
    ("keys", "columns", "further"),
    [
        ({}, {}, ["thin: paper"]),
        ({"simulated": False}, {}, []),
        (
            {},
            {"paper_below_load": [True, False]},
            ["thin: paper", "!: paper is below load, which no network can do: do not count on it."],
        ),
        ({"seed": [3, 4]}, {}, ["thin: paper", "band: lowest to highest of 2 seeds"]),
        ({}, {"simulated_half_width_s": 0.01}, ["thin: paper", "bars: 95 % interval of the simulation"]),
    ],
)
def test_a_legend_says_what_lines_bands_and_marks_are(keys, columns, further):
    parts = _figures(study(overlays=["ring"], access_bps=FEW, **keys).assign(**columns), ["ring"], None)
    assert legend(parts) == ["ring", *further]
    assert parts[0] == "<h2>Charts</h2>"
    assert len(parts) == 3


def test_figures_are_numbered_and_a_note_of_several_is_said_once():
    table = two_besides("xy")
    table.loc[table["b"] == "x", "simulated_s"] = np.nan
    _, _, first, second, *notes = _figures(table, ["ring"], None)
    assert re.findall(r'<svg class="chart" id="(.*?)"', first + second) == [
        *("study-0-0", "study-0-1"),
        *("study-1-0", "study-1-1"),
    ]
    assert notes == ['<p class="note">Left out: 2 rows without simulated_s.</p>']


def test_a_mark_of_one_figure_is_explained(monkeypatch):
    monkeypatch.setattr(study_page, "_figure", lambda *_: "")
    table = two_besides("xy")
    table["paper_below_load"] = table["a"] == 2
    assert len(legend(_figures(table, ["ring"], None))) == 3


def test_where_a_slider_moves_the_capacity_lines_go_along_it():
    table = study(overlays=["ring"], core_bps_=[1.0, 2.0], access_bps=FEW)
    for points, x in ((None, "core bps "), (points_of([[]]), "access capacity")):
        assert f"over {x}" in _figures(table, ["ring"], points)[2]


@pytest.fixture
def charts(monkeypatch):
    """Charts that are drawn: their names, words, axes, lines and what is inside."""
    drawn = []

    def chart(name, title, said, x, y, lines, *, inside):
        drawn.append((name, title, said, x, y, lines, inside))
        return f"[{name}]"

    monkeypatch.setattr(study_page, "line_chart", chart)
    monkeypatch.setattr(study_page, "chart_marks", lambda points, *_: f"marks of {points}")
    return drawn


def changed(lines, **changes):
    """Lines of a figure with other attributes; `lines_of` sets the usual ones."""
    return replace(lines, **changes)


def test_a_chart_says_what_it_shows_and_its_numbers_are_below(charts):
    made = _figure(lines_of(line(), line("b"), title="seed: <1>"), 4, ["b", "a"], None)
    ((name, title, said, x, y, lines, inside),) = charts
    assert (name, title, inside) == ("study-4-0", "Cycle time, paper over access capacity, seed: <1>", "")
    assert said == f"{title}. Lines: a, b. The numbers are below the charts."
    assert (x.label, [each.style for each in lines]) == ("access capacity", ["k1", "k0"])
    assert y.label.startswith("cycle time, paper (")
    assert made.startswith(
        '<h3></h3><div class="charts"><figure><figcaption>Cycle time, paper over access capacity, '
        "seed: &lt;1&gt;</figcaption>"
        '[study-4-0]</figure></div><details class="numbers"><summary>Numbers of these charts</summary>'
    )
    assert len(table_cells(made)) == 4
    _figure(lines_of(line()), 0, ["a"], "P")
    assert charts[1][1] == "Cycle time, paper over access capacity"
    assert charts[1][-1] == "marks of P"


def test_an_axis_of_texts_has_their_places(charts):
    _figure(lines_of(line(x=(0, 1)), x="core", categories=["all", "some"]), 0, ["a"], None)
    assert charts[0][3].ticks == [(0.0, "all"), (1.0, "some")]


def test_an_upright_axis_has_room_for_a_tick_more(charts):
    _figure(lines_of(line(x=(0, 5), y=(0, 5)), x="local_steps", y="arcs"), 0, ["a"], None)
    x, y = charts[0][3:5]
    assert [place for place, _ in x.ticks] == [0, 2, 4]
    assert [place for place, _ in y.ticks] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("spread", "is_joined", "has_ends", "has_bars"),
    [
        (None, True, False, False),
        ("seeds", True, True, False),
        ("seeds", False, True, True),
        ("interval", True, True, True),
    ],
)
def test_seeds_are_a_band_along_a_line_and_intervals_bars(charts, spread, is_joined, has_ends, has_bars):
    one = line(low=(1.5, 0.5), high=(3.0, 2.0))
    _figure(changed(lines_of(one), spread=spread, is_joined=is_joined), 0, ["a"], None)
    (drawn,) = charts[0][5]
    assert (drawn.low is one.low, drawn.high is one.high) == (has_ends, has_ends)
    assert (drawn.low is None, drawn.high is None) == (not has_ends, not has_ends)
    assert (drawn.has_bars, drawn.is_joined, drawn.is_thin) == (has_bars, is_joined, False)


@pytest.mark.parametrize("is_joined", [False, True])
def test_the_paper_is_a_thin_line_that_has_the_marks(charts, is_joined):
    one = line(paper=(0.5, 8.0), below=(True, False))
    _figure(changed(lines_of(one, line("b"), y="simulated_s"), is_joined=is_joined), 0, ["a", "b"], None)
    first, second, paper = charts[0][5]
    assert (first.warned, second.warned, paper.warned is one.below) == (None, None, True)
    assert (paper.style, paper.x is one.x, paper.y is one.paper) == ("k0", True, True)
    assert (paper.is_thin, paper.is_joined, paper.low, paper.has_bars) == (True, is_joined, None, False)
    # The axis holds it.
    assert charts[0][4].low < 0.5 < 8.0 < charts[0][4].high
    # Where the paper itself goes up, its own line has them.
    _figure(lines_of(line(below=(True, False))), 0, ["a"], None)
    (own,) = charts[1][5]
    assert own.warned.tolist() == [True, False]

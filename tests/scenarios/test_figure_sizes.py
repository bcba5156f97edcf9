"""Sizes, ticks, legends and styles of figures, worked out by hand."""

import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from test_study_plot import study

from scenarios.report.figure_parts import legend_columns
from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle
from scenarios.report.line_styles import COLOURS, LineStyle, styles_of
from scenarios.report.log_axis import log_ticks, set_log, spaced
from scenarios.report.study_lines import study_lines
from scenarios.report.study_plot import (
    _axis,
    _height_in,
    _layout,
    _legend_columns,
    _legend_entries,
    _set_axis,
    _title_lines,
)
from scenarios.report.timeline_plot import _row_in
from topologies import InputError

DECADES = [10.0**power for power in range(7)]


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (1.0, 1e6, 7, DECADES),
        (1.0, 1e6, 6, DECADES[::2]),
        (1.0, 1e6, 4, DECADES[::2]),
        (1.0, 1e6, 3, DECADES[::3]),
        (1.0, 1e6, 12, DECADES),
        (1.0, 1e6, 13, sorted([*DECADES, *(3 * tick for tick in DECADES[:-1])])),
        (1.0, 1e6, 19, sorted([*DECADES, *(step * tick for tick in DECADES[:-1] for step in (2.0, 5.0))])),
        (2.0, 10.0, 3, [2.0, 5.0, 10.0]),
        (2.0, 4.0, 6, [2.0, 2.5, 3.0, 3.5, 4.0]),
        (2.0, 4.0, 3, [2.0, 3.0, 4.0]),
        (0.05, 0.2, 3, [0.05, 0.1, 0.2]),
        (5.0, 5.0, 3, [5.0]),
        (7.0, 7.0, 3, [7.0]),
    ],
)
def test_ticks_are_round_numbers_of_the_range(low, high, most, ticks):
    assert log_ticks(low, high, most) == ticks


@pytest.mark.parametrize(
    ("places", "most", "kept"),
    [
        # A quarter of the axis is a factor of 3.2, half of it one of 10.
        ([1.0, 2.0, 4.0, 8.0, 100.0], 4, [1.0, 4.0, 100.0]),
        ([1.0, 20.0, 40.0, 100.0], 4, [1.0, 20.0, 100.0]),
        ([1.0, 10.0, 100.0], 2, [1.0, 10.0, 100.0]),
        ([1.0, 1.5], 4, [1.0]),
        ([50.0], 4, [50.0]),
    ],
)
def test_places_with_room_are_kept(places, most, kept):
    assert spaced(places, 1.0, 100.0, most) == kept


@pytest.mark.parametrize("direction", ["x", "y"])
@pytest.mark.parametrize(
    ("values", "limits"),
    [
        ([1.0, 1e6, -1.0, 0.0, math.inf], (10**-0.24, 10**6.24)),
        ([5.0], (5 / 10**0.02, 5 * 10**0.02)),
        # A span of 1e-3 decades has 0.02 decades beyond it on each side, one of 0.1 has a twenty-fifth of itself.
        ([1.0, 1.002], (10**-0.02, 1.002 * 10**0.02)),
        ([1.0, 10**0.1], (10**-0.004, 10**0.104)),
    ],
)
def test_a_logarithmic_axis_reaches_beyond_its_values(direction, values, limits):
    panel = Figure().add_subplot()
    set_log(panel, direction, values, most=7)

    assert getattr(panel, f"get_{direction}scale")() == "log"
    assert getattr(panel, f"get_{direction}lim")() == pytest.approx(limits, rel=1e-9)


def test_without_a_positive_value_an_axis_stays_linear():
    panel = Figure().add_subplot()
    set_log(panel, "x", [0.0, -1.0, math.inf], most=7)

    assert panel.get_xscale() == "linear"


def test_sizes_follow_the_width():
    half, usual, twice = (FigureStyle(width_in=width) for width in (3.5, 7.0, 14.0))
    root = 0.5**0.5

    assert usual == DEFAULT_STYLE
    assert [style.factor for style in (half, usual, twice)] == pytest.approx([root, 1.0, 2.0])
    assert [style.pt(10.0) for style in (half, usual, twice)] == pytest.approx([10 * root, 10.0, 20.0])
    assert [style.pt(6.5) for style in (half, usual, twice)] == [6.0, 6.5, 13.0]
    # What is small at any width is magnified as it is.
    assert [style.pt(5.0) for style in (half, usual, twice)] == [6.0, 5.0, 10.0]
    assert [style.scaled(0.5) for style in (half, usual, twice)] == pytest.approx([0.5 * root, 0.5, 1.0])
    assert [style.letters(84) for style in (half, usual, twice)] == [59, 84, 84]
    assert [style.ticks(6) for style in (half, usual, twice)] == [4, 6, 6]
    assert [style.ticks(2) for style in (half, usual, twice)] == [2, 2, 2]
    assert [FigureStyle(width_in=width).is_narrow for width in (5.49, 5.5)] == [True, False]


def test_settings_of_a_magnified_figure_are_matplotlib_s_own_times_the_factor():
    settings = FigureStyle(width_in=14.0).rc()

    assert settings == {
        "font.size": 20.0,
        "lines.linewidth": 3.0,
        "lines.markersize": 12.0,
        "axes.linewidth": 1.6,
        "axes.labelpad": 8.0,
        "axes.titlepad": 12.0,
        "patch.linewidth": 2.0,
        **{
            f"{axis}tick.major.{name}": value
            for axis in "xy"
            for name, value in (("size", 7.0), ("pad", 7.0))
        },
        **{
            f"{axis}tick.minor.{name}": value
            for axis in "xy"
            for name, value in (("size", 4.0), ("pad", 6.8))
        },
        **{f"{axis}tick.major.width": 1.6 for axis in "xy"},
        **{f"{axis}tick.minor.width": 1.2 for axis in "xy"},
    }
    assert FigureStyle(width_in=3.5).rc()["font.size"] == pytest.approx(10 * 0.5**0.5)
    assert FigureStyle(width_in=2.0).rc()["font.size"] == 6.0


@pytest.mark.parametrize(
    ("longest", "shown", "columns"),
    # 84 letters have room for four names of 14 with their handles of 7, and for one of more than 35.
    [(14, 4, 4), (15, 4, 2), (36, 4, 1), (200, 4, 1), (1, 5, 5), (1, 12, 4)],
)
def test_a_legend_has_as_many_columns_as_have_room(longest, shown, columns):
    assert legend_columns(longest, shown) == columns


@pytest.mark.parametrize(
    ("rows", "height_in"),
    [(1, 0.2), (55, 0.2), (56, 11 / 56), (110, 0.1), (111, 0.1), (140, 0.1), (200, 0.07)],
)
def test_rows_of_a_timeline_are_lower_where_there_are_many(rows, height_in):
    assert _row_in(rows) == pytest.approx(height_in)


def test_overlays_of_a_user_have_styles_by_their_place_among_them():
    names = ["first", "star", *(f"overlay {place}" for place in range(1, 9))]
    styles = styles_of(names)

    assert styles["first"] == LineStyle(COLOURS[0], ":", "+")
    assert styles["overlay 1"] == LineStyle(COLOURS[1], (0.0, (7.0, 1.5)), "H")
    assert styles["overlay 7"] == LineStyle(COLOURS[0], (0.0, (1.0, 2.5)), ".")
    assert styles["star"] == LineStyle(COLOURS[0], "-", "*")


def test_a_title_is_broken_between_its_parts_not_at_hyphens():
    first = f"{'x' * 67},"

    assert _title_lines(f"{first} abc-def", DEFAULT_STYLE) == [first, "abc-def"]
    assert _title_lines(f"{first} a b c", DEFAULT_STYLE) == [f"{first} a b c"]
    assert _title_lines(f"{first} a b c d", DEFAULT_STYLE) == [first, "a b c d"]
    # 75 letters are one too many.
    assert _title_lines(f"x{first} a b c", DEFAULT_STYLE) == [f"x{first}", "a b c"]


def test_names_in_the_legend_of_a_study_are_broken_after_24_letters_and_cut_after_66():
    names = [f"{'x' * 12} {'y' * 11}", f"{'x' * 12} {'y' * 12}", "z" * 66, "z" * 67]
    lines = study_lines(study(overlays=names, access_bps=(1e8, 1e9), simulated=False))
    entries = _legend_entries(lines, styles_of(names), DEFAULT_STYLE)[1]
    assert entries[:2] == [names[0], names[1].replace(" ", "\n")]
    assert [(len(each.replace("\n", "")), "…" in each) for each in entries[2:4]] == [(66, False), (66, True)]


# Panels of a study


NARROW = FigureStyle(width_in=3.5)


@pytest.mark.parametrize(
    ("count", "style", "shape"),
    [
        *(
            (count, DEFAULT_STYLE, shape)
            for count, shape in ((1, (1, 1)), (2, (1, 2)), (3, (1, 3)), (4, (2, 2)))
        ),
        *(
            (count, DEFAULT_STYLE, shape)
            for count, shape in ((5, (2, 3)), (6, (2, 3)), (7, (3, 3)), (36, (12, 3)))
        ),
        *(
            (count, NARROW, shape)
            for count, shape in ((1, (1, 1)), (2, (2, 1)), (3, (3, 1)), (4, (2, 2)), (5, (3, 2)))
        ),
    ],
)
def test_panels_of_a_study_have_rows_and_columns(count, style, shape):
    layout = _layout(count, ["ring"], style)
    assert (layout.rows, layout.columns) == shape
    assert layout.is_beside is (count == 1 and style is DEFAULT_STYLE)
    assert layout.shown_height_in == (3.4 if count == 1 else 1.7)


def test_a_panel_is_as_wide_as_its_neighbours_labels_and_legend_leave():
    # 7 in without 0.9 in for the labels of the axis.
    assert _layout(1, [], DEFAULT_STYLE).width_in == pytest.approx(6.1)
    # A legend beside it: 10 letters of line and gap and 4 of the longest line, of 0.0083 in * 8 pt.
    assert _layout(1, ["a b", "ring\nof"], DEFAULT_STYLE).width_in == pytest.approx(6.1 - 14 * 0.0664)
    # Below several panels it takes no width, but gaps do.
    assert _layout(2, ["ring"], DEFAULT_STYLE).width_in == pytest.approx(6.1 / 2 - 0.15)
    assert _layout(3, ["ring"], DEFAULT_STYLE).width_in == pytest.approx(6.1 / 3 - 0.15)
    root = 0.5**0.5
    assert _layout(1, ["ring"], NARROW).width_in == pytest.approx(3.5 - 0.9 * root)
    assert [_layout(count, [], DEFAULT_STYLE).tick_pt for count in (1, 2)] == [10.0, 8.0]
    assert _layout(1, [], NARROW).height_in == pytest.approx(3.4 * root)


def test_ticks_and_letters_have_room_by_the_width_of_letters():
    layout = _layout(1, [], DEFAULT_STYLE)
    # 6.1 in have room for 73 letters of 0.083 in, and for 14 labels of 4 letters with gaps of 0.08 in.
    assert layout.letters(6.1) == 73
    assert layout.ticks(["1", "1000"]) == 14
    assert layout.ticks(["x" * 200]) == 2
    assert layout.ticks([]) == 76


def test_a_study_s_figure_is_as_high_as_its_panels_ticks_and_legend_need():
    one, two, four = (_layout(count, [], DEFAULT_STYLE) for count in (1, 2, 4))
    panel, small, line = 3.75, 2.05, 0.196
    assert _height_in(one, ["ring"] * 2, 1, None) == pytest.approx(0.9 + panel)
    # A long legend beside a panel is higher than it.
    assert _height_in(one, ["of\ntwo"] * 15, 1, None) == pytest.approx(0.8 + 30 * line)
    # Below them, the column with the most lines counts.
    assert _height_in(two, ["a", "b\nc", "d"], 2, None) == pytest.approx(0.9 + small + 2 * line)
    assert _height_in(two, ["a\nb", "c", "d\ne"], 2, None) == pytest.approx(0.9 + small + 4 * line)
    assert _height_in(four, ["a"], 1, None) == pytest.approx(0.9 + 2 * small + line)
    # Texts that are turned: three quarters of the longest, up to 28 letters, in each row.
    assert _height_in(one, [], 1, ["ab", "abcd"]) == pytest.approx(0.9 + panel + 0.75 * 4 * 0.083)
    assert _height_in(one, [], 1, ["x" * 40]) == pytest.approx(0.9 + panel + 0.75 * 28 * 0.083)
    assert _height_in(four, ["a"], 1, ["abcd"]) == pytest.approx(
        0.9 + 2 * small + line + 2 * 0.75 * 4 * 0.0083 * 8
    )
    narrow = _layout(2, ["a"], NARROW)
    assert _height_in(narrow, ["a"], 1, ["abcd"]) == pytest.approx(
        0.9 + 2 * small + line + 2 * 0.75 * 4 * 0.0083 * NARROW.pt(8.0) / NARROW.factor
    )


def test_a_legend_below_has_columns_for_its_longest_line():
    # 7 in have room for 105 letters of 8 pt: five names of 11 with 10 for their lines, or four of 12.
    assert _legend_columns(["x" * 11] * 5, DEFAULT_STYLE) == 5
    assert _legend_columns(["x" * 12] * 5, DEFAULT_STYLE) == 3
    assert _legend_columns(["x" * 12] * 4, DEFAULT_STYLE) == 4
    assert _legend_columns(["x\n" + "x" * 11] * 5, DEFAULT_STYLE) == 5
    assert _legend_columns([], DEFAULT_STYLE) == 1


def axis_of(values, ends=(), log=None, *, column="arcs", at_values=True):
    arrays = [[np.array(each, dtype=float) for each in many] for many in (values, ends)]
    return _axis(column, *arrays, log, "log_x", at_values=at_values)


def test_an_axis_of_a_study_has_each_value_once_and_in_its_unit():
    axis = axis_of([[3.0, np.nan], [1.0, 3.0]], [[0.5, np.inf]])
    assert (axis.values, axis.places, axis.is_log) == ([0.5, 1.0, 3.0], [0.5, 1.0, 3.0], False)
    # The ends of bars have no say in the scale.
    assert axis_of([[1.0, 9.0]], [[0.1, 90.0]]).is_log is False
    assert axis_of([[0.2, 0.4]], column="simulated_s").values == [200.0, 400.0]
    assert axis_of([[1.0, 2.0]], at_values=False).places == ()
    assert len(axis_of([np.arange(1.0, 11.0)]).places) == 10
    assert axis_of([np.arange(1.0, 12.0)]).places == ()


@pytest.mark.parametrize(
    ("values", "log", "is_log"),
    [
        ([1.0, 10.0], None, False),
        ([1.0, 10 * (1 + 0.9e-9)], None, False),
        ([1.0, 10 * (1 + 2e-9)], None, True),
        ([0.0, 100.0], None, False),
        ([-1.0, 100.0], None, False),
        ([1.0, 100.0], False, False),
        ([1.0, 2.0], True, True),
        ([0.0, 2.0], False, False),
    ],
)
def test_an_axis_is_logarithmic_from_a_decade_on_or_as_asked(values, log, is_log):
    assert axis_of([values], log=log).is_log is is_log


@pytest.mark.parametrize("low", [0.0, -1.0])
def test_a_logarithmic_axis_needs_positive_values(low):
    with pytest.raises(
        InputError, match=rf"^log_x\(=True\) goes with values > 0; the least arcs is {low:g}\.$"
    ):
        axis_of([[low, 2.0]], log=True)


@pytest.mark.parametrize("direction", ["x", "y"])
@pytest.mark.parametrize(
    ("values", "limits"),
    [
        ([1.0, 2.0], (0.96, 2.04)),
        ([-2.0, -1.0], (-2.04, -0.96)),
        # What differs by a thousandth of the largest or less looks equal.
        ([999.0, 1000.0], (979.0, 1020.0)),
        ([1.0, 1.0009], (1 - 0.02 * 1.0009, 1.0009 * 1.02)),
        ([1.0, 1.0011], (1 - 0.04 * 0.0011, 1.0011 + 0.04 * 0.0011)),
        ([-5.0, -5.0], (-5.1, -4.9)),
        ([0.0, 0.0], (-0.02, 0.02)),
    ],
)
def test_a_linear_axis_reaches_a_little_beyond_its_values(direction, values, limits):
    panel = Figure().add_subplot()
    _set_axis(panel, direction, axis_of([values], log=False), most=6)
    assert getattr(panel, f"get_{direction}lim")() == pytest.approx(limits)


@pytest.mark.parametrize(
    ("values", "most", "ticks"),
    [
        # At the values, where all have room.
        ([1.0, 2.0, 7.0], 6, [1.0, 2.0, 7.0]),
        ([1.0, 2.0, 8.0], 6, [2.0, 4.0, 6.0, 8.0]),
        ([3.0], 6, [3.0]),
        ([1.0, 1.5, 3.0], 2, [1.0, 2.0, 3.0]),
    ],
)
def test_ticks_of_a_linear_axis_are_at_its_values_or_round_numbers(values, most, ticks):
    panel = Figure().add_subplot()
    _set_axis(panel, "x", axis_of([values], log=False), most=most)
    low, high = panel.get_xlim()
    assert [tick for tick in panel.get_xticks() if low <= tick <= high] == ticks


def test_ticks_between_whole_numbers_are_whole():
    for values, whole in (([1.0, 1.2, 2.0], False), ([1.0, 2.0], True)):
        panel = Figure().add_subplot()
        _set_axis(panel, "y", axis_of([values], log=False, at_values=False), most=6)
        assert all(float(tick).is_integer() for tick in panel.get_yticks()) is whole

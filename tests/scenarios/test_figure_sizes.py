"""Sizes, ticks, legends and styles of figures, worked out by hand."""

import math

import pytest
from matplotlib.figure import Figure

from scenarios.report.figure_parts import legend_columns
from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle
from scenarios.report.line_styles import COLOURS, LineStyle, styles_of
from scenarios.report.log_axis import log_ticks, set_log, spaced
from scenarios.report.study_plot import _title_lines
from scenarios.report.timeline_plot import _row_in

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

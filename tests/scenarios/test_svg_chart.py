"""Axes and lines of charts for browsers, worked out by hand."""

import re

import numpy as np
import pytest

from scenarios.report.line_styles import LineStyle
from scenarios.report.svg_chart import (
    ChartAxis,
    ChartLine,
    _kept,
    _line,
    _runs,
    category_axis,
    chart_axis,
    chart_x,
    chart_y,
    line_chart,
    line_classes,
    line_legend,
    line_sheet,
)


@pytest.mark.parametrize(
    ("values", "is_log", "expected"),
    [
        # A twenty-fifth of the axis is left on each side.
        ([1.0, 10.0], None, (False, 0.64, 10.36)),
        ([1.0, 10.1], None, (True, 10.1**-0.04, 10.1**1.04)),
        ([0.0, 100.0], None, (False, -4.0, 104.0)),
        ([-1.0, 100.0], None, (False, -5.04, 104.04)),
        ([1.0, 100.0], False, (False, -2.96, 103.96)),
        ([1.0, 2.0], True, (True, 2**-0.04, 2**1.04)),
        # Equal values have room, too.
        ([2.0, 2.0], None, (False, 1.9, 2.1)),
        ([-2.0], None, (False, -2.1, -1.9)),
        ([0.0], None, (False, -1.0, 1.0)),
        ([2.0, 2.0], True, (True, 2 / 1.05, 2.1)),
        ([2.0, 2.0019], True, (True, 2 / 1.05, 2.0019 * 1.05)),
        # What has no place does not count.
        ([-1.0, 0.0, 50.0], True, (True, 50 / 1.05, 52.5)),
        ([1.0, np.nan, np.inf, 2.0], None, (False, 0.96, 2.04)),
        ([], None, (False, 0.64, 10.36)),
        ([-1.0], True, (True, 10**-0.04, 10**1.04)),
    ],
)
def test_an_axis_reaches_beyond_its_values_and_is_logarithmic_from_a_decade_on(values, is_log, expected):
    axis = chart_axis("label", [np.array(values)], is_x=True, is_log=is_log)
    assert axis.is_log is expected[0]
    assert (axis.low, axis.high) == pytest.approx(expected[1:])
    assert axis.label == "label"
    assert all(axis.low <= place <= axis.high for place, _ in axis.ticks)


def test_ticks_are_in_their_own_unit():
    ticks = chart_axis("", [np.array([0.1, 0.2])], is_x=True, factor=1e3, show="{:g} ms".format).ticks
    assert ticks == [(pytest.approx(place / 1e3), f"{place} ms") for place in (100, 125, 150, 175, 200)]
    ticks = chart_axis("", [np.array([0.1, 10.0])], is_x=True, factor=1e3).ticks
    assert ticks == [(pytest.approx(place / 1e3), f"{place}") for place in (100, 300, 1000, 3000, 10000)]
    assert [text for _, text in chart_axis("", [np.array([0.0, 2.0])], is_x=True, whole=True).ticks] == [
        "0",
        "1",
        "2",
    ]
    assert "0.5" in [text for _, text in chart_axis("", [np.array([0.0, 2.0])], is_x=True).ticks]


def test_an_upright_axis_has_room_for_a_tick_more():
    across, up = (chart_axis("", [np.array([0.0, 5.0])], is_x=is_x).ticks for is_x in (True, False))
    assert [text for _, text in across] == ["0", "2", "4"]
    assert [text for _, text in up] == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize(("count", "shown"), [(0, 0), (1, 1), (12, 12), (13, 7), (24, 12), (25, 9)])
def test_an_axis_of_texts_names_twelve_at_most(count, shown):
    axis = category_axis("c", [f"a long name {place}" for place in range(count)])
    assert len(axis.ticks) == shown
    assert (axis.low, axis.high) == (-0.5, count - 0.5)
    assert axis.is_log is False
    assert all(text == "a long name " for _, text in axis.ticks)
    assert [place for place, _ in axis.ticks] == list(range(count))[:: -(-count // 12) or 1]


def axis_of(low, high, *, is_log=False):
    return ChartAxis(label="", low=low, high=high, is_log=is_log, ticks=[])


def test_places_on_the_page_are_to_scale():
    # 480 by 300, with 64 left, 14 right, 12 above and 48 below.
    assert chart_x(axis_of(10.0, 20.0), np.array([10.0, 15.0, 20.0])).tolist() == [64.0, 265.0, 466.0]
    assert chart_y(axis_of(10.0, 20.0), np.array([10.0, 15.0, 20.0])).tolist() == [252.0, 132.0, 12.0]
    assert chart_x(axis_of(1.0, 100.0, is_log=True), np.array([10.0])).tolist() == [265.0]


X, Y = axis_of(0.0, 4.02), axis_of(0.0, 2.4)
"""100 to a unit along x, and upwards."""


def test_a_line_has_its_points_where_they_are():
    line = ChartLine(style="k0", x=np.array([0.0, 1.0, 2.0, 3.0]), y=np.array([0.0, 1.0, np.nan, 2.0]))
    path, dots = _line(line, X, Y)
    assert path == '<path class="curve k0" d="M64.0,252.0L164.0,152.0M364.0,52.0"/>'
    assert re.findall(r'cx="([^"]+)" cy="([^"]+)"', dots) == [
        ("64.0", "252.0"),
        ("164.0", "152.0"),
        ("364.0", "52.0"),
    ]
    thin = ChartLine(style="k0", x=line.x, y=line.y, is_thin=True)
    assert _line(thin, X, Y) == [path.replace("curve k0", "curve thin k0")]
    apart = ChartLine(style="k0", x=line.x, y=line.y, is_joined=False)
    assert _line(apart, X, Y) == [dots]
    assert _line(ChartLine(style="k0", x=line.x, y=line.y, has_dots=False), X, Y) == [path]
    nothing = np.full(4, np.nan)
    assert _line(ChartLine(style="k0", x=line.x, y=nothing), X, Y) == []


def test_bands_and_bars_lie_between_their_ends():
    x, y = np.array([0.0, 1.0]), np.array([1.0, 1.5])
    banded = ChartLine(style="k0", x=x, y=y, low=y - 0.5, high=y + 0.5)
    assert (
        _line(banded, X, Y)[0]
        == '<path class="band f-k0" d="M64.0,102.0 164.0,52.0 164.0,152.0 64.0,202.0Z"/>'
    )
    barred = ChartLine(style="k0", x=x, y=y, low=y - 0.5, high=y + 0.5, has_bars=True)
    assert _line(barred, X, Y)[0] == '<path class="bar k0" d="M64.0,102.0V202.0M164.0,52.0V152.0"/>'
    # A bar ends at the frame, and a point alone has no band.
    deep = ChartLine(style="k0", x=x, y=y, low=y - 9, high=y + 0.5, has_bars=True)
    assert _line(deep, X, Y)[0].endswith('d="M64.0,102.0V252.0M164.0,52.0V252.0"/>')
    alone = ChartLine(style="k0", x=x, y=np.array([1.0, np.nan]), low=y - 0.5, high=y + 0.5)
    assert not any("band" in part for part in _line(alone, X, Y))


def test_a_mark_is_below_its_point_unless_the_frame_ends_there():
    # 252 is the frame's end: a mark 14 below 237.9 is within it.
    y = np.array([0.0, 0.14, 0.141, 2.0])
    warned = np.array([True, True, True, False])
    line = ChartLine(style="k0", x=np.arange(4.0), y=y, warned=warned, has_dots=False)
    marks = re.findall(r'<text class="warned" x="([^"]+)" y="([^"]+)"', "".join(_line(line, X, Y)))
    assert marks == [("64.0", "247.0"), ("164.0", "233.0"), ("264.0", "251.9")]


def test_of_up_to_800_points_all_are_drawn_and_of_more_those_that_are_seen():
    few = np.linspace(64, 466, 800)
    assert _kept(few, few).tolist() == list(range(800))
    # Nine points within one pixel: the first, the lowest, the highest and the last; and each gap.
    across = np.concatenate([np.full(9, 70.0), np.full(800, 80.0)])
    down = np.concatenate([[5.0, 6, 1, 4, np.nan, 9, 3, 2, 4], np.full(800, 7.0)])
    assert _kept(across, down).tolist() == [0, 2, 4, 5, 8, 9, 808]


def test_runs_of_equal_values():
    assert _runs(np.array([3, 3, 1, 1, 1, 2])) == [(0, 2), (2, 5), (5, 6)]
    assert _runs(np.array([7])) == [(0, 1)]
    assert _runs(np.array([], dtype=int)) == []


@pytest.mark.parametrize(
    ("target", "at"),
    [(0.0, "252.0"), (1.0, "152.0"), (2.4, "12.0"), (2.41, None), (-0.01, None), (None, None)],
)
def test_a_target_is_a_line_within_the_frame(target, at):
    chart = line_chart("a", "t", "s", X, Y, [], target=target)
    assert re.findall('class="target" x1="64" y1="([^"]+)" x2="466"', chart) == ([at] if at else [])


def test_a_chart_has_its_axes_with_their_words():
    x = ChartAxis(label="x & y", low=0.0, high=4.02, is_log=False, ticks=[(1.0, "one")])
    y = ChartAxis(label="y", low=1.0, high=100.0, is_log=True, ticks=[(10.0, "ten")])
    chart = line_chart("a", "t <", "s", x, y, [], inside="<g/>")
    assert chart.startswith('<svg class="chart" id="a" viewBox="0 0 480 300" role="img"')
    assert 'data-x="0.0 4.02 0" data-y="1.0 100.0 1">' in chart
    assert '<title id="a-title">t &lt;</title><desc id="a-said">s</desc>' in chart
    assert '<line class="grid" x1="164.0" y1="12" x2="164.0" y2="252"/>' in chart
    assert '<text x="164.0" y="268" text-anchor="middle">one</text>' in chart
    assert '<line class="grid" x1="64" y1="132.0" x2="466" y2="132.0"/>' in chart
    assert '<text x="58" y="136.0" text-anchor="end">ten</text>' in chart
    assert '<rect class="frame" x="64" y="12" width="402" height="240"/>' in chart
    assert '<text x="265" y="290" text-anchor="middle">x &amp; y</text>' in chart
    assert 'transform="translate(14 132) rotate(-90)"' in chart
    assert chart.endswith("<g/>\n</svg>")


def test_styles_of_overlays_are_classes():
    styles = {
        "a": LineStyle("#000000", "-", "o"),
        "<b>": LineStyle("#D55E00", "--", "o"),
        "c": LineStyle("#D55E00", (0.0, (2.0, 1.0)), "o"),
    }
    assert line_classes(styles) == {"a": "k0", "<b>": "k1", "c": "k2"}
    black, dashed, own = line_sheet(styles).splitlines()
    assert (
        black
        == ".k0 { stroke: var(--text); } .bar.k0 { stroke-dasharray: none; } .f-k0 { fill: var(--text); }"
    )
    assert dashed.startswith(".k1 { stroke: #D55E00; stroke-dasharray: 5.5 2.4; }")
    assert "stroke-dasharray: 3.2 1.6; }" in own
    legend = line_legend(styles, ["<b>"], ["thin & so"])
    assert '<line class="k1" x1="1" y1="4" x2="25" y2="4"/></svg>&lt;b&gt;</li>' in legend
    assert legend.endswith("<li>thin &amp; so</li></ul>")
    assert "k0" not in legend

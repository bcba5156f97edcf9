"""What the figure of a timeline draws where, for three silos worked out by hand; nothing is laid out."""

from dataclasses import replace

import numpy as np
import pytest
from hand_timeline import static_activity, static_timeline
from matplotlib.collections import LineCollection, PolyCollection

from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle
from scenarios.report.line_styles import COLOURS
from scenarios.report.timeline_plot import _figure, _right, _shortened


def figure_of(*timelines, style=DEFAULT_STYLE):
    return _figure(timelines, "title", style)


def legend_of(figure):
    return [text.get_text() for text in figure.legends[0].texts]


def bars(panel):
    """Left, right, upper and lower end of each bar, by collection."""
    found = []
    for drawn in panel.collections:
        if isinstance(drawn, PolyCollection):
            corners = [path.vertices for path in drawn.get_paths()]
            found.append(
                [(*np.sort(c[:, 0])[[0, -1]].tolist(), *np.sort(c[:, 1])[[0, -1]].tolist()) for c in corners]
            )
    return found


def segments(panel):
    return [
        [segment.tolist() for segment in drawn.get_segments()]
        for drawn in panel.collections
        if isinstance(drawn, LineCollection)
    ]


def near(found, expected):
    assert len(found) == len(expected)
    np.testing.assert_allclose(np.array(found), np.array(expected), rtol=0, atol=1e-9)


def test_computing_and_messages_are_bars_in_their_parts_of_a_row():
    (panel,) = figure_of(static_timeline()).axes
    computes, sends, receives = bars(panel)
    starts = [(10, 11, 0), (10, 12, 1), (11, 12, 2), (14, 15, 0), (13, 15, 1), (12, 15, 2)]
    near(computes, [(begin, end, row - 0.42, row + 0.04) for begin, end, row in starts])
    sent = [(11, 12, 0), (12, 13, 1), (12, 13.5, 2), (15, 16, 0), (15, 15.5, 1)]
    near(sends, [(begin, end, row + 0.08, row + 0.24) for begin, end, row in sent])
    near(receives[0], (11.5, 13, 1.27, 1.43))
    near(receives[1], (12.5, 13.5, 0.35, 0.43))
    assert len(receives) == 7
    drawn = [each for each in panel.collections if isinstance(each, PolyCollection)]
    # Bars of messages have gaps between them, unless they are very thin.
    assert [set(np.atleast_1d(each.get_linewidth()).tolist()) for each in drawn] == [{0.0}, {0.2}, {0.2}]


def test_very_thin_bars_have_no_gaps():
    shown = static_timeline()
    arc = np.zeros(7, dtype=int)
    same = {name: np.full(7, at) for name, at in (("start_s", 11.0), ("last_bit_s", 12.0))}
    same |= {name: np.full(7, at) for name, at in (("first_arrival_s", 12.0), ("arrival_s", 13.0))}
    for count, gap in ((3, 0.2), (4, 0.0)):
        sent = replace(shown.sent, arc=arc[:count], **{name: values[:count] for name, values in same.items()})
        sent = replace(sent, round=np.full(count, 4), lag=np.ones(count, dtype=int))
        (panel,) = figure_of(replace(shown, sent=sent)).axes
        drawn = [each for each in panel.collections if isinstance(each, PolyCollection)]
        assert set(drawn[1].get_linewidth()) == {gap}


def test_rounds_start_with_a_tick_and_the_last_one_ends_with_one():
    (panel,) = figure_of(static_timeline()).axes
    ticks, circuit, computing = segments(panel)
    dates = [(10, 0), (10, 1), (11, 2), (14, 0), (13, 1), (12, 2), (16, 0), (18, 1), (15, 2)]
    near(ticks, [[[date, row - 0.46], [date, row + 0.08]] for date, row in dates])
    # From the middle of what is sent to that of what is received.
    near(
        circuit,
        [
            [[11, 0.16], [13, 1.35]],
            [[12, 1.16], [13.5, 0.35]],
            [[15, 0.16], [18, 1.35]],
            [[15, 1.16], [16, 0.35]],
        ],
    )
    assert computing == []
    (heads,) = panel.lines
    assert heads.get_xdata().tolist() == [13.0, 13.5, 18.0, 16.0]
    assert heads.get_ydata().tolist() == pytest.approx([1.35, 0.35, 1.35, 0.35])
    assert (heads.get_marker(), heads.get_linestyle(), heads.get_color()) == (".", "None", COLOURS[1])


def test_computing_of_the_circuit_is_a_line_along_it():
    (panel,) = figure_of(static_timeline(circuit=((2, 0),))).axes
    *_, computing = segments(panel)
    # C is on top, as it is the circuit.
    near(computing, [[[11, -0.19], [12, -0.19]], [[12, -0.19], [15, -0.19]]])
    labels = panel.get_yticklabels()
    assert [(label.get_text(), label.get_color() == COLOURS[1]) for label in labels] == [
        ("C", True),
        ("A", False),
        ("B", False),
    ]
    widths = [each.get_linewidth()[0] for each in panel.collections if isinstance(each, LineCollection)]
    assert widths == pytest.approx([0.5, 0.7, 1.4])


def test_a_panel_has_its_rows_its_time_and_its_name():
    figure = figure_of(static_timeline())
    (panel,) = figure.axes
    assert panel.get_xlim() == pytest.approx((10.0, 18.08))
    assert panel.get_ylim() == pytest.approx((2.6, -0.6))
    assert (panel.get_xlabel(), panel.get_title()) == ("simulated time (s)", "mine, rounds 4 to 5")
    assert figure.get_suptitle() == "title"
    assert figure.get_figheight() == pytest.approx(1.1 + 4 * 0.2 + 0.55)
    assert figure_of(static_timeline(), static_timeline()).get_figheight() == pytest.approx(
        1.1 + 8 * 0.2 + 1.1
    )
    narrow = FigureStyle(width_in=3.5)
    # Rows are no lower where all else is.
    assert figure_of(static_timeline(), style=narrow).get_figheight() == pytest.approx(
        1.65 * narrow.factor + 0.8
    )
    wide = FigureStyle(width_in=14.0)
    assert figure_of(static_timeline(), style=wide).get_figheight() == pytest.approx(2 * 2.45)


def test_all_panels_have_the_unit_of_the_longest():
    quick = static_activity(
        **{name: getattr(static_activity(), name) / 100 for name in ("start_s", "compute_s", "next_start_s")}
    )
    short = static_timeline(activity=quick, begin_s=0.1, end_s=0.18)
    (alone,) = figure_of(short).axes
    assert alone.get_xlabel() == "simulated time (ms)"
    assert alone.get_xlim() == pytest.approx((100.0, 180.8))
    near(bars(alone)[0][0], (100.0, 110.0, -0.42, 0.04))
    assert [panel.get_xlabel() for panel in figure_of(short, static_timeline()).axes] == [
        "simulated time (s)"
    ] * 2


def test_the_right_edge_is_a_hundredth_beyond_the_end():
    assert _right(static_timeline(), 2.0) == pytest.approx(2 * 18.08)
    assert _right(static_timeline(end_s=10.0), 2.0) == 21.0


USUAL = ["computes", "sends", "receives", "round starts"]


def test_the_legend_has_what_is_drawn():
    assert legend_of(figure_of(static_timeline())) == [
        *USUAL,
        "name: it waits for",
        "critical circuit (paper)",
    ]
    assert legend_of(figure_of(static_timeline(circuit=None))) == [*USUAL, "name: it waits for"]
    nobody = static_activity(last_arc=np.full((2, 3), -1))
    assert legend_of(figure_of(static_timeline(activity=nobody, circuit=None))) == USUAL
    # One panel of several is enough.
    both = figure_of(static_timeline(activity=nobody, circuit=None), static_timeline())
    assert legend_of(both) == [*USUAL, "name: it waits for", "critical circuit (paper)"]
    away = static_activity(is_away=np.array([[False, False, True], [False, False, False]]))
    assert legend_of(figure_of(static_timeline(activity=away, circuit=None)))[-1] == "away"


def test_a_silo_that_is_away_has_a_bar_until_it_is_back_or_the_end():
    is_away = np.array([[False, False, True], [False, False, False]])
    (panel,) = figure_of(static_timeline(activity=static_activity(is_away=is_away))).axes
    computes, gone, *_ = bars(panel)
    assert len(computes) == 5
    near(gone, [(11, 12, 1.58, 2.43)])
    # It has not come back: nobody knows when it would start.
    next_start_s = np.array([[14.0, 13.0, 12.0], [16.0, 18.0, 12.0]])
    still = static_activity(
        is_away=np.array([[False, False, False], [False, False, True]]), next_start_s=next_start_s
    )
    (panel,) = figure_of(static_timeline(activity=still)).axes
    computes, gone, *_ = bars(panel)
    near(gone, [(12, 18, 1.58, 2.43)])
    ticks, *_ = segments(panel)
    assert len(ticks) == 7


def test_names_of_those_that_are_waited_for_are_in_the_gaps_that_have_room():
    (panel,) = figure_of(static_timeline()).axes
    assert [(text.get_text(), *text.get_position()) for text in panel.texts] == [
        ("C", 12.5, pytest.approx(-0.19)),
        ("A", 12.5, pytest.approx(0.81)),
        ("B", 15.5, pytest.approx(-0.19)),
        ("A", 16.5, pytest.approx(0.81)),
    ]
    # 8.08 s are 5.6 in, so that a letter of 0.62 * 6 pt takes 0.0745 s, and 20 letters do not fit into a second.
    (panel,) = figure_of(static_timeline(labels=("A" * 20, "B" * 20, "C" * 20))).axes
    assert [text.get_text()[0] for text in panel.texts] == ["C", "A"]
    # 3 s have room for 40.25 with one for the gap; of a figure of 6.95 in, whose letters are as small as can be, 39.96.
    narrow = FigureStyle(width_in=6.95)
    for letters, shown, style in (
        (39, 2, DEFAULT_STYLE),
        (40, 0, DEFAULT_STYLE),
        (38, 2, narrow),
        (39, 0, narrow),
    ):
        named = static_timeline(labels=("A" * letters, "B" * letters, "C" * letters))
        (panel,) = figure_of(named, style=style).axes
        assert len(panel.texts) == shown


@pytest.mark.parametrize(
    ("row_in", "names", "circuit_pt"), [(0.15, 4, 0.7), (0.149, 0, 0.7), (0.1, 0, 0.7), (0.099, 0, 0.3)]
)
def test_low_rows_have_no_names_and_very_low_ones_thin_arrows(monkeypatch, row_in, names, circuit_pt):
    monkeypatch.setattr("scenarios.report.timeline_plot._row_in", lambda _: row_in)
    figure = figure_of(static_timeline())
    (panel,) = figure.axes
    assert len(panel.texts) == names
    assert ("name: it waits for" in legend_of(figure)) is (names > 0)
    _, circuit, computing = (each for each in panel.collections if isinstance(each, LineCollection))
    assert (circuit.get_linewidth()[0], computing.get_linewidth()[0]) == pytest.approx(
        (circuit_pt, 2 * circuit_pt)
    )
    assert panel.lines[0].get_markersize() == pytest.approx(3.5 * circuit_pt)


@pytest.mark.parametrize(("letters", "text"), [(24, "x" * 24), (25, "x" * 23 + "…")])
def test_long_labels_are_cut(letters, text):
    assert _shortened("x" * letters) == text
